import { describe, expect, test } from 'vitest';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import { shortenDigest } from '../../src/text.ts';
import { startWithTextOne, formatOutcome, sync, type SyncParts } from './support.ts';
import { type Backend, backends } from '../doubles/backends.ts';
import { compareWithBase, file, observed, version } from '../planning/support.ts';

const staging = { staging: 'latest' };
const one = file({ text: 'One', pins: staging });
const two = file({ text: 'Two', pins: staging });

/** Changes the service before each of the first `times` observations that precede a write. Counts all of them. */
function changeBeforeWrite(
  times: number,
  meddle: (time: number) => unknown,
): Pick<SyncParts, 'onObserve'> & { count: number } {
  const state = {
    count: 0,
    onObserve: async () => {
      state.count += 1;
      if (state.count <= times) await meddle(state.count);
    },
  };
  return state;
}

/** Adds a version without promptsync and activates it. */
function activateForeignVersion(service: Backend, text: string, environment = 'staging'): void {
  service.activate('p1', environment, service.addVersion('p1', { text }));
}

describe.each(backends)('the second observation before a write (backend: %s)', (_, start) => {
  test('promptsync observes a prompt exactly one more time before the first write, and not at all if it writes nothing', async () => {
    const service = await startWithTextOne(start);
    const watched = changeBeforeWrite(0, () => {});
    await sync(service, [one], watched);
    expect(watched.count).toBe(0);
    const { outcomes } = await sync(service, [two], watched);
    expect([watched.count, outcomes.map(formatOutcome)]).toStrictEqual([1, ['applied: made made']]);
  });

  const activate = (text: string) => (service: Backend) => activateForeignVersion(service, text);
  test.each<[string, (service: Backend) => unknown, string]>([
    [
      'promptsync replans a prompt if a different version becomes active before the write',
      activate('Theirs'),
      'applied: made made',
    ],
    ['promptsync replans a prompt if the desired text becomes active before the write', activate('Two'), 'unchanged:'],
    [
      'promptsync replans a prompt if someone adds a draft with the desired text before the write',
      (service: Backend) => service.addVersion('p1', { text: 'Two' }),
      'applied: made made',
    ],
    [
      'promptsync replans a prompt if someone renames it before the write',
      (service: Backend) => service.updatePrompt('p1', { name: 'Theirs' }),
      'applied: made made made',
    ],
  ])('%s', async (_title, changeService, outcome) => {
    const service = await startWithTextOne(start);
    const watched = changeBeforeWrite(1, () => changeService(service));
    const { outcomes, lines } = await sync(service, [two], watched);
    // If nothing is left to write, the new plan needs no second observation.
    const observations = outcome === 'unchanged:' ? 1 : 2;
    expect([watched.count, outcomes.map(formatOutcome)]).toStrictEqual([observations, [outcome]]);
    expect(service.serves('p1', 'staging')?.[1]).toBe('Two');
    expect(lines.filter((line) => line.startsWith('create')).length).toBeLessThanOrEqual(1);
    expect((await sync(service, [two])).lines).toStrictEqual([]);
  });

  test('A prompt fails without a write if it changes in the service twice before its first write', async () => {
    const service = await startWithTextOne(start);
    const watched = changeBeforeWrite(2, (time) => activateForeignVersion(service, `Theirs ${time}`));
    const { outcomes, lines } = await sync(service, [two], watched);
    expect(outcomes.map(formatOutcome)).toStrictEqual(['failed: not_made not_made apply/keeps-changing']);
    expect([watched.count, lines]).toStrictEqual([2, []]);
  });

  test('promptsync refuses a reviewed plan if a change in the service alters the plan', async () => {
    const service = await startWithTextOne(start);
    const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const guards = { expectedPlan: plan.digest };
    const change = changeBeforeWrite(1, () => activateForeignVersion(service, 'Theirs'));
    const refused = await sync(service, [two], { guards, ...change });
    expect(refused.outcomes.map(formatOutcome)).toStrictEqual(['blocked: not_made not_made guard/stale-plan']);
    // The new plan names the version that was active right before the write.
    expect(refused.outcomes[0]?.plan.changes.at(-1)).toMatchObject({ before: { id: 'ver_2', number: 2 } });
    const message = refused.outcomes[0]?.problems[0]?.message;
    expect(message).toMatch(/^The digest of this plan is sha256:[0-9a-f]{12}, but sha256:[0-9a-f]{12} was expected\./);
    expect(message).toContain(`, but ${shortenDigest(plan.digest)} was expected.`);
    expect(refused.lines).toStrictEqual([]);
    expect(service.serves('p1', 'staging')?.[1]).toBe('Theirs');
  });

  test('promptsync applies a reviewed plan if a change in the service does not alter the plan', async () => {
    const service = await startWithTextOne(start);
    const { plan } = await sync(service, [two], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const guards = { expectedPlan: plan.digest };
    const draft = changeBeforeWrite(1, () => service.addVersion('p1', { text: 'Draft' }));
    const { outcomes } = await sync(service, [two], { guards, ...draft });
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made made']);
  });

  test('promptsync applies a reviewed plan that pins a foreign version by its id', async () => {
    const service = await startWithTextOne(start);
    service.addVersion('p1', { text: 'Theirs', metadata: { model: 'x' } });
    const wanted = file({ text: 'One', pins: { ...staging, production: 'version:ver_2' } });
    const { plan } = await sync(service, [wanted], { guards: { maxChanges: { kind: 'count', count: 0 } } });
    const { outcomes } = await sync(service, [wanted], { guards: { expectedPlan: plan.digest } });
    expect(outcomes.map(formatOutcome)).toStrictEqual(['applied: made']);
    expect(service.serves('p1', 'production')?.[1]).toBe('Theirs');
  });

  test('promptsync applies the on_drift setting to drift that appears between the plan and the write', async () => {
    const service = await startWithTextOne(start);
    const compared = compareWithBase([{ text: 'One', pins: staging }]);
    const driftBeforeWrite = () => changeBeforeWrite(1, () => activateForeignVersion(service, 'Theirs'));
    const refused = await sync(service, [two], { ...compared, guards: { onDrift: 'fail' }, ...driftBeforeWrite() });
    expect(refused.outcomes.map(formatOutcome)).toStrictEqual(['blocked: not_made not_made guard/drift']);
    expect(refused.outcomes[0]?.problems).toMatchObject([{ path: 'prompts/a.md' }]);
    expect([refused.lines, service.serves('p1', 'staging')?.[1]]).toStrictEqual([[], 'Theirs']);
    const guards = { onDrift: 'overwrite' } as const;
    const overwritten = await sync(service, [two], { ...compared, guards, ...driftBeforeWrite() });
    expect(overwritten.outcomes.map(formatOutcome)).toStrictEqual(['applied: made made']);
    expect(overwritten.outcomes[0]?.plan.drift).toHaveLength(1);
  });
});

test.each([
  ['promptsync replans a prompt if an environment has lost its active version', null],
  ['promptsync replans a prompt if the id of an active version has changed', version(1, 'One', { id: 'ver_9' })],
  ['promptsync replans a prompt if the number of an active version has changed', version(9, 'One', { id: 'ver_1' })],
  ['promptsync replans a prompt if the text of an active version has changed', version(1, 'x')],
  [
    'promptsync replans a prompt if the metadata of an active version has changed',
    version(1, 'One', { metadata: { a: 2 } }),
  ],
])('%s', (_, active) => {
  const fingerprintOf = (production: LedgerVersion | null) =>
    observed({ active: { production }, prompt: { latestVersionId: 'ver_1' } }).fingerprint;
  expect(fingerprintOf(active)).not.toBe(fingerprintOf(version(1, 'One')));
});
