import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/domain/digest.ts';
import {
  computeContentDigest,
  digestText,
  EMPTY_METADATA_DIGEST,
  matchesDigest,
  computeMetadataDigest,
} from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';

describe('computeContentDigest and matchesDigest', () => {
  test('the content digest is SHA-256 over the UTF-8 bytes of the text', () => {
    expect(computeContentDigest('é')).toBe(`sha256:${createHash('sha256').update(Buffer.from('é')).digest('hex')}`);
    expect(computeDigest('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test('the content digest is the same for CRLF and LF line endings', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, ''))), (lines) => {
        expect(computeContentDigest(lines.join('\r\n'))).toBe(computeContentDigest(lines.join('\n')));
      }),
    );
  });

  test.each(['a\n', 'a\r\n', 'a\n\r\n\n'])('the content digest ignores the line breaks at the end of %j', (text) => {
    expect(computeContentDigest(text)).toBe(computeContentDigest('a'));
  });

  test.each<[string, string, string, boolean]>([
    ['matchesDigest recognizes the digest of the current text', 'a', 'a\n\n', true],
    ['matchesDigest recognizes an older digest with one trailing line break for a text without one', 'a\n', 'a', true],
    [
      'matchesDigest recognizes an older digest with two trailing line breaks for a text with one',
      'a\n\n',
      'a\n',
      true,
    ],
    [
      'matchesDigest recognizes an older digest with one trailing line break less than the file',
      'a\n\n\n\n',
      'a\n\n\n\n\n',
      true,
    ],
    ['matchesDigest rejects the digest of a text with several more trailing line breaks', 'a\n\n\n\n', 'a\n', false],
    ['matchesDigest rejects the digest of another text', 'b', 'a', false],
  ])('%s', (_, earlier, current, expected) => {
    expect(matchesDigest(computeDigest(earlier), digestText(current))).toBe(expected);
  });

  test.each([
    ['the content digest depends on a lone carriage return', 'a\rb', 'a\nb'],
    ['the content digest depends on a carriage return at the end of the text', 'a\r', 'a'],
    ['the content digest depends on a line break before trailing spaces', 'a\n ', 'a '],
    ['the content digest depends on trailing spaces', 'a ', 'a'],
    ['the content digest depends on the Unicode normal form', 'é', 'e\u0301'],
    ['the content digest depends on a byte order mark', '\ufeffa', 'a'],
  ])('%s', (_, one, other) => {
    expect(computeContentDigest(one)).not.toBe(computeContentDigest(other));
  });
});

describe('metadataDigest', () => {
  test('null metadata and empty metadata have the same digest', () => {
    expect(computeMetadataDigest(null)).toBe(computeMetadataDigest({}));
    expect(computeMetadataDigest(null)).toBe(EMPTY_METADATA_DIGEST);
    expect(computeMetadataDigest({})).toBe(computeDigest('{}'));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['the metadata digest ignores the top-level key promptsync', { a: 1, promptsync: { b: 2 } }, { a: 1 }],
    ['the metadata digest ignores the order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['the metadata digest ignores the sign of zero', { a: -0 }, { a: 0 }],
  ])('%s', (_, one, other) => {
    expect(computeMetadataDigest(one)).toBe(computeMetadataDigest(other));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['the metadata digest distinguishes null from a missing key', { a: null }, {}],
    ['the metadata digest distinguishes a number from a string', { a: 1 }, { a: '1' }],
    ['the metadata digest depends on the order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['the metadata digest includes a nested key promptsync', { a: { promptsync: 1 } }, { a: {} }],
  ])('%s', (_, one, other) => {
    expect(computeMetadataDigest(one)).not.toBe(computeMetadataDigest(other));
  });
});
