import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePathIds } from '../../src/workspace/find-prompt-paths.ts';

const FOLDER = '/repo/sub';
const findId = (patterns: readonly string[], path: string) => makePathIds({ folder: FOLDER, patterns }).findId(path);

describe('the id that a file takes from its path', () => {
  test.each<[string, readonly string[], string, string]>([
    [
      'findId strips all folders if the pattern has no wildcard',
      ['prompts/a/refund.md'],
      'prompts/a/refund.md',
      'refund',
    ],
    [
      'findId strips no folder if the pattern begins with a wildcard',
      ['**/*.md'],
      'prompts/refund.md',
      'prompts/refund',
    ],
    ['findId strips no folder after the first wildcard', ['a/*/b/*.md'], 'a/x/b/c.md', 'x/b/c'],
    ['findId strips the folders before braces', ['prompts/{en,fr}/*.md'], 'prompts/fr/refund.md', 'fr/refund'],
    ['findId strips only the last extension', ['prompts/*'], 'prompts/refund.prompt.md', 'refund.prompt'],
    ['findId strips no extension where there is none', ['prompts/*'], 'prompts/refund', 'refund'],
    ['findId strips the path to a folder outside', ['../shared/**/*.md'], '../shared/a/b.md', 'a/b'],
    ['findId strips a folder after ./', ['./prompts/**/*.md'], 'prompts/a.md', 'a'],
    ['findId strips a folder with an escaped asterisk', ['a\\*b/**/*.md'], 'a*b/c/d.md', 'c/d'],
    ['findId strips the folders of the first pattern that matches', ['p/a/*.md', 'p/**/*.md'], 'p/a/x.md', 'x'],
    ['findId strips the folders of no pattern that does not match', ['p/a/*.md', 'p/**/*.md'], 'p/b/x.md', 'b/x'],
  ])('%s', (_, patterns, path, expected) => {
    expect(findId(patterns, path)).toBe(expected);
  });

  test.each<[string, readonly string[], string]>([
    ['findId returns null if no pattern matches the path', ['prompts/**/*.md'], 'docs/a.md'],
    [
      'findId returns null if a negated pattern excludes the path',
      ['prompts/**/*.md', '!prompts/drafts/**'],
      'prompts/drafts/a.md',
    ],
    ['findId returns null if promptsync never searches the folder', ['**/*.md'], 'node_modules/a.md'],
  ])('%s', (_, patterns, path) => {
    expect(findId(patterns, path)).toBeNull();
  });

  test('listPaths returns exactly the paths from which findId derives the id', () => {
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
