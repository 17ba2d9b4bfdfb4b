import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Side } from '../../src/domain/edits.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { mergePrompt, mergeText, mergeValue, type Merging, type Theirs } from '../../src/files/merge.ts';
import { makeMerger } from '../../src/git/merge-file.ts';
import { fileOf, sourceOf } from './support.ts';

const how = (side: Side): Merging => ({
  side,
  labels: { ours: 'mine', theirs: 'yours' },
  mergeLines: makeMerger([]),
});
const merge = (base: string | null, ours: string, theirs: string, side: Side = null) =>
  mergeText({ base, ours, theirs }, null, how(side));

/** As both may come from something newer than the base. */
const mergeDoubtful = (
  base: string | null,
  ours: string,
  theirs: string,
  side: Side = null,
  since: readonly string[] = [],
) => mergeText({ base, ours, theirs }, since, how(side));

const FAR = 'p\nq\nr\ns\n';

/** A conflict between two texts, as the file shows it. */
const between = (ours: string, theirs: string) => `<<<<<<< mine\n${ours}=======\n${theirs}>>>>>>> yours`;

const clean = (text: string) => ({ text, conflicts: 0 });

describe('a text', () => {
  test.each<[string, string, string, string, string]>([
    ['changed in two places gets both', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
    ['keeps its last line feed', 'a\nb\n', 'A\nb\n', 'a\nb\n', 'A\nb\n'],
    ['gets a last line feed', 'a\nb\nc', 'A\nb\nc', 'a\nb\nc\n', 'A\nb\nc\n'],
    ['keeps a lone carriage return', 'a\rb\nc\nd', 'a\rb\nc\nD', 'a\rB\nc\nd', 'a\rB\nc\nD'],
  ])('%s', async (_, base, ours, theirs, expected) => {
    expect(await merge(base, ours, theirs)).toEqual(clean(expected));
  });

  const two = [`a\n${FAR}c`, `1\n${FAR}1`, `2\n${FAR}2`] as const;
  const twice = `${between('1\n', '2\n')}\n${FAR}${between('1\n', '2\n')}`;
  test.each<[string, string | null, string, string, string, number]>([
    ['one line changed in two ways', 'a\nb\nc', 'a\nB\nc', 'a\nß\nc', `a\n${between('B\n', 'ß\n')}\nc`, 1],
    ['two places', ...two, twice, 2],
    ['all that differs from a base that is not known', null, 'B\nc', 'b\nc', `${between('B\n', 'b\n')}\nc`, 1],
    ['a text that became empty', 'a\nb', 'a\nB', '', between('a\nB\n', '\n'), 1],
  ])('has both sides of %s', async (_, base, ours, theirs, text, conflicts) => {
    expect(await merge(base, ours, theirs)).toEqual({ text, conflicts });
  });

  test('has of a conflict the side that was asked for, and of all else both', async () => {
    const [base, ours, theirs] = ['a\nb\nc\nd\ne', 'A\nb\nours\nd\ne', 'a\nb\ntheirs\nd\nE'];
    expect(await merge(base, ours, theirs, 'ours')).toEqual(clean('A\nb\nours\nd\nE'));
    expect(await merge(base, ours, theirs, 'theirs')).toEqual(clean('A\nb\ntheirs\nd\nE'));
    expect(await merge(null, 'a\nb', 'a\nc', 'ours')).toEqual(clean('a\nb'));
    expect(await merge(null, 'a\nb', 'a\nc', 'theirs')).toEqual(clean('a\nc'));
  });
});

/** Few different lines, so that they come up often; each side's own ones are told by their first character. */
const linesOf = (own: string) =>
  fc
    .array(fc.constantFrom('', 'a', 'b', 'c', 'd', `${own}1`, `${own}2`), { maxLength: 12 })
    .map((lines) => lines.join('\n'));
const base = linesOf('base ');

/** A text with some lines changed, emptied or put in. */
const editedFrom = (text: string, own: string) =>
  fc
    .tuple(...text.split('\n').map((line) => fc.constantFrom(line, line, `${own}1`, `${line}\n${own}2`, '')))
    .map((lines) => lines.join('\n'));

const related = base.chain((from) =>
  fc.tuple(fc.constant(from), editedFrom(from, 'ours '), editedFrom(from, 'theirs ')),
);
const unrelated = fc.tuple(base, linesOf('ours '), linesOf('theirs '));
const texts = fc.oneof(related, unrelated);
const sides = fc.constantFrom<Side>('ours', 'theirs', null);

/** The lines of a merged text as one side has them: those of the other are between the markers. */
function sideOf(text: string, side: 'ours' | 'theirs'): readonly string[] {
  const other = side === 'ours' ? /=======\n(?:.*\n)*?(?=>>>>>>> yours)/g : /<<<<<<< mine\n(?:.*\n)*?(?========\n)/g;
  const kept = `${text}\n`.replaceAll(other, '').replaceAll(/^(?:<<<<<<< mine|=======|>>>>>>> yours)\n/gm, '');
  return kept.split('\n').slice(0, -1);
}

/** test/commands/pull-laws.slow.test.ts says that no line is lost. */
describe('of any three texts', () => {
  test('what only one side has changed is that side', async () => {
    await fc.assert(
      fc.asyncProperty(texts, sides, async ([from, ours, theirs], side) => {
        expect(await merge(from, from, theirs, side)).toEqual(clean(theirs));
        expect(await merge(from, ours, from, side)).toEqual(clean(ours));
        expect(await merge(from, ours, ours, side)).toEqual(clean(ours));
      }),
      { numRuns: 15 },
    );
  });

  test('without what they come from both are there wholly', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async ([, ours, theirs]) => {
        const { text } = await merge(null, ours, theirs);
        expect([sideOf(text, 'ours'), sideOf(text, 'theirs')]).toEqual([ours.split('\n'), theirs.split('\n')]);
      }),
      { numRuns: 15 },
    );
  });
});

