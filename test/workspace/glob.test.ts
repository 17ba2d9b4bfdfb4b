import { describe, expect, test } from 'vitest';
import { makeGlobMatcher } from '../../src/workspace/glob.ts';

describe('makeGlobMatcher', () => {
  const texts = 'a b ab .a a.md a/b a/.b a/b/c .a/b a\nb [a] {a} * 😀 ] -'.split(' ');
  test.each<[string, readonly string[]]>([
    ['*', ['a', 'b', 'ab', 'a.md', 'a\nb', '[a]', '{a}', '*', '😀', ']', '-']],
    ['.*', ['.a']],
    ['*.md', ['a.md']],
    ['?', ['a', 'b', '*', '😀', ']', '-']],
    ['a?b', ['a\nb']],
    ['a/*', ['a/b']],
    ['**', ['a', 'b', 'ab', 'a.md', 'a/b', 'a/b/c', 'a\nb', '[a]', '{a}', '*', '😀', ']', '-']],
    ['**/b', ['b', 'a/b']],
    ['a/**', ['a', 'a/b', 'a/b/c']],
    ['a/**/c', ['a/b/c']],
    ['a**', ['a', 'ab', 'a.md', 'a\nb']],
    ['[a-c]', ['a', 'b']],
    ['[!a-c]', ['*', '😀', ']', '-']],
    ['[^a]', ['b', '*', '😀', ']', '-']],
    ['[]a]', ['a', ']']],
    ['[a\\-c]', ['a', '-']],
    ['[a\\d]', ['a']],
    ['[😀]', ['😀']],
    ['[z-a]', []],
    ['a[/]b', []],
    ['[[]a]', ['[a]']],
    ['\\[a\\]', ['[a]']],
    ['{a,ab}', ['a', 'ab']],
    ['{a,}{b,}', ['a', 'b', 'ab']],
    ['{a/{b,x},ab}', ['ab', 'a/b']],
    ['{a/**,b}', ['a', 'b', 'a/b', 'a/b/c']],
    ['{a}', ['{a}']],
    ['{a,{b},\\{a\\}}', ['a', '{a}']],
    ['./a', ['a']],
    ['', []],
  ])('the glob pattern %j matches exactly the expected paths', (pattern, matched) => {
    expect(texts.filter(makeGlobMatcher(pattern))).toEqual(matched);
  });

  test.each<[string, readonly string[]]>([
    ['*', ['.a', 'a', '..']],
    ['[.]a', ['.a']],
    ['.*', ['.a', '..']],
    ['**', ['.a', 'a', '.a/b', 'a/.b', '..', 'a/.b/.c']],
    ['a/**', ['a', 'a/.b', 'a/.b/.c']],
  ])(
    'the glob pattern %j also matches names that begin with a dot if these names are not skipped',
    (pattern, matched) => {
      const dotted = ['.a', 'a', '.a/b', 'a/.b', '..', 'a/.b/.c'];
      expect(dotted.filter(makeGlobMatcher(pattern, 'matched'))).toEqual(matched);
    },
  );
});

/** A matcher that tried every way to match would not finish some of these. */
describe('makeGlobMatcher on expensive patterns', () => {
  test.each<[string, string, string]>([
    ['makeGlobMatcher quickly evaluates a pattern with 500 stars', '*a'.repeat(500), 'a'.repeat(4000)],
    [
      'makeGlobMatcher quickly evaluates a pattern with stars in many folder names',
      '**/*a*a*a*a/'.repeat(20),
      'aaaa/'.repeat(800),
    ],
    ['makeGlobMatcher quickly evaluates a pattern with many brace alternatives', '{a,aa}'.repeat(160), 'a'.repeat(300)],
    [
      'makeGlobMatcher quickly evaluates a pattern with deeply nested braces',
      `${'{a,'.repeat(240)}b${'}'.repeat(240)}`,
      'a'.repeat(4000),
    ],
    ['makeGlobMatcher quickly evaluates a pattern with hundreds of unclosed braces', '{a,'.repeat(330), 'a'],
    ['makeGlobMatcher quickly evaluates a pattern with a thousand unclosed brackets', '['.repeat(1000), 'a'],
  ])('%s', (_, pattern, text) => {
    expect(makeGlobMatcher(pattern)(`${text}b`)).toBe(false);
  });

  test('makeGlobMatcher rejects all text for a pattern that exceeds the length limit', () => {
    expect(makeGlobMatcher('*a'.repeat(40_000))('a'.repeat(80_000))).toBe(false);
  });
});
