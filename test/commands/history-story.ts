import { execFileSync } from 'node:child_process';
import { expect } from 'vitest';
import { git, GIT_VARIABLES, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const ENVIRONMENTS = `${CONFIG}environments: { staging: {}, production: {} }\n`;

/** Makes a repository with one synced prompt, and functions that edit, sync and show its history. */
export async function makeStory(first: PromptParts, config = ENVIRONMENTS) {
  const folder = makeRepository(workspaceFiles({ greeting: first }, config));
  const { environment, baseUrl, takeWrites } = await startTestService(['greeting', 'refund']);
  const options = { environment };
  const sync = async (...words: readonly string[]) => {
    expect(await run(folder, ['sync', '--yes', ...words], options)).toMatchObject({ exitCode: 0 });
    return git(folder, 'rev-parse', 'HEAD');
  };
  const edit = async (parts: PromptParts, message: string, day: number) => {
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', parts) });
    commitOn(folder, message, day);
    return sync();
  };
  const readHistory = async (...words: readonly string[]) => {
    takeWrites();
    const reported = await runJson(folder, ['history', ...words], options);
    expect(takeWrites()).toEqual([]);
    return reported;
  };
  await sync();
  const text = async (...words: readonly string[]) => (await run(folder, words, options)).stdout;
  return { folder, first: git(folder, 'rev-parse', 'HEAD'), options, baseUrl, sync, edit, readHistory, text };
}

/** Commits all changes as Bob, on the given day of January 2026. */
export function commitOn(folder: string, message: string, day: number): void {
  const date = `2026-01-${String(day).padStart(2, '0')}T12:00:00+01:00`;
  const env = { ...process.env, ...GIT_VARIABLES, GIT_AUTHOR_NAME: 'Bob', GIT_AUTHOR_DATE: date };
  execFileSync('git', ['commit', '--quiet', '--all', '--allow-empty', '--message', message], { cwd: folder, env });
}
