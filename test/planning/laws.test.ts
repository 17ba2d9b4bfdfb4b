import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Content } from '../../src/domain/content.ts';
import { type Change, isNewVersionRef, isVisibleChange, type PromptPlan } from '../../src/domain/plan.ts';
import { computeChangeDigests } from '../../src/forges/approval.ts';
import type { LedgerEntry, LedgerVersion } from '../../src/providers/four-call/version-record.ts';
import {
  content,
  deepFreeze,
  entry,
  file,
  makePlan,
  observation,
  observed,
  planPrompt,
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

/** One prompt with its fields and pins, and refs for all its `git:` pins. */
const singles = inputs.map(({ files, found, given }) => {
  const [wanted] = files;
  return deepFreeze({ wanted: wanted!, seen: found.observed.get(wanted!.id)!, given });
});

test('The plan creates each new version before it activates it, and never creates the same content twice', () => {
  fc.assert(
    fc.property(singles, ({ wanted, seen, given }) => {
      expect(createsBeforeUse(planPrompt(wanted, seen, given))).toBe(true);
    }),
  );
});

test('The plans for the individual environments add up to exactly the changes of the full plan, with the same digests', () => {
  fc.assert(
    fc.property(singles, ({ wanted, seen, given }) => {
      const whole = planPrompt(wanted, seen, given);
      const plans = environments.map((name) =>
        planPrompt(wanted, seen, { ...given, environmentSelection: { selected: [name], known: environments } }),
      );
      // The first environment may need a baseline of its own, and no digest covers baselines.
      const changes = plans.flatMap((plan) => plan.changes).filter(isVisibleChange);
      const setOf = (all: readonly Change[]) => new Set(all.map((change) => JSON.stringify(change)));
      expect(setOf(changes)).toEqual(setOf(whole.changes.filter(isVisibleChange)));
      const others = changes.filter(({ kind }) => kind !== 'create-version');
      expect(others).toHaveLength(whole.changes.filter(({ kind }) => kind !== 'create-version').length);
      expect(new Set(plans.flatMap(computeChangeDigests))).toEqual(new Set(computeChangeDigests(whole)));
      expect(plans.every(createsBeforeUse)).toBe(true);
    }),
  );
});

test('Naming every environment gives the same plan as naming none', () => {
  fc.assert(
    fc.property(singles, ({ wanted, seen, given }) => {
      const environmentSelection = { selected: environments, known: environments };
      expect(planPrompt(wanted, seen, { ...given, environmentSelection })).toStrictEqual(
        planPrompt(wanted, seen, given),
      );
    }),
  );
});

/** Returns whether each activation of a new version follows the change that creates it, and no content is created twice. */
function createsBeforeUse({ changes }: PromptPlan): boolean {
  const made: Content[] = [];
  for (const change of changes) {
    if (change.kind === 'create-version') made.push(change.content);
    if (change.kind !== 'set-active' || !isNewVersionRef(change.after)) continue;
    const { digest, metadataDigest } = change.after.newContent;
    const fits = (one: Content) => metadataDigest === undefined || one.metadataDigest === metadataDigest;
    if (!made.some((one) => one.digest === digest && fits(one))) return false;
  }
  return new Set(made.map((one) => `${one.digest} ${one.metadataDigest ?? ''}`)).size === made.length;
}
