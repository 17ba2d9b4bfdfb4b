import { describe, expect, test } from 'vitest';
import { markerOf } from '../../src/github/sticky.ts';
import { inputsOf } from './support.ts';

describe('the marker', () => {
  const markerAt = (folder: string, config = ''): string => markerOf(inputsOf({ 'working-directory': folder, config }));

  test('is a comment of one line', () => {
    expect(markerAt('.')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
    expect(markerAt('--> a\n', '--> b\n')).toMatch(/^<!-- promptsync [0-9a-f]{16} -->$/);
  });

  test.each<[string, readonly string[]]>([
    ['the root', ['.', './', '', './.', 'sub/..']],
    ['a folder', ['sub', './sub', 'sub/', 'sub/.', 'sub//', 'a/../sub']],
  ])('is one for %s, however it is written', (_, folders) => {
    expect(new Set(folders.map((folder) => markerAt(folder))).size).toBe(1);
  });

  test('is another for each other folder and configuration, whatever else is given', () => {
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
    expect(new Set(places.map(([folder = '', config]) => markerAt(folder, config))).size).toBe(places.length);
    expect(markerOf(inputsOf({ mode: 'drift', 'api-key': 'key', 'base-url': 'https://a.example' }))).toBe(
      markerAt('.'),
    );
  });
});
