import { describe, expect, test } from 'vitest';
import type { Observed } from '../../src/domain/observed.ts';
import type { Drift } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { DesiredBase } from '../../src/domain/desired.ts';
import { deepFreeze, entry, file, observed, outside, planPrompt, rules, version, type WrittenPins } from './support.ts';

type BaseParts = {
  readonly base: PromptFile;
  readonly ancestors?: readonly string[];
  readonly former?: readonly string[];
};

function driftOf(
  head: PromptFile,
  seen: Observed,
  { base, ancestors = [], former = [] }: BaseParts,
): readonly string[] {
  const known: DesiredBase = { files: new Map([['p1', base]]), ancestors: new Set(ancestors) };
  const formerFields = new Map([['p1', former.map((name) => ({ ...base, name }))]]);
  return planPrompt(...deepFreeze([head, seen, rules({ base: known, formerFields })] as const)).drift.map(lineOf);
}

function lineOf(drift: Drift): string {
  if ('field' in drift) return `${drift.kind} ${drift.field}: "${drift.observed}" instead of "${drift.expected}"`;
  const { kind, environment, observed: held, expected } = drift;
  const holder =
    held === null ? 'nothing' : [held.id, ...(held.commit === undefined ? [] : [held.commit])].join(' of ');
  return `${kind} ${environment}: ${holder} instead of ${'new' in expected ? `new "${expected.new.text}"` : expected.id}`;
}

const one = version(1, 'One');
const two = version(2, 'Two', { ledger: [entry(1, 'One')] });
const theirs = outside(3, 'Theirs');
const follows: WrittenPins = { staging: 'latest' };

/** The base wants the text One in staging, unless it says otherwise. */
const base = file({ text: 'One', pins: follows });

type Row = readonly [string, PromptFile, Observed, BaseParts, readonly string[]];

const rows: readonly Row[] = [
  ['nothing where base and head are in sync', base, observed({ active: { staging: one } }), { base }, []],
  [
    'not what the head itself changes',
    file({ text: 'Two', pins: follows }),
    observed({ active: { staging: one } }),
    { base },
    [],
  ],
  [
    'not what the head has brought about already',
    file({ text: 'Two', pins: follows }),
    observed({ active: { staging: two } }),
    { base },
    [],
  ],
  [
    'a version that somebody made active, though neither changed',
    base,
    observed({ active: { staging: theirs, promptsync: one } }),
    { base },
    ['outside staging: ver_3 instead of ver_1'],
  ],
  [
    'a version that somebody made active where the head changes something, too',
    file({ text: 'Two', pins: follows }),
    observed({ active: { staging: theirs, promptsync: one } }),
    { base },
    ['outside staging: ver_3 instead of ver_1'],
  ],
  [
    'nothing where somebody made active what the head wants',
    file({ text: 'Theirs', pins: follows }),
    observed({ active: { staging: theirs, promptsync: one } }),
    { base },
    [],
  ],
  [
    'as unfinished what was made from an earlier commit',
    file({ text: 'Three', pins: follows }),
    observed({ active: { staging: one } }),
    { base: file({ text: 'Two', pins: follows }), ancestors: ['c1'] },
    ['unfinished staging: ver_1 of c1 instead of new "Two"'],
  ],
  [
    'as from outside what was made from a commit that is none of ours',
    file({ text: 'Three', pins: follows }),
    observed({ active: { staging: one } }),
    { base: file({ text: 'Two', pins: follows }), ancestors: ['c2'] },
    ['outside staging: ver_1 of c1 instead of new "Two"'],
  ],
  [
    'as from outside a copy of a version of ours',
    base,
    observed({ active: { staging: version(4, 'Edited', { stampFor: 'One' }), promptsync: one } }),
    { base, ancestors: ['c4'] },
    ['outside staging: ver_4 instead of ver_1'],
  ],
  [
    'as unfinished that nothing is active yet',
    file({ text: 'Two', pins: follows }),
    observed({ active: { staging: null } }),
    { base },
    ['unfinished staging: nothing instead of new "One"'],
  ],
  [
    'nothing in an environment that the base does not pin',
    file({ text: 'One', pins: { ...follows, production: 1 } }),
    observed({ active: { staging: one, production: theirs } }),
    { base },
    [],
  ],
  [
    'nothing in an environment that the head no longer pins',
    base,
    observed({ active: { staging: one, production: theirs } }),
    { base: file({ text: 'One', pins: { ...follows, production: 1 } }) },
    [],
  ],
  [
    'nothing where it is not known what the base wants',
    base,
    observed({ active: { staging: theirs, promptsync: one } }),
    { base: file({ text: 'One', pins: { staging: 9 } }) },
    [],
  ],
  [
    'each environment by itself',
    file({ text: 'One', pins: { staging: 'latest', production: 1 } }),
    observed({ active: { staging: theirs, production: two } }),
    { base: file({ text: 'One', pins: { staging: 'latest', production: 1 } }), ancestors: ['c2'] },
    ['outside staging: ver_3 instead of ver_1', 'unfinished production: ver_2 of c2 instead of ver_1'],
  ],
  [
    'a field that somebody changed',
    file({ text: 'One', pins: follows, name: 'Newer' }),
    observed({ active: { staging: one }, prompt: { name: 'Theirs' } }),
    { base, former: ['Older'] },
    ['outside name: "Theirs" instead of "First"'],
  ],
  [
    'as unfinished a field that stands as an earlier commit had it',
    base,
    observed({ active: { staging: one }, prompt: { name: 'Older' } }),
    { base, former: ['Oldest', 'Older'] },
    ['unfinished name: "Older" instead of "First"'],
  ],
  [
    'not a field that the head itself changes',
    file({ text: 'One', pins: follows, name: 'Newer' }),
    observed({ active: { staging: one } }),
    { base },
    [],
  ],
  [
    'not a field that the base does not manage',
    file({ text: 'One', pins: follows, description: 'Ours' }),
    observed({ active: { staging: one }, prompt: { description: 'Theirs' } }),
    { base },
    [],
  ],
  [
    'an absent description of an earlier commit as an empty one',
    file({ text: 'One', pins: follows, description: 'Ours' }),
    observed({ active: { staging: one } }),
    { base: file({ text: 'One', pins: follows, description: 'Old' }), former: ['First'] },
    ['outside description: "" instead of "Old"'],
  ],
];

describe('Drift is', () => {
  test.each(rows)('%s', (_, head, seen, parts, expected) => {
    expect(driftOf(head, seen, parts)).toStrictEqual(expected);
  });

  test('not told of a prompt that the base does not know, nor without a base', () => {
    const seen = observed({ active: { staging: theirs } });
    const other: DesiredBase = { files: new Map([['p2', base]]), ancestors: new Set() };
    expect(planPrompt(base, seen, rules({ base: other })).drift).toStrictEqual([]);
    expect(planPrompt(base, seen, rules()).drift).toStrictEqual([]);
  });

  test('found without any effect on what is planned', () => {
    const seen = observed({ active: { staging: theirs, promptsync: one } });
    const known: DesiredBase = { files: new Map([['p1', base]]), ancestors: new Set() };
    const [plain, told] = [rules(), rules({ base: known })].map((given) => planPrompt(base, seen, given));
    expect({ ...told, drift: [] }).toStrictEqual(plain);
  });
});
