import { describe, expect, test } from 'vitest';
import { entryOf } from '../../src/ledger/ownership.ts';
import { knownEntries, versionsRead } from '../../src/ledger/reading.ts';
import type { LedgerEntry } from '../../src/ledger/stamp.ts';
import { content, entry, observed, outside, reading, version } from '../planning/support.ts';

describe('Known versions', () => {
  test('are those read and those of their ledgers, newest first, each once', () => {
    const found = reading({
      active: {
        staging: version(5, 'E', { ledger: [entry(4, 'D'), entry(1, 'A')] }),
        production: version(1, 'A'),
        qa: version(5, 'E'),
      },
      looked: [outside(7, 'G')],
    });
    expect(knownEntries(found).map(({ number }) => number)).toStrictEqual([7, 5, 4, 1]);
    expect(versionsRead(found).map(({ number }) => number)).toStrictEqual([5, 1, 5, 7]);
  });

  test('have with them what was read, and nothing where only a ledger knows them', () => {
    const read = version(5, 'E', { ledger: [entry(4, 'D')] });
    expect(observed({ active: { staging: read } }).known).toMatchObject([
      { number: 5, content: { text: 'E' }, source: { commit: 'c5' } },
      { number: 4, content: null, source: { commit: 'c4' } },
    ]);
  });

  test('count the ledger of a version that was only looked at', () => {
    const found = reading({ looked: [version(5, 'E', { ledger: [entry(4, 'D')] })] });
    expect(knownEntries(found).map(({ number }) => number)).toStrictEqual([5, 4]);
  });

  test('are what was read rather than what a ledger says, and keep its mark of a pin', () => {
    const lie: LedgerEntry = { ...entry(1, 'Another text', { stampFor: null }), pinned: true };
    const found = reading({ active: { a: version(1, 'A'), b: version(2, 'B', { ledger: [lie] }) } });
    expect(knownEntries(found)[1]).toMatchObject({ ...entry(1, 'A'), pinned: true });
    expect(knownEntries(found)[1]?.ours).toBe(true);
  });

  test('are what the newer ledger says, and keep the mark of a pin that the older one has', () => {
    const older = version(5, 'E', { ledger: [{ ...entry(1, 'A', { stampFor: null }), pinned: true }] });
    const newer = version(6, 'F', { ledger: [entry(1, 'A')] });
    for (const active of [
      { a: older, b: newer },
      { a: newer, b: older },
    ]) {
      const known = knownEntries(reading({ active })).find(({ id }) => id === 'ver_1');
      expect(known).toStrictEqual({ ...entry(1, 'A'), pinned: true });
    }
  });

  test('of one number have the one that was read first', () => {
    const active = { a: version(9, 'I', { ledger: [entry(7, 'X', { id: 'x' })] }), b: version(7, 'G') };
    expect(knownEntries(reading({ active })).map(({ id }) => id)).toStrictEqual(['ver_9', 'ver_7', 'x']);
  });
});

describe('A ledger entry', () => {
  test('has commit and path of the stamp', () => {
    expect(entryOf(version(1, 'A'))).toStrictEqual({
      number: 1,
      id: 'ver_1',
      digest: content('A').digest,
      metadataDigest: content('A', {}).metadataDigest,
      ours: true,
      commit: 'c1',
      path: 'prompts/a.md',
    });
  });

  test('has neither where the version was not made from a commit, and is ours all the same', () => {
    const made = version(1, 'A');
    const { commit: _, path: __, ...stamp } = made.stamp!;
    expect(Object.keys(entryOf({ ...made, stamp }))).toStrictEqual([
      'number',
      'id',
      'digest',
      'metadataDigest',
      'ours',
    ]);
  });

  test.each([
    ['without a stamp', outside(1, 'A')],
    ['with a stamp over another text', version(1, 'A', { stampFor: 'B' })],
  ])('of a version %s is marked as made outside, without a commit', (_, made) => {
    expect(entryOf(made)).toMatchObject({ ours: false });
    expect(entryOf(made)).not.toHaveProperty('commit');
  });
});
