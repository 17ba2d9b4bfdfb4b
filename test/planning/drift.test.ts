import { describe, expect, test } from 'vitest';
import { type Drift, isNewVersionRef, type WantedVersionRef } from '../../src/domain/plan.ts';
import { guardPlan } from '../../src/planning/guard-plan.ts';
import {
  compareWithBase,
  deepFreeze,
  file,
  line,
  makePlan,
  observation,
  observed,
  outside,
  parseFile,
  parseService,
  planPrompt,
  rules,
  type StateParts,
  version,
} from './support.ts';

/**
 * A prompt in the service and the states of its file, in the notation of `support.ts`: `SERVICE | STATES`. The states are
 * those of the base's line, newest first, separated by ` < `. `head:` and the states that only the head has, or the live
 * branch (`tip:`), may follow, and the words `shallow`, `explicit` (base) and `cut` (line of the base).
 */
function parseScene(scene: string) {
  const [service = '', states = '', ...rest] = scene.split(/\s+\|\s+/);
  const statesAt = (name: string) =>
    rest.filter((part) => part.startsWith(name)).flatMap((part) => parseStates(part.slice(name.length)));
  const base = parseStates(states);
  const headStates = line(statesAt('only in head: ')).states;
  const tipStates = line(statesAt('tip: ')).states;
  const [isShallow, isDefault] = [rest.includes('shallow'), !rest.includes('explicit')];
  const compared = { line: line(base, { isCut: rest.includes('cut') }), headStates, tipStates, isShallow, isDefault };
  const [head = base[0]] = statesAt('head: ');
  return { seen: observed(parseService(service)), base, head: file(head), compared };
}

/** Unless a state pins staging itself, it pins it to `latest`. */
function parseStates(states: string): readonly StateParts[] {
  return states.split(' < ').map((state) => {
    const parts = parseFile(state);
    return { ...parts, pins: { ...LATEST, ...parts.pins } };
  });
}

type Compared = Parameters<typeof compareWithBase>[1];

function planScene(scene: string, more: Compared = {}) {
  const { seen, base, head, compared } = parseScene(scene);
  return planPrompt(...deepFreeze([head, seen, rules(compareWithBase(base, { ...compared, ...more }))] as const));
}