test.each([
  ['NUL', 'a\0b'],
  ['half a character', 'a\ud83d'],
])('a text with %s is merged with nothing: the editor refuses it', async (_, theirs) => {
  expect(await merge('a', 'b', theirs)).toEqual(clean(theirs));
  expect(await merge(theirs, 'b', 'c')).toEqual({ text: between('b\n', 'c\n'), conflicts: 1 });
});

test.each(['-c', '--exec=x', 'core.editor=x', 'a b/ü 👍.md'])('%j behind a marker is no option', async (label) => {
  const labels = { ours: label, theirs: 'yours' };
  const { text } = await mergeText({ base: 'a', ours: 'b', theirs: 'c' }, null, { ...how(null), labels });
  expect(text).toBe(`<<<<<<< ${label}\nb\n=======\nc\n>>>>>>> yours`);
});

describe('a text that both may have from something newer', () => {
  test.each<[string, string, string, string, string, number]>([
    ['may be taken back', 'a\nb', 'A\nb', 'a\nb', `${between('A\n', 'a\n')}\nb`, 1],
    ['may be taken back beside a change', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', `${between('A\n', 'a\n')}\nb\nC`, 1],
    ['may lose a line again', 'a\nc', 'a\nb\nc', 'a\nc', `a\n${between('b\n', '')}\nc`, 1],
    ['may get a line again', 'a\nb\nc', 'a\nc', 'a\nb\nc', `a\n${between('', 'b\n')}\nc`, 1],
    ['is changed where the file has not been', 'a\nb', 'a\nb', 'a\nB', 'a\nB', 0],
    ['has what is new beside what both have', 'a\nb\nc', 'A\nb\nc', 'A\nb\nC', 'A\nb\nC', 0],
  ])('%s', async (_, base, ours, theirs, text, conflicts) => {
    expect(await mergeDoubtful(base, ours, theirs)).toEqual({ text, conflicts });
  });

  test('is wholly theirs, or the file’s as it would be without doubt, where a side was asked for', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async ([from, ours, theirs]) => {
        expect(await mergeDoubtful(from, ours, theirs, 'theirs')).toEqual(clean(theirs));
        if (theirs !== from)
          expect(await mergeDoubtful(from, ours, theirs, 'ours')).toEqual(await merge(from, ours, theirs, 'ours'));
      }),
      { numRuns: 15 },
    );
  });

  test('has between the markers and around them both sides whole', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async ([from, ours, theirs]) => {
        const { text, conflicts } = await mergeDoubtful(from, ours, theirs);
        expect(sideOf(text, 'theirs')).toEqual(theirs.split('\n'));
        expect(sideOf(text, 'ours')).toEqual((await mergeDoubtful(from, ours, theirs, 'ours')).text.split('\n'));
        if (conflicts === 0) expect(text).toBe(theirs);
      }),
      { numRuns: 15 },
    );
  });

  test('is kept as well where the file has gone back to the base since', async () => {
    expect(await mergeDoubtful('a\nb', 'a\nb', 'A\nB', null, ['A\nb'])).toEqual({
      text: between('a\nb\n', 'A\nB\n'),
      conflicts: 1,
    });
    const asked = { text: `${between('a\n', 'A\n')}\nb\nC`, conflicts: 1 };
    expect(await mergeDoubtful('a\nb\nc', 'a\nb\nc', 'A\nb\nC', null, ['A\nb\nc'])).toEqual(asked);
  });
});

