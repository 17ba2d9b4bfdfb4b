import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../../src/domain/content.ts';
import type { JsonObject } from '../../../src/domain/json.ts';
import {
  makeServedEntry,
  mayBeEditedCopy,
  isManagedVersion,
  isRewritten,
  mayFollowHead,
} from '../../../src/providers/four-call/ownership.ts';
import { detectMetadataSupport } from '../../../src/providers/four-call/reading.ts';
import type { LedgerEntry, LedgerVersion } from '../../../src/providers/four-call/version-record.ts';
import { content, entry, outside, reading, version, type ObservedParts } from '../../planning/support.ts';

/** Replaces the digest of the sent metadata in the version record. */
function withSentMetadata(made: LedgerVersion, metadata: JsonObject = {}): LedgerVersion {
  return { ...made, record: { ...made.record!, metadataDigest: computeMetadataDigest(metadata) } };
}

const one = entry(1, 'One');
const edited = version(3, 'Two', { metadata: { by: 'them' }, ledger: [one] });
const original = entry(2, 'Two');

describe('ownership of versions', () => {
  test.each<[string, LedgerVersion, boolean]>([
    ['isManagedVersion returns true if the version record contains the digest of the text', version(1, 'One'), true],
    [
      'isManagedVersion returns false if the digest in the version record does not match the text',
      version(2, 'Edited', { stampFor: 'One' }),
      false,
    ],
    ['isManagedVersion returns false for a version without a version record', outside(1, 'One'), false],
  ])('%s', (_, made, own) => {
    expect(isManagedVersion(made)).toBe(own);
  });

  test.each<[string, LedgerVersion, boolean]>([
    [
      'mayBeEditedCopy returns false if a managed version has the metadata that promptsync sent',
      version(3, 'Two', { ledger: [one] }),
      false,
    ],
    [
      'mayBeEditedCopy returns true if the metadata changed and the version number does not directly follow the newest ledger entry',
      withSentMetadata(edited),
      true,
    ],
    [
      'mayBeEditedCopy returns false if the metadata changed but the version number directly follows the newest ledger entry',
      withSentMetadata(version(2, 'Two', { metadata: { by: 'api' }, ledger: [one] })),
      false,
    ],
    [
      'mayBeEditedCopy returns false for version 1 of a prompt even if the metadata changed',
      withSentMetadata(version(1, 'One', { metadata: { by: 'api' } })),
      false,
    ],
    [
      'mayBeEditedCopy returns false for a version that is not managed',
      version(3, 'Edited', { stampFor: 'Two', ledger: [one] }),
      false,
    ],
  ])('%s', (_, made, doubtful) => {
    expect(mayBeEditedCopy(made)).toBe(doubtful);
  });

  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    [
      'makeServedEntry marks a version as unmanaged if the version may be an edited copy and its original is known',
      withSentMetadata(edited),
      [one, original],
      false,
    ],
    [
      'makeServedEntry marks a version as managed if the version may be an edited copy but its original is unknown',
      withSentMetadata(edited),
      [one],
      true,
    ],
    [
      'makeServedEntry marks a possible edited copy as managed if the only other version with the same content is newer',
      withSentMetadata(edited),
      [entry(4, 'Two')],
      true,
    ],
    [
      'makeServedEntry marks a possible edited copy as managed if the older version with the same text has different metadata',
      withSentMetadata(edited),
      [entry(2, 'Two', { metadata: { a: 1 } })],
      true,
    ],
    [
      'makeServedEntry marks a version as managed if the version has the metadata that promptsync sent',
      version(3, 'Two', { ledger: [one] }),
      [original],
      true,
    ],
  ])('%s', (_, made, known, isManaged) => {
    expect(makeServedEntry(made, known).isManaged).toBe(isManaged);
  });

  test.each<[string, LedgerVersion, LedgerVersion | null | undefined, boolean]>([
    [
      'mayFollowHead returns true for a newer version whose ledger contains the tracked version',
      version(2, 'Two', { ledger: [one] }),
      version(1, 'One'),
      true,
    ],
    [
      'mayFollowHead returns false for a version whose ledger lacks the tracked version',
      version(2, 'Two'),
      version(1, 'One'),
      false,
    ],
    [
      'mayFollowHead returns true for any managed version if the tracking environment is empty',
      version(2, 'Two'),
      null,
      true,
    ],
    ['mayFollowHead returns false if the tracking environment was not read', version(2, 'Two'), undefined, false],
    [
      'mayFollowHead returns false for a version older than the tracked one',
      version(2, 'Two', { ledger: [entry(3, 'Three')] }),
      version(3, 'Three'),
      false,
    ],
    ['mayFollowHead returns false for a version that promptsync did not create', outside(2, 'Two'), null, false],
    ['mayFollowHead returns false for a version that may be an edited copy', withSentMetadata(edited), null, false],
  ])('%s', (_, made, head, may) => {
    expect(mayFollowHead(made, head)).toBe(may);
  });
});

