import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { editPromptFile, type PromptEdits } from '../../src/files/edit.ts';
import { corpus } from './front-matter-corpus.ts';
import { fileOf, PATH } from './support.ts';

const sources = fc.constantFrom(...Object.values(corpus));
const blockSources = sources.filter((source) => !/^\s*\{/m.test(source.slice(0, 12)));
const labels = { ours: 'git', theirs: 'the service' };

const awkward = [
  ...['12', 'true', '~', '', ' ', ' a', 'a ', 'x: y', ':a', 'a:', '- a', '-', '#', 'a #b', '[1]', '{a}', 'a,b', '}'],
  ...['|', '>-', '?', '---', '...', '\n---\n', '<<', "'", '"', '`', '@', '%x', '!t', '&a', '*a', '<<<<<<< x', '\t'],
  ...['a\nb', 'a\n', '\na', 'a\n\n', ' a\nb', 'a\n \n b', 'é', '👩‍👩‍👧', '\u2028', '\u0085', '\ufeff', 'a\rb', '\u200b'],
];
const words = fc.oneof(fc.constantFrom(...awkward), fc.string({ maxLength: 8 }));
const keys = words.filter((key) => key !== '__proto__' && key !== 'promptsync');
const scalars = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.constantFrom(0.1, -2.5e-7));
const values: fc.Arbitrary<JsonValue> = fc.oneof(
  scalars,
  fc.array(fc.oneof(scalars, fc.array(scalars, { maxLength: 2 })), { maxLength: 3 }),
  fc.dictionary(keys, fc.oneof(scalars, fc.dictionary(keys, scalars, { maxKeys: 2 })), { maxKeys: 3 }),
);

function edited(source: string, edits: Partial<PromptEdits>): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], ...edits });
  if ('problem' in result) throw new Error(result.problem.message);
  return Buffer.from(result.bytes).toString();
}

const set = (path: readonly string[], value: JsonValue) => ({ kind: 'set', path, value }) as const;

describe('any metadata', () => {
  const paths = fc.oneof(
    keys.map((key) => [key]),
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'pins'), keys).map((path): readonly string[] => path),
    fc.constantFrom(['a'], ['b'], ['c'], ['e']),
  );

  test('can be set in any file, and is read as it was set', () => {
    fc.assert(
      fc.property(sources, paths, values, (source, path, value) => {
        const after = fileOf(edited(source, { frontMatter: [set(['metadata', ...path], value)] }));
        const read = path.reduce<unknown>((inner, key) => Object(inner)[key], after.content.metadata);
        expect(read).toEqual(Object.is(value, -0) ? 0 : value);
      }),
      { numRuns: 300 },
    );
  });
});

describe('any text', () => {
  const parts = fc.constantFrom(
    'a',
    'Hello.',
    '\n',
    '\n\n',
    '---',
    '\n---\n',
    ' ',
    '{{x}}',
    '😀',
    '😁',
    '\ufeff',
    '---js',
  );
  const texts = fc
    .array(parts, { minLength: 1, maxLength: 8 })
    .map((found) => found.join(''))
    .filter((text) => text.trim() !== '');
  const headOf = (source: string) => /^[^]*?\n---[^\n]*\n/.exec(source)?.[0];

  test('can be set in any file, is read back, and leaves the front matter', () => {
    const anyText = sources.filter((source) => fileOf(source).variables === undefined);
    fc.assert(
      fc.property(anyText, texts, (source, text) => {
        const after = edited(source, { text });
        expect(fileOf(after).content.text).toBe(text);
        expect(headOf(after)).toBe(headOf(source));
        expect(edited(after, { text })).toBe(after);
      }),
      { numRuns: 300 },
    );
  });
});

describe('any conflict', () => {
  const theirs = fc.oneof(
    fc.record({ field: fc.constant('name'), theirs: fc.constantFrom('M', 'a: b', '"') }),
    fc.record({ field: fc.constant('description'), theirs: words }),
    fc.record({ field: fc.constant('pins'), theirs: fc.constantFrom({}, { qa: 3 }, { staging: 'git:x', 'a #': 1 }) }),
    fc.record({ field: fc.constant('metadata'), theirs: fc.dictionary(keys, values, { maxKeys: 3 }) }),
  );
  const all = fc.uniqueArray(theirs, { selector: ({ field }) => field, minLength: 1 });

  /** The file with one side taken of each conflict. */
  const take = (side: 'ours' | 'theirs', source: string) =>
    source.replaceAll(
      /^<<<<<<< git\r?\n([^]*?)^=======\r?\n([^]*?)^>>>>>>> the service\r?\n/gm,
      (_, ours: string, other: string) => (side === 'ours' ? ours : other),
    );

  test('gives the file as it was, or as it is with their values, when it is resolved', () => {
    fc.assert(
      fc.property(blockSources, all, (source, fields) => {
        const conflicts = fields.map((field) => ({ kind: 'conflict', labels, ...field }) as const);
        const marked = edited(source, { frontMatter: conflicts });
        expect(take('ours', marked)).toBe(source);
        const changed = edited(source, { frontMatter: fields.map((one) => set([one.field], one.theirs)) });
        const resolved = fileOf(take('theirs', marked));
        expect({ ...resolved, pins: [] }).toEqual({ ...fileOf(changed), pins: [] });
        expect(resolved.pins.map(({ pin }) => pin)).toEqual(fileOf(changed).pins.map(({ pin }) => pin));
      }),
      { numRuns: 300 },
    );
  });
});
