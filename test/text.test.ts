import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  findHidden,
  hasControlCharacters,
  makeExcerpt,
  makePlaceFinder,
  makeRedactor,
  findPlace,
  showHidden,
} from '../src/text.ts';
import { renderWebUrl } from '../src/domain/network.ts';

describe('renderWebUrl', () => {
  test.each<[string, string | null]>([
    ['https://cloud.langfuse.com/a?b=c&d#e', 'https://cloud.langfuse.com/a?b=c&d#e'],
    ['http://[::1]:3000/a', 'http://[::1]:3000/a'],
    ['https://x.example/a%2Fb', 'https://x.example/a%2Fb'],
    ["https://x.example/a|b (c)'d'`^{}\\", 'https://x.example/a%7Cb%20%28c%29%27d%27%60%5E%7B%7D/'],
    ['https://x.example/ü\u200b', 'https://x.example/%C3%BC%E2%80%8B'],
    ['javascript:alert(1)', null],
    ['file:///etc/passwd', null],
    ['//x.example/a', null],
  ])('renderWebUrl turns %j into %j', (text, expected) => {
    expect(renderWebUrl(text)).toBe(expected);
  });

  test('applying renderWebUrl twice returns the same URL as applying it once', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (path) => {
        const once = renderWebUrl(`https://x.example/${path}`) ?? '';
        expect(renderWebUrl(once)).toBe(once);
        expect(once).toMatch(/^[!-~]+$/);
      }),
    );
  });
});

describe('findHidden and showHidden', () => {
  test.each([
    ['a\\u{202e}b', 'a\u202eb'],
    ['a\\u{0}\\u{1b}[31m', 'a\u0000\u001b[31m'],
    ['\\u{e0041}', '\u{e0041}'],
    ['\\u{85}', '\u0085'],
    ['line\n\tnext', 'line\n\tnext'],
    ['می\u200cخواهم a\\u{200c}', 'می\u200cخواهم a\u200c'],
    ['é\u0020日本\u0020😀', 'é 日本 😀'],
  ])('showHidden returns %j for %j', (expected, text) => {
    expect(showHidden(text)).toBe(expected);
  });

  test('showHidden escapes exactly the characters that findHidden reports', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary-ascii' })), (text) => {
        const escaped = showHidden(text);
        expect(findHidden(escaped)).toEqual([]);
        expect(showHidden(escaped)).toBe(escaped);
        expect(findHidden(text).length > 0).toBe(escaped !== text);
      }),
    );
  });

  test('findHidden lists hidden characters with their counts in order of first occurrence', () => {
    expect(findHidden('x\u200b\u0007\u200b\u202e')).toEqual([
      { character: '\\u{200b}', count: 2, offset: 1 },
      { character: '\\u{7}', count: 1, offset: 2 },
      { character: '\\u{202e}', count: 1, offset: 4 },
    ]);
  });

  test('findHidden accepts zero-width joiners and tag characters inside emoji but reports stray ones', () => {
    expect(findHidden('👩‍👩‍👧')).toEqual([]);
    expect(findHidden('👩\u200d👩\u200d👧 \u200d')).toMatchObject([{ count: 1, offset: 9 }]);
    expect(findHidden('🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}')).toEqual([]);
    expect(findHidden('🏴\u{e0067}\u{e0062}')).toHaveLength(2);
  });

  test.each([
    ['findHidden accepts a rainbow flag without a variation selector', '🏳\u200d🌈', 0],
    ['findHidden accepts a rainbow flag with a variation selector', '🏳\ufe0f\u200d🌈', 0],
    ['findHidden accepts joiners in an emoji that Unicode does not list', '👴🏽\u200d👶\u200d🐕', 0],
    ['findHidden accepts the variation selector in a keycap emoji', '1\ufe0f\u20e3', 0],
    ['findHidden reports a joiner at the start or end of an emoji', '🌈\u200d \u200d🌈', 1],
    ['findHidden reports two consecutive joiners between emoji', '👩\u200d\u200d👧', 1],
    ['findHidden accepts a joiner after a letter or a mark in Persian and Hindi', 'क्\u200dष می\u200cخواهم مَ\u200cم', 0],
    ['findHidden accepts a joiner after a letter beyond U+FFFF', '\u{11013}\u{11046}\u200d', 0],
    ['findHidden reports a joiner after an invisible Mongolian mark', 'ᠠ\u180d\u200c', 2],
    ['findHidden reports a joiner after another joiner', 'می\u200c\u200cم', 1],
    ['findHidden reports a joiner before a Persian letter', ' \u200cم', 1],
    ['findHidden reports a joiner after an Arabic digit', '٣\u200c', 1],
    ['findHidden reports a joiner after a Latin letter with a mark', 'e\u0301\u200d', 1],
    ['findHidden reports joiners after Latin, Cyrillic and Chinese letters', 'a\u200d б\u200d 中\u200c', 2],
    ['findHidden reports a joiner between a letter and an emoji', 'a\u200d🌈', 1],
    ['findHidden reports the tags of a flag that Unicode does not list', '🏴\u{e0075}\u{e0073}\u{e007f}', 3],
    ['findHidden accepts variation selectors after an emoji and a pictograph', '😀\ufe0f ❤\ufe0e', 0],
    ['findHidden reports a variation selector after a letter', 'a\ufe0f', 1],
    ['findHidden reports a variation selector after a plain digit', '1\ufe0f', 1],
  ])('%s', (_, text, kinds) => {
    expect(findHidden(text)).toHaveLength(kinds);
  });
});

