import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { pinText, type PromptFile } from '../../src/domain/prompt-file.ts';
import { editPromptFile, type FrontMatterEdit, type PromptEdits } from '../../src/files/edit.ts';
import { corpus } from './front-matter-corpus.ts';
import { fileOf, keys, PATH, values, words } from './support.ts';
import { runs } from '../support/seed.ts';

type Written = string | number;
type PinEdit = { readonly environment: string; readonly pin: Written };

const NEW_ENVIRONMENTS = ['new', 'production', '10', 'a: b #', '{x}, y', "it's", '本番 👍', '-z', 'null'];
const simplePins: fc.Arbitrary<Written> = fc.oneof(
  fc.integer({ min: 1, max: 1e6 }),
  fc.constantFrom('latest', 'version:ver_2', 'git:refs/heads/x', 'git:a#b'),
);
const awkwardPins = fc.constantFrom('version:a: b #c', "version:it's", 'version:"👍"', 'version:a b');
const pins: fc.Arbitrary<Written> = fc.oneof(simplePins, awkwardPins);

/** The edits of a file's pins in any order, some of environments that it does not name. */
function editsOf(file: PromptFile) {
  const known = file.pins.map(({ environment }) => environment);
  const environment = fc.constantFrom(...known, ...known, ...NEW_ENVIRONMENTS);
  return fc.array(fc.record({ environment, pin: pins }), { minLength: 1, maxLength: 5 });
}

/** Throws where the editor leaves the file to a person. */
function edited(source: string, edits: Partial<PromptEdits>): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], ...edits });
  if ('problem' in result) throw new Error(result.problem.message);
  return Buffer.from(result.bytes).toString();
}

function edit(source: string, edits: readonly PinEdit[]): string {
  return edited(source, { frontMatter: edits.map(({ environment, pin }) => set(['pins', environment], pin)) });
}

function set(path: readonly string[], value: JsonValue): FrontMatterEdit {
  return { path, value };
}

function removePin(source: string, environment: string): string {
  return edited(source, { frontMatter: [{ path: ['pins', environment], value: undefined }] });
}

const writtenPins = ({ pins }: PromptFile): ReadonlyMap<string, Written> =>
  new Map(pins.map(({ environment, pin }) => [environment, writtenPin(pin)]));

function writtenPin(pin: PromptFile['pins'][number]['pin']): Written {
  return pin.kind === 'number' ? pin.number : pinText(pin);
}

/** A value as it is written in the corpus, from its first character on: in quotes, as a block, or plain. */
const VALUE =
  /"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*'|[|>][-+]*(?<comment> #[^\r\n]*)?\r?\n {4}[^\r\n]*|.+?(?=\s*[,}]|\s+#|\s*$)/my;

type Token = { readonly environment: string; readonly start: number; readonly text: string; readonly comment: string };

/** The values of the pins in a source, found by the places that the parser tells. */
function tokensOf(source: string): readonly Token[] {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const found = fileOf(source).pins.map(({ environment, line, column }) => {
    const start = (starts[line - 1] ?? 0) + column - 1 + (line === 1 && source.startsWith('\ufeff') ? 1 : 0);
    VALUE.lastIndex = start;
    const match = VALUE.exec(source);
    return { environment, start, text: match?.[0] ?? '', comment: match?.groups?.['comment'] ?? '' };
  });
  return found.toSorted((a, b) => a.start - b.start);
}

/** The source with each pin's value struck out, and the pins of some environments struck out wholly. */
function withoutPins(source: string): string {
  const pieces = tokensOf(source).reduce(
    ({ at, kept }, token) => ({
      at: token.start + token.text.length,
      kept: `${kept}${source.slice(at, token.start)}⟦${token.environment}⟧${token.comment}`,
    }),
    { at: 0, kept: '' },
  );
  return pieces.kept + source.slice(pieces.at);
}

