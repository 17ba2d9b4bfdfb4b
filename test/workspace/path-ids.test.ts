import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makePathIds } from '../../src/workspace/find-prompt-paths.ts';

const FOLDER = '/repo/sub';
const findId = (patterns: readonly string[], path: string) => makePathIds({ folder: FOLDER, patterns }).findId(path);

describe('the id that a file takes from its path', () => {
  test.each([
    [
      'findId strips the extension and the folders before the first wildcard of the pattern',
      ['prompts/**/*.md'],
      'prompts/support/refund.md',
      'support/refund',
    ],
    [
      'findId returns the file name if only the last part of the pattern has a wildcard',
      ['prompts/support/*.md'],
      'prompts/support/refund.md',
      'refund',
    ],
    [
      'findId returns the file name if the pattern has no wildcard',
      ['prompts/support/refund.md'],
      'prompts/support/refund.md',
      'refund',
    ],
    [
      'findId returns the whole path if the pattern begins with a wildcard',
      ['**/*.md'],
      'prompts/refund.md',
      'prompts/refund',
    ],
    [
      'findId returns the part of the path that starts with the folder that the first wildcard of the pattern matches',
      ['a/*/b/*.md'],
      'a/x/b/c.md',
      'x/b/c',
    ],
    [
      'findId treats braces in a pattern like a wildcard',
      ['prompts/{en,fr}/*.md'],
      'prompts/fr/refund.md',
      'fr/refund',
    ],
    [
      'findId removes only the last extension from the path',
      ['prompts/*'],
      'prompts/refund.prompt.md',
      'refund.prompt',
    ],
    ['findId returns the complete name of a file without an extension', ['prompts/*'], 'prompts/refund', 'refund'],
    [
      'findId accepts a pattern that leads out of the folder of the configuration',
      ['../shared/**/*.md'],
      '../shared/a/b.md',
      'a/b',
    ],
    ['findId ignores ./ at the beginning of a pattern', ['./prompts/**/*.md'], 'prompts/a.md', 'a'],
    ['findId does not treat an escaped asterisk in a pattern as a wildcard', ['a\\*b/**/*.md'], 'a*b/c/d.md', 'c/d'],
    [
      'findId uses the first pattern if several patterns match the path',
      ['prompts/support/*.md', 'prompts/**/*.md'],
      'prompts/support/a.md',
      'a',
    ],
    [
      'findId skips patterns that do not match the path',
      ['prompts/support/*.md', 'prompts/**/*.md'],
      'prompts/sales/a.md',
      'sales/a',
    ],
  ])('%s', (_, patterns, path, expected) => {
    expect(findId(patterns, path)).toBe(expected);
  });

  test.each([
    ['findId returns null if no pattern matches the path', ['prompts/**/*.md'], 'docs/a.md'],
    [
      'findId returns null if a negated pattern excludes the path',
      ['prompts/**/*.md', '!prompts/drafts/**'],
      'prompts/drafts/a.md',
    ],
    ['findId returns null for a path in a folder that promptsync never searches', ['**/*.md'], 'node_modules/a.md'],
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
