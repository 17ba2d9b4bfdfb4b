import { describe, expect, test } from 'vitest';
import { foldHunks, leftText, type MarkedHunk } from '../../src/report/diff-text.ts';
import type { BlockKind } from '../../src/report/diff.ts';

type Sizes = readonly (readonly [BlockKind, number])[];

function hunkOf(sizes: Sizes): MarkedHunk {
  const range = { start: 1, lines: 1 };
  const lines = (count: number) =>
    Array.from({ length: count }, (_, line) => [{ text: `${line + 1}`, changed: false }]);
  return { before: range, after: range, blocks: sizes.map(([kind, count]) => ({ kind, lines: lines(count) })) };
}

/** How many lines of each block are left, `…` where it goes on. */
function folded(hunks: readonly Sizes[], most: number) {
  const { hunks: shown, left } = foldHunks(hunks.map(hunkOf), most);
  return {
    shown: shown.map(({ blocks }) => blocks.map(({ lines, more }) => `${lines.length}${more ? '…' : ''}`)),
    left: leftText(left),
  };
}

describe('A long diff is folded', () => {
  test.each<[string, readonly Sizes[], number, readonly (readonly string[])[], string | null]>([
    ['not at the limit', [[['added', 40]]], 40, [['40']], null],
    ['just past it', [[['added', 41]]], 40, [['40']], '1 more line: 1 added'],
    [
      'to the beginnings of both texts where one was rewritten',
      [
        [
          ['removed', 300],
          ['added', 280],
        ],
      ],
      40,
      [['20…', '20']],
      '540 more lines: 280 removed, 260 added',
    ],
    [
      'to the beginning of each hunk',
      [
        [
          ['same', 3],
          ['added', 50],
          ['same', 3],
        ],
        [
          ['same', 3],
          ['removed', 1],
          ['added', 60],
        ],
      ],
      40,
      [
        ['3', '15…', '3'],
        ['3', '1', '15'],
      ],
      '80 more lines: 80 added',
    ],
    [
      'to its first lines where there are many',
      [
        [['added', 5]],
        [['removed', 5]],
        [
          ['same', 5],
          ['added', 9],
        ],
      ],
      12,
      [['5'], ['5'], ['2']],
      '12 more lines: 9 added, 3 unchanged',
    ],
    [
      'hunks that nothing is left of are gone',
      [[['added', 3]], [['removed', 3]], [['added', 3]]],
      3,
      [['3']],
      '6 more lines: 3 removed, 3 added',
    ],
    ['not without a limit', [[['added', 500]]], Infinity, [['500']], null],
  ])('%s', (_, hunks, most, shown, left) => {
    expect(folded(hunks, most)).toEqual({ shown, left });
  });
});
