import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeDigest, type Digest } from '../../src/domain/digest.ts';
import type { JsonValue } from '../../src/domain/json.ts';
import type { LedgerEntry, VersionRecord } from '../../src/ledger/version-record.ts';
import { parseVersionRecord, renderVersionRecord } from '../../src/ledger/version-record.ts';

const digest = computeDigest('text');
const wireEntry = { number: 1, id: 'ver_1', digest, metadata_digest: digest };
const entry: LedgerEntry = { number: 1, id: 'ver_1', digest, metadataDigest: digest, isManaged: true };

const anyDigest = fc.string().map((text): Digest => computeDigest(text));
const anyEntry: fc.Arbitrary<LedgerEntry> = fc.record(
  {
    number: fc.maxSafeInteger(),
    id: fc.string({ minLength: 1 }),
    digest: anyDigest,
    metadataDigest: anyDigest,
    commit: fc.string(),
    path: fc.string({ unit: 'binary' }),
    isManaged: fc.boolean(),
    pinned: fc.constant(true as const),
  },
  { requiredKeys: ['number', 'id', 'digest', 'metadataDigest', 'isManaged'], noNullPrototype: true },
);
const anyStamp: fc.Arbitrary<VersionRecord> = fc.record(
  {
    digest: anyDigest,
    commit: fc.string(),
    path: fc.string(),
    operation: fc.string({ minLength: 1 }),
    ledger: fc.array(anyEntry),
  },
  { requiredKeys: ['digest', 'operation', 'ledger'], noNullPrototype: true },
);

describe('parseStamp', () => {
  test('The parser reads back any version record after a round trip through JSON', () => {
    fc.assert(
      fc.property(anyStamp, (stamp) => {
        expect(
          parseVersionRecord({ promptsync: JSON.parse(JSON.stringify(renderVersionRecord(stamp))) }),
        ).toStrictEqual(stamp);
      }),
    );
  });

  test('The parser of version records never throws, whatever the metadata contains', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(() => parseVersionRecord({ promptsync: value as JsonValue })).not.toThrow();
      }),
    );
  });

  const absent: readonly (readonly [string, Parameters<typeof parseVersionRecord>[0]])[] = [
    ['The parser finds no version record if the metadata is null', null],
    ['The parser finds no version record if the metadata is missing', undefined],
    ['The parser finds no version record if the metadata has no key promptsync', { model: 'gpt-5' }],
    ['The parser finds no version record if the key promptsync is null', { promptsync: null }],
    ['The parser finds no version record if the key promptsync is a string', { promptsync: 'yes' }],
    ['The parser finds no version record if the key promptsync is a list', { promptsync: [] }],
    ['The parser rejects a version record without a digest', { promptsync: { operation: 'op', ledger: [] } }],
    [
      'The parser rejects a version record with another kind of digest',
      { promptsync: { digest: 'md5:00', operation: 'op', ledger: [] } },
    ],
    [
      'The parser rejects a version record whose digest is too short',
      { promptsync: { digest: 'sha256:00', operation: 'op', ledger: [] } },
    ],
    [
      'The parser rejects a version record whose digest ends in a line feed',
      { promptsync: { digest: `${digest}\n`, operation: 'op', ledger: [] } },
    ],
    ['The parser rejects a version record without an operation', { promptsync: { digest, ledger: [] } }],
    [
      'The parser rejects a version record with an empty operation',
      { promptsync: { digest, operation: '', ledger: [] } },
    ],
  ];
  test.each(absent)('%s', (_, metadata) => {
    expect(parseVersionRecord(metadata)).toBeNull();
  });

  const dropped: readonly (readonly [string, JsonValue])[] = [
    ['The parser drops only the bad ledger entry if an entry is null', null],
    ['The parser drops only the bad ledger entry if an entry is a string', 'ver_2'],
    ['The parser drops only the ledger entry that has no number', { id: 'ver_2', digest, metadata_digest: digest }],
    ['The parser drops only the ledger entry whose number is a fraction', { ...wireEntry, number: 1.5 }],
    ['The parser drops only the ledger entry whose number is a string', { ...wireEntry, number: '1' }],
    ['The parser drops only the ledger entry whose id is empty', { ...wireEntry, id: '' }],
    ['The parser drops only the ledger entry whose id is a number', { ...wireEntry, id: 7 }],
    ['The parser drops only the ledger entry whose digest is invalid', { ...wireEntry, digest: 'sha256:xyz' }],
    ['The parser drops only the ledger entry that has no metadata digest', { number: 1, id: 'ver_2', digest }],
  ];
  test.each(dropped)('%s', (_, bad) => {
    const stamp = parseVersionRecord({ promptsync: { digest, operation: 'op', ledger: [wireEntry, bad, wireEntry] } });
    expect(stamp?.ledger).toStrictEqual([entry, entry]);
  });

  const lenient: readonly (readonly [string, JsonValue, VersionRecord])[] = [
    [
      'The parser reads a version record without a ledger as one with an empty ledger',
      { digest, operation: 'op' },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'The parser reads a ledger that is not a list as an empty ledger',
      { digest, operation: 'op', ledger: {} },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'The parser ignores a commit that is not a string',
      { digest, operation: 'op', commit: 7, ledger: [] },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'The parser ignores unknown fields of a version record',
      { digest, operation: 'op', ledger: [], more: 1 },
      { digest, operation: 'op', ledger: [] },
    ],
    [
      'The parser ignores marks of a ledger entry that are not true',
      { digest, operation: 'op', ledger: [{ ...wireEntry, outside: false, pinned: 'yes', path: null }] },
      { digest, operation: 'op', ledger: [entry] },
    ],
  ];
  test.each(lenient)('%s', (_, value, expected) => {
    expect(parseVersionRecord({ promptsync: value })).toStrictEqual(expected);
  });
});
