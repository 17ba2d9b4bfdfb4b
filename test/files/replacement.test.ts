import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { movedBy, replaceIn, replaceInOriginal, replacementFor } from '../../src/files/replacement.ts';

describe('a replacement', () => {
  test.each([
    ['of nothing', 'abc', 'abc', []],
    ['in the middle', 'abc', 'axc', [{ start: 1, end: 2, text: 'x' }]],
    ['at the start', 'abc', 'xabc', [{ start: 0, end: 0, text: 'x' }]],
    ['at the end', 'abc', 'abcx', [{ start: 3, end: 3, text: 'x' }]],
    ['of a repeated character', 'aa', 'aaa', [{ start: 2, end: 2, text: 'a' }]],
    ['of everything', 'abc', '', [{ start: 0, end: 3, text: '' }]],
  ])('%s is as short as it can be', (_, before, after, expected) => {
    expect(replacementFor(before, after)).toEqual(expected);
  });

  test('makes the other text', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '\n', '😀', '😁')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(replaceIn(before, replacementFor(before, after))).toBe(after);
        expect(replaceIn(`xy${before}z`, movedBy(2, replacementFor(before, after)))).toBe(`xy${after}z`);
      }),
    );
  });

  test('that is the first of two at one place comes first', () => {
    const at = (start: number, text: string) => ({ start, end: start, text });
    expect(replaceIn('abc', [at(3, '4'), at(1, '1'), at(1, '2'), { start: 1, end: 2, text: '3' }])).toBe('a123c4');
  });

  test('leaves the line endings of all other lines', () => {
    const original = 'a\r\nb\nc\r\r\nd';
    const read = 'a\nb\nc\r\nd';
    expect(original.replaceAll('\r\n', '\n')).toBe(read);
    const replacements = [
      { start: read.indexOf('a') + 1, end: read.indexOf('b') + 1, text: '\nB\n' },
      { start: read.indexOf('d'), end: read.length, text: 'D\n' },
    ];
    expect(replaceInOriginal(original, replacements)).toBe('a\r\nB\r\n\nc\r\r\nD\r\n');
    expect(replaceInOriginal('a', [{ start: 1, end: 1, text: '\n' }])).toBe('a\n');
  });
});
