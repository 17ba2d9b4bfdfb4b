import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findHidden,
  hasControlCharacters,
  makeExcerpt,
  makePlaceAt,
  makeRedact,
  placeAt,
  showHidden,
} from '../../src/domain/text.ts';

describe('hidden characters', () => {
  test.each([
    ['a\u202eb', 'a\\u{202e}b'],
    ['a\u0000\u001b[31m', 'a\\u{0}\\u{1b}[31m'],
    ['\r', '\\u{d}'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\u0085', '\\u{85}'],
    ['line\n\tnext', 'line\n\tnext'],
    ['é 日本 😀', 'é 日本 😀'],
  ])('%j is shown as %j', (text, expected) => {
    expect(showHidden(text)).toBe(expected);
  });

  test('none is left when they are shown', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const shown = showHidden(text);
        expect(findHidden(shown)).toEqual([]);
        expect(showHidden(shown)).toBe(shown);
      }),
    );
  });

  test('are found in the order of their first places, with their number', () => {
    expect(findHidden('x\u200b\u0007\u200b\u202e')).toEqual([
      { character: '\\u{200b}', count: 2, offset: 1 },
      { character: '\\u{7}', count: 1, offset: 2 },
      { character: '\\u{202e}', count: 1, offset: 4 },
    ]);
  });

  test('are found where showing them changes the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(findHidden(text).length > 0).toBe(showHidden(text) !== text);
      }),
    );
  });

  test('the joiners of an emoji are not hidden, those beside it are', () => {
    expect(findHidden('👩‍👩‍👧')).toEqual([]);
    expect(findHidden('👩\u200d👩\u200d👧 \u200d')).toMatchObject([{ count: 1, offset: 9 }]);
    expect(findHidden('🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}')).toEqual([]);
    expect(findHidden('🏴\u{e0067}\u{e0062}')).toHaveLength(2);
  });

  test.each([
    ['a rainbow flag without its variation selector', '🏳\u200d🌈', 0],
    ['one with it', '🏳\ufe0f\u200d🌈', 0],
    ['a family that Unicode does not list', '👴🏽\u200d👶\u200d🐕', 0],
    ['a heart of people with skin tones', '🧑🏻\u200d❤\ufe0f\u200d🧑🏿', 0],
    ['keycaps', '1\ufe0f\u20e3', 0],
    ['a joiner behind an emoji, and one before', '🌈\u200d \u200d🌈', 1],
    ['two joiners between emoji', '👩\u200d\u200d👧', 1],
    ['joiners between letters', 'क्\u200dष می\u200cخواهم', 2],
    ['a joiner between a letter and an emoji', 'a\u200d🌈', 1],
    ['tags behind a flag that Unicode does not list', '🏴\u{e0075}\u{e0073}\u{e007f}', 3],
    ['a variation selector after an emoji that needs none', '😀\ufe0f', 0],
    ['a text variation selector after a pictographic character', '❤\ufe0e', 0],
    ['a variation selector after a letter', 'a\ufe0f', 1],
    ['a keycap selector without its keycap', '1\ufe0f', 1],
  ])('%s', (_, text, kinds) => {
    expect(findHidden(text)).toHaveLength(kinds);
  });
});

test.each([
  ['a b', false],
  ['', false],
  ['é', false],
  ['a\tb', true],
  ['a\n', true],
  ['\u007f', true],
  ['\u009f', true],
])('whether %j holds control characters: %s, and again', (text, expected) => {
  expect(hasControlCharacters(text)).toBe(expected);
  expect(hasControlCharacters(text)).toBe(expected);
});