/** Plans the prompt and returns its drift and its notes, such as `outside staging: ver_3 instead of ver_1`. */
function describeDrift(scene: string): string {
  const { drift, annotations } = planScene(scene);
  const notes = annotations.map((annotation) => {
    const subject = annotation.subject === 'field' ? annotation.field : annotation.environment;
    const { note } = annotation;
    return note.kind === 'behind' ? `${subject} is behind` : `${subject} wanted since ${note.commit}`;
  });
  return [...drift.map(formatDrift), ...notes].join('; ') || 'nothing';
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

/** Tests rows `title: 'RESULT | SCENE'`. */
function testDrift(rows: Readonly<Record<string, string>>): void {
  test.each(Object.entries(rows))('%s', (_, row) => {
    const [expected, ...scene] = row.split(/\s+\|\s+/);
    expect(describeDrift(scene.join(' | '))).toBe(expected);
  });
}

const LATEST = { staging: 'latest' };
const THEIRS = outside(3, 'Theirs');

describe('the evidence about an environment', () => {
  testDrift({
    'The plan reports a hot fix right after an import as drift caused outside git, even if both labels were on one version':
      'outside production: ver_3 instead of ver_1 | staging=1:One production=~3:Theirs | One production=latest',
    'The plan reports a version as drift caused outside git even if an earlier commit asked for it in a different environment': `outside production: ver_2 instead of ver_1 | staging=1:One production=2:Two(1:One)
        | One production=1 < Two production=1`,
    'If an environment serves the text of an earlier commit, the plan reports no drift and notes which commit introduced the new text':
      'staging wanted since c1 | staging=1:One promptsync=1:One | Two < Two name=Old < One',
    'If an earlier commit pinned the served version by number or id, the plan reports no drift and notes which commit changed the pin': `staging wanted since c0; production wanted since c0
        | staging=~3:Theirs production=2:Two(1:One) promptsync=2:Two(1:One)
        | staging=1 production=1 < staging=3 production=version:ver_2`,
    'The plan reports neither drift nor a note if the first pin of an environment replaces an older version':
      'nothing | staging=2:Two(1:One) production=1:One | Two production=latest < Two',
    'The plan reports neither drift nor a note if the first pin of an environment asks for a version that does not exist yet':
      'nothing | staging=~3:Theirs promptsync=1:One | New',
    'The plan reports drift caused outside git if the first pin of an environment would replace a newer version':
      'outside staging: ver_3 instead of ver_1 | staging=~3:Theirs promptsync=1:One | One',
    'The plan does not treat new text as the first pin of an environment if an earlier commit pinned different text':
      'outside staging: ver_1 instead of new "New" | staging=~1:Theirs promptsync=1:One | New < Old',
    'The plan does not treat new text as the first pin of an environment if an earlier commit pinned a moving git ref':
      'outside staging: ver_1 instead of new "New" | staging=~1:Theirs promptsync=1:One | New < Old staging=git:main',
    'If an environment serves no version, the plan reports no drift and notes which commit asked for a version':
      'staging wanted since c0 | staging=- promptsync=1:One | One',
    'The plan reports neither drift nor a note if a commit that only the head contains asks for the served version':
      'nothing | staging=2:Two(1:One) promptsync=1:One | One | head: Three | only in head: Two',
    'If a newer commit on the live branch asks for the served version, the plan notes that the branch is behind':
      'staging is behind | staging=2:Two(1:One) promptsync=1:One | One | tip: Two',
    'The plan reports neither drift nor a note for an environment that is pinned to a moving git ref':
      'nothing | staging=~3:Theirs promptsync=1:One | New staging=git:main | head: New',
    'In a shallow clone, the plan adds a note instead of reporting drift if no known commit asks for the served version':
      'staging wanted since c0 | staging=~3:Theirs promptsync=1:One | One | shallow',
    'The plan reports neither drift nor a note for an environment that serves what the head asks for':
      'nothing | staging=~3:Theirs promptsync=1:One | One | head: Theirs',
    'The plan reports neither drift nor a note for an environment that only the head pins':
      'nothing | staging=1:One production=~3:Theirs | One | head: One production=latest',
    'The plan reports neither drift nor a note for an environment that the head no longer pins':
      'nothing | staging=1:One production=~3:Theirs | One production=latest | head: One',
    'The plan reports drift from outside if no commit asks for the served version, even if the base pins an unknown number': `outside staging: ver_3 instead of unknown v9 | staging=~3:Theirs promptsync=1:One | One staging=9 < One
        | head: One`,
    'The plan reports no drift if the first pin of an environment is an unknown number above the number of the served version':
      'nothing | staging=~3:Theirs promptsync=1:One | One staging=9',
    'With an explicit base, the plan reports an unfinished sync as drift and adds a note': `unfinished staging: ver_1 instead of new "Two"; staging wanted since c0 | staging=1:One promptsync=1:One
        | Two < One | explicit`,
    'The plan adds no note to a change if the head asks for something different from the base':
      'nothing | staging=1:One promptsync=1:One | Two < One | head: Three',
    'The plan adds no note to a change if an unknown older commit may already have asked for the change':
      'nothing | staging=- promptsync=1:One | Two | cut',
  });
});

describe('the evidence about a field', () => {
  testDrift({
    'The plan reports a prompt name that no commit contains as drift caused outside git':
      'outside name: "Theirs" instead of "First" | name=Theirs staging=1:One promptsync=1:One | One < One name=Old',
    'If the service has a name from an earlier commit, the plan reports no drift and notes which commit introduced the new name':
      'name wanted since c1 | name=Oldest staging=1:One promptsync=1:One | One < Zero < One name=Old < One name=Oldest',
    'The plan reports neither drift nor a note for a description that a later commit added to the file':
      'nothing | description=Theirs staging=1:One promptsync=1:One | One description=Ours < One',
    'If the first commit of a file has a description, the plan reports a different one in the service as drift caused outside git': `outside description: "Theirs" instead of "Ours" | description=Theirs staging=1:One promptsync=1:One
        | One description=Ours`,
    'The plan reports neither drift nor a note for a changed field if promptsync never created a version of the prompt':
      'nothing | name=Theirs staging=~1:One | One',
    'The plan reports neither drift nor a note for a field that only the head changes':
      'nothing | staging=1:One promptsync=1:One | One | head: One name=Newer',
    'The plan reports neither drift nor a note for a field that the base does not contain':
      'nothing | description=Theirs staging=1:One promptsync=1:One | One | head: One description=Ours',
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
  const replaced = 'staging=1:One promptsync=1:One | Two < One';

  test('The note on a change says whether the live branch contains the commit that asked for the change', () => {
    const isMerged = (unmerged: readonly string[]) =>
      planScene(replaced, { unmergedCommits: new Set(unmerged) }).annotations.map(({ note }) => note);
    expect(isMerged([])).toMatchObject([{ commit: 'c0', time: 1_785_196_800, isMerged: true }]);
    expect(isMerged(['c0'])).toMatchObject([{ commit: 'c0', isMerged: false }]);
  });

  /** Rows `title: 'HEAD | whether the plan restores staging, production and the description'`. */
  const restored = {
    'The plan restores the state at the base for all drifted environments and fields if the head asks for the same as the base':
      'Two description=Ours production=1 | true true true',
    'The plan restores the state at the base for no environment for which the head changes the text':
      'New description=Ours production=1 | false true true',
    'The plan restores the state at the base for no environment for which the head changes the pin':
      'Two description=Ours production=2 | true false true',
    'The plan restores the state at the base for no field that the head changes':
      'Two description=New production=1 | true true false',
  };
  test.each(Object.entries(restored))('%s', (_, row) => {
    const [head, expected] = row.split(' | ');
    const served = 'staging=~3:Theirs production=~4:Four promptsync=2:Two(1:One) description=Theirs';
    const { drift } = planScene(`${served} | Two description=Ours production=1 | head: ${head}`);
    expect(drift.map(({ restoresBase }) => restoresBase).join(' ')).toBe(expected);
  });

  test('The plan describes the version that a drifted environment serves and the commit from which that version was created', () => {
    const source = { digest: THEIRS.content.digest, commit: 'c9', path: 'prompts/a.md' };
    const { drift } = planScene('staging=~3:Theirs production=4:Four promptsync=2:Two(1:One) | Two production=1', {
      messageSources: new Map([['ver_3', source]]),
      missingCommits: new Set(['c4']),
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
        observed: { id: 'ver_4', number: 4, isManaged: true, isInGit: true, commit: 'c4', isCommitMissing: true },
      },
    ]);
  });

  test('The plan reports no drift without a base, without git history, or for a prompt that the base does not contain', () => {
    const { base, history } = compareWithBase([{ text: 'One', pins: LATEST }]);
    const seen = observed(parseService('staging=~3:Theirs promptsync=1:One'));
    const planWith = (given: Parameters<typeof rules>[0]) =>
      planPrompt(file({ text: 'One', pins: LATEST }), seen, rules(given)).drift;
    expect(planWith({ base, history })).toHaveLength(1);
    expect(planWith({ history })).toStrictEqual([]);
    expect(planWith({ base })).toStrictEqual([]);
    expect(planWith({ base: { files: new Map(), isDefault: true }, history })).toStrictEqual([]);
  });

  test('Drift and notes change neither the planned changes nor the plan digest', () => {
    for (const scene of [replaced, 'staging=~3:Theirs promptsync=1:One | One']) {
      const { seen, base, head } = parseScene(scene);
      const plans = [rules(), rules(compareWithBase(base))].map((given) => makePlan([head], observation(seen), given));
      const [plain, compared] = plans.map(({ prompts }) => prompts[0]!);
      expect(compared!.drift.length + compared!.annotations.length).toBe(1);
      expect({ ...compared, drift: [], annotations: [] }).toStrictEqual(plain);
      expect(plans[1]!.digest).toBe(plans[0]!.digest);
    }
  });
});

describe('the guard on_drift: fail', () => {
  const guards = { onDrift: 'fail', maxChanges: null, expectedPlan: null, uncommitted: new Set<string>() } as const;

  function planOf(scene: string, more: Compared = {}) {
    const { seen, base, head, compared } = parseScene(scene);
    return makePlan([head], observation(seen), rules(compareWithBase(base, { ...compared, ...more })));
  }

  test('The drift guard blocks a prompt that somebody changed in the service, and names each changed environment and field', () => {
    const plan = planOf('staging=~3:Theirs production=~2:Hey promptsync=1:One name=Theirs | One production=latest');
    const [prompt] = guardPlan(plan, guards).prompts;
    expect(prompt).toMatchObject({ status: 'blocked', problems: [{ code: 'guard/drift', path: 'prompts/a.md' }] });
    for (const part of ['"staging"', 'v3', '"production"', 'v2', 'name', '"Theirs"'])
      expect(prompt!.problems[0]!.message).toContain(part);
    expect({ ...prompt, status: 'pending', problems: [] }).toStrictEqual(plan.prompts[0]);
    expect(guardPlan(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
  });

  test('The drift guard suggests git fetch instead of a way to keep the change only if the clone lacks the commit of an active version', () => {
    const hintOf = (missing: readonly string[]) => {
      const plan = planOf('staging=4:Four promptsync=2:Two(1:One) | Two', { missingCommits: new Set(missing) });
      return guardPlan(plan, guards).prompts[0]?.problems[0]?.hint;
    };
    expect(hintOf(['c4'])).toMatch(/run `git fetch` first\. To overwrite/);
    expect(hintOf([])).toMatch(/^To keep the change, /);
  });

  test.each([
    ['The drift guard accepts a prompt without drift', 'staging=1:One production=1:One | One production=latest'],
    [
      'The drift guard accepts drift from an unfinished sync',
      'staging=1:One production=- | Two production=latest < One production=latest | explicit',
    ],
  ])('%s', (_, scene) => {
    const plan = planOf(scene);
    expect(guardPlan(plan, guards)).toStrictEqual(plan);
  });
});
