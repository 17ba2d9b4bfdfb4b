import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/domain/json.ts';
import { formatPin, type PromptFile } from '../../src/domain/prompt-file.ts';
import type { FrontMatterEdit } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { corpus } from '../workspace/front-matter-corpus.ts';
import { parseValidFile, keys, makeSource, PATH, values, words } from '../workspace/support.ts';
import { runs } from '../support/seed.ts';
import { applyEdits } from './support.ts';

type PinValue = string | number;
type PinEdit = { readonly environment: string; readonly pin: PinValue };

const NEW_ENVIRONMENTS = ['new', 'production', '10', 'a: b #', '{x}, y', "it's", '本番 👍', '-z', 'null'];
const pins: fc.Arbitrary<PinValue> = fc.oneof(
  fc.integer({ min: 1, max: 1e6 }),
  fc.constantFrom('latest', 'version:ver_2', 'git:refs/heads/x', 'git:a#b'),
  fc.constantFrom('version:a: b #c', "version:it's", 'version:"👍"', 'version:a b'),
);

/** Generates edits of pins in any order. Some edits name environments that the file does not have. */
function arbitraryPinEdits(known: readonly string[]) {
  const environment = fc.constantFrom(...known, ...known, ...NEW_ENVIRONMENTS);
  return fc.array(fc.record({ environment, pin: pins }), { minLength: 1, maxLength: 3 });
}

const set = (path: readonly string[], value: JsonValue): FrontMatterEdit => ({ path, value });
const setPins = (edits: readonly PinEdit[]) => ({
  frontMatter: edits.map(({ environment, pin }) => set(['pins', environment], pin)),
});
const applyPinEdits = (source: string, edits: readonly PinEdit[]) => applyEdits(source, setPins(edits));
const removePin = (source: string, environment: string) =>
  applyEdits(source, { frontMatter: [{ path: ['pins', environment], value: undefined }] });

const pinValuesOf = ({ pins }: PromptFile): ReadonlyMap<string, PinValue> =>
  new Map(pins.map(({ environment, pin }) => [environment, pin.kind === 'number' ? pin.number : formatPin(pin)]));

test('the file editor keeps all other bytes when it adds pins to empty front matter', () => {
  const blank = fc.constantFrom('', ' ', '\t');
  const comments = fc.array(fc.constantFrom('# a comment', '', '  # indented'), { maxLength: 3 });
  const body = words.filter((text) => /\S/.test(text) && !text.includes('\r'));
  const newline = fc.constantFrom('\n', '\r\n');
  const files = fc.record({ newline, blank, comments, body, mark: fc.constantFrom('', '\ufeff') });
  const settings = { ...LENIENT_SETTINGS, pathIds: { findId: () => 'x', listPaths: () => [] } };
  fc.assert(
    fc.property(files, arbitraryPinEdits(['staging']), (file, edits) => {
      const lines = file.comments.map((comment) => `${comment}${file.newline}`).join('');
      const top = `${file.mark}---${file.blank}${file.newline}${lines}`;
      const bottom = `---${file.blank}${file.newline}${file.body}${file.newline}`;
      fc.pre(parsePromptFile(Buffer.from(top + bottom), PATH, settings).file !== null);
      const edited = applyEdits(top + bottom, setPins(edits), settings);
      expect([edited.startsWith(top), edited.endsWith(bottom)]).toEqual([true, true]);
      const { file: after } = parsePromptFile(Buffer.from(edited), PATH, settings);
      expect(pinValuesOf(after!)).toEqual(new Map(edits.map(({ environment, pin }) => [environment, pin])));
      expect(edited.slice(top.length, edited.length - bottom.length)).toMatch(/^pins:\r?\n/);
    }),
    { numRuns: runs(120) },
  );
});

/** Matches a value as the corpus writes it: in quotes, as a block scalar, or plain. */
const VALUE =
  /"(?:[^"\\]|\\[^])*"|'(?:[^']|'')*'|[|>][-+]*(?<comment> #[^\r\n]*)?\r?\n {4}[^\r\n]*|.+?(?=\s*[,}]|\s+#|\s*$)/my;

type Token = { readonly environment: string; readonly start: number; readonly text: string; readonly comment: string };

