import { describe, expect, test } from 'vitest';
import { type Drift, isNewVersionRef, type WantedVersionRef } from '../../src/domain/plan.ts';
import type { LedgerVersion } from '../../src/ledger/version-record.ts';
import { guardPlan } from '../../src/planning/guard-plan.ts';
import {
  compareWithBase,
  deepFreeze,
  entry,
  file,
  type FileParts,
  line,
  makePlan,
  MOVING_REF,
  observation,
  observed,
  type ObservedParts,
  outside,
  planPrompt,
  rules,
  type StateParts,
  version,
} from './support.ts';

const ONE = version(1, 'One');
const TWO = version(2, 'Two', { ledger: [entry(1, 'One')] });
const THEIRS = outside(3, 'Theirs');
const LATEST = { staging: 'latest' };
const BOTH = { staging: 'latest', production: 'latest' };

/** A prompt in the service, and the states of its file. */
type Scene = {
  readonly seen: ObservedParts;
  /** The states of the base's line, newest first. By default, staging is pinned to `latest`. */
  readonly states: readonly StateParts[];
  /** The planned file, if it is not that of the base. Unless `headStates` says otherwise, no state of the line has it. */
  readonly head?: FileParts;
  readonly compared?: Parameters<typeof compareWithBase>[1];
};

/** Plans the prompt and returns its drift and its notes, such as `outside staging: ver_3 instead of ver_1`. */
function describeDrift(scene: Scene): readonly string[] {
  const { drift, annotations } = planScene(scene);
  const notes = annotations.map((annotation) => {
    const subject = annotation.subject === 'field' ? annotation.field : annotation.environment;
    const { note } = annotation;
    return note.kind === 'behind' ? `${subject} is behind` : `${subject} wanted since ${note.commit}`;
  });
  return [...drift.map(formatDrift), ...notes];
}

function planScene({ seen, states, head = states[0] ?? {}, compared }: Scene) {
  const pinned = states.map((state) => ({ pins: LATEST, ...state }));
  const given = rules(compareWithBase(pinned, compared));
  return planPrompt(...deepFreeze([file({ pins: LATEST, ...head }), observed(seen), given] as const));
}

function formatDrift(drift: Drift): string {
  const { kind, observed: current } = drift;
  if (drift.subject === 'field') return `${kind} ${drift.field}: "${drift.observed}" instead of "${drift.expected}"`;
  const served = typeof current === 'object' ? (current?.id ?? 'nothing') : current;
  return `${kind} ${drift.environment}: ${served} instead of ${formatWanted(drift.expected)}`;
}

function formatWanted(wanted: WantedVersionRef): string {
  if (isNewVersionRef(wanted)) return `new "${wanted.newContent.text}"`;
  return wanted.id ?? `unknown v${wanted.number}`;
}

const serves = (staging: LedgerVersion | null, tracked = ONE): ObservedParts => ({
  active: { staging, promptsync: tracked },
});
const named = (name: string, parts: Partial<ObservedParts['prompt']> = {}): ObservedParts => ({
  ...serves(ONE),
  prompt: { name, ...parts },
});

