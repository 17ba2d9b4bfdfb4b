import { describe, expect, test } from 'vitest';
import type { BaseState, FormerStates } from '../../src/domain/desired-state.ts';
import type { Drift } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { UnmetWant } from '../../src/domain/wanted-since.ts';
import { guardPlan } from '../../src/planning/guard-plan.ts';
import {
  deepFreeze,
  entry,
  file,
  type FileParts,
  formerPins,
  makePlan,
  observation,
  observed,
  type ObservedParts,
  outside,
  planPrompt,
  rules,
  version,
  type WrittenPins,
  lines,
} from './support.ts';

const one = version(1, 'One');
const two = version(2, 'Two', { ledger: [entry(1, 'One')] });
const theirs = outside(3, 'Theirs');
const follows: WrittenPins = { staging: 'latest' };

/** Makes a file whose text is One and that pins staging to latest, unless the parts say otherwise. */
const makeFile = (parts: FileParts): PromptFile => file({ text: 'One', pins: follows, ...parts });

/** The base, and the parts of the file that differed at earlier commits. */
type BaseParts = FileParts & { readonly former?: readonly FileParts[] };

function driftOf(head: FileParts, seen: ObservedParts, { former = [], ...parts }: BaseParts) {
  const known: BaseState = { files: new Map([['p1', makeFile(parts)]]), isDefault: false };
  const formerStates = new Map([['p1', wantsOf(former.map((one) => ({ ...parts, ...one })))]]);
  return planPrompt(...deepFreeze([makeFile(head), observed(seen), rules({ base: known, formerStates })] as const))
    .drift;
}

function wantsOf(states: readonly FileParts[]): FormerStates {
  const pins = formerPins(states.map(({ text = 'One', pins: written = follows }) => ({ ...written, text })));
  return { pins, fields: states.map((state, age) => ({ ...makeFile(state), commit: `c${age}` })) };
}

function lineOf(drift: Drift): string {
  if (drift.subject === 'field')
    return `${drift.kind} ${drift.field}: "${drift.observed}" instead of "${drift.expected}"`;
  const { kind, environment, observed: held, expected } = drift;
  const holder =
    held === null ? 'nothing' : [held.id, ...(held.commit === undefined ? [] : [held.commit])].join(' of ');
  return `${kind} ${environment}: ${holder} instead of ${'newContent' in expected ? `new "${expected.newContent.text}"` : expected.id}`;
}

const moved = { active: { staging: theirs, promptsync: one } };
const calm = { active: { staging: one } };
const pinned = { pins: { ...follows, production: 1 } };
const THEIRS = 'outside staging: ver_3 instead of ver_1';