describe('a value', () => {
  test.each<[string, string | null, string, string, Side, string, boolean]>([
    ['changed by nobody stays', 'a', 'a', 'a', null, 'a', false],
    ['changed in the file stays', 'a', 'b', 'a', null, 'b', false],
    ['changed in the service is taken over', 'a', 'a', 'b', null, 'b', false],
    ['changed alike stays', 'a', 'b', 'b', null, 'b', false],
    ['changed in two ways is a conflict and stays', 'a', 'b', 'c', null, 'b', true],
    ['changed in two ways stays with --ours', 'a', 'b', 'c', 'ours', 'b', false],
    ['changed in two ways is taken over with --theirs', 'a', 'b', 'c', 'theirs', 'c', false],
    ['of which it is not known what it was is a conflict', null, 'b', 'c', null, 'b', true],
    ['of which it is not known what it was, and that is equal, is none', null, 'b', 'b', null, 'b', false],
  ])('%s', (_, base, ours, theirs, side, value, conflict) => {
    expect(mergeValue({ base: base === null ? null : { value: base }, ours, theirs }, side)).toEqual({
      value,
      conflict,
    });
  });

  test.each<[Side, string, boolean]>([
    [null, 'b', true],
    ['ours', 'b', false],
    ['theirs', 'a', false],
  ])('may be taken back where both may come from something newer: with %s', (side, value, conflict) => {
    const merging = { base: { value: 'a' }, ours: 'b', theirs: 'a', doubtful: true };
    expect(mergeValue(merging, side)).toEqual({ value, conflict });
  });
});

/** The metadata that comes of a merge, or that of the service where it is a conflict. */
async function merged(base: JsonObject | null, ours: JsonObject, theirs: JsonObject, side: Side = null) {
  const file = fileOf(sourceOf());
  const contentOf = (metadata: JsonObject) => ({ ...file.content, metadata });
  const from = { base: null, baseContent: base && contentOf(base), since: null };
  const service = { fields: { key: file.key, name: file.name, description: '' }, content: contentOf(theirs), ...from };
  const { frontMatter } = await mergePrompt({ ...file, content: contentOf(ours) }, service, how(side));
  const conflict = frontMatter.find(({ labels }) => labels !== undefined)?.value ?? null;
  const changed = new Map(frontMatter.filter(({ labels }) => !labels).map(({ path, value }) => [path[1], value]));
  const kept = Object.entries(ours).filter(([key]) => !changed.has(key));
  const set = [...changed].flatMap(([key = '', value]) => (value === undefined ? [] : [[key, value] as const]));
  return { mapping: Object.fromEntries([...kept, ...set]), conflict };
}