describe('the evidence about an environment', () => {
  test.each<[title: string, scene: Scene, expected: readonly string[]]>([
    [
      'The plan shows a hot fix as drift from outside right after an import of labels that are on one version',
      { seen: { active: { staging: ONE, production: THEIRS } }, states: [{ text: 'One', pins: BOTH }] },
      ['outside production: ver_3 instead of ver_1'],
    ],
    [
      'The plan shows a version that no state wants as drift from outside, even if the head changes the text',
      { seen: serves(THEIRS), states: [{ text: 'One' }], head: { text: 'Two' } },
      ['outside staging: ver_3 instead of ver_1'],
    ],
    [
      'A state that wants the version in another environment does not explain it',
      {
        seen: { active: { staging: ONE, production: TWO } },
        states: [
          { text: 'One', pins: { ...LATEST, production: 1 } },
          { text: 'Two', pins: { ...LATEST, production: 1 } },
        ],
      },
      ['outside production: ver_2 instead of ver_1'],
    ],
    [
      'An older state that wants the served text makes the change unfinished, and a note names the commit that replaced it',
      { seen: serves(ONE), states: [{ text: 'Two' }, { text: 'Two', name: 'Old' }, { text: 'One' }] },
      ['staging wanted since c1'],
    ],
    [
      'An older state explains the served version by its number or by its id',
      {
        seen: { active: { staging: THEIRS, production: TWO, promptsync: TWO } },
        states: [{ pins: { staging: 1, production: 1 } }, { pins: { staging: 3, production: 'version:ver_2' } }],
      },
      ['staging wanted since c0', 'production wanted since c0'],
    ],
    [
      'The first want of an environment that serves an older version is a plain change without a note',
      {
        seen: { active: { staging: TWO, production: ONE } },
        states: [{ text: 'Two', pins: BOTH }, { text: 'Two' }],
      },
      [],
    ],
    [
      'The first want is a plain change if the wanted version does not exist yet',
      { seen: serves(THEIRS), states: [{ text: 'New' }] },
      [],
    ],
    [
      'The first want of an environment that serves a newer version is drift',
      { seen: serves(THEIRS), states: [{ text: 'One' }] },
      ['outside staging: ver_3 instead of ver_1'],
    ],
    [
      'A want is not the first one if an earlier state pinned the environment to something else',
      { seen: serves(outside(1, 'Theirs')), states: [{ text: 'New' }, { text: 'Old' }] },
      ['outside staging: ver_1 instead of new "New"'],
    ],
    [
      'A want is not the first one if an earlier state pinned the environment to a ref that moves',
      {
        seen: serves(outside(1, 'Theirs')),
        states: [{ text: 'New' }, { text: 'Old', pins: { staging: `git:${MOVING_REF}` } }],
      },
      ['outside staging: ver_1 instead of new "New"'],
    ],
    [
      'An environment without an active version is unfinished',
      { seen: serves(null), states: [{ text: 'One' }] },
      ['staging wanted since c0'],
    ],
    [
      'A state that only the head has explains the version that it made live',
      {
        seen: serves(TWO),
        states: [{ text: 'One' }],
        head: { text: 'Three' },
        compared: { headStates: line([{ text: 'Two', pins: LATEST }]).states },
      },
      [],
    ],
    [
      'A state that only the tip of the live branch has adds the note that the branch is behind',
      {
        seen: serves(TWO),
        states: [{ text: 'One' }],
        compared: { tipStates: line([{ text: 'Two', pins: LATEST }]).states },
      },
      ['staging is behind'],
    ],
    [
      'A pin to a moving ref is neither drift nor a change with a note',
      {
        seen: serves(THEIRS),
        states: [{ text: 'New', pins: { staging: `git:${MOVING_REF}` } }],
        head: { text: 'New' },
      },
      [],
    ],
    [
      'In a shallow clone, a version that no known state wants is unfinished',
      { seen: serves(THEIRS), states: [{ text: 'One' }], compared: { isShallow: true } },
      ['staging wanted since c0'],
    ],
    [
      'The plan shows nothing about an environment that serves what the base wants',
      { seen: serves(ONE), states: [{ text: 'One' }] },
      [],
    ],
    [
      'The plan shows nothing about an environment that serves what the head wants',
      { seen: serves(THEIRS), states: [{ text: 'One' }], head: { text: 'Theirs' } },
      [],
    ],
    [
      'The plan shows nothing about an environment that only the head pins',
      {
        seen: { active: { staging: ONE, production: THEIRS } },
        states: [{ text: 'One' }],
        head: { text: 'One', pins: BOTH },
      },
      [],
    ],
    [
      'The plan shows nothing about an environment that the head no longer pins',
      {
        seen: { active: { staging: ONE, production: THEIRS } },
        states: [{ text: 'One', pins: BOTH }],
        head: { text: 'One' },
      },
      [],
    ],
    [
      'A version that no state wants is drift from outside, even if promptsync does not know the version number at the base',
      { seen: serves(THEIRS), states: [{ text: 'One', pins: { staging: 9 } }, { text: 'One' }], head: { text: 'One' } },
      ['outside staging: ver_3 instead of unknown v9'],
    ],
    [
      'The first pin to a version number that promptsync does not know is a plain change if the number is higher',
      { seen: serves(THEIRS), states: [{ text: 'One', pins: { staging: 9 } }] },
      [],
    ],
  ])('%s', (_, scene, expected) => {
    expect(describeDrift(scene)).toStrictEqual(expected);
  });
});

