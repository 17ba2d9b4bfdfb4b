import { describe, expect, test } from 'vitest';
import {
  makeUnmatchedProblems,
  parseSelector,
  selectFiles,
  selectKeys,
  type Selection,
} from '../../src/desired-state/select-files.ts';
import type { PromptIdentity } from '../../src/domain/prompt-file.ts';
import { escapeSelector } from '../../src/text.ts';
import { parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { promptText } from '../support/prompts.ts';

const files = [
  ['prompts/support/greeting.md', 'support/greeting'],
  ['prompts/support/refund.md', 'support/refund'],
  ['prompts/summary.md', 'summary'],
  ['prompts/[draft].md', 'dräft *'],
].map(([path, key]) => parsePromptFile(Buffer.from(promptText('1', { key: key! })), path!).file!);

const [greeting, refund, summary, draft] = files.map(({ key }) => key);

const NOT_NEAR =
  'Specify a key, path, folder, or pattern. Paths are relative to the working directory, or to the folder that contains `promptsync.yaml`.';

/** Selects files in the folder `/work`. The working directory is that folder, or a folder below it. */
function select<File extends PromptIdentity>(
  from: readonly File[],
  selectors: readonly string[],
  workingDirectory = '/work',
): Selection<File> {
  return selectFiles(
    from,
    selectors.map((text) => parseSelector(text, { folder: '/work' }, { workingDirectory })),
  );
}

describe('selectFiles', () => {
  test.each<[string, readonly string[], readonly (string | undefined)[]]>([
    ['a command without selectors selects every prompt', [], [greeting, refund, summary, draft]],
    ['a selector matches a prompt by its key', ['support/greeting'], [greeting]],
    ['a selector matches a prompt by its path', ['prompts/summary.md'], [summary]],
    ['a selector can be a pattern that matches keys', ['support/*'], [greeting, refund]],
    ['a selector can be a pattern that matches paths', ['prompts/**/re*.md'], [refund]],
    [
      'several selectors select every prompt that matches any of them',
      ['summary', 'support/refund'],
      [refund, summary],
    ],
    ['a prompt that matches two selectors is selected once', ['summary', 'summ*'], [summary]],
    ['a selector matches a literal key that looks like a pattern', ['dräft *'], [draft]],
    ['a selector matches a literal path that looks like a pattern', ['prompts/[draft].md'], [draft]],
    ['a folder selector selects the prompts whose keys are in that folder', ['support'], [greeting, refund]],
    ['a folder selector selects the prompts whose files are in that folder', ['prompts/support'], [greeting, refund]],
    ['a folder selector may end with a slash', ['prompts/support/'], [greeting, refund]],
    ['a folder selector may begin with a dot and a slash', ['./prompts/support'], [greeting, refund]],
    ['a folder selector selects prompts at any depth', ['prompts'], [greeting, refund, summary, draft]],
  ])('%s', (_, selectors, keys) => {
    const selected = select(files, selectors);
    expect(selected.files.map(({ key }) => key)).toEqual(keys);
    expect(selected.unmatched).toEqual([]);
  });

  test.each<[string, string, string, readonly (string | undefined)[]]>([
    [
      'the selector `.` selects every prompt below the working directory',
      '.',
      '/work/prompts/support',
      [greeting, refund],
    ],
    ['a path selector can be relative to the working directory', 'summary.md', '/work/prompts', [summary]],
    ['a path selector can lead out of the working directory', '../summary.md', '/work/prompts/support', [summary]],
    ['a folder selector can be relative to the working directory', 'support/', '/work/prompts', [greeting, refund]],
    [
      'a selector that is a pattern of paths can be relative to the working directory',
      './re*.md',
      '/work/prompts/support',
      [refund],
    ],
    ['a path selector can be absolute', '/work/prompts/summary.md', '/elsewhere', [summary]],
  ])('%s', (_, selector, workingDirectory, keys) => {
    expect(select(files, [selector], workingDirectory).files.map(({ key }) => key)).toEqual(keys);
  });

  test('selectFiles tries a key first, then a path from the working directory, then a path from the configuration', () => {
    const named = [
      ['team/a.md', 'one'],
      ['a.md', 'two'],
      ['b.md', 'a.md'],
    ].map(([path = '', key = '']) => ({ path, key, id: key }));
    const selectKey = (from: typeof named) => select(from, ['a.md'], '/work/team').files.map(({ key }) => key);
    expect(selectKey(named)).toEqual(['a.md']);
    expect(selectKey(named.slice(0, 2))).toEqual(['one']);
    expect(selectKey(named.slice(1, 2))).toEqual(['two']);
  });

  test.each(['!x', '**', 'a*', '(a|b)', '{a,b}', '[ab]', '@(x)', String.raw`a\b`, '"q"', './x', '../x', '-x', 'ä b'])(
    'escapeSelector returns a selector that matches only the key %s',
    (key) => {
      const others = ['x', 'a', 'ab', 'b', 'q', 'a/b'].filter((other) => other !== key);
      const all = [key, ...others].map(
        (one) => parsePromptFile(Buffer.from(promptText('1', { key: one })), 'p.md').file!,
      );
      expect(select(all, [escapeSelector(key)]).files.map((file) => file.key)).toEqual([key]);
    },
  );

  test.each([
    ['sumary', 'Did you mean "summary"?'],
    ['refund', 'Did you mean "support/refund"?'],
    ['prompts/sumary.md', 'Did you mean "prompts/summary.md"?'],
    ['prm_1', 'Did you mean "support/greeting"?'],
    ['summary,support/refund', 'Separate keys with spaces, not commas.'],
    ['something else', NOT_NEAR],
    ['suport', 'Did you mean "support"?'],
    ['supp', NOT_NEAR],
    ['..', NOT_NEAR],
    ['', NOT_NEAR],
    ['/', NOT_NEAR],
    ['/'.repeat(70_000), NOT_NEAR],
    ['x'.repeat(70_000), NOT_NEAR],
  ])('selectFiles reports that the selector %.20s matches nothing and gives a hint', (selector, hint) => {
    const selected = select(files, ['summary', selector]);
    expect(selected.files.map(({ key }) => key)).toEqual([summary]);
    expect(makeUnmatchedProblems(selected, files, 'files')).toMatchObject([{ code: 'usage/nothing-selected', hint }]);
  });

  test('a selector that is both a key and a folder selects the prompt with that key, and with a slash it selects the folder', () => {
    const both = ['team', 'team/a', 'team/b/c'].map((key) => ({ key, path: `${key}.md`, id: key }));
    const selectKey = (selector: string) => select(both, [selector]).files.map(({ key }) => key);
    expect(selectKey('team')).toEqual(['team']);
    expect(selectKey('team/')).toEqual(['team/a', 'team/b/c']);
  });

  test('selectKeys matches keys and key patterns, but neither folders nor paths', () => {
    expect(selectKeys(files, ['support', 'prompts/summary.md'])).toEqual({
      files: [],
      unmatched: ['support', 'prompts/summary.md'],
    });
    expect(selectKeys(files, ['support/*']).files.map(({ key }) => key)).toEqual([greeting, refund]);
  });

  test('The hint for a name that matches no prompt in the service asks for prompt names rather than paths', () => {
    const [problem] = makeUnmatchedProblems(selectKeys(files, ['unlike']), files, 'names');
    expect(problem?.hint).toBe('Specify the name of a prompt, or a pattern for names.');
  });

  test('the hint for an unknown selector lists all equally similar keys', () => {
    const many = ['a/k1', 'a/k2', 'a/k4', 'b/refund'].map((key) => ({ key, path: `${key}.md`, id: key }));
    const [problem] = makeUnmatchedProblems(select(many, ['a/k3']), many, 'files');
    expect(problem?.hint).toBe('Did you mean "a/k1", "a/k2", or "a/k4"?');
  });
});