/** Finds the values of the pins in a source by the lines and columns that the parser reports. */
function findPinTokens(source: string): readonly Token[] {
  const starts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const found = parseValidFile(source).pins.map(({ environment, line, column }) => {
    const start = (starts[line - 1] ?? 0) + column - 1 + (line === 1 && source.startsWith('\ufeff') ? 1 : 0);
    VALUE.lastIndex = start;
    const match = VALUE.exec(source);
    return { environment, start, text: match?.[0] ?? '', comment: match?.groups?.['comment'] ?? '' };
  });
  return found.toSorted((a, b) => a.start - b.start);
}

/** Returns the source with the value of each pin replaced by a placeholder. */
function maskPins(source: string): string {
  const pieces = findPinTokens(source).reduce(
    ({ at, kept }, token) => ({
      at: token.start + token.text.length,
      kept: `${kept}${source.slice(at, token.start)}⟦${token.environment}⟧${token.comment}`,
    }),
    { at: 0, kept: '' },
  );
  return pieces.kept + source.slice(pieces.at);
}

const isNew = (source: string, { environment }: PinEdit) => !pinValuesOf(parseValidFile(source)).has(environment);
const corpusEntries = Object.entries(corpus);

test('maskPins replaces only the values of pins', () => {
  const [before = '', after = ''] = ['7', '12'].map((pin) => makeSource(`pins: # c\n  a: ${pin} # d\n`));
  expect(maskPins(before)).toBe(maskPins(after));
  for (const part of ['# c', ' # d', 'Hello']) expect(maskPins(before)).not.toBe(maskPins(after.replace(part, '')));
});

test.each(corpusEntries)(
  'setting pins in a file with %s edits only their values, adding a pin inserts only one entry, and every other field stays the same',
  (_, source) => {
    const file = parseValidFile(source);
    fc.assert(
      fc.property(arbitraryPinEdits([...pinValuesOf(file).keys()]), (edits) => {
        const edited = edits.reduce((before, one) => {
          const after = applyPinEdits(before, [one]);
          if (isNew(before, one)) expectInsertion(before, after);
          else expect(maskPins(after)).toBe(maskPins(before));
          return after;
        }, source);
        const after = parseValidFile(edited);
        const set = edits.map(({ environment, pin }) => [environment, pin] as const);
        expect(pinValuesOf(after)).toEqual(new Map([...pinValuesOf(file), ...set]));
        expect({ ...after, pins: [] }).toEqual({ ...file, pins: [] });
      }),
      { numRuns: runs(4) },
    );
    const current = [...pinValuesOf(file)].map(([environment, pin]) => ({ environment, pin }));
    expect(applyPinEdits(source, current)).toBe(source);
  },
);

/**
 * Corpus files whose pins the editor refuses to remove. An entry shares a line with something else, or it is unclear
 * which entry a comment belongs to.
 */
const ENTRIES_TO_EDIT_BY_HAND = [
  'flow pins over several lines',
  'flow pins with commas first',
  'flow pins below their key',
  'JSON pins over several lines',
  'JSON over several lines',
  'explicit keys',
  'pins on the line of an explicit colon',
  'CRLF in flow',
];

test('removing the pins of any file of the corpus one by one preserves every other field, or the file editor refuses', () => {
  const refused: string[] = [];
  for (const [name, source] of corpusEntries) {
    const all = [...pinValuesOf(parseValidFile(source))];
    try {
      const after = all.reduce((before, [environment], at) => {
        const without = removePin(before, environment);
        expect([name, pinValuesOf(parseValidFile(without))]).toEqual([name, new Map(all.slice(at + 1))]);
        return without;
      }, source);
      expect([name, parseValidFile(after)]).toEqual([name, { ...parseValidFile(source), pins: [] }]);
    } catch (error) {
      expect([name, String(error)]).toEqual([
        name,
        expect.stringContaining('cannot edit the file in place: its front matter uses a YAML style'),
      ]);
      refused.push(name);
    }
  }
  expect(refused).toEqual(ENTRIES_TO_EDIT_BY_HAND);
});

