import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeDigest } from '../../src/domain/digest.ts';
import { computeContentDigest, EMPTY_METADATA_DIGEST, computeMetadataDigest } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';

describe('computeContentDigest', () => {
  test('the content digest is the SHA-256 hash of the text in UTF-8', () => {
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

  test.each(['a\n', 'a\r\n', 'a\n\r\n\n'])('the content digest ignores the trailing line breaks in %j', (text) => {
    expect(computeContentDigest(text)).toBe(computeContentDigest('a'));
  });

  test.each([
    ['the content digest distinguishes a lone carriage return from a line feed', 'a\rb', 'a\nb'],
    ['the content digest includes a trailing carriage return', 'a\r', 'a'],
    ['the content digest includes a line break before trailing spaces', 'a\n ', 'a '],
    ['the content digest includes trailing spaces', 'a ', 'a'],
    ['the content digest depends on the Unicode normalization form', 'é', 'e\u0301'],
  ])('%s', (_, one, other) => {
    expect(computeContentDigest(one)).not.toBe(computeContentDigest(other));
  });
});

describe('computeMetadataDigest', () => {
  test('null metadata and empty metadata have the same digest', () => {
    expect(computeMetadataDigest(null)).toBe(computeMetadataDigest({}));
    expect(computeMetadataDigest(null)).toBe(EMPTY_METADATA_DIGEST);
    expect(computeMetadataDigest({})).toBe(computeDigest('{}'));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['the metadata digest ignores the top-level promptsync key', { a: 1, promptsync: { b: 2 } }, { a: 1 }],
    ['the metadata digest ignores key order', { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
  ])('%s', (_, one, other) => {
    expect(computeMetadataDigest(one)).toBe(computeMetadataDigest(other));
  });

  test.each<readonly [string, JsonObject, JsonObject]>([
    ['the metadata digest distinguishes null from a missing key', { a: null }, {}],
    ['the metadata digest includes a nested promptsync key', { a: { promptsync: 1 } }, { a: {} }],
  ])('%s', (_, one, other) => {
    expect(computeMetadataDigest(one)).not.toBe(computeMetadataDigest(other));
  });
});
