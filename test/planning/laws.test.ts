import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerEntry, LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  makePlan,
  observation,
  observed,
  rules,
  version,
  type WrittenPins,
} from './support.ts';

const texts = fc.constantFrom('A', 'B', 'C');
const metadatas = fc.constantFrom(undefined, {}, { model: 'x' });
const stamps = fc.constantFrom('own', 'none', 'copied');
const numbers = fc.integer({ min: 1, max: 5 });

/** One history for each prompt, so that version n is the same in all environments. */
const histories = fc.array(fc.record({ text: texts, metadata: metadatas, stamp: stamps }), {
  minLength: 5,
  maxLength: 5,
});
const pins = fc.oneof(
  fc.constantFrom<string | number>('latest', 'git:v1', 'git:v2', 'git:gone', 'version:ver_2', 'version:theirs'),
  numbers,
);
const environments = ['staging', 'qa', 'production'] as const;

type WrittenVersion = { readonly text: string; readonly metadata: object | undefined; readonly stamp: string };

function partsOf({ text, metadata, stamp }: WrittenVersion, ledger: readonly LedgerEntry[]) {
  const stampFor = { own: text, none: null, copied: 'another text' }[stamp] ?? null;
  return { metadata: { ...metadata }, stampFor, ledger };
}

/** Returns a version whose ledger names all earlier versions, as promptsync creates it. */
function versionAt(history: readonly WrittenVersion[], number: number): LedgerVersion {
  const before = history.slice(0, number - 1).map((made, index) => entry(index + 1, made.text, partsOf(made, [])));
  const made = history[number - 1];
  if (made === undefined) throw new Error('no such version');
  return version(number, made.text, partsOf(made, before));
}

const prompts = fc
  .record({
    history: histories,
    active: fc.record({ staging: fc.option(numbers), qa: fc.option(numbers), production: fc.option(numbers) }),
    tracked: fc.option(numbers),
    pins: fc.dictionary(fc.constantFrom(...environments), pins, { noNullPrototype: true }),
    text: texts,
    metadata: metadatas,
    name: fc.constantFrom('First', 'New'),
    latest: fc.constantFrom('ver_5', 'ver_99', null),
  })
  .map(({ history, active, tracked, ...rest }) => {
    const shown = Object.fromEntries(
      Object.entries({ ...active, promptsync: tracked }).map(([environment, number]) => [
        environment,
        number === null ? null : versionAt(history, number),
      ]),
    );
    return { ...rest, active: shown };
  });

const inputs = fc.array(prompts, { minLength: 1, maxLength: 4 }).map((all) => {
  const files = all.map(({ text, metadata, name, pins: written }, index) => ({
    ...file({ text, name, pins: written satisfies WrittenPins, ...(metadata !== undefined && { metadata }) }),
    id: `p${index + 1}`,
    path: `prompts/${9 - index}.md`,
  }));
  const found = all.map(({ active, latest }, index) =>
    observed({ active, prompt: { id: `p${index + 1}`, latestVersionId: latest } }),
  );
  const order = [...environments];
  const refs = { v1: content('A'), v2: content('B', { model: 'x' }) };
  return deepFreeze({ files, found: observation(...found), given: rules({ refs, environmentOrder: order }) });
});

describe('makePlan', () => {
  test('The plan does not depend on the order of files, prompts, or environments', () => {
    const shuffled = inputs.chain((input) =>
      fc.record({
        input: fc.constant(input),
        files: fc.shuffledSubarray([...input.files], { minLength: input.files.length }),
        observed: fc
          .shuffledSubarray([...input.found.observed], { minLength: input.files.length })
          .map((entries) => new Map(entries)),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ input, files, observed }) => {
        const { found, given } = input;
        const turned = files.map((one) => ({ ...one, pins: one.pins.toReversed() }));
        const [plan, other] = [makePlan(input.files, found, given), makePlan(turned, { ...found, observed }, given)];
        expect(other.digest).toBe(plan.digest);
        expect(other.prompts.map(({ changes, status, file: { path } }) => [path, status, changes])).toStrictEqual(
          plan.prompts.map(({ changes, status, file: { path } }) => [path, status, changes]),
        );
      }),
    );
  });

  test('The plan changes only pinned environments, each at most once and always to a different version', () => {
    fc.assert(
      fc.property(inputs, ({ files, found, given }) => {
        for (const { file: wanted, observed: seen, changes } of makePlan(files, found, given).prompts) {
          const set = changes.flatMap((change) => (change.kind === 'set-active' ? [change] : []));
          const pinned = wanted.pins.map(({ environment }) => environment);
          expect(new Set(set.map(({ environment }) => environment)).size).toBe(set.length);
          for (const { environment, before, after } of set) {
            expect(pinned).toContain(environment);
            expect(before?.id ?? null).toBe(seen?.active.get(environment)?.id ?? null);
            expect('id' in after ? after.id : null).not.toBe(before?.id);
          }
        }
      }),
    );
  });

  test('The plan creates every new version that it activates and never creates the same content twice', () => {
    fc.assert(
      fc.property(inputs, ({ files, found, given }) => {
        for (const { changes } of makePlan(files, found, given).prompts) {
          const made = changes.flatMap((change) => (change.kind === 'create-version' ? [change.content] : []));
          expect(new Set(made.map((one) => `${one.digest} ${one.metadataDigest ?? ''}`)).size).toBe(made.length);
          for (const change of changes) {
            if (change.kind !== 'set-active' || !('newContent' in change.after)) continue;
            const { digest, metadataDigest } = change.after.newContent;
            const serving = made.filter((one) => one.digest === digest);
            expect(serving.some((one) => metadataDigest === undefined || one.metadataDigest === metadataDigest)).toBe(
              true,
            );
          }
        }
      }),
    );
  });
});