describe('isRewritten', () => {
  const two = content('Two ');
  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    [
      'isRewritten returns true if the stored text differs from the sent text only in whitespace',
      version(9, 'Two', { stampFor: 'Two ', ledger: [one] }),
      [],
      true,
    ],
    [
      'isRewritten returns true for a completely different text if the version number directly follows the newest ledger entry',
      version(2, 'X', { stampFor: 'Two ', ledger: [one] }),
      [],
      true,
    ],
    [
      'isRewritten returns false for a completely different text if the version number does not directly follow the newest ledger entry',
      version(3, 'X', { stampFor: 'Two ', ledger: [one] }),
      [],
      false,
    ],
    [
      'isRewritten returns false if an older known version has exactly the content that promptsync sent',
      version(9, 'Two', { stampFor: 'Two ' }),
      [entry(2, 'Two ')],
      false,
    ],
    [
      'isRewritten returns false if promptsync sent metadata but the file has none',
      withSentMetadata(version(2, 'Two', { stampFor: 'Two ', ledger: [one] }), { a: 1 }),
      [],
      false,
    ],
    [
      'isRewritten returns false if the stored text equals the sent text',
      version(2, 'Two ', { ledger: [one] }),
      [],
      false,
    ],
    [
      'isRewritten returns false if the digest in the version record does not match the text in the file',
      version(2, 'Two', { stampFor: 'Three', ledger: [one] }),
      [],
      false,
    ],
    ['isRewritten returns false for a version without a version record', outside(2, 'Two'), [], false],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, two, known)).toBe(rewritten);
  });

  const managed = content('Two', { model: 'x' });
  const added = version(3, 'Two', { metadata: { model: 'x', by: 'api' }, ledger: [one] });
  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    [
      'isRewritten returns true if the service added a key to the metadata that promptsync sent',
      withSentMetadata(added, { model: 'x' }),
      [],
      true,
    ],
    [
      'isRewritten returns false for an edited copy of a known version',
      withSentMetadata(added, { model: 'x' }),
      [entry(2, 'Two', { metadata: { model: 'x' } })],
      false,
    ],
    [
      'isRewritten returns false if the metadata that promptsync sent differs from the metadata in the file',
      withSentMetadata(added, { model: 'y' }),
      [],
      false,
    ],
    [
      'isRewritten returns false if the service stored the metadata from the file unchanged',
      withSentMetadata(version(3, 'Two', { metadata: { model: 'x' } }), { model: 'x' }),
      [],
      false,
    ],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, managed, known)).toBe(rewritten);
  });

  test('isRewritten returns false if the service added metadata but the file specifies none', () => {
    expect(isRewritten(withSentMetadata(added), content('Two'), [])).toBe(false);
  });
});

describe('detectMetadataSupport', () => {
  test.each<[string, ObservedParts, boolean]>([
    [
      'detectMetadataSupport returns dropped if neither the tracked version nor any other version has a version record',
      { active: { a: outside(1, 'A'), promptsync: outside(2, 'B') } },
      true,
    ],
    [
      'detectMetadataSupport returns kept if only the tracked version lacks a version record',
      { active: { a: version(1, 'A'), promptsync: outside(2, 'B') } },
      false,
    ],
    [
      'detectMetadataSupport returns kept if the tracked version lacks a version record but a probed version has one',
      { active: { promptsync: outside(2, 'B') }, others: [version(1, 'A')] },
      false,
    ],
    [
      'detectMetadataSupport returns kept if the tracking environment is empty',
      { active: { a: outside(1, 'A'), promptsync: null } },
      false,
    ],
    [
      'detectMetadataSupport returns kept if the tracking environment was not read',
      { active: { a: outside(1, 'A') } },
      false,
    ],
  ])('%s', (_, parts, drops) => {
    expect(detectMetadataSupport(reading(parts))).toBe(drops ? 'dropped' : 'kept');
  });
});
