import { describe, expect, test } from 'vitest';
import { computeMetadataDigest } from '../../src/domain/content.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import {
  makeServedEntry,
  mayBeEditedCopy,
  isManagedVersion,
  isRewritten,
  mayFollowHead,
} from '../../src/ledger/ownership.ts';
import { detectMetadataSupport } from '../../src/ledger/reading.ts';
import type { LedgerEntry, LedgerVersion } from '../../src/ledger/version-record.ts';
import { content, entry, outside, reading, TRACKING, version, type ObservedParts } from '../planning/support.ts';

/** Adds the digest of the sent metadata to the version record. */
function withSentMetadata(made: LedgerVersion, metadata: JsonObject = {}): LedgerVersion {
  return { ...made, record: { ...made.record!, metadataDigest: computeMetadataDigest(metadata) } };
}

const one = entry(1, 'One');
const edited = version(3, 'Two', { metadata: { by: 'them' }, ledger: [one] });
const original = entry(2, 'Two');

describe('ownership of versions', () => {
  test.each<[string, LedgerVersion, boolean]>([
    ['A version whose version record has the digest of its text is managed', version(1, 'One'), true],
    [
      'A version whose version record has another digest is not managed',
      version(2, 'Edited', { stampFor: 'One' }),
      false,
    ],
    ['A version without a version record is not managed', outside(1, 'One'), false],
  ])('%s', (_, made, own) => {
    expect(isManagedVersion(made)).toBe(own);
  });

  test.each<[string, LedgerVersion, boolean]>([
    [
      'A managed version with the metadata that promptsync sent is not doubtful',
      withSentMetadata(version(3, 'Two', { ledger: [one] })),
      false,
    ],
    [
      'Other metadata makes a version doubtful if its number does not follow its ledger',
      withSentMetadata(edited),
      true,
    ],
    [
      'Other metadata does not make a version doubtful if its number follows its ledger',
      withSentMetadata(version(2, 'Two', { metadata: { by: 'api' }, ledger: [one] })),
      false,
    ],
    [
      'Other metadata does not make the first version of a prompt doubtful',
      withSentMetadata(version(1, 'One', { metadata: { by: 'api' } })),
      false,
    ],
    ['A version without a recorded metadata digest is not doubtful', edited, false],
    [
      'A version that is not managed is not doubtful',
      withSentMetadata(version(3, 'Edited', { stampFor: 'Two', ledger: [one] })),
      false,
    ],
  ])('%s', (_, made, doubtful) => {
    expect(mayBeEditedCopy(made)).toBe(doubtful);
  });

  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    ['A doubtful version is a copy if its original is known', withSentMetadata(edited), [one, original], true],
    ['A doubtful version is not a copy if no possible original is known', withSentMetadata(edited), [one], false],
    ['A doubtful version is not a copy of a later version', withSentMetadata(edited), [entry(4, 'Two')], false],
    [
      'A doubtful version is not a copy of a version with other metadata',
      withSentMetadata(edited),
      [entry(2, 'Two', { metadata: { a: 1 } })],
      false,
    ],
    [
      'A version with the metadata that promptsync sent is not a copy',
      withSentMetadata(version(3, 'Two', { ledger: [one] })),
      [original],
      false,
    ],
  ])('%s', (_, made, known, copy) => {
    expect(mayBeEditedCopy(made) && !makeServedEntry(made, known).isManaged).toBe(copy);
  });

  test.each<[string, LedgerVersion, LedgerVersion | null | undefined, boolean]>([
    [
      'The tracking environment may move to a version whose ledger names the tracked version',
      version(2, 'Two', { ledger: [one] }),
      version(1, 'One'),
      true,
    ],
    [
      'The tracking environment may not move to a version whose ledger lacks the tracked version',
      version(2, 'Two'),
      version(1, 'One'),
      false,
    ],
    ['An empty tracking environment may move to any managed version', version(2, 'Two'), null, true],
    ['The tracking environment may not move if promptsync has not read it', version(2, 'Two'), undefined, false],
    [
      'The tracking environment may not move to an older version',
      version(2, 'Two', { ledger: [entry(3, 'Three')] }),
      version(3, 'Three'),
      false,
    ],
    ['The tracking environment may not move to a foreign version', outside(2, 'Two'), null, false],
    ['The tracking environment may not move to a doubtful version', withSentMetadata(edited), null, false],
  ])('%s', (_, made, head, may) => {
    expect(mayFollowHead(made, head)).toBe(may);
  });
});

