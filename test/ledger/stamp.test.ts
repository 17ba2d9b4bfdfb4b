import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestOf, type Digest } from '../../src/domain/digest.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import type { LedgerEntry, Stamp } from '../../src/ledger/stamp.ts';
import { parseStamp, stampToWire } from '../../src/ledger/stamp.ts';

const digest = digestOf('text');
const wireEntry = { number: 1, id: 'ver_1', digest, metadata_digest: digest };
const entry: LedgerEntry = { number: 1, id: 'ver_1', digest, metadataDigest: digest, ours: true };

const anyDigest = fc.string().map((text): Digest => digestOf(text));
const anyEntry: fc.Arbitrary<LedgerEntry> = fc.record(
  {
    number: fc.maxSafeInteger(),
    id: fc.string({ minLength: 1 }),
    digest: anyDigest,
    metadataDigest: anyDigest,
    commit: fc.string(),
    path: fc.string({ unit: 'binary' }),
    ours: fc.boolean(),
    pinned: fc.constant(true as const),
  },
  { requiredKeys: ['number', 'id', 'digest', 'metadataDigest', 'ours'], noNullPrototype: true },
);
const anyStamp: fc.Arbitrary<Stamp> = fc.record(
  {
    digest: anyDigest,
    commit: fc.string(),
    path: fc.string(),
    operation: fc.string({ minLength: 1 }),
    ledger: fc.array(anyEntry),
  },
  { requiredKeys: ['digest', 'operation', 'ledger'], noNullPrototype: true },
);

describe('stamp', () => {
  test('is read back as it was written, through JSON', () => {
    fc.assert(
      fc.property(anyStamp, (stamp) => {
        expect(parseStamp({ promptsync: JSON.parse(JSON.stringify(stampToWire(stamp))) })).toStrictEqual(stamp);
      }),
    );
  });

  test('never throws on metadata of any shape', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => parseStamp({ promptsync: value as JsonValue })).not.toThrow();
      }),
    );
  });

  const absent: readonly (readonly [string, Parameters<typeof parseStamp>[0]])[] = [
    ['there is no metadata', null],
    ['the metadata is absent', undefined],
    ['the metadata has no stamp', { model: 'gpt-5' }],
    ['the stamp is null', { promptsync: null }],
    ['the stamp is text', { promptsync: 'yes' }],
    ['the stamp is a list', { promptsync: [] }],
    ['the digest is missing', { promptsync: { operation: 'op', ledger: [] } }],
    ['the digest is of another kind', { promptsync: { digest: 'md5:00', operation: 'op', ledger: [] } }],
    ['the digest is too short', { promptsync: { digest: 'sha256:00', operation: 'op', ledger: [] } }],
    ['the digest ends in a line feed', { promptsync: { digest: `${digest}\n`, operation: 'op', ledger: [] } }],
    ['the operation is missing', { promptsync: { digest, ledger: [] } }],
    ['the operation is empty', { promptsync: { digest, operation: '', ledger: [] } }],
  ];
  test.each(absent)('is null when %s', (_, metadata) => {
    expect(parseStamp(metadata)).toBeNull();
  });

  const dropped: readonly (readonly [string, JsonValue])[] = [
    ['null', null],
    ['text', 'ver_2'],
    ['without a number', { id: 'ver_2', digest, metadata_digest: digest }],
    ['with a fraction as its number', { ...wireEntry, number: 1.5 }],
    ['with text as its number', { ...wireEntry, number: '1' }],
    ['with an empty id', { ...wireEntry, id: '' }],
    ['with a number as its id', { ...wireEntry, id: 7 }],
    ['with a digest that is none', { ...wireEntry, digest: 'sha256:xyz' }],
    ['without a digest of its metadata', { number: 1, id: 'ver_2', digest }],
  ];
  test.each(dropped)('loses a ledger entry that is %s, and no other', (_, bad) => {
    const stamp = parseStamp({ promptsync: { digest, operation: 'op', ledger: [wireEntry, bad, wireEntry] } });
    expect(stamp?.ledger).toStrictEqual([entry, entry]);
  });

  const lenient: readonly (readonly [string, JsonValue, Stamp])[] = [
    ['a ledger that is missing', { digest, operation: 'op' }, { digest, operation: 'op', ledger: [] }],
    ['a ledger that is no list', { digest, operation: 'op', ledger: {} }, { digest, operation: 'op', ledger: [] }],
    [
      'a commit that is no text',
      { digest, operation: 'op', commit: 7, ledger: [] },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'fields of a later edition',
      { digest, operation: 'op', ledger: [], more: 1 },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'marks that are not true',
      { digest, operation: 'op', ledger: [{ ...wireEntry, outside: false, pinned: 'yes', path: null }] },
      { digest, operation: 'op', ledger: [entry] },
    ],
  ];
  test.each(lenient)('bears with %s', (_, value, expected) => {
    expect(parseStamp({ promptsync: value })).toStrictEqual(expected);
  });
});
