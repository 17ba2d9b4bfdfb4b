import { describe, expect, test } from 'vitest';
import { type Drift, isNewVersionRef, type WantedVersionRef } from '../../src/domain/plan.ts';
import type { LedgerVersion } from '../../src/providers/four-call/version-record.ts';
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
      'The plan reports a hot fix right after an import as drift caused outside git, even if both labels were on one version',
      { seen: { active: { staging: ONE, production: THEIRS } }, states: [{ text: 'One', pins: BOTH }] },
      ['outside production: ver_3 instead of ver_1'],
    ],
    [
      'The plan reports a version that no commit asks for as drift caused outside git, even if the head changes the text',
      { seen: serves(THEIRS), states: [{ text: 'One' }], head: { text: 'Two' } },
      ['outside staging: ver_3 instead of ver_1'],
    ],
    [
      'The plan reports a version as drift caused outside git even if an earlier commit asked for it in a different environment',
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
      'If an environment serves the text of an earlier commit, the plan reports no drift and notes which commit introduced the new text',
      { seen: serves(ONE), states: [{ text: 'Two' }, { text: 'Two', name: 'Old' }, { text: 'One' }] },
      ['staging wanted since c1'],
    ],
    [
      'If an earlier commit pinned the served version by number or id, the plan reports no drift and notes which commit changed the pin',
      {
        seen: { active: { staging: THEIRS, production: TWO, promptsync: TWO } },
        states: [{ pins: { staging: 1, production: 1 } }, { pins: { staging: 3, production: 'version:ver_2' } }],
      },
      ['staging wanted since c0', 'production wanted since c0'],
    ],
    [
      'The plan reports neither drift nor a note if the first pin of an environment replaces an older version',
      {
        seen: { active: { staging: TWO, production: ONE } },
        states: [{ text: 'Two', pins: BOTH }, { text: 'Two' }],
      },
      [],
    ],
    [
      'The plan reports neither drift nor a note if the first pin of an environment asks for a version that does not exist yet',
      { seen: serves(THEIRS), states: [{ text: 'New' }] },
      [],
    ],
    [
      'The plan reports drift caused outside git if the first pin of an environment would replace a newer version',
      { seen: serves(THEIRS), states: [{ text: 'One' }] },
      ['outside staging: ver_3 instead of ver_1'],
    ],
    [
      'The plan does not treat new text as the first pin of an environment if an earlier commit pinned different text',
      { seen: serves(outside(1, 'Theirs')), states: [{ text: 'New' }, { text: 'Old' }] },
      ['outside staging: ver_1 instead of new "New"'],
    ],
    [
      'The plan does not treat new text as the first pin of an environment if an earlier commit pinned a moving git ref',
      {
        seen: serves(outside(1, 'Theirs')),
        states: [{ text: 'New' }, { text: 'Old', pins: { staging: `git:${MOVING_REF}` } }],
      },
      ['outside staging: ver_1 instead of new "New"'],
    ],
    [
      'If an environment serves no version, the plan reports no drift and notes which commit asked for a version',
      { seen: serves(null), states: [{ text: 'One' }] },
      ['staging wanted since c0'],
    ],
    [
      'The plan reports neither drift nor a note if a commit that only the head contains asks for the served version',
      {
        seen: serves(TWO),
        states: [{ text: 'One' }],
        head: { text: 'Three' },
        compared: { headStates: line([{ text: 'Two', pins: LATEST }]).states },
      },
      [],
    ],
    [
      'If a newer commit on the live branch asks for the served version, the plan notes that the branch is behind',
      {
        seen: serves(TWO),
        states: [{ text: 'One' }],
        compared: { tipStates: line([{ text: 'Two', pins: LATEST }]).states },
      },
      ['staging is behind'],
    ],
    [
      'The plan reports neither drift nor a note for an environment that is pinned to a moving git ref',
      {
        seen: serves(THEIRS),
        states: [{ text: 'New', pins: { staging: `git:${MOVING_REF}` } }],
        head: { text: 'New' },
      },
      [],
    ],
    [
      'In a shallow clone, the plan adds a note instead of reporting drift if no known commit asks for the served version',
      { seen: serves(THEIRS), states: [{ text: 'One' }], compared: { isShallow: true } },
      ['staging wanted since c0'],
    ],
    [
      'The plan reports neither drift nor a note for an environment that serves what the base asks for',
      { seen: serves(ONE), states: [{ text: 'One' }] },
      [],
    ],
    [
      'The plan reports neither drift nor a note for an environment that serves what the head asks for',
      { seen: serves(THEIRS), states: [{ text: 'One' }], head: { text: 'Theirs' } },
      [],
    ],
    [
      'The plan reports neither drift nor a note for an environment that only the head pins',
      {
        seen: { active: { staging: ONE, production: THEIRS } },
        states: [{ text: 'One' }],
        head: { text: 'One', pins: BOTH },
      },
      [],
    ],
    [
      'The plan reports neither drift nor a note for an environment that the head no longer pins',
      {
        seen: { active: { staging: ONE, production: THEIRS } },
        states: [{ text: 'One', pins: BOTH }],
        head: { text: 'One' },
      },
      [],
    ],
    [
      'The plan reports drift from outside if no commit asks for the served version, even if the base pins an unknown number',
      { seen: serves(THEIRS), states: [{ text: 'One', pins: { staging: 9 } }, { text: 'One' }], head: { text: 'One' } },
      ['outside staging: ver_3 instead of unknown v9'],
    ],
    [
      'The plan reports no drift if the first pin of an environment is an unknown number above the number of the served version',
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
      'The plan reports a prompt name that no commit contains as drift caused outside git',
      { seen: named('Theirs'), states: [{ text: 'One' }, { text: 'One', name: 'Old' }] },
      ['outside name: "Theirs" instead of "First"'],
    ],
    [
      'If the service has a name from an earlier commit, the plan reports no drift and notes which commit introduced the new name',
      {
        seen: named('Oldest'),
        states: [{ text: 'One' }, { text: 'Zero' }, { text: 'One', name: 'Old' }, { text: 'One', name: 'Oldest' }],
      },
      ['name wanted since c1'],
    ],
    [
      'The plan reports neither drift nor a note for a description that a later commit added to the file',
      {
        seen: named('First', { description: 'Theirs' }),
        states: [{ text: 'One', description: 'Ours' }, { text: 'One' }],
      },
      [],
    ],
    [
      'If the first commit of a file has a description, the plan reports a different one in the service as drift caused outside git',
      { seen: named('First', { description: 'Theirs' }), states: [{ text: 'One', description: 'Ours' }] },
      ['outside description: "Theirs" instead of "Ours"'],
    ],
    [
      'The plan reports neither drift nor a note for a changed field if promptsync never created a version of the prompt',
      { seen: { active: { staging: outside(1, 'One') }, prompt: { name: 'Theirs' } }, states: [{ text: 'One' }] },
      [],
    ],
    [
      'The plan reports neither drift nor a note if the service has a field value from a commit that only the head contains',
      {
        seen: named('Newer'),
        states: [{ text: 'One' }],
        head: { text: 'One', name: 'Newest' },
        compared: { headStates: line([{ text: 'One', name: 'Newer' }]).states },
      },
      [],
    ],
    [
      'If the service has a field value from a newer commit on the live branch, the plan notes that the branch is behind',
      { seen: named('Newer'), states: [{ text: 'One' }], compared: { tipStates: line([{ name: 'Newer' }]).states } },
      ['name is behind'],
    ],
    [
      'The plan reports neither drift nor a note for a field that only the head changes',
      { seen: named('First'), states: [{ text: 'One' }], head: { text: 'One', name: 'Newer' } },
      [],
    ],
    [
      'The plan reports neither drift nor a note for a field that the base does not contain',
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

  test('The plan reports a label that somebody moved back to a previously pinned version as drift caused outside git', () => {
    const states = [{ pins: { production: 3 } }, { pins: { production: 2 } }];
    expect(planTouched({ production: 2 }, states)).toMatchObject([{ ...moved, isMovedBack: true }]);
  });

  test('The plan does not describe a label as moved back if somebody moved it to a newer version', () => {
    const [drift] = planTouched({ production: 3 }, [{ pins: { production: 2 } }, { pins: { production: 3 } }]);
    expect(drift).toMatchObject(moved);
    expect(drift).not.toHaveProperty('isMovedBack');
  });

  test('The plan overlooks a moved label only if the commit that pinned it also pinned another label to the same version', () => {
    const active = { staging: 3, production: 2 };
    expect(planTouched(active, [both(3, 3), both(2, 2)])).toStrictEqual([]);
    expect(planTouched(active, [both(3, 3), both(3, 2)])).toMatchObject([moved]);
  });

  test('The plan detects a moved label even if another label that the same commit pinned is not on its pinned version', () => {
    const drift = planTouched({ staging: 2, production: 2 }, [both(3, 3), both(1, 2)]);
    expect(drift).toMatchObject([{ environment: 'staging' }, moved]);
  });

  test('The plan ignores version timestamps if an unknown older commit may already have pinned the version', () => {
    const states = [{ pins: { production: 3 } }];
    expect(planTouched({ production: 2 }, states)).toMatchObject([{ ...moved, isMovedBack: true }]);
    expect(planTouched({ production: 2 }, states, true)[0]).not.toHaveProperty('isMovedBack');
  });
});