describe('isRewritten', () => {
  const two = content('Two ');
  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    [
      'A version is rewritten if its text differs from the sent text in white space',
      version(9, 'Two', { stampFor: 'Two ', ledger: [one] }),
      [],
      true,
    ],
    [
      'A version is rewritten if another text has the next number after its ledger',
      version(2, 'X', { stampFor: 'Two ', ledger: [one] }),
      [],
      true,
    ],
    [
      'A version is not rewritten if another text has a later number than the next',
      version(3, 'X', { stampFor: 'Two ', ledger: [one] }),
      [],
      false,
    ],
    [
      'A version is not rewritten if its original is known',
      withSentMetadata(version(9, 'Two', { stampFor: 'Two ' })),
      [entry(2, 'Two ')],
      false,
    ],
    [
      'A version is not rewritten if promptsync sent other metadata',
      withSentMetadata(version(2, 'Two', { stampFor: 'Two ', ledger: [one] }), { a: 1 }),
      [],
      false,
    ],
    ['A version is not rewritten if its text is the sent text', version(2, 'Two ', { ledger: [one] }), [], false],
    [
      'A version is not rewritten if its version record has the digest of another text',
      version(2, 'Two', { stampFor: 'Three', ledger: [one] }),
      [],
      false,
    ],
    ['A version without a version record is not rewritten', outside(2, 'Two'), [], false],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, two, known)).toBe(rewritten);
  });

  const managed = content('Two', { model: 'x' });
  const added = version(3, 'Two', { metadata: { model: 'x', by: 'api' }, ledger: [one] });
  test.each<[string, LedgerVersion, readonly LedgerEntry[], boolean]>([
    [
      'A version is rewritten if the service changed the metadata of the file',
      withSentMetadata(added, { model: 'x' }),
      [],
      true,
    ],
    [
      'A version is not rewritten if it is a copy with other metadata',
      withSentMetadata(added, { model: 'x' }),
      [entry(2, 'Two', { metadata: { model: 'x' } })],
      false,
    ],
    [
      'A version is not rewritten if promptsync sent other metadata than the file has',
      withSentMetadata(added, { model: 'y' }),
      [],
      false,
    ],
    [
      'A version is not rewritten if the service kept the metadata of the file',
      withSentMetadata(version(3, 'Two', { metadata: { model: 'x' } }), { model: 'x' }),
      [],
      false,
    ],
  ])('%s', (_, made, known, rewritten) => {
    expect(isRewritten(made, managed, known)).toBe(rewritten);
  });

  test('A version is not rewritten by added metadata if the file manages no metadata', () => {
    expect(isRewritten(withSentMetadata(added), content('Two'), [])).toBe(false);
  });
});

describe('metadataIn', () => {
  test.each<[string, ObservedParts, boolean]>([
    [
      'The service drops metadata if neither the tracked nor any other version has a record',
      { active: { a: outside(1, 'A'), promptsync: outside(2, 'B') } },
      true,
    ],
    [
      'The service keeps metadata if another active version has a version record',
      { active: { a: version(1, 'A'), promptsync: outside(2, 'B') } },
      false,
    ],
    [
      'The service keeps metadata if a probed version has a version record',
      { active: { promptsync: outside(2, 'B') }, others: [version(1, 'A')] },
      false,
    ],
    [
      'The service counts as keeping metadata if no version is tracked',
      { active: { a: outside(1, 'A'), promptsync: null } },
      false,
    ],
    [
      'The service counts as keeping metadata if the tracked version was not read',
      { active: { a: outside(1, 'A') } },
      false,
    ],
  ])('%s', (_, parts, drops) => {
    expect(detectMetadataSupport(reading(parts), TRACKING)).toBe(drops ? 'dropped' : 'kept');
  });
});
