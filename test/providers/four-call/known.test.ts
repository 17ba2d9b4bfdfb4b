import { describe, expect, test } from 'vitest';
import { makeLedgerEntry } from '../../../src/providers/four-call/ownership.ts';
import { listKnownEntries, listVersionsRead } from '../../../src/providers/four-call/reading.ts';
import type { LedgerEntry } from '../../../src/providers/four-call/version-record.ts';
import { content, entry, observed, outside, reading, version } from '../../planning/support.ts';

describe('listKnownEntries', () => {
  test('listKnownEntries lists the versions that were read and the versions in their ledgers, newest first', () => {
    const found = reading({
      active: {
        staging: version(5, 'E', { ledger: [entry(4, 'D'), entry(1, 'A')] }),
        production: version(1, 'A'),
        qa: version(5, 'E'),
      },
      others: [outside(7, 'G')],
    });
    expect(listKnownEntries(found).map(({ number }) => number)).toStrictEqual([7, 5, 4, 1]);
    expect(listVersionsRead(found).map(({ number }) => number)).toStrictEqual([5, 1, 5, 7]);
  });

  test('The observation includes content only for versions that promptsync read', () => {
    const read = version(5, 'E', { ledger: [entry(4, 'D')] });
    expect(observed({ active: { staging: read } }).known).toMatchObject([
      { number: 5, content: { text: 'E' }, source: { commit: 'c5' } },
      { number: 4, content: null, source: { commit: 'c4' } },
    ]);
  });

  test('listKnownEntries includes the ledger entries of a probed version', () => {
    const found = reading({ others: [version(5, 'E', { ledger: [entry(4, 'D')] })] });
    expect(listKnownEntries(found).map(({ number }) => number)).toStrictEqual([5, 4]);
  });

  test('If a ledger entry contradicts a version that promptsync read, listKnownEntries uses only the pinned mark of the ledger entry', () => {
    const lie: LedgerEntry = { ...entry(1, 'Another text', { stampFor: null }), pinned: true };
    const found = reading({ active: { a: version(1, 'A'), b: version(2, 'B', { ledger: [lie] }) } });
    expect(listKnownEntries(found)[1]).toMatchObject({ ...entry(1, 'A'), pinned: true });
    expect(listKnownEntries(found)[1]?.isManaged).toBe(true);
  });

  test('If two ledgers list the same version, listKnownEntries returns the newer entry but preserves the pinned mark of the older one', () => {
    const older = version(5, 'E', { ledger: [{ ...entry(1, 'A', { stampFor: null }), pinned: true }] });
    const newer = version(6, 'F', { ledger: [entry(1, 'A')] });
    for (const active of [
      { a: older, b: newer },
      { a: newer, b: older },
    ]) {
      const known = listKnownEntries(reading({ active })).find(({ id }) => id === 'ver_1');
      expect(known).toStrictEqual({ ...entry(1, 'A'), pinned: true });
    }
  });

  test('If an observed version and a ledger entry have the same number, listKnownEntries lists the observed version first', () => {
    const active = { a: version(9, 'I', { ledger: [entry(7, 'X', { id: 'x' })] }), b: version(7, 'G') };
    expect(listKnownEntries(reading({ active })).map(({ id }) => id)).toStrictEqual(['ver_9', 'ver_7', 'x']);
  });
});

describe('makeLedgerEntry', () => {
  test('makeLedgerEntry copies the commit and path from the version record', () => {
    expect(makeLedgerEntry(version(1, 'A'))).toStrictEqual({
      number: 1,
      id: 'ver_1',
      digest: content('A').digest,
      metadataDigest: content('A', {}).metadataDigest,
      isManaged: true,
      commit: 'c1',
      path: 'prompts/a.md',
    });
  });

  test('makeLedgerEntry omits the commit and path if the version record contains neither', () => {
    const made = version(1, 'A');
    const { commit: _, path: __, ...stamp } = made.record!;
    expect(Object.keys(makeLedgerEntry({ ...made, record: stamp }))).toStrictEqual([
      'number',
      'id',
      'digest',
      'metadataDigest',
      'isManaged',
    ]);
  });

  test.each([
    ['makeLedgerEntry marks a version without a version record as unmanaged', outside(1, 'A')],
    [
      'makeLedgerEntry marks a version as unmanaged if the digest in its version record does not match its text',
      version(1, 'A', { stampFor: 'B' }),
    ],
  ])('%s', (_, made) => {
    expect(makeLedgerEntry(made)).toMatchObject({ isManaged: false });
    expect(makeLedgerEntry(made)).not.toHaveProperty('commit');
  });
});