test.each([
  [false, 'a b é'],
  [true, 'a\tb'],
  [true, 'a\n'],
  [true, '\u007f'],
  [true, '\u009f'],
])('hasControlCharacters returns %s for %j on both the first and the second call', (expected, text) => {
  expect([hasControlCharacters(text), hasControlCharacters(text)]).toEqual([expected, expected]);
});

describe('findHidden and showHidden on ignorable characters', () => {
  const ignorable = /[\p{Default_Ignorable_Code_Point}\u2800]/u;
  const ignorableCharacters = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((one) =>
    ignorable.test(one),
  );

  test('showHidden and findHidden recognize every ignorable Unicode character', () => {
    expect(ignorableCharacters.length).toBeGreaterThan(4_000);
    const escaped = ignorableCharacters.map((character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
    expect(ignorableCharacters.map(showHidden)).toEqual(escaped);
    const found = findHidden(ignorableCharacters.map((character) => `${character}\n`).join(''));
    expect(found.map(({ character }) => character)).toEqual(escaped);
    expect(found[1]).toEqual({ character: '\\u{34f}', count: 1, offset: 2 });
  });

  test('findHidden accepts only one variation selector (15 or 16) after a pictograph', () => {
    const kept = ignorableCharacters.filter((character) => showHidden(`❤${character}`) === `❤${character}`);
    expect(kept).toEqual(['\ufe0e', '\ufe0f']);
    expect(showHidden('❤\ufe0f\ufe0f')).toBe('❤\ufe0f\\u{fe0f}');
    expect(findHidden('❤\ufe0f\ufe0f')).toEqual([{ character: '\\u{fe0f}', count: 1, offset: 2 }]);
    expect(showHidden('1\ufe0f\u20e3')).toBe('1\ufe0f\u20e3');
    expect(showHidden('1\ufe0e\u20e3')).toBe('1\\u{fe0e}\u20e3');
  });
});

test('findPlace and makePlaceFinder return the line and the UTF-16 column of every offset', () => {
  const text = fc.array(fc.constantFrom('a', '\n', '\r', '😀')).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (given, numbers) => {
      const offsets = numbers.map((number) => Math.min(number, given.length)).toSorted((a, b) => a - b);
      const placeOf = makePlaceFinder(given);
      for (const offset of offsets) {
        const lines = given.slice(0, offset).split('\n');
        const expected = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
        expect(findPlace(given, offset)).toEqual(expected);
        expect(placeOf(offset)).toEqual(expected);
      }
    }),
  );
});

const KEY = 'sk/"live" 123';

describe('makeRedactor', () => {
  test.each([
    ['redaction replaces an API key in plain text', `bad key ${KEY}!`, 'bad key [redacted]!'],
    ['redaction replaces an API key in text with several occurrences', `${KEY}${KEY}`, '[redacted][redacted]'],
    ['redaction replaces an API key in JSON', JSON.stringify({ key: KEY }), '{"key":"[redacted]"}'],
    ['redaction replaces an API key in a URL', `/?key=${encodeURIComponent(KEY)}`, '/?key=[redacted]'],
  ])('%s', (_, text, expected) => {
    expect(makeRedactor(KEY)(text)).toBe(expected);
  });

  test('redaction removes every base64 string that contains the encoded API key', () => {
    const encodings = ['base64', 'base64url'] as const;
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.constantFrom(...encodings), (before, after, encoding) => {
        const encoded = Buffer.from(before + KEY + after).toString(encoding);
        expect(makeRedactor(KEY)(`Basic ${encoded}, next`)).toBe('Basic [redacted], next');
        const inUrl = encodeURIComponent(encoded);
        expect(makeRedactor(KEY)(`/?basic=${inUrl}&next`)).toMatch(/^\/\?[^&]*\[redacted\]&next$/);
      }),
    );
  });

  test('redaction does not remove the base64 encoding of a short API key, because the encoding could be part of a word', () => {
    expect(makeRedactor('key')('a2V5 and 2V5')).toBe('a2V5 and 2V5');
  });

  test('redaction leaves text unchanged if the API key is empty or does not occur', () => {
    expect([makeRedactor('')('text'), makeRedactor(KEY)('nothing here')]).toEqual(['text', 'nothing here']);
  });
});

describe('makeExcerpt', () => {
  test.each<[string, string, boolean, string]>([
    ['makeExcerpt collapses whitespace', '  a\r\n\t b  ', true, 'a b'],
    ['makeExcerpt returns at most 200 characters', 'x'.repeat(1000), true, 'x'.repeat(200)],
    ['makeExcerpt does not split a surrogate pair', 'x'.repeat(199) + '😀', true, 'x'.repeat(199)],
    [
      'makeExcerpt redacts an API key before it truncates the text',
      'x'.repeat(195) + KEY,
      true,
      'x'.repeat(195) + '[reda',
    ],
    ['makeExcerpt redacts an API key that is split across lines', 'no sk/"live"\n 123', true, 'no [redacted]'],
    ['makeExcerpt omits the end of incomplete text', `${'y'.repeat(30)} sk/"live`, false, 'y'.repeat(18)],
    ['makeExcerpt omits incomplete text that is shorter than the API key', 'sk/"', false, ''],
  ])('%s', (_, text, whole, expected) => {
    expect(makeExcerpt(text, whole, KEY)).toBe(expected);
  });

  test('makeExcerpt never reveals the API key, regardless of the surrounding text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 250 }), fc.string(), fc.boolean(), (before, after, whole) => {
        const excerpt = makeExcerpt(before + KEY + after, whole, KEY);
        expect(excerpt).not.toContain(KEY);
        expect(excerpt.length).toBeLessThanOrEqual(200);
      }),
    );
  });
});