describe('drift', () => {
  test.each<[string, head: FileParts, seen: ObservedParts, base: BaseParts, expected: readonly string[]]>([
    ['The plan reports no drift if the service matches both base and head', {}, calm, {}, []],
    ['The plan reports no drift if only the head changes the prompt text', { text: 'Two' }, calm, {}, []],
    [
      'The plan reports no drift if the service already has the change that the head makes',
      { text: 'Two' },
      { active: { staging: two } },
      {},
      [],
    ],
    [
      'The plan reports drift caused outside git if somebody activated a version created outside promptsync',
      {},
      moved,
      {},
      [THEIRS],
    ],
    [
      'The plan reports drift caused outside git in an environment even if the head also changes the version for that environment',
      { text: 'Two' },
      moved,
      {},
      [THEIRS],
    ],
    [
      'The plan reports no drift if somebody manually activated a version whose text already matches the head commit',
      { text: 'Theirs' },
      moved,
      {},
      [],
    ],
    [
      'The plan reports unfinished drift if an environment serves a version that an earlier commit wanted',
      { text: 'Three' },
      calm,
      { text: 'Two', former: [{ text: 'One' }] },
      lines('unfinished staging: ver_1 of c1 instead of new "Two"'),
    ],
    [
      'The plan reports unfinished drift for an externally created version that an earlier commit pinned',
      { pins: { staging: 1, production: 1 } },
      { active: { staging: theirs, production: outside(2, 'Draft'), promptsync: one } },
      { pins: { staging: 1, production: 1 }, former: [{ pins: { staging: 3, production: 'version:ver_2' } }] },
      lines('unfinished staging: ver_3 instead of ver_1', 'unfinished production: ver_2 instead of ver_1'),
    ],
    [
      'The plan reports drift caused outside git if an earlier commit wanted the version only in a different environment',
      pinned,
      { active: { staging: one, production: two } },
      { ...pinned, former: [{ text: 'Two' }] },
      lines('outside production: ver_2 of c2 instead of ver_1'),
    ],
    [
      'The plan reports drift caused outside git for an active version that no known commit wanted',
      { text: 'Three' },
      calm,
      { text: 'Two', former: [{ text: 'Zero' }] },
      lines('outside staging: ver_1 of c1 instead of new "Two"'),
    ],
    [
      'The plan reports drift caused outside git for an edited copy of a managed version',
      {},
      { active: { staging: version(4, 'Edited', { stampFor: 'One' }), promptsync: one } },
      { former: [{}] },
      lines('outside staging: ver_4 instead of ver_1'),
    ],
    [
      'The plan reports unfinished drift if an environment serves no version',
      { text: 'Two' },
      { active: { staging: null } },
      {},
      lines('unfinished staging: nothing instead of new "One"'),
    ],
    [
      'The plan reports no drift in an environment that only the head pins',
      pinned,
      { active: { staging: one, production: theirs } },
      {},
      [],
    ],
    [
      'The plan reports no drift in an environment that the head no longer pins',
      {},
      { active: { staging: one, production: theirs } },
      pinned,
      [],
    ],
    [
      'The plan reports no drift if the base pins a version number that promptsync does not know',
      {},
      moved,
      { pins: { staging: 9 } },
      [],
    ],
    [
      'The plan classifies the drift of each environment separately',
      pinned,
      { active: { staging: theirs, production: two } },
      { ...pinned, former: [{ pins: { ...follows, production: 2 } }] },
      lines(THEIRS, 'unfinished production: ver_2 of c2 instead of ver_1'),
    ],
    [
      'The plan reports drift caused outside git for a field that somebody changed in the service',
      { name: 'Newer' },
      { ...calm, prompt: { name: 'Theirs' } },
      { former: [{ name: 'Older' }] },
      lines('outside name: "Theirs" instead of "First"'),
    ],
    [
      'The plan reports both field drift and environment drift for the same prompt',
      { text: 'Two' },
      { ...calm, prompt: { name: 'Theirs' } },
      { text: 'Zero' },
      lines('outside staging: ver_1 of c1 instead of new "Zero"', 'outside name: "Theirs" instead of "First"'),
    ],
    [
      'The plan reports unfinished drift for a field value from an earlier commit',
      {},
      { ...calm, prompt: { name: 'Older' } },
      { former: [{ name: 'Oldest' }, { name: 'Older' }] },
      lines('unfinished name: "Older" instead of "First"'),
    ],
    ['The plan reports no drift for a field that only the head changes', { name: 'Newer' }, calm, {}, []],
    [
      'The plan reports no drift for a field that matches the head',
      { name: 'Theirs' },
      { ...calm, prompt: { name: 'Theirs' } },
      {},
      [],
    ],
    [
      'The plan reports no drift for a field that the base commit does not set',
      { description: 'Ours' },
      { ...calm, prompt: { description: 'Theirs' } },
      {},
      [],
    ],
    [
      'If no earlier commit is known, the plan reports an empty description in the service as drift caused outside git',
      { description: 'Ours' },
      calm,
      { description: 'Old' },
      lines('outside description: "" instead of "Old"'),
    ],
    [
      'If every known commit sets a description, the plan reports an empty description in the service as drift caused outside git',
      { description: 'Ours' },
      calm,
      { description: 'Old', former: [{}] },
      lines('outside description: "" instead of "Old"'),
    ],
  ])('%s', (_, head, seen, base, expected) => {
    expect(driftOf(head, seen, base).map(lineOf)).toStrictEqual(expected);
  });

  test('If an earlier commit set no description, the plan reports an empty description in the service as unfinished drift', () => {
    const wanted = makeFile({ description: 'Ours' });
    const base = { files: new Map([['p1', wanted]]), isDefault: false };
    const formerStates = new Map([['p1', wantsOf([{}])]]);
    expect(planPrompt(wanted, observed(calm), rules({ base, formerStates })).drift).toStrictEqual([
      {
        ...{ kind: 'unfinished', subject: 'field', field: 'description' },
        ...{ expected: 'Ours', observed: '', restoresBase: true },
      },
    ]);
  });

  test('The plan reports the expected and the actual version for each environment with drift', () => {
    const seen = { active: { staging: theirs, production: version(4, 'Four'), promptsync: two } };
    expect(driftOf({ ...pinned, text: 'Two' }, seen, { ...pinned, text: 'Two' })).toStrictEqual([
      {
        ...{ kind: 'outside', subject: 'environment', environment: 'staging', restoresBase: true },
        ...{ expected: { id: 'ver_2', number: 2 }, observed: { id: 'ver_3', number: 3, isManaged: false } },
      },
      {
        ...{ kind: 'outside', subject: 'environment', environment: 'production', restoresBase: true },
        expected: { id: 'ver_1', number: 1 },
        observed: { id: 'ver_4', number: 4, isManaged: true, commit: 'c4', pin: '4' },
      },
    ]);
  });

  test("If a version has no version record, the plan reports the commit named in the version's message", () => {
    const source = { digest: theirs.content.digest, commit: 'c9', path: 'prompts/a.md' };
    const messageSources = new Map([['p1', new Map([['ver_3', source]])]]);
    const seen = { active: { staging: theirs, promptsync: two } };
    const wanted = { pins: { staging: 2 }, text: 'Two' };
    const base: BaseState = { files: new Map([['p1', makeFile(wanted)]]), isDefault: false };
    expect(planPrompt(makeFile(wanted), observed(seen), rules({ base, messageSources })).drift).toMatchObject([
      { environment: 'staging', observed: { id: 'ver_3', isManaged: false, commit: 'c9' } },
    ]);
  });

  test('The plan reports no drift for a prompt that does not exist in the base commit', () => {
    const other: BaseState = { files: new Map([['p2', makeFile({})]]), isDefault: false };
    expect(planPrompt(makeFile({}), observed(moved), rules({ base: other })).drift).toStrictEqual([]);
    expect(planPrompt(makeFile({}), observed(moved), rules()).drift).toStrictEqual([]);
  });

  test('Drift detection does not affect the changes in the plan', () => {
    const known: BaseState = { files: new Map([['p1', makeFile({})]]), isDefault: false };
    const seen = observed(moved);
    const [plain, compared] = [rules(), rules({ base: known })].map((by) => planPrompt(makeFile({}), seen, by));
    expect({ ...compared, drift: [] }).toStrictEqual(plain);
  });

  test.each<[string, FileParts, readonly boolean[]]>([
    [
      'The plan sets restoresBase to true for every drift if the head declares the same state as the base',
      {},
      [true, true, true],
    ],
    [
      'The plan sets restoresBase to false for an environment pinned to latest if the head changes the prompt text',
      { text: 'New' },
      [false, true, true],
    ],
    [
      'The plan sets restoresBase to false for an environment if the head pins a different version there',
      { pins: { ...follows, production: 2 } },
      [true, false, true],
    ],
    [
      'The plan sets restoresBase to false for a field that the head changes',
      { description: 'New' },
      [true, true, false],
    ],
  ])('%s', (_, head, restores) => {
    const base = { ...pinned, text: 'Two', description: 'Ours' };
    const active = { staging: theirs, production: outside(4, 'Four'), promptsync: two };
    const drift = driftOf({ ...base, ...head }, { active, prompt: { description: 'Theirs' } }, base);
    expect(drift.map((entry) => entry.restoresBase)).toEqual(restores);
  });
});