describe('the evidence about a field', () => {
  test.each<[title: string, scene: Scene, expected: readonly string[]]>([
    [
      'The plan shows a name that no state has as drift from outside',
      { seen: named('Theirs'), states: [{ text: 'One' }, { text: 'One', name: 'Old' }] },
      ['outside name: "Theirs" instead of "First"'],
    ],
    [
      'An older state that has the name makes the change unfinished, and a note names the commit that replaced it',
      {
        seen: named('Oldest'),
        states: [{ text: 'One' }, { text: 'Zero' }, { text: 'One', name: 'Old' }, { text: 'One', name: 'Oldest' }],
      },
      ['name wanted since c1'],
    ],
    [
      'A description that a commit adds to the file is a plain change',
      {
        seen: named('First', { description: 'Theirs' }),
        states: [{ text: 'One', description: 'Ours' }, { text: 'One' }],
      },
      [],
    ],
    [
      'A description that the first state has is drift if the service has another one',
      { seen: named('First', { description: 'Theirs' }), states: [{ text: 'One', description: 'Ours' }] },
      ['outside description: "Theirs" instead of "Ours"'],
    ],
    [
      'A changed field is a plain change if promptsync has created no version of the prompt',
      { seen: { active: { staging: outside(1, 'One') }, prompt: { name: 'Theirs' } }, states: [{ text: 'One' }] },
      [],
    ],
    [
      'A state that only the head has explains a field',
      {
        seen: named('Newer'),
        states: [{ text: 'One' }],
        head: { text: 'One', name: 'Newest' },
        compared: { headStates: line([{ text: 'One', name: 'Newer' }]).states },
      },
      [],
    ],
    [
      'A field that only the tip of the live branch has adds the note that the branch is behind',
      { seen: named('Newer'), states: [{ text: 'One' }], compared: { tipStates: line([{ name: 'Newer' }]).states } },
      ['name is behind'],
    ],
    [
      'The plan shows nothing about a field that only the head changes',
      { seen: named('First'), states: [{ text: 'One' }], head: { text: 'One', name: 'Newer' } },
      [],
    ],
    [
      'The plan shows nothing about a field that the base does not have',
      {
        seen: named('First', { description: 'Theirs' }),
        states: [{ text: 'One' }],
        head: { text: 'One', description: 'Ours' },
      },
      [],
    ],
  ])('%s', (_, scene, expected) => {
    expect(describeDrift(scene)).toStrictEqual(expected);
  });
});

describe('the times of versions', () => {
  const COMMITTED = 1_000;
  const TIMES = { createdAt: 0, updatedAt: (COMMITTED + 5) * 1000 };

  /** Plans a prompt with three versions that existed before the commits and were touched after them. */
  function planTouched(active: Readonly<Record<string, number>>, states: readonly StateParts[], isCut = false) {
    const versions = [1, 2, 3].map((number) => version(number, `Text ${number}`));
    const served = Object.entries(active).map(([name, number]) => [name, versions[number - 1]!] as const);
    const seen = observed({ active: Object.fromEntries(served), others: versions });
    const touched = {
      ...seen,
      active: new Map([...seen.active].map(([name, one]) => [name, one && { ...one, times: TIMES }] as const)),
      known: seen.known.map((one) => ({ ...one, times: TIMES })),
    };
    const timed = states.map((state) => ({ ...state, time: COMMITTED }));
    const given = compareWithBase(timed, { line: line(timed, { isCut }) });
    return planPrompt(file(states[0]), touched, rules(given)).drift;
  }

  const both = (staging: number, production: number) => ({ pins: { staging, production } });
  const moved = { kind: 'outside', environment: 'production' };

  test('A label that was moved back to the version that an older state wants is drift from outside', () => {
    const states = [{ pins: { production: 3 } }, { pins: { production: 2 } }];
    expect(planTouched({ production: 2 }, states)).toMatchObject([{ ...moved, isMovedBack: true }]);
  });

  test('A label that was moved to a newer version was not moved back', () => {
    const [drift] = planTouched({ production: 3 }, [{ pins: { production: 2 } }, { pins: { production: 3 } }]);
    expect(drift).toMatchObject(moved);
    expect(drift).not.toHaveProperty('isMovedBack');
  });

  test('Another label hides a move only if its run begins at the same commit', () => {
    const active = { staging: 3, production: 2 };
    expect(planTouched(active, [both(3, 3), both(2, 2)])).toStrictEqual([]);
    expect(planTouched(active, [both(3, 3), both(3, 2)])).toMatchObject([moved]);
  });

  test('Another label does not hide a move if it is not where it is wanted', () => {
    const drift = planTouched({ staging: 2, production: 2 }, [both(3, 3), both(1, 2)]);
    expect(drift).toMatchObject([{ environment: 'staging' }, moved]);
  });

  test('The times are no evidence if the run may have begun before the oldest known state', () => {
    const states = [{ pins: { production: 3 } }];
    expect(planTouched({ production: 2 }, states)).toMatchObject([{ ...moved, isMovedBack: true }]);
    expect(planTouched({ production: 2 }, states, true)[0]).not.toHaveProperty('isMovedBack');
  });
});

