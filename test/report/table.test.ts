import { describe, expect, test } from 'vitest';
import { makeScreen } from '../../src/report/screen.ts';
import { PLAIN, styleFor } from '../../src/report/style.ts';
import { layOut, layOutWide } from '../../src/report/table.ts';

const rowsOf = (...rows: readonly (readonly string[])[]) =>
  rows.map((row) => row.map((text) => ({ text, paint: (one: string) => one })));

const screenOf = (columns: number) => styleFor({ colour: false, screen: makeScreen(columns) });

const MATRIX = rowsOf(
  ['prompt', 'staging', 'production', 'canary'],
  ['support/greeting', 'v7', 'v6 → v7', 'none'],
  ['注文', 'v12', 'v12', 'v12'],
);

describe('A table', () => {
  test('has columns as wide as their widest cell, as drawn on a terminal', () => {
    expect(layOut(MATRIX, screenOf(80))).toEqual([
      'prompt            staging  production  canary',
      'support/greeting  v7       v6 → v7     none',
      '注文              v12      v12         v12',
    ]);
  });

  test('that is wider than the terminal goes on below with further columns', () => {
    expect(layOutWide(MATRIX, screenOf(40))).toEqual([
      ['prompt            staging  production', 'support/greeting  v7       v6 → v7', '注文              v12      v12'],
      ['prompt            canary', 'support/greeting  none', '注文              v12'],
    ]);
  });

  test('has its names shortened where that is enough, to no less than half of the terminal', () => {
    const long = rowsOf(['prompt', 'staging'], ['support/tone/very/long/greeting', 'v6 → v7']);
    expect(layOutWide(long, screenOf(30))).toEqual([
      ['prompt                 staging', 'support/ton…/greeting  v6 → v7'],
    ]);
  });

  test('is one table of any width elsewhere', () => {
    const wide = rowsOf(['prompt', ...Array.from({ length: 30 }, (_, index) => `environment-${index}`)]);
    expect(layOutWide(wide, PLAIN)).toEqual([layOut(wide, PLAIN)]);
  });

  test('without columns is its names', () => {
    expect(layOutWide(rowsOf(['prompt'], ['a']), screenOf(40))).toEqual([['prompt', 'a']]);
  });
});