/** What was put into a text to make another one of it; null when more was done than that. */
function insertion(before: string, after: string): string | null {
  const length = after.length - before.length;
  const at = [...Array(before.length + 1).keys()].find(
    (start) => before[start] !== after[start] || start === before.length,
  );
  if (at === undefined || length < 0 || before.slice(at) !== after.slice(at + length)) return null;
  return toLineStart(before.slice(0, at), after.slice(at, at + length));
}

/** A line put in between two that begin alike may as well be said to be put in some characters later. */
function toLineStart(before: string, inserted: string): string {
  const late = before.length - before.lastIndexOf('\n') - 1;
  const begin = before.slice(before.length - late);
  return late > 0 && inserted.endsWith(begin) ? begin + inserted.slice(0, -late) : inserted;
}

const isNew = (source: string, { environment }: PinEdit) => !writtenPins(fileOf(source)).has(environment);
const rows = Object.entries(corpus);

describe('the laws can fail', () => {
  const [before, after] = ['---\npins: # c\n  a: 7 # d\n---\n', '---\npins: # c\n  a: 12 # d\n---\n'].map((text) =>
    text.replace('pins', 'id: p\nkey: k\nname: N\npins').concat('Hello.'),
  );

  test('on whatever is not a pin', () => {
    expect(withoutPins(before ?? '')).toBe(withoutPins(after ?? ''));
    expect(withoutPins(before ?? '').length).toBeGreaterThan(40);
    for (const [part, other] of [
      ['# c', '#c'],
      [' # d', ''],
      ['a:', '"a":'],
      ['\n---', '\r\n---'],
      ['.', '.\n'],
    ] as const) {
      expect(withoutPins(before ?? '')).not.toBe(withoutPins((after ?? '').replace(part, other)));
    }
  });

  test('on more than an insertion', () => {
    expect(insertion('a\nb\n', 'a\nx\nb\n')).toBe('x\n');
    expect(insertion('a\nb\n', 'a\nb\n')).toBe('');
    expect(insertion('a\nb\n', 'a\nx\n')).toBeNull();
    expect(insertion('a\nb\n', 'A\nb\nx')).toBeNull();
  });

  test('on each file of the corpus', () => {
    expect(rows.length).toBeGreaterThan(60);
    const unread = rows.filter(([, source]) => tokensOf(source).some(({ text }) => text === ''));
    expect(unread).toEqual([]);
  });
});

describe.each(rows)('pins edited in a file with %s', (_, source) => {
  const file = fileOf(source);

  test('are those that were set, and all else is read as before', () => {
    fc.assert(
      fc.property(editsOf(file), (edits) => {
        const after = fileOf(edit(source, edits));
        const set = edits.map(({ environment, pin }) => [environment, pin] as const);
        expect(writtenPins(after)).toEqual(new Map([...writtenPins(file), ...set]));
        expect({ ...after, pins: [] }).toEqual({ ...file, pins: [] });
      }),
      { numRuns: 5 },
    );
  });

  test('are one by one all that changes', () => {
    fc.assert(
      fc.property(editsOf(file), (edits) => {
        edits.reduce((before, one) => {
          const after = edit(before, [one]);
          if (isNew(before, one)) expectInsertion(before, after);
          else expect(withoutPins(after)).toBe(withoutPins(before));
          return after;
        }, source);
      }),
      { numRuns: 5 },
    );
  });
});

/** The pins whose values are written as they are: without quotes, on one line. */
function plainPins(source: string): readonly PinEdit[] {
  const values = writtenPins(fileOf(source));
  return tokensOf(source).flatMap(({ environment, text }) => {
    const pin = values.get(environment) ?? '';
    return text === String(pin) ? [{ environment, pin }] : [];
  });
}

test.each(rows.filter(([, source]) => plainPins(source).length > 0))(
  'pins in a file with %s that are set back give the same bytes',
  (_, source) => {
    fc.assert(
      fc.property(fc.array(simplePins, { minLength: 1, maxLength: 3 }), (detour) => {
        for (const { environment, pin } of plainPins(source).slice(0, 3)) {
          const edits = [...detour, pin].map((one) => ({ environment, pin: one }));
          expect(edit(source, edits)).toBe(source);
          expect(edits.reduce((before, one) => edit(before, [one]), source)).toBe(source);
        }
      }),
      { numRuns: 2 },
    );
  },
);

