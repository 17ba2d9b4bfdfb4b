import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PreferredSide } from '../../src/domain/edits.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import {
  mergePrompt,
  mergeText,
  mergeValue,
  type MergeOptions,
  type ServiceSide,
} from '../../src/editing/merge-prompt.ts';
import { makeMerger } from '../../src/git/make-merger.ts';
import { runs } from '../support/seed.ts';
import { parseValidFile, makeSource } from '../workspace/support.ts';

const makeMerging = (side: PreferredSide): MergeOptions => ({
  side,
  labels: { ours: 'mine', theirs: 'yours' },
  mergeLines: makeMerger([]),
});
const merge = (base: string | null, ours: string, theirs: string, side: PreferredSide = null) =>
  mergeText({ base, ours, theirs }, makeMerging(side));

const UNCHANGED_LINES = 'p\nq\nr\ns\n';

/** Returns a conflict between two texts as the merged file shows it. */
const markConflict = (ours: string, theirs: string) => `<<<<<<< mine\n${ours}=======\n${theirs}>>>>>>> yours`;

const withoutConflict = (text: string) => ({ text, conflicts: 0 });

describe('mergeText', () => {
  const [two, one, other] = [`a\n${UNCHANGED_LINES}c`, `1\n${UNCHANGED_LINES}1`, `2\n${UNCHANGED_LINES}2`];
  const twice = `${markConflict('1\n', '2\n')}\n${UNCHANGED_LINES}${markConflict('1\n', '2\n')}`;
  test.each<[string, string | null, string, string, string, number]>([
    ['a text merge combines changes in different places', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC', 0],
    ['a text merge keeps a final newline that only one side added', 'a\nb\nc', 'A\nb\nc', 'a\nb\nc\n', 'A\nb\nc\n', 0],
    ['a text merge keeps a lone carriage return in a line', 'a\rb\nc\nd', 'a\rb\nc\nD', 'a\rB\nc\nd', 'a\rB\nc\nD', 0],
    ['a text merge marks two conflicts in different places separately', two, one, other, twice, 2],
  ])('%s', async (_, base, ours, theirs, text, conflicts) => {
    expect(await merge(base, ours, theirs)).toEqual({ text, conflicts });
  });

  test('a text merge resolves conflicts in favor of the preferred side and keeps all other changes', async () => {
    const [base, ours, theirs] = ['a\nb\nc\nd\ne', 'A\nb\nours\nd\ne', 'a\nb\ntheirs\nd\nE'];
    expect(await merge(base, ours, theirs, 'ours')).toEqual(withoutConflict('A\nb\nours\nd\nE'));
    expect(await merge(base, ours, theirs, 'theirs')).toEqual(withoutConflict('A\nb\ntheirs\nd\nE'));
    expect(await merge(null, 'a\nb', 'a\nc', 'theirs')).toEqual(withoutConflict('a\nc'));
  });

  test.each(['a\0b', 'a\ud83d'])(
    'a text merge returns the service text %j unchanged, because git cannot merge it',
    async (theirs) => {
      expect(await merge('a', 'b', theirs)).toEqual(withoutConflict(theirs));
      expect(await merge(theirs, 'b', 'c')).toEqual({ text: markConflict('b\n', 'c\n'), conflicts: 1 });
    },
  );

  test.each(['--exec=x', 'core.editor=x', 'a b/ü 👍.md'])(
    'git does not interpret the conflict label %j as an option',
    async (label) => {
      const labels = { ours: label, theirs: 'yours' };
      const { text } = await mergeText({ base: 'a', ours: 'b', theirs: 'c' }, { ...makeMerging(null), labels });
      expect(text).toBe(`<<<<<<< ${label}\nb\n=======\nc\n>>>>>>> yours`);
    },
  );
});

/**
 * Generates texts from few different lines, so that equal lines are frequent. Each side's own lines start with the
 * name of the side.
 */
const arbitraryText = (own: string) =>
  fc
    .array(fc.constantFrom('', 'a', 'b', 'c', 'd', `${own}1`, `${own}2`), { maxLength: 12 })
    .map((lines) => lines.join('\n'));
const base = arbitraryText('base ');

/** Generates copies of a text with some lines changed, emptied or inserted. */
const editedFrom = (text: string, own: string) =>
  fc
    .tuple(...text.split('\n').map((line) => fc.constantFrom(line, line, `${own}1`, `${line}\n${own}2`, '')))
    .map((lines) => lines.join('\n'));

const related = base.chain((from) =>
  fc.tuple(fc.constant(from), editedFrom(from, 'ours '), editedFrom(from, 'theirs ')),
);
const unrelated = fc.tuple(base, arbitraryText('ours '), arbitraryText('theirs '));
const texts = fc.oneof(related, unrelated);
const sides = fc.constantFrom<PreferredSide>('ours', 'theirs', null);

/** Returns the lines of one side of a merged text, without the markers and the other side of each conflict. */
function sideOf(text: string, side: 'ours' | 'theirs'): readonly string[] {
  const other = side === 'ours' ? /=======\n(?:.*\n)*?(?=>>>>>>> yours)/g : /<<<<<<< mine\n(?:.*\n)*?(?========\n)/g;
  const kept = `${text}\n`.replaceAll(other, '').replaceAll(/^(?:<<<<<<< mine|=======|>>>>>>> yours)\n/gm, '');
  return kept.split('\n').slice(0, -1);
}

describe('mergeText on random texts', () => {
  test('a text merge returns the changed text if only one side changed', async () => {
    await fc.assert(
      fc.asyncProperty(texts, sides, async ([from, ours, theirs], side) => {
        expect(await merge(from, from, theirs, side)).toEqual(withoutConflict(theirs));
        expect(await merge(from, ours, from, side)).toEqual(withoutConflict(ours));
        expect(await merge(from, ours, ours, side)).toEqual(withoutConflict(ours));
      }),
      { numRuns: runs(24) },
    );
  });

  test('a text merge preserves every line of both sides if the merge base is unknown', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async ([, ours, theirs]) => {
        const { text } = await merge(null, ours, theirs);
        expect([sideOf(text, 'ours'), sideOf(text, 'theirs')]).toEqual([ours.split('\n'), theirs.split('\n')]);
      }),
      { numRuns: runs(24) },
    );
  });
});

