import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  contentDigest,
  digested,
  digestOf,
  isDigestOf,
  EMPTY_METADATA_DIGEST,
  metadataDigest,
} from '../../src/domain/digest.ts';
import type { JsonObject } from '../../src/domain/json.ts';

describe('the digest of a content', () => {
  test('is SHA-256 over its UTF-8', () => {
    expect(contentDigest('é')).toBe(`sha256:${createHash('sha256').update(Buffer.from('é')).digest('hex')}`);
    expect(digestOf('')).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });

  test('is the same with CRLF as with LF', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll(/[\r\n]/g, ''))), (lines) => {
        expect(contentDigest(lines.join('\r\n'))).toBe(contentDigest(lines.join('\n')));
      }),
    );
  });

  test.each(['a\n', 'a\r\n', 'a\n\r\n\n'])('is the same without line breaks at the end: %j', (text) => {
    expect(contentDigest(text)).toBe(contentDigest('a'));
  });

  test.each<[string, string, string, boolean]>([
    ['of now', 'a', 'a\n\n', true],
    ['of before, with one or two line breaks', 'a\n', 'a', true],
    ['of before, with one or two line breaks', 'a\n\n', 'a\n', true],
    ['of before, with all but one of those that the file has', 'a\n\n\n\n', 'a\n\n\n\n\n', true],
    ['not with as many as neither had', 'a\n\n\n\n', 'a\n', false],
    ['not of another text', 'b', 'a', false],
  ])('is recognised %s', (_, then, now, expected) => {
    expect(isDigestOf(digestOf(then), digested(now))).toBe(expected);
  });

  test.each([
    ['a lone carriage return', 'a\rb', 'a\nb'],
    ['a carriage return at the end', 'a\r', 'a'],
    ['a line break before its end', 'a\n ', 'a '],
    ['a blank', 'a ', 'a'],
    ['a normal form', 'é', 'e\u0301'],
    ['a byte order mark', '\ufeffa', 'a'],
  ])('distinguishes %s', (_, one, other) => {
    expect(contentDigest(one)).not.toBe(contentDigest(other));
  });
});

describe('the digest of metadata', () => {
  test('of null is that of nothing', () => {
    expect(metadataDigest(null)).toBe(metadataDigest({}));
    expect(metadataDigest(null)).toBe(EMPTY_METADATA_DIGEST);
    expect(metadataDigest({})).toBe(digestOf('{}'));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ["promptsync's own key", { a: 1, promptsync: { b: 2 } }, { a: 1 }],
    ['the order of keys', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ['the sign of zero', { a: -0 }, { a: 0 }],
  ])('does not depend on %s', (_, one, other) => {
    expect(metadataDigest(one)).toBe(metadataDigest(other));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['null and absent', { a: null }, {}],
    ['a number and a text', { a: 1 }, { a: '1' }],
    ['the order of a list', { a: [1, 2] }, { a: [2, 1] }],
    ['a key promptsync deeper down', { a: { promptsync: 1 } }, { a: {} }],
  ])('distinguishes %s', (_, one, other) => {
    expect(metadataDigest(one)).not.toBe(metadataDigest(other));
  });
});
