import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePathIds } from '../../src/files/find-prompt-paths.ts';

const FOLDER = '/repo/sub';
const findId = (patterns: readonly string[], path: string) => makePathIds({ folder: FOLDER, patterns }).findId(path);

describe('the id that a file takes from its path', () => {
  test.each([
    [
      'the path below the folders before the first wildcard',
      ['prompts/**/*.md'],
      'prompts/support/refund.md',
      'support/refund',
    ],
    [
      'the name of the file if only the name has a wildcard',
      ['prompts/support/*.md'],
      'prompts/support/refund.md',
      'refund',
    ],
    [
      'the name of the file if the pattern has no wildcard',
      ['prompts/support/refund.md'],
      'prompts/support/refund.md',
      'refund',
    ],
    ['the whole path if the pattern begins with a wildcard', ['**/*.md'], 'prompts/refund.md', 'prompts/refund'],
    ['the path below the folder of a wildcard in the middle', ['a/*/b/*.md'], 'a/x/b/c.md', 'x/b/c'],
    ['the path below the folders before braces', ['prompts/{en,fr}/*.md'], 'prompts/fr/refund.md', 'fr/refund'],
    ['the path without its last extension only', ['prompts/*'], 'prompts/refund.prompt.md', 'refund.prompt'],
    ['the name of a file without an extension', ['prompts/*'], 'prompts/refund', 'refund'],
    [
      'the path below a folder outside the folder of the configuration',
      ['../shared/**/*.md'],
      '../shared/a/b.md',
      'a/b',
    ],
    ['the path below the folder if the pattern begins with ./', ['./prompts/**/*.md'], 'prompts/a.md', 'a'],
    ['the path below a folder with an escaped wildcard', ['a\\*b/**/*.md'], 'a*b/c/d.md', 'c/d'],
    [
      'the path for the first pattern that matches',
      ['prompts/support/*.md', 'prompts/**/*.md'],
      'prompts/support/a.md',
      'a',
    ],
    [
      'the path for the only pattern that matches',
      ['prompts/support/*.md', 'prompts/**/*.md'],
      'prompts/sales/a.md',
      'sales/a',
    ],
  ])('findId returns %s', (_, patterns, path, expected) => {
    expect(findId(patterns, path)).toBe(expected);
  });

  test.each([
    ['no pattern matches', ['prompts/**/*.md'], 'docs/a.md'],
    ['a pattern excludes the path', ['prompts/**/*.md', '!prompts/drafts/**'], 'prompts/drafts/a.md'],
    ['promptsync never enters the folder', ['**/*.md'], 'node_modules/a.md'],
  ])('findId returns null if %s', (_, patterns, path) => {
    expect(findId(patterns, path)).toBeNull();
  });

  test('listPaths returns exactly the paths at which a file takes the id', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => `${names.join('/')}.md`);
    const patterns = ['a/b/*.md', 'a/**/*.md', '**/*.md', 'b/{a,c}/*.md', 'b/**/*.md', '!c/**', 'a/a.md'];
    fc.assert(
      fc.property(fc.subarray(patterns, { minLength: 1 }), path, (chosen, file) => {
        const pathIds = makePathIds({ folder: FOLDER, patterns: chosen });
        const id = pathIds.findId(file);
        if (id !== null) expect(pathIds.listPaths(id, '.md')).toContain(file);
        for (const found of pathIds.listPaths('b/c', '.md')) expect(pathIds.findId(found)).toBe('b/c');
      }),
    );
  });
});