describe('drift with a default base', () => {
  const WANT: UnmetWant = {
    ...{ commit: 'c1', time: 1_785_196_800, isMerged: true },
    ...{ isFirst: false, wasCurrentWanted: false, isRecorded: false, wasLive: false, rival: null },
  };
  const serves = { active: { staging: theirs, promptsync: one } };

  /** Plans a file. The base has the same file unless `base` changes it. `former` lists the texts of earlier commits. */
  function planOf(want: Partial<UnmetWant>, former: readonly string[], base: FileParts = {}) {
    const unmetWants = new Map([
      ['p1', { environments: new Map([['staging', { ...WANT, ...want }]]), fields: new Map() }],
    ]);
    const formerStates = new Map([['p1', wantsOf(former.map((text) => ({ text })))]]);
    const given = { base: { files: new Map([['p1', makeFile(base)]]), isDefault: true }, unmetWants, formerStates };
    const { drift, annotations } = planPrompt(makeFile({}), observed(serves), rules(given));
    return [...drift.map(lineOf), ...annotations.map((one) => `${one.subject} wanted since ${one.want.commit}`)];
  }

  const ANNOTATED = ['environment wanted since c1'];
  test.each<[string, want: Partial<UnmetWant>, former: readonly string[], expected: readonly string[]]>([
    ['With a default base, the plan reports outside drift and does not annotate the change', {}, ['One'], [THEIRS]],
    [
      'If an earlier commit requested the current state, the plan annotates the change',
      {},
      ['One', 'Theirs'],
      ANNOTATED,
    ],
    [
      'If no earlier commit pinned the environment, the plan annotates the change',
      { isFirst: true },
      ['One'],
      ANNOTATED,
    ],
  ])('%s', (_, want, former, expected) => {
    expect(planOf(want, former)).toStrictEqual(expected);
  });

  test('If the base and the head request different texts, the plan does not annotate unfinished drift', () => {
    expect(planOf({}, ['Theirs'], { text: 'Base' })).toStrictEqual([]);
  });

  test('With an explicit base, the plan reports drift even if no earlier commit pinned the environment', () => {
    const unmetWants = new Map([
      ['p1', { environments: new Map([['staging', { ...WANT, isFirst: true }]]), fields: new Map() }],
    ]);
    const base = { files: new Map([['p1', makeFile({})]]), isDefault: false };
    expect(planPrompt(makeFile({}), observed(serves), rules({ base, unmetWants })).drift.map(lineOf)).toStrictEqual([
      THEIRS,
    ]);
  });

  test('For a prompt that was never synced, the plan annotates a changed field with the commit that requested the change', () => {
    const fields = new Map([['description', { ...WANT, isFirst: true }]] as const);
    const unmetWants = new Map([['p1', { environments: new Map(), fields }]]);
    const head = makeFile({ description: 'Ours' });
    const base = { files: new Map([['p1', head]]), isDefault: true };
    const seen = observed({ ...calm, prompt: { description: 'Theirs' } });
    const { drift, annotations } = planPrompt(head, seen, rules({ base, unmetWants }));
    expect(drift).toStrictEqual([]);
    expect(annotations).toMatchObject([{ subject: 'field', field: 'description', want: { commit: 'c1' } }]);
  });

  test('Annotations do not affect the plan digest', () => {
    const unmetWants = new Map([
      ['p1', { environments: new Map([['staging', { ...WANT, isFirst: true }]]), fields: new Map() }],
    ]);
    const base = { files: new Map([['p1', makeFile({})]]), isDefault: true };
    const plans = [rules(), rules({ base, unmetWants })].map((by) =>
      makePlan([makeFile({})], observation(observed(serves)), by),
    );
    expect(plans.map(({ prompts }) => prompts[0]?.annotations.length)).toStrictEqual([0, 1]);
    expect(plans[1]?.digest).toBe(plans[0]?.digest);
  });
});

