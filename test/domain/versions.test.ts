import { describe, expect, test } from 'vitest';
import { findVersionWithContent } from '../../src/domain/versions.ts';
import { canReuseVersion, isSameVersionContent } from '../../src/domain/compare-content.ts';
import type { Content } from '../../src/domain/content.ts';
import { makeLedgerEntry } from '../../src/providers/four-call/ownership.ts';
import type { LedgerEntry } from '../../src/providers/four-call/version-record.ts';
import { content, entry, outside } from '../planning/support.ts';

const model = { model: 'gpt-5' };

describe('canReuseVersion and findVersionWithContent', () => {
  const [plain, modeled] = [entry(1, 'A'), entry(1, 'A', { metadata: model })];
  const [foreign, foreignModeled] = [outside(1, 'A'), outside(1, 'A', model)].map(makeLedgerEntry);
  test.each<[string, LedgerEntry | undefined, Content, boolean]>([
    ['a version that promptsync created matches a file with the same text', plain, content('A'), true],
    ['a version does not match a file with different text', plain, content('B'), false],
    ['a version that promptsync created with metadata matches a file without metadata', modeled, content('A'), true],
    ['a version matches a file with the same text and metadata', modeled, content('A', model), true],
    ['a version without metadata does not match a file with metadata', plain, content('A', model), false],
    ['a version from outside promptsync matches a file with the same text', foreign, content('A'), true],
    [
      'a version from outside with metadata does not match a file without metadata',
      foreignModeled,
      content('A'),
      false,
    ],
    [
      'a version from outside matches a file with the same text and metadata',
      foreignModeled,
      content('A', model),
      true,
    ],
  ])('%s', (_, version, desired, expected) => {
    expect(canReuseVersion(version!, desired)).toBe(expected);
    expect(findVersionWithContent([version!], desired) !== undefined).toBe(expected);
  });

  const baseline = { ...entry(2, 'A'), baseline: true } as const;
  test.each([
    [
      'findVersionWithContent returns the older of two versions with the same content',
      [entry(3, 'A'), entry(2, 'A')],
      2,
    ],
    [
      'findVersionWithContent returns the oldest version even if it is from outside',
      [entry(3, 'A'), makeLedgerEntry(outside(2, 'A'))],
      2,
    ],
    ['findVersionWithContent returns a newer version rather than an older baseline', [entry(3, 'A'), baseline], 3],
    ['findVersionWithContent returns a baseline if no other version matches', [baseline, entry(1, 'B')], 2],
  ] as const)('%s', (_, entries, number) => {
    expect(findVersionWithContent(entries, content('A'))?.number).toBe(number);
  });
});

test.each<[string, Content | null, Content | null, boolean]>([
  [
    'isSameVersionContent returns true if the text and metadata are equal',
    content('A', model),
    content('A', model),
    true,
  ],
  [
    'isSameVersionContent returns false if the metadata differs',
    content('A', model),
    content('A', { model: 'other' }),
    false,
  ],
  ['isSameVersionContent returns true if the first content has no metadata', content('A'), content('A', model), true],
  ['isSameVersionContent returns true if the second content has no metadata', content('A', model), content('A'), true],
  ['isSameVersionContent returns false if neither content is known', null, null, false],
  ['isSameVersionContent returns false if the text differs', content('A'), content('B'), false],
])('%s', (_, one, other, same) => {
  expect(isSameVersionContent(one ?? {}, other ?? {})).toBe(same);
});
