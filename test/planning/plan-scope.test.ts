import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Change, isNewVersionRef, isVisibleChange, type PromptPlan } from '../../src/domain/plan.ts';
import { computeChangeDigests } from '../../src/forges/approval.ts';
import {
  compareWithBase,
  content,
  entry,
  file,
  line,
  observed,
  planLines,
  planPrompt,
  rules,
  type FileParts,
  version,
} from './support.ts';
import { deepFreeze, type ObservedParts, type RulesParts } from './support.ts';

const ORDER = ['staging', 'qa', 'production'] as const;

/** Plans one prompt for a run that is limited to these environments. */
function planFor(
  selected: readonly string[],
  parts: FileParts,
  active: ObservedParts['active'] & object,
  given: RulesParts & Pick<ObservedParts, 'prompt'> = {},
): PromptPlan {
  const { prompt = {}, ...rest } = given;
  const environmentSelection = { selected, known: ORDER };
  const all = rules({ environmentOrder: ORDER, environmentSelection, ...rest });
  return planPrompt(file(parts), observed({ active, prompt }), all);
}

describe('a plan for some environments', () => {
  const two = { text: 'B', pins: { staging: 'latest', production: 'latest' } };
  const served = { staging: version(1, 'A'), production: version(1, 'A'), promptsync: version(1, 'A') };

  test('The plan activates a version only in the selected environments', () => {
    expect(planLines(planFor(['staging'], two, served))).toEqual(['create "B"', 'staging: v1 → new "B"']);
  });

  test('The plan does not create a version that only other environments use', () => {
    const pins = { staging: 1, production: 'latest' };
    expect(planLines(planFor(['staging'], { ...two, pins }, served))).toEqual([]);
    expect(planLines(planFor(['production'], { ...two, pins }, served))).toEqual([
      'create "B"',
      'production: v1 → new "B"',
    ]);
  });

  test('A text that no pin uses becomes a version only in a plan that includes the first environment', () => {
    const pins = { staging: 1, production: 1 };
    expect(planLines(planFor(['staging'], { ...two, pins }, served))).toEqual(['create "B"']);
    expect(planLines(planFor(['qa', 'production'], { ...two, pins }, served))).toEqual([]);
  });

  test('The plan creates a baseline only if it includes the first environment', () => {
    const foreign = version(1, 'A', { stampFor: null });
    const isBaseline = (change: Change): boolean => change.kind === 'create-version' && change.baseline === true;
    const pins = { staging: 1, production: 1 };
    const plan = (selected: readonly string[]) =>
      planFor(selected, { text: 'A', pins }, { staging: foreign, production: foreign, promptsync: null });
    expect(plan(['staging']).changes.map(isBaseline)).toEqual([true]);
    expect(plan(['production']).changes).toEqual([]);
  });

  test('The first environment gets a baseline if only a different environment creates a version in the first sync', () => {
    const [one, two] = [version(1, 'A', { stampFor: null }), version(2, 'B', { stampFor: null })];
    const pins = { staging: 2, production: 'latest' };
    const plan = (selected: readonly string[]) =>
      planFor(selected, { text: 'New', pins }, { staging: one, production: two, promptsync: null }).changes;
    expect(plan(['staging'])).toMatchObject([
      { kind: 'create-version', baseline: true },
      { kind: 'set-active', environment: 'staging' },
    ]);
    expect(plan(['production'])).toMatchObject([
      { kind: 'create-version', content: { text: 'New' } },
      { kind: 'set-active', environment: 'production' },
    ]);
  });

  test('If other configurations also use the file and no pin uses its text, no environment gets a baseline', () => {
    const [one, two] = [version(1, 'A', { stampFor: null }), version(2, 'B', { stampFor: null })];
    const parts = { text: 'New', pins: { staging: 2, production: 'git:v1' } };
    const active = { staging: one, production: two, promptsync: null };
    const listKinds = (more: FileParts): readonly string[] =>
      planFor(['staging'], { ...parts, ...more }, active, { refs: { v1: content('Old') } }).changes.map(
        ({ kind }) => kind,
      );
    expect(listKinds({})).toEqual(['create-version', 'set-active']);
    expect(listKinds({ otherPins: [] })).toEqual(['set-active']);
  });

  test('For the version record, the plan keeps the versions that the pins of other environments refer to', () => {
    const active = { ...served, promptsync: version(3, 'C', { ledger: [entry(1, 'A'), entry(2, 'B')] }) };
    const plan = planFor(['staging'], { text: 'New', pins: { staging: 'latest', production: 2 } }, active);
    expect(plan.pinnedVersions).toEqual([{ id: 'ver_2', number: 2 }]);
  });

  test('A plan that creates a version also looks up the versions that are pinned in other environments', () => {
    const findPins = (selected: string, text: string, pins: FileParts['pins'] & object) => {
      const wanted = { text, pins: { ...pins, production: 'version:theirs' } };
      return planFor([selected], wanted, served, { prompt: { latestVersionId: 'theirs' } }).pinsToFind;
    };
    expect(findPins('staging', 'New', { staging: 'latest' })).toEqual([{ kind: 'version', id: 'theirs' }]);
    expect(findPins('qa', 'A', { qa: 1 })).toEqual([]);
  });

  test.each<[string, FileParts['pins'] & object, string]>([
    [
      'The plan for the last environment that the file pins includes the name change',
      { staging: 'latest', qa: 'latest' },
      'qa',
    ],
    [
      'The plan for the last pinned environment in promotion order includes the name change, whatever the order in the file',
      { production: 'latest', staging: 'latest' },
      'production',
    ],
    ['If a file has no pins, the plan for the last configured environment applies a changed name', {}, 'production'],
  ])('%s', (_, pins, owner) => {
    const active = Object.fromEntries(['promptsync', ...Object.keys(pins)].map((name) => [name, version(1, 'A')]));
    const renaming = ORDER.filter((environment) => {
      const { changes } = planFor([environment], { text: 'A', name: 'Renamed', pins }, active);
      return changes.some(({ kind }) => kind === 'update-prompt');
    });
    expect(renaming).toEqual([owner]);
  });

  test('The plan reports neither the problems nor the refusals of pins in other environments', () => {
    const pins = { staging: 'latest', production: 99 };
    const active = { ...served, staging: version(1, 'A') };
    expect(planLines(planFor(['staging'], { ...two, pins }, active))).toEqual(['create "B"', 'staging: v1 → new "B"']);
    expect(planLines(planFor(['production'], { ...two, pins }, active))).toEqual(['blocked: pin/unknown-number']);
  });

  test('The plan checks a promotion against the source environment, even if the run does not include that environment', () => {
    const pins = { staging: 'latest', production: 'latest' };
    const given = {
      promotionSources: new Map([['production', 'staging']]),
      history: {
        line: line([
          { text: 'B', pins },
          { text: 'A', pins: { staging: 'latest' } },
        ]),
      },
    };
    const plan = planFor(['production'], { text: 'B', pins }, served, given);
    expect(plan.problems.map(({ code }) => code)).toEqual(['guard/promotion-order']);
    expect(planFor(['staging'], { text: 'B', pins }, served, given).problems).toEqual([]);
  });

  test('The plan reports drift only in the selected environments', () => {
    const pins = { staging: 'latest', production: 'latest' };
    const given = compareWithBase([{ text: 'A', pins }]);
    const drifted = { staging: version(3, 'X', { stampFor: null }), production: version(3, 'X', { stampFor: null }) };
    const known = version(2, 'A', { ledger: [] });
    const plan = planFor(['staging'], { text: 'A', pins }, { ...drifted, promptsync: known }, given);
    expect(plan.drift).toMatchObject([{ subject: 'environment', environment: 'staging' }]);
  });
});

