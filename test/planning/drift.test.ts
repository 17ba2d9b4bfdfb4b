import { describe, expect, test } from 'vitest';
import type { DesiredBase, FormerWants } from '../../src/domain/desired.ts';
import type { Drift } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { guard } from '../../src/planning/guard.ts';
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
} from './support.ts';

const one = version(1, 'One');
const two = version(2, 'Two', { ledger: [entry(1, 'One')] });
const theirs = outside(3, 'Theirs');
const follows: WrittenPins = { staging: 'latest' };

/** A file that says One in staging, unless it says otherwise. */
const saying = (parts: FileParts): PromptFile => file({ text: 'One', pins: follows, ...parts });

/** With what earlier commits said, where that is otherwise. */
type BaseParts = FileParts & { readonly former?: readonly FileParts[] };

function driftOf(head: FileParts, seen: ObservedParts, { former = [], ...parts }: BaseParts) {
  const known: DesiredBase = { files: new Map([['p1', saying(parts)]]) };
  const formerWants = new Map([['p1', wantsOf(former.map((one) => ({ ...parts, ...one })))]]);
  return planPrompt(...deepFreeze([saying(head), observed(seen), rules({ base: known, formerWants })] as const)).drift;
}

function wantsOf(states: readonly FileParts[]): FormerWants {
  const pins = formerPins(states.map(({ text = 'One', pins: written = follows }) => ({ ...written, text })));
  return { pins, fields: states.map(saying) };
}

function lineOf(drift: Drift): string {
  if ('field' in drift) return `${drift.kind} ${drift.field}: "${drift.observed}" instead of "${drift.expected}"`;
  const { kind, environment, observed: held, expected } = drift;
  const holder =
    held === null ? 'nothing' : [held.id, ...(held.commit === undefined ? [] : [held.commit])].join(' of ');
  return `${kind} ${environment}: ${holder} instead of ${'new' in expected ? `new "${expected.new.text}"` : expected.id}`;
}

const moved = { active: { staging: theirs, promptsync: one } };
const calm = { active: { staging: one } };
const pinned = { pins: { ...follows, production: 1 } };
const THEIRS = 'outside staging: ver_3 instead of ver_1';