/** Expects that `after` is `before` with one more entry, which has the line endings of the first line of the file. */
function expectInsertion(before: string, after: string): void {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  const end = after.length - (before.length - start);
  expect(after.slice(0, start) + after.slice(end)).toBe(before);
  const newline = /\r?\n/.exec(before)?.[0] ?? '';
  expect(after.slice(start, end)).toMatch(
    newline === '\n' ? /^[^\r\n]+(\n[^\r\n]*){0,2}$/ : /^[^\r\n]+(\r\n[^\r\n]*){0,2}$/,
  );
}

const sources = fc.constantFrom(...Object.values(corpus));
const labels = { ours: 'git', theirs: 'the service' };

const paths = fc.oneof(
  keys.map((key) => [key]),
  fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'pins'), keys).map((path): readonly string[] => path),
  fc.constantFrom(['a'], ['b'], ['c'], ['e']),
);

test('the parser reads back any metadata value that the file editor writes', () => {
  fc.assert(
    fc.property(sources, paths, values, (source, path, value) => {
      const after = parseValidFile(applyEdits(source, { frontMatter: [set(['metadata', ...path], value)] }));
      const read = path.reduce<unknown>((inner, key) => Object(inner)[key], after.content.metadata);
      expect(read).toEqual(value);
    }),
    { numRuns: runs(120) },
  );
});

const pieces = ['a', 'Hello.', '\n', '\n\n', '---', '\n---\n', ' ', '\t', '{{x}}', '😀', '\ufeff', '---js', '\u2028'];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 20 })), { maxLength: 8 })
  .map((found) => found.join('').replaceAll(/[\r\0]/g, ''))
  .filter((text) => text.isWellFormed() && text.trim() !== '' && !/[<|>]{7}/.test(text));
const frontMatterOf = (source: string) => /^[^]*?\n---[^\n]*\n/.exec(source)?.[0];

test('the file editor can write any prompt text without changing the front matter', () => {
  const anyText = sources.filter((source) => parseValidFile(source).variables === undefined);
  fc.assert(
    fc.property(anyText, texts, (source, text) => {
      const after = applyEdits(source, { text });
      expect(parseValidFile(after).content.text).toBe(text.replace(/\n+$/, ''));
      expect(frontMatterOf(after)).toBe(frontMatterOf(source));
      expect(applyEdits(after, { text })).toBe(after);
    }),
    { numRuns: runs(120) },
  );
});

const theirs = fc.oneof(
  fc.record({ field: fc.constant('name'), theirs: fc.constantFrom('M', 'a: b', '"') }),
  fc.record({ field: fc.constant('description'), theirs: words }),
  fc.record({ field: fc.constant('pins'), theirs: fc.constantFrom({}, { qa: 3 }, { staging: 'git:x', 'a #': 1 }) }),
  fc.record({ field: fc.constant('metadata'), theirs: fc.dictionary(keys, values, { maxKeys: 3 }) }),
);
const all = fc.uniqueArray(theirs, { selector: ({ field }) => field, minLength: 1 });

/** Resolves each conflict with one side. */
const resolveWith = (side: 'ours' | 'theirs', source: string) =>
  source.replaceAll(
    /^<<<<<<< git\r?\n([^]*?)^=======\r?\n([^]*?)^>>>>>>> the service\r?\n/gm,
    (_, ours: string, other: string) => (side === 'ours' ? ours : other),
  );

test('resolving every conflict in favor of the same side produces exactly the values of that side', () => {
  fc.assert(
    fc.property(sources, all, (source, fields) => {
      const conflicts = fields.map((field) => ({ path: [field.field], value: field.theirs, labels }));
      const marked = applyEdits(source, { frontMatter: conflicts });
      expect(resolveWith('ours', marked)).toBe(source);
      const changed = applyEdits(source, { frontMatter: fields.map((one) => set([one.field], one.theirs)) });
      const resolved = parseValidFile(resolveWith('theirs', marked));
      expect({ ...resolved, pins: [] }).toEqual({ ...parseValidFile(changed), pins: [] });
      expect(resolved.pins.map(({ pin }) => pin)).toEqual(parseValidFile(changed).pins.map(({ pin }) => pin));
    }),
    { numRuns: runs(120) },
  );
});