describe('plans for single environments and for all environments', () => {
  const texts = fc.constantFrom('A', 'B', 'C');
  const pins = fc.dictionary(
    fc.constantFrom(...ORDER),
    fc.oneof(
      fc.constantFrom<string | number>('latest', 'git:v1', 'git:v2', 'version:ver_2'),
      fc.integer({ min: 1, max: 4 }),
    ),
    { noNullPrototype: true },
  );
  const numbers = fc.option(fc.integer({ min: 1, max: 3 }));
  const prompts = fc
    .record({
      history: fc.array(fc.record({ text: texts, isManaged: fc.boolean() }), { minLength: 3, maxLength: 3 }),
      active: fc.record({ staging: numbers, qa: numbers, production: numbers, promptsync: numbers }),
      pins,
      text: texts,
      name: fc.constantFrom('First', 'New'),
    })
    .map(({ history, active, ...rest }) => {
      const versions = history.map(({ text, isManaged }, index) =>
        version(index + 1, text, isManaged ? {} : { stampFor: null }),
      );
      const shown = Object.entries(active).map(
        ([name, number]) => [name, versions[(number ?? 0) - 1] ?? null] as const,
      );
      return { ...rest, active: Object.fromEntries(shown) };
    });
  const refs = { v1: content('A'), v2: content('D') };

  test('The plans for the individual environments add up to exactly the changes of the full plan, with the same digests', () => {
    fc.assert(
      fc.property(prompts, ({ active, ...parts }) => {
        const input = deepFreeze([file(parts), observed({ active })] as const);
        const whole = planPrompt(...input, rules({ refs, environmentOrder: ORDER }));
        const plans = ORDER.map((environment) =>
          planPrompt(
            ...input,
            rules({ refs, environmentOrder: ORDER, environmentSelection: { selected: [environment], known: ORDER } }),
          ),
        );
        // The first environment may need a baseline of its own, and no digest covers baselines.
        const changes = plans.flatMap((plan) => plan.changes).filter(isVisibleChange);
        expect(new Set(changes.map(describeForSet))).toEqual(
          new Set(whole.changes.filter(isVisibleChange).map(describeForSet)),
        );
        const others = changes.filter(({ kind }) => kind !== 'create-version');
        expect(others).toHaveLength(whole.changes.filter(({ kind }) => kind !== 'create-version').length);
        expect(new Set(plans.flatMap(computeChangeDigests))).toEqual(new Set(computeChangeDigests(whole)));
        for (const plan of plans) expectCreatesBeforeUses(plan);
      }),
    );
  });

  test('Naming every environment gives the same plan as naming none', () => {
    fc.assert(
      fc.property(prompts, ({ active, ...parts }) => {
        const input = [file(parts), observed({ active })] as const;
        const environmentSelection = { selected: ORDER, known: ORDER };
        expect(planPrompt(...input, rules({ refs, environmentOrder: ORDER, environmentSelection }))).toStrictEqual(
          planPrompt(...input, rules({ refs, environmentOrder: ORDER })),
        );
      }),
    );
  });
});

function describeForSet(change: Change): string {
  return JSON.stringify(change);
}

/** Expects that each activation of a new version follows the change that creates the version. */
function expectCreatesBeforeUses({ changes }: PromptPlan): void {
  for (const [index, change] of changes.entries()) {
    if (change.kind !== 'set-active' || !isNewVersionRef(change.after)) continue;
    const { digest } = change.after.newContent;
    const created = changes.slice(0, index).filter(({ kind }) => kind === 'create-version');
    expect(created.some((one) => one.kind === 'create-version' && one.content.digest === digest)).toBe(true);
  }
}
