import { describe, expect, test } from 'vitest';
import { entryOf, findContent, holds, knownVersions, makeLedger } from '../../src/domain/known-versions.ts';
import { versionsRead } from '../../src/domain/observed.ts';
import type { Content } from '../../src/domain/prompt-file.ts';
import type { LedgerEntry } from '../../src/domain/version.ts';
import { content, deepFreeze, entry, observed, outside, version } from '../planning/support.ts';

const model = { model: 'gpt-5' };

describe('Known versions', () => {
  test('are none where nothing was read', () => {
    expect(knownVersions(observed({ active: { staging: null } }))).toStrictEqual([]);
  });

  test('are those read and those of their ledgers, newest first, each once', () => {
    const found = observed({
      active: {
        staging: version(5, 'E', { ledger: [entry(4, 'D'), entry(1, 'A')] }),
        production: version(1, 'A'),
        qa: version(5, 'E'),
      },
      looked: [outside(7, 'G')],
    });
    expect(knownVersions(found).map(({ number }) => number)).toStrictEqual([7, 5, 4, 1]);
    expect(versionsRead(found).map(({ number }) => number)).toStrictEqual([5, 1, 5, 7]);
  });

  test('have with them what was read, and nothing where only a ledger knows them', () => {
    const read = version(5, 'E', { ledger: [entry(4, 'D')] });
    expect(knownVersions(observed({ active: { staging: read } }))).toStrictEqual([
      { ...entryOf(read), version: read },
      { ...entry(4, 'D'), version: null },
    ]);
  });

  test('count the ledger of a version that was only looked at', () => {
    const found = observed({ looked: [version(5, 'E', { ledger: [entry(4, 'D')] })] });
    expect(knownVersions(found).map(({ number }) => number)).toStrictEqual([5, 4]);
  });

  test('are what was read rather than what a ledger says, and keep its mark of a pin', () => {
    const lie: LedgerEntry = { ...entry(1, 'Another text', { stampFor: null }), pinned: true };
    const found = observed({ active: { a: version(1, 'A'), b: version(2, 'B', { ledger: [lie] }) } });
    expect(knownVersions(found)[1]).toMatchObject({ ...entry(1, 'A'), pinned: true });
    expect(knownVersions(found)[1]).not.toHaveProperty('outside');
  });

  test('are what the newer ledger says, and keep the mark of a pin that the older one has', () => {
    const older = version(5, 'E', { ledger: [{ ...entry(1, 'A', { stampFor: null }), pinned: true }] });
    const newer = version(6, 'F', { ledger: [entry(1, 'A')] });
    for (const active of [
      { a: older, b: newer },
      { a: newer, b: older },
    ]) {
      const known = knownVersions(observed({ active })).find(({ id }) => id === 'ver_1');
      expect(known).toStrictEqual({ ...entry(1, 'A'), pinned: true, version: null });
    }
  });

  test('of one number have the one that was read first', () => {
    const active = { a: version(9, 'I', { ledger: [entry(7, 'X', { id: 'x' })] }), b: version(7, 'G') };
    expect(knownVersions(observed({ active })).map(({ id }) => id)).toStrictEqual(['ver_9', 'ver_7', 'x']);
  });
});

describe('A ledger entry', () => {
  test('has commit and path of the stamp', () => {
    expect(entryOf(version(1, 'A'))).toStrictEqual({
      number: 1,
      id: 'ver_1',
      digest: content('A').digest,
      metadataDigest: content('A', {}).metadataDigest,
      commit: 'c1',
      path: 'prompts/a.md',
    });
  });

  test('has neither where the version was not made from a commit, and is ours all the same', () => {
    const made = version(1, 'A');
    const { commit: _, path: __, ...stamp } = made.stamp!;
    expect(Object.keys(entryOf({ ...made, stamp }))).toStrictEqual(['number', 'id', 'digest', 'metadataDigest']);
  });

  test.each([
    ['without a stamp', outside(1, 'A')],
    ['with a stamp over another text', version(1, 'A', { stampFor: 'B' })],
  ])('of a version %s is marked as made outside, without a commit', (_, made) => {
    expect(entryOf(made)).toMatchObject({ outside: true });
    expect(entryOf(made)).not.toHaveProperty('commit');
  });
});

describe('A version holds a content', () => {
  const rows: readonly (readonly [sentence: string, version: LedgerEntry, content: Content, expected: boolean])[] = [
    ['of the same text', entry(1, 'A'), content('A'), true],
    ['not of another text', entry(1, 'A'), content('B'), false],
    ['with any metadata where the file manages none', entry(1, 'A', { metadata: model }), content('A'), true],
    ['with the metadata of the file', entry(1, 'A', { metadata: model }), content('A', model), true],
    ['not without the metadata of the file', entry(1, 'A'), content('A', model), false],
    ['not with metadata where the file has it empty', entry(1, 'A', { metadata: model }), content('A', {}), false],
    ['without metadata where the file has it empty', entry(1, 'A'), content('A', {}), true],
    ["of somebody else's without metadata", entryOf(outside(1, 'A')), content('A'), true],
    ["not of somebody else's with metadata that nobody reviewed", entryOf(outside(1, 'A', model)), content('A'), false],
    ["of somebody else's with the metadata of the file", entryOf(outside(1, 'A', model)), content('A', model), true],
  ];
  test.each(rows)('%s', (_, held, wanted, expected) => {
    expect(holds(held, wanted)).toBe(expected);
    expect(findContent([{ ...held, version: null }], wanted) !== undefined).toBe(expected);
  });

  test.each([
    ['the newest', [entry(3, 'A'), entry(2, 'A')], 3],
    ['our own before a newer one of somebody else', [entryOf(outside(3, 'A')), entry(2, 'A'), entry(1, 'A')], 2],
    ["somebody else's where there is no other", [entryOf(outside(3, 'A')), entry(2, 'B')], 3],
  ] as const)('and of several is used: %s', (_, entries, number) => {
    const known = entries.map((one) => ({ ...one, version: null }));
    expect(findContent(known, content('A'))?.number).toBe(number);
  });
});

describe('The next ledger', () => {
  const thirty = deepFreeze(Array.from({ length: 30 }, (_, index) => entry(index + 1, `T${index + 1}`)));
  const ids = (...numbers: number[]) => new Set(numbers.map((number) => `ver_${number}`));

  test('has all of twenty and fewer, newest first', () => {
    const ledger = makeLedger(thirty.slice(0, 20), new Set(), new Set());
    expect(ledger.map(({ number }) => number)).toStrictEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  });

  test('has the twenty newest, those active and those pinned of more', () => {
    const ledger = makeLedger(thirty, ids(3, 30), ids(5));
    expect(ledger.slice(20).map(({ number, pinned }) => [number, pinned])).toStrictEqual([
      [5, true],
      [3, undefined],
    ]);
    expect(ledger.slice(0, 20).every(({ number, pinned }) => number > 10 && pinned === undefined)).toBe(true);
  });

  test('never loses what was once marked as pinned', () => {
    const marked = thirty.map((one): LedgerEntry => (one.number === 2 ? { ...one, pinned: true } : one));
    expect(makeLedger(marked, new Set(), new Set()).at(-1)).toMatchObject({ number: 2, pinned: true });
  });
});