describe('the result', () => {
  const replaced: Scene = { seen: serves(ONE), states: [{ text: 'Two' }, { text: 'One' }] };

  test('With an explicit base, an unfinished sync is drift and has a note', () => {
    const scene = { ...replaced, compared: { isDefault: false } };
    expect(describeDrift(scene)).toStrictEqual([
      'unfinished staging: ver_1 instead of new "Two"',
      'staging wanted since c0',
    ]);
  });

  test('With an explicit base, a first want is not drift either', () => {
    const states = [{ text: 'New' }];
    expect(describeDrift({ seen: serves(ONE), states, compared: { isDefault: false } })).toStrictEqual([]);
  });

  test('A change has no note if the head wants something else than the base', () => {
    expect(describeDrift({ ...replaced, head: { text: 'Three' } })).toStrictEqual([]);
  });

  test('A change has no note if the run may have begun before the oldest known state', () => {
    const states = [{ text: 'Two' }];
    const isNoted = (isCut: boolean) =>
      describeDrift({
        seen: serves(null),
        states,
        compared: { line: line([{ text: 'Two', pins: LATEST }], { isCut }) },
      });
    expect([isNoted(false), isNoted(true)]).toStrictEqual([['staging wanted since c0'], []]);
  });

  test('The note says whether the tip of the live branch contains the commit', () => {
    const isMerged = (unmerged: readonly string[]) =>
      planScene({ ...replaced, compared: { unmergedCommits: new Set(unmerged) } }).annotations.map(({ note }) => note);
    expect(isMerged([])).toMatchObject([{ commit: 'c0', time: 1_785_196_800, isMerged: true }]);
    expect(isMerged(['c0'])).toMatchObject([{ commit: 'c0', isMerged: false }]);
  });

  test.each<[title: string, head: FileParts, restores: readonly boolean[]]>([
    ['A sync restores everything if the head wants the same as the base', {}, [true, true, true]],
    ['A sync does not restore the environment whose text the head changes', { text: 'New' }, [false, true, true]],
    [
      'A sync does not restore the environment whose pin the head changes',
      { pins: { ...LATEST, production: 2 } },
      [true, false, true],
    ],
    ['A sync does not restore the field that the head changes', { description: 'New' }, [true, true, false]],
  ])('%s', (_, head, restores) => {
    const base = { text: 'Two', description: 'Ours', pins: { ...LATEST, production: 1 } };
    const active = { staging: THEIRS, production: outside(4, 'Four'), promptsync: TWO };
    const seen = { active, prompt: { description: 'Theirs' } };
    const { drift } = planScene({ seen, states: [base], head: { ...base, ...head } });
    expect(drift.map(({ restoresBase }) => restoresBase)).toStrictEqual(restores);
  });

  test('The drift of an environment describes the served version and the commit that it was made from', () => {
    const source = { digest: THEIRS.content.digest, commit: 'c9', path: 'prompts/a.md' };
    const pins = { ...LATEST, production: 1 };
    const { drift } = planScene({
      seen: { active: { staging: THEIRS, production: version(4, 'Four'), promptsync: TWO } },
      states: [{ text: 'Two', pins }],
      compared: { messageSources: new Map([['ver_3', source]]), missingCommits: new Set(['c4']) },
    });
    expect(drift).toStrictEqual([
      {
        ...{ kind: 'outside', subject: 'environment', environment: 'staging', restoresBase: true },
        expected: { id: 'ver_2', number: 2 },
        observed: { id: 'ver_3', number: 3, isManaged: false, commit: 'c9' },
      },
      {
        ...{ kind: 'outside', subject: 'environment', environment: 'production', restoresBase: true },
        expected: { id: 'ver_1', number: 1 },
        observed: { id: 'ver_4', number: 4, isManaged: true, commit: 'c4', isCommitMissing: true, pin: '4' },
      },
    ]);
  });

  test('The plan shows no drift without a base, without history and for a prompt that the base lacks', () => {
    const { base, history } = compareWithBase([{ text: 'One', pins: LATEST }]);
    const planWith = (given: Parameters<typeof rules>[0]) =>
      planPrompt(file({ text: 'One', pins: LATEST }), observed(serves(THEIRS)), rules(given)).drift;
    expect(planWith({ base, history })).toHaveLength(1);
    expect(planWith({ history })).toStrictEqual([]);
    expect(planWith({ base })).toStrictEqual([]);
    expect(planWith({ base: { files: new Map(), isDefault: true }, history })).toStrictEqual([]);
  });

  test('Drift and notes change neither the planned changes nor the plan digest', () => {
    for (const { seen, states } of [replaced, { seen: serves(THEIRS), states: [{ text: 'One' }] }]) {
      const planned = file({ pins: LATEST, ...states[0] });
      const pinned = states.map((state) => ({ pins: LATEST, ...state }));
      const current = observation(observed(seen));
      const plans = [rules(), rules(compareWithBase(pinned))].map((given) => makePlan([planned], current, given));
      const [plain, compared] = plans.map(({ prompts }) => prompts[0]!);
      expect(compared!.drift.length + compared!.annotations.length).toBe(1);
      expect({ ...compared, drift: [], annotations: [] }).toStrictEqual(plain);
      expect(plans[1]!.digest).toBe(plans[0]!.digest);
    }
  });
});