describe('the result', () => {
  const replaced: Scene = { seen: serves(ONE), states: [{ text: 'Two' }, { text: 'One' }] };

  test('With an explicit base, the plan reports an unfinished sync as drift and adds a note', () => {
    const scene = { ...replaced, compared: { isDefault: false } };
    expect(describeDrift(scene)).toStrictEqual([
      'unfinished staging: ver_1 instead of new "Two"',
      'staging wanted since c0',
    ]);
  });

  test('Even with an explicit base, the plan reports no drift if the first pin of an environment asks for a new version', () => {
    const states = [{ text: 'New' }];
    expect(describeDrift({ seen: serves(ONE), states, compared: { isDefault: false } })).toStrictEqual([]);
  });

  test('The plan adds no note to a change if the head asks for something different from the base', () => {
    expect(describeDrift({ ...replaced, head: { text: 'Three' } })).toStrictEqual([]);
  });

  test('The plan adds no note to a change if an unknown older commit may already have asked for the change', () => {
    const states = [{ text: 'Two' }];
    const isNoted = (isCut: boolean) =>
      describeDrift({
        seen: serves(null),
        states,
        compared: { line: line([{ text: 'Two', pins: LATEST }], { isCut }) },
      });
    expect([isNoted(false), isNoted(true)]).toStrictEqual([['staging wanted since c0'], []]);
  });

  test('The note on a change says whether the live branch contains the commit that asked for the change', () => {
    const isMerged = (unmerged: readonly string[]) =>
      planScene({ ...replaced, compared: { unmergedCommits: new Set(unmerged) } }).annotations.map(({ note }) => note);
    expect(isMerged([])).toMatchObject([{ commit: 'c0', time: 1_785_196_800, isMerged: true }]);
    expect(isMerged(['c0'])).toMatchObject([{ commit: 'c0', isMerged: false }]);
  });

  test.each<[title: string, head: FileParts, restores: readonly boolean[]]>([
    [
      'The plan restores all drifted environments and fields if the head asks for the same as the base',
      {},
      [true, true, true],
    ],
    [
      'The plan does not restore an environment to the state at the base if the head changes the text for that environment',
      { text: 'New' },
      [false, true, true],
    ],
    [
      'The plan does not restore an environment to the state at the base if the head changes the pin for that environment',
      { pins: { ...LATEST, production: 2 } },
      [true, false, true],
    ],
    [
      'The plan does not restore a field to its value at the base if the head changes the field',
      { description: 'New' },
      [true, true, false],
    ],
  ])('%s', (_, head, restores) => {
    const base = { text: 'Two', description: 'Ours', pins: { ...LATEST, production: 1 } };
    const active = { staging: THEIRS, production: outside(4, 'Four'), promptsync: TWO };
    const seen = { active, prompt: { description: 'Theirs' } };
    const { drift } = planScene({ seen, states: [base], head: { ...base, ...head } });
    expect(drift.map(({ restoresBase }) => restoresBase)).toStrictEqual(restores);
  });

  test('The plan describes the version that a drifted environment serves and the commit from which that version was created', () => {
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
        observed: { id: 'ver_3', number: 3, isManaged: false, isInGit: false, commit: 'c9' },
      },
      {
        ...{ kind: 'outside', subject: 'environment', environment: 'production', restoresBase: true },
        expected: { id: 'ver_1', number: 1 },
        observed: {
          id: 'ver_4',
          number: 4,
          isManaged: true,
          isInGit: true,
          commit: 'c4',
          isCommitMissing: true,
        },
      },
    ]);
  });

  test('The plan reports no drift without a base, without git history, or for a prompt that the base does not contain', () => {
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

  test('The drift guard blocks a prompt that somebody changed in the service, and names each changed environment and field', () => {
    const active = { staging: THEIRS, production: outside(2, 'Hey'), promptsync: ONE };
    const plan = planOf({ seen: { active, prompt: { name: 'Theirs' } }, states: [{ text: 'One' }] });
    const [prompt] = guardPlan(plan, guards).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/drift', path: 'prompts/a.md' }] });
    for (const part of ['"staging"', 'v3', '"production"', 'v2', 'name', '"Theirs"'])
      expect(prompt!.problems[0]!.message).toContain(part);
    expect({ ...prompt, status: 'pending', problems: [] }).toStrictEqual(plan.prompts[0]);
    expect(guardPlan(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
  });

  test('The drift guard suggests git fetch instead of a way to keep the change only if the clone lacks the commit of an active version', () => {
    const hintOf = (missing: readonly string[]) => {
      const seen = { active: { staging: version(4, 'Four'), promptsync: TWO } };
      const compared = { missingCommits: new Set(missing) };
      const plan = planOf({ seen, states: [{ text: 'Two', pins: LATEST }], compared });
      return guardPlan(plan, guards).prompts[0]?.problems[0]?.hint;
    };
    expect(hintOf(['c4'])).toMatch(/run `git fetch` first\. To overwrite/);
    expect(hintOf([])).toMatch(/^To keep the change, /);
  });

  test.each<[title: string, scene: Scene]>([
    [
      'The drift guard accepts a prompt without drift',
      { seen: { active: { staging: ONE, production: ONE } }, states: [{ text: 'One' }] },
    ],
    [
      'The drift guard accepts drift from an unfinished sync',
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
