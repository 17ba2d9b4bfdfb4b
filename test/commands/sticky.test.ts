import { describe, expect, test } from 'vitest';
import { makeMarker } from '../../src/commands/upsert-sticky-text.ts';

describe('makeMarker', () => {
  test('the marker of a sticky comment is a single-line HTML comment', () => {
    expect(makeMarker('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(makeMarker('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['all spellings of the root folder path produce the same sticky comment marker', ['.', './', '', './.', 'sub/..']],
    [
      'all spellings of a subfolder path produce the same sticky comment marker',
      ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub'],
    ],
  ])('%s', (_, folders) => {
    expect(new Set(folders.map((folder) => makeMarker(folder))).size).toBe(1);
  });

  test('each combination of folder and configuration produces a different sticky comment marker', () => {
    const places = [
      ['.'],
      ['sub'],
      ['sub/deep'],
      ['Sub'],
      ['.', 'a.yaml'],
      ['.', 'b.yaml'],
      ['sub', 'a.yaml'],
      ['a.yaml'],
    ];
    expect(new Set(places.map(([folder = '', config]) => makeMarker(folder, config))).size).toBe(places.length);
  });
});
