import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeDigest, type Digest } from '../../../src/domain/digest.ts';
import { type JsonObject, type JsonValue, omitKey } from '../../../src/domain/json.ts';
import type { LedgerEntry, VersionRecord } from '../../../src/providers/four-call/version-record.ts';
import { parseVersionRecord, renderVersionRecord } from '../../../src/providers/four-call/version-record.ts';

const digest = computeDigest('text');
const wireEntry = { number: 1, id: 'ver_1', digest, metadata_digest: digest };
const wireRecord = { digest, metadata_digest: digest, operation: 'op' };
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
    metadataDigest: anyDigest,
    commit: fc.string(),
    path: fc.string(),
    operation: fc.string({ minLength: 1 }),
    ledger: fc.array(anyEntry),
  },
  { requiredKeys: ['digest', 'metadataDigest', 'operation', 'ledger'], noNullPrototype: true },
);

test('parseVersionRecord restores any version record after a JSON round trip', () => {
  fc.assert(
    fc.property(anyStamp, (stamp) => {
      expect(parseVersionRecord({ promptsync: JSON.parse(JSON.stringify(renderVersionRecord(stamp))) })).toStrictEqual(
        stamp,
      );
    }),
  );
});

test('parseVersionRecord never throws an error, whatever the metadata contains', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(() => parseVersionRecord({ promptsync: value as JsonValue })).not.toThrow();
    }),
  );
});

const record = (parts: object): JsonObject => ({ promptsync: { ...wireRecord, ...parts } });
const without = (key: keyof typeof wireRecord): JsonObject => ({ promptsync: omitKey(wireRecord, key) });
test.each<[string, JsonObject | null]>([
  ['parseVersionRecord returns null if the metadata is null', null],
  ['parseVersionRecord returns null if the metadata has no promptsync key', { model: 'gpt-5' }],
  ['parseVersionRecord returns null if the promptsync key contains a string', { promptsync: 'yes' }],
  ['parseVersionRecord returns null if the digest is missing', without('digest')],
  ['parseVersionRecord returns null if the digest does not use SHA-256', record({ digest: 'md5:00' })],
  ['parseVersionRecord returns null if the digest is too short', record({ digest: 'sha256:00' })],
  ['parseVersionRecord returns null if the digest ends with a line feed', record({ digest: `${digest}\n` })],
  ['parseVersionRecord returns null if the metadata digest is missing', without('metadata_digest')],
  ['parseVersionRecord returns null if the operation is missing', without('operation')],
  ['parseVersionRecord returns null if the operation is empty', record({ operation: '' })],
])('%s', (_, metadata) => {
  expect(parseVersionRecord(metadata)).toBeNull();
});

test.each<[string, JsonValue]>([
  ['parseVersionRecord drops only the ledger entry that is null', null],
  ['parseVersionRecord drops only the ledger entry with a fractional number', { ...wireEntry, number: 1.5 }],
  ['parseVersionRecord drops only the ledger entry with an empty id', { ...wireEntry, id: '' }],
  ['parseVersionRecord drops only the ledger entry with an invalid digest', { ...wireEntry, digest: 'sha256:xyz' }],
  ['parseVersionRecord drops only the ledger entry without a metadata digest', omitKey(wireEntry, 'metadata_digest')],
])('%s', (_, bad) => {
  const stamp = parseVersionRecord(record({ ledger: [wireEntry, bad, wireEntry] }));
  expect(stamp?.ledger).toStrictEqual([entry, entry]);
});

test.each<[string, JsonObject, readonly LedgerEntry[]]>([
  ['parseVersionRecord treats a missing ledger as empty', {}, []],
  ['parseVersionRecord treats a ledger that is not an array as empty', { ledger: {} }, []],
  ['parseVersionRecord ignores a commit that is not a string', { commit: 7, ledger: [] }, []],
  ['parseVersionRecord ignores unknown fields', { ledger: [], more: 1 }, []],
  [
    'parseVersionRecord ignores a mark in a ledger entry if the value of the mark is not true',
    { ledger: [{ ...wireEntry, outside: false, pinned: 'yes', path: null }] },
    [entry],
  ],
])('%s', (_, parts, ledger) => {
  const expected = { digest, metadataDigest: digest, operation: 'op', ledger };
  expect(parseVersionRecord(record(parts))).toStrictEqual(expected);
});
