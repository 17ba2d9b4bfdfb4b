import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readContentsAtRefs } from '../../src/desired/at-commit.ts';
import type { ContentAtRef } from '../../src/domain/plan.ts';
import type { PromptFile } from '../../src/domain/prompt-file.ts';
import type { Problem } from '../../src/problem.ts';
import { parsePromptFile } from '../../src/files/parse.ts';
import { cloneOf, commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { open } from '../git/support.ts';

const PATH = 'prompts/greeting.md';

function fileWith(ref: string, path = PATH): PromptFile {
  const text = promptText('greeting', { pins: { production: `git:${ref}` }, text: 'Now.' });
  return parsePromptFile(Buffer.from(text), path).file!;
}

/** What the pin `git:v1` means in a workspace. */
async function contentAt(folder: string, ref = 'v1', path = PATH): Promise<ContentAtRef | Problem | undefined> {
  const file = fileWith(ref, path);
  return (await readContentsAtRefs([file], await open(folder))).get(file.id)?.get(ref);
}

/** A repository whose tag `v1` has these files. */
function makeTagged(files: Readonly<Record<string, string>>): string {
  const folder = makeRepository(files);
  git(folder, 'tag', 'v1');
  return folder;
}

describe('a git: pin', () => {
  test('means the content as of the ref, with the commit of the ref and the summary of the one before it', async () => {
    const folder = makeRepository({ [PATH]: promptText('greeting', { text: 'Then.' }) });
    writeFiles(folder, { 'other.txt': 'x' });
    const commit = commitAll(folder, 'Something else');
    git(folder, 'tag', 'v1');
    writeFiles(folder, { [PATH]: promptText('greeting', { text: 'Now.' }) });
    commitAll(folder, 'Edit');
    expect(await contentAt(folder)).toMatchObject({
      content: { text: 'Then.' },
      provenance: { commit, path: PATH, changeSummary: 'First prompts' },
    });
  });

  test('finds the prompt by its id where the file had another name then, and another prompt its path', async () => {
    const folder = makeTagged({
      [PATH]: promptText('third', { text: 'Another prompt had its path then.' }),
      'old/hello.md': promptText('greeting', { text: 'Then.' }),
      'old/mentions.md': promptText('other', { text: 'See prm_greeting.' }),
    });
    renameSync(join(folder, 'old/hello.md'), join(folder, PATH));
    commitAll(folder, 'Move');
    expect(await contentAt(folder)).toMatchObject({ content: { text: 'Then.' }, provenance: { path: 'old/hello.md' } });
  });

  test('paths are from the root where the workspace is in a folder', async () => {
    const folder = makeTagged({ [`team/ws/${PATH}`]: promptText('greeting', { text: 'Then.' }) });
    expect(await contentAt(join(folder, 'team/ws'))).toMatchObject({ provenance: { path: `team/ws/${PATH}` } });
  });

  test.each<[string, Readonly<Record<string, string>>, string, string]>([
    ['the ref is not there', {}, 'nope', 'pin/unknown-ref'],
    ['the prompt is not there', { [PATH]: promptText('other') }, 'v1', 'pin/no-prompt-at-ref'],
    ['no file is there', {}, 'v1', 'pin/no-prompt-at-ref'],
  ])('is a problem at its place where %s', async (_, files, ref, code) => {
    const folder = makeTagged({ 'a.txt': 'a', ...files });
    expect(await contentAt(folder, ref)).toMatchObject({ code, path: PATH, line: 5 });
  });

  test('of an invalid file names the file and what is wrong with it', async () => {
    const folder = makeTagged({ [PATH]: '---\nid: prm_greeting\nkey: 7\nname: A\n---\nText\n' });
    const message = expect.stringContaining(`${PATH} is not valid: The field "key"`);
    expect(await contentAt(folder)).toMatchObject({ code: 'pin/no-prompt-at-ref', path: PATH, line: 5, message });
  });

  test('does not follow a symbolic link', async () => {
    const folder = makeRepository({ 'elsewhere.txt': promptText('greeting', { text: 'Then.' }) });
    mkdirSync(join(folder, 'prompts'));
    symlinkSync('../elsewhere.txt', join(folder, PATH));
    commitAll(folder, 'Link');
    git(folder, 'tag', 'v1');
    rmSync(join(folder, PATH));
    expect(await contentAt(folder)).toMatchObject({ code: 'pin/no-prompt-at-ref' });
  });

  test('needs a repository', async () => {
    const contents = await readContentsAtRefs([fileWith('v1')], null);
    expect(contents.get('prm_greeting')?.get('v1')).toMatchObject({ code: 'git/needs-repository' });
  });

  test('that a shallow clone lacks is unknown, and the hint says how to fetch it', async () => {
    const folder = makeTagged({ [PATH]: promptText('greeting', { text: 'Then.' }) });
    writeFiles(folder, { [PATH]: promptText('greeting') });
    commitAll(folder, 'Edit');
    const problem = await contentAt(cloneOf(folder, '--no-tags'));
    expect(problem).toMatchObject({ code: 'pin/unknown-ref', hint: expect.stringContaining('fetch-depth: 0') });
  });
});
