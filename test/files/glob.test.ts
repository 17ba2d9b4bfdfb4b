import { describe, expect, test } from 'vitest';
import { makeGlob } from '../../src/files/glob.ts';

describe('a pattern matches', () => {
  const texts = 'a b ab .a a.md a/b a/.b a/b/c .a/b a\nb [a] {a} * 😀 ] -'.split(' ');
  test.each<[string, readonly string[]]>([
    ['*', ['a', 'b', 'ab', 'a.md', 'a\nb', '[a]', '{a}', '*', '😀', ']', '-']],
    ['.*', ['.a']],
    ['*.md', ['a.md']],
    ['?', ['a', 'b', '*', '😀', ']', '-']],
    ['a?b', ['a\nb']],
    ['a/*', ['a/b']],
    ['a/.*', ['a/.b']],
    ['**', ['a', 'b', 'ab', 'a.md', 'a/b', 'a/b/c', 'a\nb', '[a]', '{a}', '*', '😀', ']', '-']],
    ['**/b', ['b', 'a/b']],
    ['a/**', ['a', 'a/b', 'a/b/c']],
    ['a/**/c', ['a/b/c']],
    ['a**', ['a', 'ab', 'a.md', 'a\nb']],
    ['[ab]', ['a', 'b']],
    ['[a-c]', ['a', 'b']],
    ['[!a-c]', ['*', '😀', ']', '-']],
    ['[^a]', ['b', '*', '😀', ']', '-']],
    ['[]a]', ['a', ']']],
    ['[a\\-c]', ['a', '-']],
    ['[a\\d]', ['a']],
    ['[😀]', ['😀']],
    ['[z-a]', []],
    ['[a', []],
    ['a[/]b', []],
    ['[[]a]', ['[a]']],
    ['\\[a\\]', ['[a]']],
    ['\\*', ['*']],
    ['{a,ab}', ['a', 'ab']],
    ['{a,}{b,}', ['a', 'b', 'ab']],
    ['{a/{b,x},ab}', ['ab', 'a/b']],
    ['{a/**,b}', ['a', 'b', 'a/b', 'a/b/c']],
    ['{a}', ['{a}']],
    ['{a,{b},\\{a\\}}', ['a', '{a}']],
    ['{a,b', []],
    ['./a', ['a']],
    ['', []],
  ])('%s', (pattern, matched) => {
    expect(texts.filter(makeGlob(pattern))).toEqual(matched);
  });
});

/** Some of these would take longer than the universe is old if each way to match were tried. */
describe('no pattern takes long', () => {
  test.each<[string, string, string]>([
    ['stars in a name', '*a'.repeat(12), 'a'.repeat(60_000)],
    ['four stars, in the pattern of a configuration', 'prompts/*a*a*a*a.md', `prompts/${'a'.repeat(250)}.mx`],
    ['as many stars as it may hold', '*a'.repeat(500), 'a'.repeat(4000)],
    ['names', '**/*a*a*a*a/'.repeat(20), 'aaaa/'.repeat(800)],
    ['choices', '{a,aa}'.repeat(160), 'a'.repeat(300)],
    ['choices in choices', `${'{a,'.repeat(240)}b${'}'.repeat(240)}`, 'a'.repeat(4000)],
    ['braces that do not end', '{a,'.repeat(330), 'a'],
    ['brackets that do not end', '['.repeat(1000), 'a'],
    ['one that is too long', '*a'.repeat(40_000), 'a'.repeat(80_000)],
  ])('%s', (_, pattern, text) => {
    expect(makeGlob(pattern)(`${text}b`)).toBe(false);
  });
});