describe('the guard on_drift: fail', () => {
  const guards = { onDrift: 'fail', maxChanges: null, expectedPlan: null, uncommitted: new Set<string>() } as const;

  function planOf({ seen, states, compared }: Scene) {
    const pinned = states.map((state) => ({ pins: BOTH, ...state }));
    return makePlan([file(pinned[0])], observation(observed(seen)), rules(compareWithBase(pinned, compared)));
  }

  test('The drift guard blocks a prompt whose environments and fields somebody changed, and names each of them', () => {
    const active = { staging: THEIRS, production: outside(2, 'Hey'), promptsync: ONE };
    const plan = planOf({ seen: { active, prompt: { name: 'Theirs' } }, states: [{ text: 'One' }] });
    const [prompt] = guardPlan(plan, guards).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/drift', path: 'prompts/a.md' }] });
    for (const part of ['"staging"', 'v3', '"production"', 'v2', 'name', '"Theirs"'])
      expect(prompt!.problems[0]!.message).toContain(part);
    expect({ ...prompt, status: 'pending', problems: [] }).toStrictEqual(plan.prompts[0]);
    expect(guardPlan(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
  });

  test.each<[title: string, scene: Scene]>([
    [
      'The drift guard accepts a prompt without drift',
      { seen: { active: { staging: ONE, production: ONE } }, states: [{ text: 'One' }] },
    ],
    [
      'The drift guard accepts unfinished drift',
      {
        seen: { active: { staging: ONE, production: null } },
        states: [{ text: 'Two' }, { text: 'One' }],
        compared: { isDefault: false },
      },
    ],
  ])('%s', (_, scene) => {
    const plan = planOf(scene);
    expect(guardPlan(plan, guards)).toStrictEqual(plan);
  });
});