describe('mergePrompt with several possible merge bases', () => {
  /** Merges the text of the service into a file. */
  const mergeWith = async (bases: readonly string[], ours: string, theirs: string, side: PreferredSide = null) => {
    const file = parseValidFile(makeSource());
    const contentOf = (text: string) => ({ ...file.content, text, metadata: undefined });
    const fields = { key: file.key, name: file.name, description: '' };
    const service = { fields, content: contentOf(theirs), baseFile: null, baseContents: bases.map(contentOf) };
    const { text } = await mergePrompt({ ...file, content: contentOf(ours) }, service, makeMerging(side));
    return text ?? withoutConflict(ours);
  };

  test('a prompt merge marks a line that the service may have reverted, or takes it from the preferred side', async () => {
    const mergeReverted = (side: PreferredSide) => mergeWith(['a\nb', 'A\nb'], 'A\nb', 'a\nb', side);
    expect(await mergeReverted(null)).toEqual({ text: `${markConflict('A\n', 'a\n')}\nb`, conflicts: 1 });
    expect(await mergeReverted('ours')).toEqual(withoutConflict('A\nb'));
    expect(await mergeReverted('theirs')).toEqual(withoutConflict('a\nb'));
  });

  test('a prompt merge uses the result that all possible merge bases lead to, and merges without a base if their results differ', async () => {
    await fc.assert(
      fc.asyncProperty(texts, texts, async ([from, ours, theirs], [other]) => {
        const [one, two] = await Promise.all([from, other].map((base) => mergeWith([base], ours, theirs)));
        const expected = isDeepStrictEqual(one, two) ? one : await mergeWith([], ours, theirs);
        expect(await mergeWith([from, other], ours, theirs)).toEqual(expected);
      }),
      { numRuns: runs(16) },
    );
  });
});

test.each<[string, string | null, string, string, PreferredSide, string, boolean]>([
  ['mergeValue keeps a value that only the file changed', 'a', 'b', 'a', null, 'b', false],
  ['mergeValue accepts a value that only the service changed', 'a', 'a', 'b', null, 'b', false],
  ['mergeValue finds no conflict if both sides made the same change', 'a', 'b', 'b', null, 'b', false],
  ['mergeValue keeps the value of the file in a conflict', 'a', 'b', 'c', null, 'b', true],
  ['mergeValue resolves a conflict in favor of the file', 'a', 'b', 'c', 'ours', 'b', false],
  ['mergeValue resolves a conflict in favor of the service', 'a', 'b', 'c', 'theirs', 'c', false],
  ['mergeValue finds a conflict between different values without a merge base', null, 'b', 'c', null, 'b', true],
  ['mergeValue finds no conflict between equal values without a merge base', null, 'b', 'b', null, 'b', false],
])('%s', (_, base, ours, theirs, side, value, isConflict) => {
  const sides = { base: base === null ? null : { value: base }, ours, theirs };
  expect(mergeValue(sides, side)).toEqual({ value, isConflict });
});

/** Merges metadata. Returns the merged mapping and, if there is a conflict, the metadata of the service. */
async function mergeMetadata(
  base: JsonObject | null,
  ours: JsonObject,
  theirs: JsonObject,
  side: PreferredSide = null,
) {
  const file = parseValidFile(makeSource());
  const contentOf = (metadata: JsonObject) => ({ ...file.content, metadata });
  const from = { baseFile: null, baseContents: base === null ? [] : [contentOf(base)] };
  const service = { fields: { key: file.key, name: file.name, description: '' }, content: contentOf(theirs), ...from };
  const { frontMatter } = await mergePrompt({ ...file, content: contentOf(ours) }, service, makeMerging(side));
  const conflict = frontMatter.find(({ labels }) => labels !== undefined)?.value ?? null;
  const changed = new Map(frontMatter.filter(({ labels }) => !labels).map(({ path, value }) => [path[1], value]));
  const kept = Object.entries(ours).filter(([key]) => !changed.has(key));
  const set = [...changed].flatMap(([key = '', value]) => (value === undefined ? [] : [[key, value] as const]));
  return { mapping: Object.fromEntries([...kept, ...set]), conflict };
}