describe('every character that Unicode ignores by default, and the blank Braille pattern,', () => {
  const ignorable = /[\p{Default_Ignorable_Code_Point}\u2800]/u;
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((one) =>
    ignorable.test(one),
  );

  test('is shown as its code point and found at its offset', () => {
    expect(all.length).toBeGreaterThan(4_000);
    const shown = all.map((character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
    expect(all.map(showHidden)).toEqual(shown);
    const found = findHidden(all.map((character) => `${character}\n`).join(''));
    expect(found.map(({ character }) => character)).toEqual(shown);
    expect(found[1]).toEqual({ character: '\\u{34f}', count: 1, offset: 2 });
  });

  test('stays as it is after a pictographic character only if it is one U+FE0E or U+FE0F', () => {
    const kept = all.filter((character) => showHidden(`❤${character}`) === `❤${character}`);
    expect(kept).toEqual(['\ufe0e', '\ufe0f']);
    expect(showHidden('❤\ufe0f\ufe0f')).toBe('❤\ufe0f\\u{fe0f}');
    expect(findHidden('❤\ufe0f\ufe0f')).toEqual([{ character: '\\u{fe0f}', count: 1, offset: 2 }]);
    expect(showHidden('1\ufe0f\u20e3')).toBe('1\ufe0f\u20e3');
    expect(showHidden('1\ufe0e\u20e3')).toBe('1\\u{fe0e}\u20e3');
  });
});

describe('places', () => {
  test.each([
    ['', 0, 1, 1],
    ['ab', 1, 1, 2],
    ['a\nb', 1, 1, 2],
    ['a\nb', 2, 2, 1],
    ['\n\n', 2, 3, 1],
    ['😀b', 2, 1, 3],
    ['a\rb', 2, 1, 3],
  ])('in %j the offset %i is line %i, column %i', (text, offset, line, column) => {
    expect(placeAt(text, offset)).toEqual({ line, column });
  });

  test('are those of the lines that come before, one by one or in one pass', () => {
    const text = fc.array(fc.constantFrom('a', '\n', '\r', 'é')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat(40)), (given, numbers) => {
        const offsets = numbers.map((number) => Math.min(number, given.length)).toSorted((a, b) => a - b);
        const placeOf = makePlaceAt(given);
        for (const offset of offsets) {
          const lines = given.slice(0, offset).split('\n');
          const expected = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
          expect(placeAt(given, offset)).toEqual(expected);
          expect(placeOf(offset)).toEqual(expected);
        }
      }),
    );
  });
});

const KEY = 'sk/"live" 123';

describe('redaction', () => {
  const forms: readonly (readonly [string, string, string])[] = [
    ['as it is', `bad key ${KEY}!`, 'bad key [redacted]!'],
    ['twice', `${KEY}${KEY}`, '[redacted][redacted]'],
    ['escaped as JSON does', JSON.stringify({ key: KEY }), '{"key":"[redacted]"}'],
    ['percent-encoded', `/?key=${encodeURIComponent(KEY)}`, '/?key=[redacted]'],
    ['not at all', 'nothing here', 'nothing here'],
  ];
  test.each(forms)('a key that stands there %s', (_, text, expected) => {
    expect(makeRedact(KEY)(text)).toBe(expected);
  });

  test('an empty key changes nothing', () => {
    expect(makeRedact('')('text')).toBe('text');
  });
});

describe('excerpt', () => {
  const excerpts: readonly (readonly [string, string, boolean, string])[] = [
    ['white space is collapsed', '  a\r\n\t b  ', true, 'a b'],
    ['200 characters are shown', 'x'.repeat(1000), true, 'x'.repeat(200)],
    ['no half of a character is left', 'x'.repeat(199) + '😀', true, 'x'.repeat(199)],
    ['a key on the edge is gone whole', 'x'.repeat(195) + KEY, true, 'x'.repeat(195) + '[reda'],
    ['a key broken over lines is found', 'no sk/"live"\n 123', true, 'no [redacted]'],
    ['half a key at a cut is left out', `${'y'.repeat(30)} sk/"live`, false, 'y'.repeat(18)],
    ['a cut text shorter than the key shows nothing', 'sk/"', false, ''],
  ];
  test.each(excerpts)('%s', (_, text, whole, expected) => {
    expect(makeExcerpt(text, whole, KEY)).toBe(expected);
  });

  test('never shows the key wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 250 }), fc.string(), fc.boolean(), (before, after, whole) => {
        const excerpt = makeExcerpt(before + KEY + after, whole, KEY);
        expect(excerpt).not.toContain(KEY);
        expect(excerpt.length).toBeLessThanOrEqual(200);
      }),
    );
  });
});