describe('metadata', () => {
  const hostile = JSON.parse('{"toString": 1, "__proto__": 2}') as JsonObject;
  const [one, other] = [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }];
  test.each<[string, JsonObject | null, JsonObject, JsonObject, JsonObject]>([
    ['gets what each side put in', {}, { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    ['keeps what the file has changed', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }],
    ['takes nested values as a whole', { a: { x: [1] } }, { a: { x: [1] } }, { a: { x: [2] } }, { a: { x: [2] } }],
    ['takes no other order for a change', one, other, one, one],
    ['keeps null apart from what is absent', { a: null }, { a: null }, {}, {}],
    ['knows only keys of its own', {}, {}, hostile, hostile],
  ])('%s', async (_, base, ours, theirs, mapping) => {
    expect(await merged(base, ours, theirs)).toEqual({ mapping, conflict: null });
  });

  test('is in conflict as a whole where one key is', async () => {
    const [base, ours, theirs] = [{ a: 1 }, { a: 2, b: 1 }, { a: 3 }];
    expect(await merged(base, ours, theirs)).toMatchObject({ conflict: theirs });
    expect(await merged(base, ours, theirs, 'ours')).toEqual({ mapping: ours, conflict: null });
    expect(await merged(base, ours, theirs, 'theirs')).toEqual({ mapping: { ...ours, a: 3 }, conflict: null });
    expect(await merged(null, ours, theirs)).toMatchObject({ conflict: theirs });
  });

  test('is from both sides the same where it is clean, and never loses what only one side has changed', async () => {
    const mappings = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 1, null, 'x'));
    await fc.assert(
      fc.asyncProperty(mappings, mappings, mappings, async (base, ours, theirs) => {
        const [one, other] = await Promise.all([merged(base, ours, theirs), merged(base, theirs, ours)]);
        expect(one.conflict === null).toBe(other.conflict === null);
        if (one.conflict === null) expect(one.mapping).toEqual(other.mapping);
        expect(await merged(base, base, theirs)).toEqual({ mapping: theirs, conflict: null });
        expect(await merged(base, ours, base)).toEqual({ mapping: ours, conflict: null });
      }),
    );
  });
});

describe('a prompt', () => {
  const file = fileOf(sourceOf('metadata: { m: 1 }\n'));
  const fields = { key: file.key, name: file.name, description: 'Theirs' };
  const nothing: Theirs = { fields, content: null, base: null, baseContent: null, since: null };
  const content = (m: number) => ({ text: file.content.text, metadata: { m } });
  const named = (name: string) => ({ ...nothing, fields: { ...fields, name } });
  const { labels } = how(null);
  const edit = (field: string, before: unknown, after: unknown, conflict = false) => {
    return { kind: 'set-field', field, before: JSON.stringify(before), after: JSON.stringify(after), conflict };
  };

  test.each<[string, Theirs, readonly unknown[], readonly unknown[]]>([
    ['stays as it is where only what the file does not manage is another', nothing, [], []],
    [
      'gets a name that only the service has changed',
      { ...named('T'), base: file },
      ...([[edit('name', 'N', 'T')], [{ path: ['name'], value: 'T' }]] as const),
    ],
    ['keeps a name that only the file has changed', { ...named('B'), base: { ...file, name: 'B' } }, [], []],
    [
      'has both names where nobody knows what they come from',
      named('T'),
      ...([[edit('name', 'N', 'T', true)], [{ path: ['name'], value: 'T', labels }]] as const),
    ],
    [
      'gets metadata that only the service has changed',
      { ...nothing, content: content(2), baseContent: content(1) },
      ...([[edit('metadata.m', 1, 2)], [{ path: ['metadata', 'm'], value: 2 }]] as const),
    ],
    [
      'also where both may come from something newer that has the same metadata',
      { ...nothing, content: content(2), baseContent: content(1), since: [content(1)] },
      ...([[edit('metadata.m', 1, 2)], [{ path: ['metadata', 'm'], value: 2 }]] as const),
    ],
    [
      'has both where that has other metadata',
      { ...nothing, content: content(2), baseContent: content(1), since: [content(3)] },
      ...([[edit('metadata', { m: 1 }, { m: 2 }, true)], [{ path: ['metadata'], value: { m: 2 }, labels }]] as const),
    ],
    [
      'and where the service has what they come from: the file’s may be an edit that was taken back',
      { ...nothing, content: content(2), baseContent: content(2), since: [content(1)] },
      ...([[edit('metadata', { m: 1 }, { m: 2 }, true)], [{ path: ['metadata'], value: { m: 2 }, labels }]] as const),
    ],
  ])('%s', async (_, theirs, edits, frontMatter) => {
    expect(await mergePrompt(file, theirs, how(null))).toEqual({ edits, frontMatter, text: null });
  });
});
