import { describe, expect, test } from 'vitest';
import { findVersionWithContent } from '../../src/domain/versions.ts';
import { type Content, holdsContent, isSameContent } from '../../src/domain/content.ts';
import { makeLedgerEntry } from '../../src/providers/four-call/ownership.ts';
import type { LedgerEntry } from '../../src/providers/four-call/version-record.ts';
import { content, entry, outside } from '../planning/support.ts';

const model = { model: 'gpt-5' };

describe('holdsContent and findVersionWithContent', () => {
  const rows: readonly (readonly [sentence: string, version: LedgerEntry, content: Content, expected: boolean])[] = [
    ['matches a prompt file with the same text', entry(1, 'A'), content('A'), true],
    ['does not match a prompt file with different text', entry(1, 'A'), content('B'), false],
    [
      'that promptsync created with metadata matches a prompt file without a metadata field',
      entry(1, 'A', { metadata: model }),
      content('A'),
      true,
    ],
    [
      'matches a prompt file with the same text and metadata',
      entry(1, 'A', { metadata: model }),
      content('A', model),
      true,
    ],
    ['without metadata does not match a prompt file with metadata', entry(1, 'A'), content('A', model), false],
    [
      'with metadata does not match a prompt file whose metadata field is an empty object',
      entry(1, 'A', { metadata: model }),
      content('A', {}),
      false,
    ],
    [
      'without metadata matches a prompt file whose metadata field is an empty object',
      entry(1, 'A'),
      content('A', {}),
      true,
    ],
    [
      'created outside promptsync matches a prompt file with the same text if neither has metadata',
      makeLedgerEntry(outside(1, 'A')),
      content('A'),
      true,
    ],
    [
      'with metadata that was created outside promptsync does not match a prompt file without a metadata field',
      makeLedgerEntry(outside(1, 'A', model)),
      content('A'),
      false,
    ],
    [
      'created outside promptsync matches a prompt file with the same text and metadata',
      makeLedgerEntry(outside(1, 'A', model)),
      content('A', model),
      true,
    ],
  ];
  test.each(rows)('a version %s', (_, version, desired, expected) => {
    expect(holdsContent(version, desired)).toBe(expected);
    expect(findVersionWithContent([version], desired) !== undefined).toBe(expected);
  });

  test.each([
    ['returns the older of two versions with the same content', [entry(3, 'A'), entry(2, 'A')], 2],
    [
      'returns the oldest matching version even if it was created outside promptsync',
      [entry(3, 'A'), makeLedgerEntry(outside(2, 'A'))],
      2,
    ],
    [
      'prefers a newer matching version over an older one that is marked as a baseline',
      [entry(3, 'A'), { ...entry(2, 'A'), baseline: true }],
      3,
    ],
    [
      'returns a matching version that is marked as a baseline if no other version matches',
      [{ ...entry(2, 'A'), baseline: true }, entry(1, 'B')],
      2,
    ],
    [
      'returns a matching version that was created outside promptsync if no other version matches',
      [makeLedgerEntry(outside(3, 'A')), entry(2, 'B')],
      3,
    ],
  ] as const)('findVersionWithContent %s', (_, entries, number) => {
    expect(findVersionWithContent(entries, content('A'))?.number).toBe(number);
  });
});

test.each<[string, Content | null, Content | null, boolean]>([
  ['returns true if the text and metadata are equal', content('A', model), content('A', model), true],
  [
    'returns false if the text is equal but the metadata differs',
    content('A', model),
    content('A', { model: 'other' }),
    false,
  ],
  ['ignores metadata if the first content has none', content('A'), content('A', model), true],
  ['ignores metadata if the second content has none', content('A', model), content('A'), true],
  ['returns false if neither content is known', null, null, false],
  ['returns false if the text differs', content('A'), content('B'), false],
])('isSameContent %s', (_, one, other, same) => {
  expect(isSameContent(one ?? {}, other ?? {})).toBe(same);
});