describe('Drift is', () => {
  test.each<[string, head: FileParts, seen: ObservedParts, base: BaseParts, expected: readonly string[]]>([
    ['nothing where base and head are in sync', {}, calm, {}, []],
    ['not what the head itself changes', { text: 'Two' }, calm, {}, []],
    ['not what the head has brought about already', { text: 'Two' }, { active: { staging: two } }, {}, []],
    ['a version that somebody made active, though neither changed', {}, moved, {}, [THEIRS]],
    ['the same where the head changes something, too', { text: 'Two' }, moved, {}, [THEIRS]],
    ['nothing where somebody made active what the head wants', { text: 'Theirs' }, moved, {}, []],
    [
      'as unfinished what an earlier commit wanted there',
      { text: 'Three' },
      calm,
      { text: 'Two', former: [{ text: 'One' }] },
      ['unfinished staging: ver_1 of c1 instead of new "Two"'],
    ],
    [
      'as unfinished what an earlier commit wanted by its number or its id, whoever made it',
      { pins: { staging: 1, production: 1 } },
      { active: { staging: theirs, production: outside(2, 'Draft'), promptsync: one } },
      { pins: { staging: 1, production: 1 }, former: [{ pins: { staging: 3, production: 'version:ver_2' } }] },
      ['unfinished staging: ver_3 instead of ver_1', 'unfinished production: ver_2 instead of ver_1'],
    ],
    [
      'as from outside what an earlier commit wanted only elsewhere',
      pinned,
      { active: { staging: one, production: two } },
      { ...pinned, former: [{ text: 'Two' }] },
      ['outside production: ver_2 of c2 instead of ver_1'],
    ],
    [
      'as from outside what was made from a commit that wanted it nowhere',
      { text: 'Three' },
      calm,
      { text: 'Two', former: [{ text: 'Zero' }] },
      ['outside staging: ver_1 of c1 instead of new "Two"'],
    ],
    [
      'as from outside a copy of a version of ours',
      {},
      { active: { staging: version(4, 'Edited', { stampFor: 'One' }), promptsync: one } },
      { former: [{}] },
      ['outside staging: ver_4 instead of ver_1'],
    ],
    [
      'as unfinished that nothing is active yet',
      { text: 'Two' },
      { active: { staging: null } },
      {},
      ['unfinished staging: nothing instead of new "One"'],
    ],
    [
      'nothing in an environment that the base does not pin',
      pinned,
      { active: { staging: one, production: theirs } },
      {},
      [],
    ],
    ['nothing in one that the head no longer pins', {}, { active: { staging: one, production: theirs } }, pinned, []],
    ['nothing where it is not known what the base wants', {}, moved, { pins: { staging: 9 } }, []],
    [
      'each environment by itself',
      pinned,
      { active: { staging: theirs, production: two } },
      { ...pinned, former: [{ pins: { ...follows, production: 2 } }] },
      [THEIRS, 'unfinished production: ver_2 of c2 instead of ver_1'],
    ],
    [
      'a field that somebody changed',
      { name: 'Newer' },
      { ...calm, prompt: { name: 'Theirs' } },
      { former: [{ name: 'Older' }] },
      ['outside name: "Theirs" instead of "First"'],
    ],
    [
      'a field beside a text that the head changes, and that the base would make',
      { text: 'Two' },
      { ...calm, prompt: { name: 'Theirs' } },
      { text: 'Zero' },
      ['outside staging: ver_1 of c1 instead of new "Zero"', 'outside name: "Theirs" instead of "First"'],
    ],
    [
      'as unfinished a field that stands as an earlier commit had it',
      {},
      { ...calm, prompt: { name: 'Older' } },
      { former: [{ name: 'Oldest' }, { name: 'Older' }] },
      ['unfinished name: "Older" instead of "First"'],
    ],
    ['not a field that the head itself changes', { name: 'Newer' }, calm, {}, []],
    ['not a field that is as the head wants it', { name: 'Theirs' }, { ...calm, prompt: { name: 'Theirs' } }, {}, []],
    [
      'not a field that the base does not manage',
      { description: 'Ours' },
      { ...calm, prompt: { description: 'Theirs' } },
      {},
      [],
    ],
    [
      'from outside an empty description of which no earlier commit is known',
      { description: 'Ours' },
      calm,
      { description: 'Old' },
      ['outside description: "" instead of "Old"'],
    ],
    [
      'from outside an empty description that no earlier commit had',
      { description: 'Ours' },
      calm,
      { description: 'Old', former: [{}] },
      ['outside description: "" instead of "Old"'],
    ],
  ])('%s', (_, head, seen, base, expected) => {
    expect(driftOf(head, seen, base).map(lineOf)).toStrictEqual(expected);
  });

  test('as unfinished an empty description where an earlier commit had none', () => {
    const wanted = saying({ description: 'Ours' });
    const base = { files: new Map([['p1', wanted]]) };
    const formerWants = new Map([['p1', wantsOf([{}])]]);
    expect(planPrompt(wanted, observed(calm), rules({ base, formerWants })).drift).toStrictEqual([
      { kind: 'unfinished', field: 'description', expected: 'Ours', observed: '', restores: true },
    ]);
  });

  test('of each environment by what it should serve, not by what another one should', () => {
    const seen = { active: { staging: theirs, production: version(4, 'Four'), promptsync: two } };
    expect(driftOf({ ...pinned, text: 'Two' }, seen, { ...pinned, text: 'Two' })).toStrictEqual([
      {
        ...{ kind: 'outside', environment: 'staging', restores: true },
        ...{ expected: { id: 'ver_2', number: 2 }, observed: { id: 'ver_3', number: 3 } },
      },
      {
        ...{ kind: 'outside', environment: 'production', restores: true },
        ...{ expected: { id: 'ver_1', number: 1 }, observed: { id: 'ver_4', number: 4, commit: 'c4', pin: '4' } },
      },
    ]);
  });

  test('none of a prompt that the base does not know, nor without a base', () => {
    const other: DesiredBase = { files: new Map([['p2', saying({})]]) };
    expect(planPrompt(saying({}), observed(moved), rules({ base: other })).drift).toStrictEqual([]);
    expect(planPrompt(saying({}), observed(moved), rules()).drift).toStrictEqual([]);
  });

  test('found without any effect on what is planned', () => {
    const known: DesiredBase = { files: new Map([['p1', saying({})]]) };
    const seen = observed(moved);
    const [plain, compared] = [rules(), rules({ base: known })].map((by) => planPrompt(saying({}), seen, by));
    expect({ ...compared, drift: [] }).toStrictEqual(plain);
  });

  test.each<[string, FileParts, readonly boolean[]]>([
    ['only put back where base and head want the same', {}, [true, true, true]],
    ['but not where the head wants another text', { text: 'New' }, [false, true, true]],
    ['but not where the head wants another version', { pins: { ...follows, production: 2 } }, [true, false, true]],
    ['but not where the head wants another field', { description: 'New' }, [true, true, false]],
  ])('%s', (_, head, restores) => {
    const base = { ...pinned, text: 'Two', description: 'Ours' };
    const active = { staging: theirs, production: outside(4, 'Four'), promptsync: two };
    const drift = driftOf({ ...base, ...head }, { active, prompt: { description: 'Theirs' } }, base);
    expect(drift.map((entry) => entry.restores)).toEqual(restores);
  });
});

