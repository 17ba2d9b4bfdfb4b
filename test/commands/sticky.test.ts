import { describe, expect, test } from 'vitest';
import { makeMarker } from '../../src/commands/upsert-sticky-text.ts';

describe('markerOf', () => {
  test('the marker of a sticky comment is an HTML comment on one line', () => {
    expect(makeMarker('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(makeMarker('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['all spellings of the root folder have the same marker', ['.', './', '', './.', 'sub/..']],
    ['all spellings of a subfolder have the same marker', ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub']],
  ])('%s', (_, folders) => {
    expect(new Set(folders.map((folder) => makeMarker(folder))).size).toBe(1);
  });

  test('each combination of a folder and a configuration has a different marker', () => {
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