describe('the guard on_drift: fail', () => {
  const wanted = makeFile({ description: 'Ours', pins: { staging: 'latest', production: 'latest' } });
  const guards = { onDrift: 'fail', maxChanges: null, expectedPlan: null, uncommitted: new Set<string>() } as const;
  const ours = { prompt: { description: 'Ours' } };
  const edited = { prompt: { description: 'Theirs' } };

  /** Plans a prompt whose base is the file itself. */
  function planOf(seen: ObservedParts, former: readonly FileParts[] = []) {
    const formerStates = new Map([['p1', wantsOf(former)]]);
    const by = rules({ base: { files: new Map([['p1', wanted]]), isDefault: false }, formerStates });
    return makePlan([wanted], observation(observed(seen)), by);
  }

  test.each<[string, ObservedParts, string]>([
    [
      'The drift guard lists every environment and field that was changed outside git',
      { ...edited, active: { staging: theirs, production: outside(2, 'Hey'), promptsync: one } },
      '"staging" serves v3 (id ver_3), "production" serves v2 (id ver_2), and description is "Theirs"',
    ],
    [
      'The drift guard reports drift caused outside git but not unfinished drift',
      { ...ours, active: { staging: theirs, production: null } },
      '"staging" serves v3 (id ver_3)',
    ],
  ])('%s', (_, seen, what) => {
    const plan = planOf(seen);
    const message = `Someone changed this prompt outside git, which \`on_drift: fail\` does not allow. In the service, ${what}.`;
    expect(guardPlan(plan, guards).prompts).toMatchObject([
      {
        ...{ status: 'blocked', changes: plan.prompts[0]?.changes, drift: plan.prompts[0]?.drift },
        problems: [{ code: 'guard/drift', path: 'prompts/a.md', message }],
      },
    ]);
    expect(guardPlan(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
  });

  test.each([
    [
      'The drift guard accepts a prompt that has not drifted',
      planOf({ ...ours, active: { staging: one, production: one } }),
    ],
    [
      'The drift guard accepts a prompt whose drift comes only from an interrupted sync',
      planOf({ ...ours, active: { staging: version(2, 'Hi'), production: null } }, [{ text: 'Hi' }]),
    ],
    [
      'The drift guard accepts an empty description in the service if an earlier commit set no description',
      planOf({ active: { staging: one, production: one } }, [{}]),
    ],
  ])('%s', (_, plan) => {
    expect(guardPlan(plan, guards)).toStrictEqual(plan);
  });
});
