import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Files, makeWorkspace } from '../support/folder.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { readPage } from './pages.ts';
import { blocksIn } from './steps.ts';
import { ROOT } from './worlds.ts';

const json = blocksIn(readPage('docs/editors.md')).flatMap(({ language, text }) =>
  language === 'json' ? [JSON.parse(text)] : [],
);

describe('the VS Code task in docs/editors.md', () => {
  const [task] = json.find((one) => 'tasks' in one).tasks;

  /** Returns what VS Code finds in the lines of an output. Each property is the group that the pattern gives for it. */
  function findProblems(output: string): readonly Readonly<Record<string, string | undefined>>[] {
    const { regexp, ...groups } = task.problemMatcher.pattern;
    return output.split('\n').flatMap((line) => {
      const found = new RegExp(regexp).exec(line);
      if (found === null) return [];
      return [Object.fromEntries(Object.entries(groups).map(([name, group]) => [name, found[Number(group)]]))];
    });
  }

  test('the VS Code task in docs/editors.md pipes promptsync validate through cat, so that its output is not wrapped', () => {
    expect(task.command).toBe('npx --no-install promptsync validate 2>&1 | cat');
  });

  const TRICKY =
    '---\nid: prm_a\nkey: a\nname: a\n"b.md:1:1: error: c [d]": e\npins: { staging: newest }\n---\n\nText.\n';

  test.each([
    [
      'the VS Code problem matcher in docs/editors.md finds each error of prompt files with its place, message, and code',
      { 'promptsync.yaml': CONFIG, 'prompts/a.md': TRICKY, 'prompts/b: 1:2.md': 'No front matter.\n' },
      ['error', 'error', 'error'],
    ],
    [
      'the VS Code problem matcher in docs/editors.md finds each warning of prompt files with its place, message, and code',
      { 'promptsync.yaml': CONFIG, 'prompts/c.md': promptText('c', { text: 'One\u200b line.' }) },
      ['warning'],
    ],
  ])('%s', async (_, files: Files, severities) => {
    const folder = makeWorkspace(files);
    const { report } = await runJson(folder, ['validate']);
    expect(report.problems.map(({ severity }) => severity)).toEqual(severities);
    const { stdout, stderr } = await run(folder, ['validate']);
    const expected = report.problems.map(({ path, line, column, severity, message, code }) => {
      return { file: path, line: String(line), column: String(column), severity, message, code };
    });
    expect(findProblems(`${stdout}\n${stderr}`)).toEqual(expected);
  });
});

test('the VS Code settings in docs/editors.md name a schema that the package contains', () => {
  const { 'yaml.schemas': schemas } = json.find((one) => 'yaml.schemas' in one);
  const [[path = '', pattern]] = Object.entries<string>(schemas) as [[string, string]];
  expect(pattern).toBe('prompts/**/*.md');
  expect(existsSync(join(ROOT, path.replace('node_modules/promptsync/', '')))).toBe(true);
});
