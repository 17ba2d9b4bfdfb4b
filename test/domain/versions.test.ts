import { describe, expect, test } from 'vitest';
import { findContent, holds } from '../../src/domain/versions.ts';
import type { Content } from '../../src/domain/prompt-file.ts';
import { entryOf } from '../../src/ledger/ownership.ts';
import type { LedgerEntry } from '../../src/ledger/stamp.ts';
import { content, entry, outside } from '../planning/support.ts';

const model = { model: 'gpt-5' };

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
    expect(findContent([held], wanted) !== undefined).toBe(expected);
  });

  test.each([
    ['the oldest', [entry(3, 'A'), entry(2, 'A')], 2],
    ['the oldest, whoever made it', [entry(3, 'A'), entryOf(outside(2, 'A'))], 2],
    ['no baseline where there is another', [entry(3, 'A'), { ...entry(2, 'A'), baseline: true }], 3],
    ['a baseline where there is none', [{ ...entry(2, 'A'), baseline: true }, entry(1, 'B')], 2],
    ["somebody else's where there is no other", [entryOf(outside(3, 'A')), entry(2, 'B')], 3],
  ] as const)('and of several is used: %s', (_, entries, number) => {
    expect(findContent(entries, content('A'))?.number).toBe(number);
  });
});
