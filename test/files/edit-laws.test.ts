import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import { editPromptFile, type FrontMatterEdit } from '../../src/files/edit.ts';
import { corpus } from './front-matter-corpus.ts';
import { fileOf, PATH } from './support.ts';

type Written = string | number;
type PinEdit = { readonly environment: string; readonly pin: Written };

const NEW_ENVIRONMENTS = ['new', 'production', '10', 'a: b #', '{x}, y', "it's", '本番 👍', '-z', 'null'];
const numbers = fc.integer({ min: 1, max: 1e6 });
const plainPins = fc.oneof(numbers, fc.constantFrom<Written>('latest', 'version:ver_2', 'git:refs/heads/x', 'git:a#b'));
const pins = fc.oneof(
  plainPins,
  fc.constantFrom<Written>('version:a: b #c', "version:it's", 'version:"👍"', 'version:a b'),
);

/** The edits of a file's pins in any order, some of environments that it does not name. */
function editsOf(file: PromptFile) {
  const known = file.pins.map(({ environment }) => environment);
  const environment = fc.constantFrom(...known, ...known, ...NEW_ENVIRONMENTS);
  return fc.array(fc.record({ environment, pin: pins }), { minLength: 1, maxLength: 5 });
}

function edit(source: string, edits: readonly PinEdit[]): string {
  return edited(
    source,
    edits.map(({ environment, pin }) => ({ kind: 'set', path: ['pins', environment], value: pin })),
  );
}

function removePin(source: string, environment: string): string {
  return edited(source, [{ kind: 'remove', path: ['pins', environment] }]);
}

function edited(source: string, frontMatter: readonly FrontMatterEdit[]): string {
  const result = editPromptFile(Buffer.from(source), PATH, { frontMatter });
  if ('problem' in result) throw new Error(result.problem.message);
  return Buffer.from(result.bytes).toString();
}

const writtenPins = ({ pins }: PromptFile): ReadonlyMap<string, Written> =>
  new Map(pins.map(({ environment, pin }) => [environment, writtenPin(pin)]));

function writtenPin(pin: PromptFile['pins'][number]['pin']): Written {
  if (pin.kind === 'number') return pin.number;
  if (pin.kind === 'version') return `version:${pin.id}`;
  return pin.kind === 'git' ? `git:${pin.ref}` : 'latest';
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

  test('give the same bytes when they are set back', () => {
    const values = writtenPins(file);
    const plain = tokensOf(source).filter(({ environment, text }) => text === String(values.get(environment)));
    fc.assert(
      fc.property(fc.array(plainPins, { minLength: 1, maxLength: 3 }), (detour) => {
        for (const { environment } of plain.slice(0, 3)) {
          const edits = [...detour, values.get(environment) ?? ''].map((pin) => ({ environment, pin }));
          expect(edit(source, edits)).toBe(source);
          expect(edits.reduce((before, one) => edit(before, [one]), source)).toBe(source);
        }
      }),
      { numRuns: 2 },
    );
  });

  test('can be taken out one after the other', () => {
    const all = [...writtenPins(file)];
    const before = all.slice(0, -1).reduce((text, [environment], at) => {
      const after = removePin(text, environment);
      expect(writtenPins(fileOf(after))).toEqual(new Map(all.slice(at + 1)));
      return after;
    }, source);
    const last = all.at(-1);
    const after = fileOf(last === undefined ? before : removePin(before, last[0]));
    expect(after).toEqual({ ...file, pins: [] });
  });

  test('change no byte when they are what they were', () => {
    const edits = [...writtenPins(file)].map(([environment, pin]) => ({ environment, pin }));
    expect(edit(source, edits)).toBe(source);
  });
});

/** New lines end like the first one of the file. */
function expectInsertion(before: string, after: string): void {
  const inserted = insertion(before, after);
  expect(inserted).toMatch(/^(, )?[^\n]+$|^(pins:\r?\n *)?[^\n]*\r?\n$/);
  const newline = /\r?\n/.exec(before)?.[0] ?? '';
  expect(inserted?.replaceAll(newline, '')).not.toMatch(/[\r\n]/);
}
