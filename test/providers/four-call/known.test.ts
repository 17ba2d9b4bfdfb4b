import { describe, expect, test } from 'vitest';
import { makeLedgerEntry } from '../../../src/providers/four-call/ownership.ts';
import { listKnownEntries, listVersionsRead } from '../../../src/providers/four-call/reading.ts';
import type { LedgerEntry } from '../../../src/providers/four-call/version-record.ts';
import { content, entry, observed, parseService, reading, version } from '../../planning/support.ts';

describe('listKnownEntries', () => {
  test('listKnownEntries lists the versions that were read and the versions in their ledgers, newest first', () => {
    const found = reading(parseService('staging=5:E(4:D,1:A) production=1:A qa=5:E probed=7:G(6:F)'));
    expect(listKnownEntries(found).map(({ number }) => number)).toStrictEqual([7, 6, 5, 4, 1]);
    expect(listVersionsRead(found).map(({ number }) => number)).toStrictEqual([5, 1, 5, 7]);
  });

  test('The observation includes content only for versions that promptsync read', () => {
    expect(observed(parseService('staging=5:E(4:D)')).known).toMatchObject([
      { number: 5, content: { text: 'E' }, source: { commit: 'c5' } },
      { number: 4, content: null, source: { commit: 'c4' } },
    ]);
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
  test('makeLedgerEntry copies the commit and path from the version record if the record contains them', () => {
    const made = version(1, 'A');
    const { digest, metadataDigest } = content('A', {});
    const always = { number: 1, id: 'ver_1', digest, metadataDigest, isManaged: true };
    expect(makeLedgerEntry(made)).toStrictEqual({ ...always, commit: 'c1', path: 'prompts/a.md' });
    const { commit: _, path: __, ...record } = made.record!;
    expect(makeLedgerEntry({ ...made, record })).toStrictEqual(always);
  });

  test('makeLedgerEntry computes the digest of the text and copies nothing from a version record with another digest', () => {
    const { digest, metadataDigest } = content('A', {});
    const made = makeLedgerEntry(version(1, 'A', { stampFor: 'B' }));
    expect(made).toStrictEqual({ number: 1, id: 'ver_1', digest, metadataDigest, isManaged: false });
  });
});
