import { describe, expect, test } from 'vitest';
import { markerOf } from '../../src/commands/sticky.ts';

describe('the marker', () => {
  test('is a comment of one line', () => {
    expect(markerOf('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(markerOf('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['the root', ['.', './', '', './.', 'sub/..']],
    ['a folder', ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub']],
  ])('is one for %s, however it is written', (_, folders) => {
    expect(new Set(folders.map((folder) => markerOf(folder))).size).toBe(1);
  });

  test('is another for each other folder and configuration', () => {
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
    expect(new Set(places.map(([folder = '', config]) => markerOf(folder, config))).size).toBe(places.length);
  });
});