describe('mergePrompt on metadata', () => {
  const hostile = JSON.parse('{"toString": 1, "__proto__": 2}') as JsonObject;
  const [one, other] = [{ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } }];
  test.each<[string, JsonObject | null, JsonObject, JsonObject, JsonObject]>([
    [
      'a metadata merge combines changes to different keys',
      { a: 1, b: 1 },
      { a: 2, b: 1 },
      { a: 1, b: 3, c: 4 },
      { a: 2, b: 3, c: 4 },
    ],
    ['a metadata merge ignores the order of keys', one, other, one, one],
    ['a metadata merge distinguishes null from a missing key', { a: null }, { a: null }, {}, {}],
    ['a metadata merge adds the keys toString and __proto__ like ordinary keys', {}, {}, hostile, hostile],
  ])('%s', async (_, base, ours, theirs, mapping) => {
    expect(await mergeMetadata(base, ours, theirs)).toEqual({ mapping, conflict: null });
  });

  test('a metadata merge reports a single conflict for the whole mapping if any key conflicts', async () => {
    const [base, ours, theirs] = [{ a: 1 }, { a: 2, b: 1 }, { a: 3 }];
    expect(await mergeMetadata(base, ours, theirs)).toMatchObject({ conflict: theirs });
    expect(await mergeMetadata(base, ours, theirs, 'ours')).toEqual({ mapping: ours, conflict: null });
    expect(await mergeMetadata(base, ours, theirs, 'theirs')).toEqual({ mapping: { ...ours, a: 3 }, conflict: null });
    expect(await mergeMetadata(null, ours, theirs)).toMatchObject({ conflict: theirs });
  });

  test('a conflict-free metadata merge gives the same result if the sides are swapped', async () => {
    const mappings = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(0, 1, null, 'x'));
    await fc.assert(
      fc.asyncProperty(mappings, mappings, mappings, async (base, ours, theirs) => {
        const [one, other] = await Promise.all([mergeMetadata(base, ours, theirs), mergeMetadata(base, theirs, ours)]);
        expect(one.conflict === null).toBe(other.conflict === null);
        if (one.conflict === null) expect(one.mapping).toEqual(other.mapping);
        expect(await mergeMetadata(base, base, theirs)).toEqual({ mapping: theirs, conflict: null });
        expect(await mergeMetadata(base, ours, base)).toEqual({ mapping: ours, conflict: null });
      }),
    );
  });
});

describe('mergePrompt on fields', () => {
  const file = parseValidFile(makeSource('metadata: { m: 1 }\n'));
  const fields = { key: file.key, name: file.name, description: 'Theirs' };
  const nothing: ServiceSide = { fields, content: null, baseFile: null, baseContents: [] };
  const content = (m: number) => ({ type: 'text' as const, text: file.content.text, metadata: { m } });
  const named = (name: string) => ({ ...nothing, fields: { ...fields, name } });
  const { labels } = makeMerging(null);
  const edit = (field: string, before: unknown, after: unknown, conflict = false) => {
    return { kind: 'set-field', field, before: JSON.stringify(before), after: JSON.stringify(after), conflict };
  };

  test.each<[string, ServiceSide, unknown, unknown]>([
    ['a prompt merge ignores the description from the service if the file declares none', nothing, [], []],
    [
      'a prompt merge uses the name from the service if only the service changed it',
      { ...named('T'), baseFile: file },
      [edit('name', 'N', 'T')],
      [{ path: ['name'], value: 'T' }],
    ],
    [
      'a prompt merge reports a conflict if the names differ and the merge base is unknown',
      named('T'),
      [edit('name', 'N', 'T', true)],
      [{ path: ['name'], value: 'T', labels }],
    ],
    [
      'a prompt merge uses the metadata from the service if only the service changed it',
      { ...nothing, content: content(2), baseContents: [content(1)] },
      [edit('metadata.m', 1, 2)],
      [{ path: ['metadata', 'm'], value: 2 }],
    ],
    [
      'a prompt merge reports a metadata conflict if the possible merge bases have different metadata',
      { ...nothing, content: content(2), baseContents: [content(1), content(2)] },
      [edit('metadata', { m: 1 }, { m: 2 }, true)],
      [{ path: ['metadata'], value: { m: 2 }, labels }],
    ],
  ])('%s', async (_, theirs, edits, frontMatter) => {
    expect(await mergePrompt(file, theirs, makeMerging(null))).toEqual({ edits, frontMatter, text: null });
  });
});