describe('Where on_drift is fail', () => {
  const wanted = saying({ description: 'Ours', pins: { staging: 'latest', production: 'latest' } });
  const guards = { onDrift: 'fail', maxChanges: null, expectedPlan: null, uncommitted: new Set<string>() } as const;
  const ours = { prompt: { description: 'Ours' } };
  const edited = { prompt: { description: 'Theirs' } };

  /** The plan of a prompt whose base is the file itself. */
  function planOf(seen: ObservedParts, former: readonly FileParts[] = []) {
    const formerWants = new Map([['p1', wantsOf(former)]]);
    const by = rules({ base: { files: new Map([['p1', wanted]]) }, formerWants });
    return makePlan([wanted], observation(observed(seen)), by);
  }

  test.each<[string, ObservedParts, string]>([
    [
      'environments and a field',
      { ...edited, active: { staging: theirs, production: outside(2, 'Hey'), promptsync: one } },
      '"staging" serves v3 (id ver_3); "production" serves v2 (id ver_2); description is "Theirs"',
    ],
    [
      'an environment, but not another one that is merely unfinished',
      { ...ours, active: { staging: theirs, production: null } },
      '"staging" serves v3 (id ver_3)',
    ],
  ])('a prompt is refused that somebody has changed, and what it serves is named: %s', (_, seen, what) => {
    const plan = planOf(seen);
    const message = `The service was changed outside of git, and on_drift is \`fail\`: ${what}.`;
    expect(guard(plan, guards).prompts).toMatchObject([
      {
        ...{ status: 'blocked', changes: plan.prompts[0]?.changes, drift: plan.prompts[0]?.drift },
        problems: [{ code: 'guard/drift', path: 'prompts/a.md', message }],
      },
    ]);
    expect(guard(plan, { ...guards, onDrift: 'overwrite' })).toStrictEqual(plan);
  });

  test.each([
    ['where nothing has drifted', planOf({ ...ours, active: { staging: one, production: one } })],
    [
      'where a sync was cut short',
      planOf({ ...ours, active: { staging: version(2, 'Hi'), production: null } }, [{ text: 'Hi' }]),
    ],
    [
      'where a field stands as an earlier commit had it that did not have it',
      planOf({ active: { staging: one, production: one } }, [{}]),
    ],
  ])('a prompt is not refused %s', (_, plan) => {
    expect(guard(plan, guards)).toStrictEqual(plan);
  });
});
