import { describe, expect, test } from 'vitest';
import type { PromptPlan } from '../../src/domain/plan.ts';
import {
  compareWithBase,
  content,
  file,
  type FileParts,
  line,
  observed,
  parseFile,
  parseService,
  planLines,
  planPrompt,
  rules,
  type RulesParts,
} from './support.ts';

const ORDER = ['staging', 'qa', 'production'] as const;

/** Plans one prompt, `FILE | SERVICE` in the notation of `support.ts`, for a run that is limited to these environments. */
function planFor(
  selected: readonly string[] | string,
  row: string,
  given: RulesParts = {},
  more: FileParts = {},
): PromptPlan {
  const [words = '', service = ''] = row.split(' | ');
  const environmentSelection = { selected: [selected].flat(), known: ORDER };
  const all = rules({ environmentOrder: ORDER, environmentSelection, ...given });
  return planPrompt(file({ ...parseFile(words), ...more }), observed(parseService(service)), all);
}

describe('a plan for some environments', () => {
  const SERVED = 'staging=1:A production=1:A promptsync=1:A';

  /** Rows `title: ['FILE | SERVICE', plan by environments]`. */
  test.each<[string, string, Readonly<Record<string, readonly string[]>>]>([
    [
      'The plan activates a version only in the selected environments',
      `B staging=latest production=latest | ${SERVED}`,
      { staging: ['create "B"', 'staging: v1 → new "B"'] },
    ],
    [
      'The plan does not create a version that only other environments use',
      `B staging=1 production=latest | ${SERVED}`,
      { staging: [], production: ['create "B"', 'production: v1 → new "B"'] },
    ],
    [
      'A text that no pin uses becomes a version only in a plan that includes the first environment',
      `B staging=1 production=1 | ${SERVED}`,
      { staging: ['create "B"'], 'qa production': [] },
    ],
    [
      'The plan reports neither the problems nor the refusals of pins in other environments',
      `B staging=latest production=99 | ${SERVED}`,
      { staging: ['create "B"', 'staging: v1 → new "B"'], production: ['blocked: pin/unknown-number'] },
    ],
  ])('%s', (_, row, expected) => {
    const planned = Object.keys(expected).map((names) => [names, planLines(planFor(names.split(' '), row))]);
    expect(Object.fromEntries(planned)).toEqual(expected);
  });

  const listKinds = ({ changes }: PromptPlan) =>
    changes.map((change) => (change.kind === 'create-version' && change.baseline ? 'baseline' : change.kind));

  test('The plan creates a baseline only if it includes the first environment', () => {
    const row = 'A staging=1 production=1 | staging=~1:A production=~1:A promptsync=-';
    expect(listKinds(planFor('staging', row))).toEqual(['baseline']);
    expect(listKinds(planFor('production', row))).toEqual([]);
  });

  test('The first environment gets a baseline if only a different environment creates a version in the first sync', () => {
    const row = 'New staging=2 production=latest | staging=~1:A production=~2:B promptsync=-';
    expect(listKinds(planFor('staging', row))).toEqual(['baseline', 'set-active']);
    expect(planFor('production', row).changes).toMatchObject([
      { kind: 'create-version', content: { text: 'New' } },
      { kind: 'set-active', environment: 'production' },
    ]);
  });

  test('The plan creates no baseline if one of several environments gets a new version', () => {
    const row = 'A staging=1 production=git:v1 | staging=~1:A production=~2:B promptsync=-';
    const plan = planFor(['staging', 'production'], row, { refs: { v1: content('Old') } });
    expect(listKinds(plan)).toEqual(['create-version', 'set-active']);
  });

  test('If other configurations also use the file and no pin uses its text, no environment gets a baseline', () => {
    const row = 'New staging=2 production=git:v1 | staging=~1:A production=~2:B promptsync=-';
    const refs = { v1: content('Old') };
    expect(planFor('staging', row, { refs }).changes.map(({ kind }) => kind)).toEqual(['create-version', 'set-active']);
    expect(listKinds(planFor('staging', row, { refs }, { otherPins: [] }))).toEqual(['set-active']);
  });

  test('For the version record, the plan keeps the versions that the pins of other environments refer to', () => {
    const row = 'New staging=latest production=2 | staging=1:A production=1:A promptsync=3:C(1:A,2:B)';
    expect(planFor('staging', row).pinnedVersions).toEqual([{ id: 'ver_2', number: 2 }]);
  });

  test('A plan that creates a version also looks up the versions that are pinned in other environments', () => {
    const findPins = (selected: string, words: string) =>
      planFor(selected, `${words} production=version:theirs | ${SERVED} latest=theirs`).pinsToFind;
    expect(findPins('staging', 'New staging=latest')).toEqual([{ kind: 'version', id: 'theirs' }]);
    expect(findPins('qa', 'A qa=1')).toEqual([]);
  });

  /** Rows `title: 'PINS | environment whose plan changes the name'`. */
  const owners = {
    'The plan changes the name of a prompt only with the last environment that the file pins':
      'staging=latest qa=latest | qa',
    'The plan changes the name of a prompt only with the last pinned environment in promotion order, not in the file':
      'production=latest staging=latest | production',
    'The plan changes the name of a prompt only with the last configured environment if a file has no pins':
      ' | production',
  };
  test.each(Object.entries(owners))('%s', (_, row) => {
    const [pins = '', owner] = row.split(' | ');
    const words = `A name=Renamed ${pins} | promptsync=1:A ${pins.replaceAll('latest', '1:A')}`;
    const renaming = ORDER.filter((environment) => listKinds(planFor(environment, words)).includes('update-prompt'));
    expect(renaming).toEqual([owner]);
  });

  test('The plan checks a promotion against the source environment, even if the run does not include that environment', () => {
    const row = `B staging=latest production=latest | ${SERVED}`;
    const states = ['B staging=latest production=latest', 'A staging=latest'].map(parseFile);
    const given = { promotionSources: new Map([['production', 'staging']]), history: { line: line(states) } };
    expect(planFor('production', row, given).problems.map(({ code }) => code)).toEqual(['guard/promotion-order']);
    expect(planFor('staging', row, given).problems).toEqual([]);
  });

  test('The plan reports drift only in the selected environments', () => {
    const words = 'A staging=latest production=latest';
    const row = `${words} | staging=~3:X production=~3:X promptsync=2:A`;
    const { drift } = planFor('staging', row, compareWithBase([parseFile(words)]));
    expect(drift).toMatchObject([{ subject: 'environment', environment: 'staging' }]);
  });
});