const filled = rows.filter(([, source]) => writtenPins(fileOf(source)).size > 0);

test.each(filled)('pins that are set to what they are change no byte of a file with %s', (_, source) => {
  const edits = [...writtenPins(fileOf(source))].map(([environment, pin]) => ({ environment, pin }));
  expect(edit(source, edits)).toBe(source);
});

/** What is left to a person: an entry that shares a line with something else, or has comments about nobody knows what. */
const BY_HAND = [
  'flow pins over several lines',
  'flow pins with commas first',
  'flow pins below their key',
  'JSON pins over several lines',
  'JSON over several lines',
  'explicit keys',
  'pins on the line of an explicit colon',
  'CRLF in flow',
];

describe('pins taken out one after the other', () => {
  test.each(filled.filter(([name]) => !BY_HAND.includes(name)))('leave all else of a file with %s', (_, source) => {
    const all = [...writtenPins(fileOf(source))];
    const after = all.reduce((before, [environment], at) => {
      const without = removePin(before, environment);
      expect(writtenPins(fileOf(without))).toEqual(new Map(all.slice(at + 1)));
      return without;
    }, source);
    expect(fileOf(after)).toEqual({ ...fileOf(source), pins: [] });
  });

  test.each(filled.filter(([name]) => BY_HAND.includes(name)))('are left to a person in %s', (_, source) => {
    const environments = [...writtenPins(fileOf(source)).keys()];
    const takeAll = () => environments.reduce(removePin, source);
    expect(takeAll).toThrow('cannot be edited in place: its front matter is written in a way that only a person');
  });
});

/** New lines end like the first one of the file. */
function expectInsertion(before: string, after: string): void {
  const inserted = insertion(before, after);
  expect(inserted).toMatch(/^(, )?[^\n]+$|^(pins:\r?\n *)?[^\n]*\r?\n$/);
  const newline = /\r?\n/.exec(before)?.[0] ?? '';
  expect(inserted?.replaceAll(newline, '')).not.toMatch(/[\r\n]/);
}

const sources = fc.constantFrom(...Object.values(corpus));
const labels = { ours: 'git', theirs: 'the service' };

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
        expect(read).toEqual(value);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('any text', () => {
  const pieces = ['a', 'Hello.', '\n', '\n\n', '---', '\n---\n', ' ', '\t', '{{x}}', '😀', '\ufeff', '---js', '\u2028'];
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 8 })
    .map((found) => found.join('').replaceAll(/[\r\0]/g, ''))
    .filter((text) => text.isWellFormed() && text.trim() !== '' && !/[<|>]{7}/.test(text));
  const headOf = (source: string) => /^[^]*?\n---[^\n]*\n/.exec(source)?.[0];

  test('can be set in any file, is read back, and leaves the front matter', () => {
    const anyText = sources.filter((source) => fileOf(source).variables === undefined);
    fc.assert(
      fc.property(anyText, texts, (source, text) => {
        const after = edited(source, { text });
        expect(fileOf(after).content.text).toBe(text.replace(/\n+$/, ''));
        expect(headOf(after)).toBe(headOf(source));
        expect(edited(after, { text })).toBe(after);
      }),
      { numRuns: runs(300) },
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
      fc.property(sources, all, (source, fields) => {
        const conflicts = fields.map((field) => ({ path: [field.field], value: field.theirs, labels }));
        const marked = edited(source, { frontMatter: conflicts });
        expect(take('ours', marked)).toBe(source);
        const changed = edited(source, { frontMatter: fields.map((one) => set([one.field], one.theirs)) });
        const resolved = fileOf(take('theirs', marked));
        expect({ ...resolved, pins: [] }).toEqual({ ...fileOf(changed), pins: [] });
        expect(resolved.pins.map(({ pin }) => pin)).toEqual(fileOf(changed).pins.map(({ pin }) => pin));
      }),
      { numRuns: runs(300) },
    );
  });
});
