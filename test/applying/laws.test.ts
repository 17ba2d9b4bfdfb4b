import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inMemoryBackend, type Backend } from '../doubles/backends.ts';
import { content, file } from '../planning/support.ts';
import { sync, type SyncResult } from './support.ts';
import { runs } from '../support/seed.ts';

const texts = ['A', 'B', 'C'] as const;
const metadatas = [undefined, {}, { model: 'x' }] as const;
const refs = { v1: content('A'), v2: content('B', { model: 'x' }), v3: content('Release') };

const pins = fc.oneof(
  { weight: 3, arbitrary: fc.constant('latest') },
  { weight: 2, arbitrary: fc.constantFrom('git:v1', 'git:v2', 'git:v3') },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 6 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 6 }).map((number) => `version:ver_${number}`) },
);

const edits = fc.record({
  kind: fc.constant('edit' as const),
  text: fc.constantFrom(...texts),
  metadata: fc.constantFrom(...metadatas),
  name: fc.constantFrom('First', 'New'),
  pins: fc.dictionary(fc.constantFrom('staging', 'production'), pins, { noNullPrototype: true }),
});
/** Changes that somebody makes in the service: a new active version, or an environment moved to an older version. */
const outsideChanges = fc.record({
  kind: fc.constantFrom('outside-version' as const, 'outside-move' as const),
  text: fc.constantFrom(...texts, 'Theirs'),
  environment: fc.constantFrom('staging', 'production'),
  number: fc.integer({ min: 1, max: 6 }),
});
const histories = fc.array(fc.oneof({ weight: 3, arbitrary: edits }, { weight: 1, arbitrary: outsideChanges }), {
  minLength: 1,
  maxLength: 10,
});

type Step = typeof histories extends fc.Arbitrary<(infer One)[]> ? One : never;

function changeOutside(service: Backend, step: Step & { kind: 'outside-version' | 'outside-move' }): void {
  const count = service.countVersions('p1');
  if (step.kind === 'outside-version') {
    service.activate('p1', step.environment, service.addVersion('p1', { text: step.text }));
  } else if (count > 0) {
    service.activate('p1', step.environment, `ver_${Math.min(step.number, count)}`);
  }
}

function fileOf({ text, metadata, name, pins: written }: Step & { kind: 'edit' }) {
  return file({ text, name, pins: written, ...(metadata !== undefined && { metadata }) });
}

/** Runs a history. Calls `check` for each sync with its result and with the result of a second sync right after it. */
async function runHistory(
  steps: readonly Step[],
  check: (done: SyncResult, again: SyncResult, step: Step & { kind: 'edit' }, service: Backend) => void,
): Promise<void> {
  const service = inMemoryBackend();
  for (const step of steps) {
    if (step.kind !== 'edit') {
      changeOutside(service, step);
      continue;
    }
    const done = await sync(service, [fileOf(step)], { refs });
    check(done, await sync(service, [fileOf(step)], { refs }), step, service);
  }
}

/** Expects that a sync is applied, or that an unresolvable pin blocks it and it changes no version and no pinned environment. */
function expectOutcome({ outcomes, lines }: SyncResult, again: SyncResult): void {
  const [first] = outcomes;
  if (first?.status === 'blocked') {
    expect(first.problems.every(({ code }) => code.startsWith('pin/'))).toBe(true);
    expect(first.changes.every(({ status }) => status === 'not_made')).toBe(true);
    expect(lines.filter((line) => !/^read | promptsync/.test(line))).toStrictEqual([]);
  } else {
    expect(first?.status).toMatch(/^(applied|unchanged)$/);
    expect([again.outcomes[0]?.status, again.lines]).toStrictEqual(['unchanged', []]);
  }
}

function expectPins(step: Step & { kind: 'edit' }, service: Backend): void {
  for (const [environment, pin] of Object.entries(step.pins)) {
    const [id, text] = service.serves('p1', environment) ?? [];
    if (pin === 'latest') expect(text).toBe(step.text);
    else if (typeof pin === 'number') expect(id).toBe(`ver_${pin}`);
    else if (pin.startsWith('version:')) expect(`version:${id}`).toBe(pin);
    else expect(text).toBe(refs[pin.slice(4) as keyof typeof refs].text);
  }
}

test('For any series of edits, each unblocked sync satisfies all pins, and promptsync never creates the same content twice', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const made: string[] = [];
      await runHistory(steps, (done, again, step, service) => {
        expectOutcome(done, again);
        if (done.outcomes[0]?.status !== 'blocked') expectPins(step, service);
        made.push(...done.created.map(({ text, metadata }) => `${text} ${JSON.stringify(metadata)}`));
      });
      expect(made).toStrictEqual([...new Set(made)]);
    }),
    { numRuns: runs(600) },
  );
});
