import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeExcerpt, makeRedact } from '../../src/domain/text.ts';

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
