import { describe, expect, test } from 'vitest';
import { selectFiles, selectNamed } from '../../src/desired/workspace.ts';
import { literalSelector } from '../../src/domain/text.ts';
import { parsePromptFile } from '../../src/files/parse.ts';
import { promptText } from '../support/prompts.ts';

const files = [
  ['prompts/support/greeting.md', 'support/greeting'],
  ['prompts/support/refund.md', 'support/refund'],
  ['prompts/summary.md', 'summary'],
  ['prompts/[draft].md', 'dräft *'],
].map(([path, key]) => parsePromptFile(Buffer.from(promptText('1', { key: key! })), path!).file!);

const [greeting, refund, summary, draft] = files.map(({ key }) => key);

describe('--only', () => {
  test.each<[string, readonly string[], readonly (string | undefined)[]]>([
    ['nothing selects all', [], [greeting, refund, summary, draft]],
    ['a key', ['support/greeting'], [greeting]],
    ['a path', ['prompts/summary.md'], [summary]],
    ['a pattern of keys', ['support/*'], [greeting, refund]],
    ['a pattern of paths', ['prompts/**/re*.md'], [refund]],
    ['several', ['summary', 'support/refund'], [refund, summary]],
    ['one twice', ['summary', 'summ*'], [summary]],
    ['a key that looks like a pattern', ['dräft *'], [draft]],
    ['a path that looks like a pattern', ['prompts/[draft].md'], [draft]],
    ['braces', ['{summary,support/refund}'], [refund, summary]],
  ])('%s', (_, selectors, keys) => {
    const selected = selectFiles(files, selectors);
    expect(selected.files.map(({ key }) => key)).toEqual(keys);
    expect(selected.problems).toEqual([]);
  });

  test.each(['!x', '**', 'a*', '(a|b)', '{a,b}', '[ab]', '@(x)', String.raw`a\b`, '"q"', './x', '../x', '-x', 'ä b'])(
    'a key is selected alone where it is to be no pattern: %s',
    (key) => {
      const others = ['x', 'a', 'ab', 'b', 'q', 'a/b'].filter((other) => other !== key);
      const all = [key, ...others].map(
        (one) => parsePromptFile(Buffer.from(promptText('1', { key: one })), 'p.md').file!,
      );
      expect(selectFiles(all, [literalSelector(key)]).files.map((file) => file.key)).toEqual([key]);
    },
  );

  test.each([
    ['sumary', 'Did you mean summary?'],
    ['support/greetin', 'Did you mean support/greeting?'],
    ['something else', 'Give a key, or a path or pattern relative to promptsync.yaml.'],
    ['', 'Give a key, or a path or pattern relative to promptsync.yaml.'],
    ['[', 'Give a key, or a path or pattern relative to promptsync.yaml.'],
    ['x'.repeat(70_000), 'Give a key, or a path or pattern relative to promptsync.yaml.'],
  ])('%.20s selects nothing, and that is a problem of its own', (selector, hint) => {
    const selected = selectFiles(files, ['summary', selector]);
    expect(selected.files.map(({ key }) => key)).toEqual([summary]);
    expect(selected.problems).toMatchObject([{ code: 'usage/nothing-selected', hint }]);
  });

  test('twelve stars, and a long key that they do not match', () => {
    const long = parsePromptFile(Buffer.from(promptText('1', { key: 'a'.repeat(1000) })), 'p.md').file!;
    expect(selectFiles([long], [`${'*a'.repeat(12)}b`]).files).toEqual([]);
  });
});

describe('--only beside keys that are named', () => {
  test.each<[string, readonly string[], readonly string[], readonly (string | undefined)[]]>([
    ['narrows them', ['support/*'], ['support/greeting'], [greeting]],
    ['takes nothing in that is not named', ['summary'], ['summary', 'support/*'], [summary]],
    ['by path, where they are named by key', ['support/refund', 'summary'], ['prompts/support/**'], [refund]],
    ['alone selects as ever', [], ['summary'], [summary]],
    ['that leaves all of them', ['summary'], [], [summary]],
  ])('%s', (_, named, only, keys) => {
    const selected = selectNamed(files, { named, only });
    expect(selected.files.map(({ key }) => key)).toEqual(keys);
    expect(selected.problems).toEqual([]);
  });

  test('leaves nothing, and that is a problem', () => {
    const { files: none, problems } = selectNamed(files, { named: ['summary'], only: ['support/*', 'support/refund'] });
    expect(none).toEqual([]);
    expect(problems).toMatchObject([
      {
        code: 'usage/nothing-selected',
        message: '"summary" selects no prompt that --only "support/*", "support/refund" selects.',
        hint: 'Leave --only out: it narrows what is named.',
      },
    ]);
  });
});
