import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readContentsAtRefs } from '../../src/history/read-at-commit.ts';
import type { ContentAtRef } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Problem } from '../../src/problem.ts';
import { parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { commitAll, type Files, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { openPromptRepository } from '../support/prompt-repository.ts';

const PATH = 'prompts/greeting.md';

function fileWith(ref: string, path = PATH): PromptFile {
  const text = promptText('greeting', { pins: { production: `git:${ref}` }, text: 'Now.' });
  return parsePromptFile(Buffer.from(text), path).file!;
}

/** Reads the content that a `git:` pin to this ref means in a workspace. */
async function contentAt(folder: string, ref = 'v1', path = PATH): Promise<ContentAtRef | Problem | undefined> {
  const file = fileWith(ref, path);
  const at = (await readContentsAtRefs([file], await openPromptRepository(folder, ''))).get(file.id)?.get(ref);
  return at?.isSuccess === true ? at.value : at?.problems[0];
}

/** Makes a repository with these files and the tag `v1`. */
function makeTagged(files: Files): string {
  const folder = makeRepository(files);
  git(folder, 'tag', 'v1');
  return folder;
}

test('validate rejects a pin to a branch, but not to a tag, in an environment with allow_latest: false', async () => {
  const config = `${CONFIG}environments: { staging: {}, production: { allow_latest: false } }\n`;
  const prompt = (pin: string) =>
    workspaceFiles({ greeting: { pins: { staging: 'latest', production: pin } } }, config);
  const folder = makeTagged(prompt('git:main'));
  const refused = await runJson(folder, ['validate']);
  expect(refused).toMatchObject({ exitCode: 3, report: { problems: [{ code: 'guard/latest-not-allowed' }] } });
  writeFiles(folder, prompt('git:v1'));
  expect(await runJson(folder, ['validate'])).toMatchObject({ exitCode: 0, report: { problems: [] } });
});

describe('a git: pin', () => {
  const noPrompt = { code: 'pin/no-prompt-at-ref', path: PATH, line: 5 };
  const greeting = promptText('greeting', { text: 'Then.' });

  test.each<[title: string, files: Files, expected: object]>([
    [
      'a git: pin reads the text and the path of the prompt file at its ref',
      { [PATH]: greeting },
      { content: { text: 'Then.' }, provenance: { path: PATH } },
    ],
    [
      'a git: pin finds the prompt by its id if the path belonged to a different prompt at the ref',
      {
        [PATH]: promptText('third', { text: 'Another prompt had its path then.' }),
        'old/hello.md': greeting,
        'old/mentions.md': promptText('other', { text: 'See prm_greeting.' }),
      },
      { content: { text: 'Then.' }, provenance: { path: 'old/hello.md' } },
    ],
    [
      'if a git: pin names a ref that lacks the prompt, the error points to the line of the pin',
      { [PATH]: promptText('other') },
      noPrompt,
    ],
    [
      'the error for a git: pin to an invalid prompt file names the file and its problem',
      { [PATH]: '---\nid: prm_greeting\nkey: 7\nname: A\n---\nText\n' },
      { ...noPrompt, message: expect.stringContaining(`${PATH} is not valid: The field \`key\``) },
    ],
  ])('%s', async (_, files, expected) => {
    expect(await contentAt(makeTagged(files))).toMatchObject(expected);
  });

  test('a git: pin records the path of its prompt file relative to the repository root', async () => {
    const folder = makeTagged({ [`team/ws/${PATH}`]: promptText('greeting', { text: 'Then.' }) });
    expect(await contentAt(join(folder, 'team/ws'))).toMatchObject({ provenance: { path: `team/ws/${PATH}` } });
  });

  test('a git: pin to an unknown ref or to a short commit id causes an error', async () => {
    const folder = makeRepository({ [PATH]: greeting });
    const commit = git(folder, 'rev-parse', 'HEAD');
    const problem = { code: 'pin/short-commit-id', message: expect.stringContaining(commit), line: 5 };
    expect(await contentAt(folder, 'nope')).toMatchObject({ code: 'pin/unknown-ref', path: PATH, line: 5 });
    expect(await contentAt(folder, commit.slice(0, 8))).toMatchObject(problem);
  });

  test("a git: pin reads earlier text through the file's git filter, but does not find the text of a file that was renamed", async () => {
    const folder = makeRepository({ '.gitattributes': 'prompts/** filter=rot\n' });
    for (const command of ['clean', 'smudge']) git(folder, 'config', `filter.rot.${command}`, 'tr A-Za-z N-ZA-Mn-za-m');
    writeFiles(folder, { [PATH]: promptText('greeting', { text: 'Then.' }) });
    commitAll(folder, 'Add');
    git(folder, 'tag', 'v1');
    expect(await contentAt(folder)).toMatchObject({ content: { text: 'Then.' } });
    const message = expect.stringContaining('git cannot search files with the attribute filter=rot');
    expect(await contentAt(folder, 'v1', 'prompts/new.md')).toMatchObject({ code: 'pin/no-prompt-at-ref', message });
  });

  test('a git: pin is an error outside a git repository', async () => {
    const contents = await readContentsAtRefs([fileWith('v1')], null);
    expect(contents.get('prm_greeting')?.get('v1')).toMatchObject({
      problems: [{ code: 'git/needs-repository' }],
    });
  });
});
