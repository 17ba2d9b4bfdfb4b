import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { summarizeRun } from '../support/promotion.ts';
import { changeService } from '../support/service.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { makeSyncedTeam, NAMES, pathOf } from './since-team.ts';

const SYNC = ['sync', '--yes', '--changed-since', 'HEAD~1'];
const SINCE_HEAD = ['plan', '--changed-since', 'HEAD'];

test('sync --changed-since reads only changed prompts from the service and reports how many it skipped', async () => {
  const team = await makeSyncedTeam();
  const { folder, git, write, commit, runJson, takePromptNames, service } = team;
  const rows: readonly (readonly [what: string, change: () => unknown, observed: readonly string[], files?: number])[] =
    [
      ['an edited text', () => write('greeting', { text: 'Edited.' }), ['greeting']],
      ['an edited pin', () => write('refund', { pins: { production: 'latest' } }), ['refund']],
      ['a renamed file', () => git('mv', pathOf('refund'), pathOf('money')), ['refund']],
      ['a change in the service', () => changeService(service.baseUrl, 'refund', 'staging', 'Other.'), []],
      ['a changed file that is no prompt', () => writeFiles(folder, { 'README.md': 'Prompts' }), []],
      ['a deleted file', () => git('rm', '-q', pathOf('money')), [], 2],
      [
        'a changed configuration',
        () => writeFiles(folder, { 'promptsync.yaml': `${CONFIG}concurrency: 2\n` }),
        ['billing', 'greeting'],
        2,
      ],
    ];
  for (const [what, change, observed, files = 3] of rows) {
    const base = git('rev-parse', 'HEAD');
    await change();
    commit();
    const { report, exitCode } = await runJson(...SYNC);
    expect([what, exitCode, takePromptNames()]).toEqual([what, 0, observed]);
    expect(report.summary).toMatchObject({ prompts: observed.length, not_looked_at: files - observed.length });
    expect(report.changed_since).toBe(base);
  }
});

test('plan --changed-since includes uncommitted edits, untracked prompt files and files that git is told to ignore', async () => {
  const { git, write, commit, run: cli, runJson, takePromptNames } = await makeSyncedTeam();
  expect((await cli(...SINCE_HEAD)).stdout).toContain('nothing to do: 0 prompts in sync, 3 not checked.');
  write('billing', { text: 'Not committed.' });
  expect((await cli(...SINCE_HEAD)).stdout).toContain(
    'Plan: 1 of 1 prompt changes (1 new version, 1 activation). 2 not checked.',
  );
  takePromptNames();
  const { report } = await runJson(...SINCE_HEAD, '--only', 'billing', '--only', 'greeting');
  expect(takePromptNames()).toEqual(['billing']);
  expect(report.summary).toMatchObject({ prompts: 1, not_looked_at: 1 });
  git('update-index', '--assume-unchanged', pathOf('greeting'));
  git('update-index', '--skip-worktree', pathOf('refund'));
  for (const name of ['greeting', 'refund']) write(name, { text: 'Tried.' });
  expect(summarizeRun(await runJson(...SINCE_HEAD))).toContain('billing pending, greeting pending, refund pending');
  expect(takePromptNames()).toEqual(NAMES);
  git('update-index', '--no-skip-worktree', pathOf('refund'));
  git('update-index', '--no-assume-unchanged', pathOf('greeting'));
  git('reset', '--quiet', '--hard');
  git('rm', '--quiet', pathOf('refund'));
  commit();
  write('refund', {});
  await cli(...SINCE_HEAD);
  expect(takePromptNames()).toEqual(['refund']);
});

test('plan --changed-since reads all prompts if the target of a symlinked configuration file changes, and none that changed before the commit', async () => {
  const { folder, write, commit, run: cli, takePromptNames } = await makeSyncedTeam();
  writeFiles(folder, { 'shared/real.yaml': CONFIG });
  symlinkSync('shared/real.yaml', join(folder, 'linked.yaml'));
  write('greeting', { text: 'Edited.' });
  commit();
  const plan = () => cli('plan', '--config', 'linked.yaml', '--changed-since', 'HEAD');
  await plan();
  expect(takePromptNames()).toEqual([]);
  writeFiles(folder, { 'shared/real.yaml': `${CONFIG}concurrency: 2\n` });
  await plan();
  expect(takePromptNames()).toEqual(NAMES);
});

test('sync --changed-since compares with the prompts that it leaves out: their keys, their files, and their number', async () => {
  const { git, write, commit, run: cli, runJson, takePromptNames } = await makeSyncedTeam();
  write('new', { key: 'refund' });
  const { report, exitCode } = await runJson(...SINCE_HEAD);
  const message = expect.stringContaining(pathOf('new'));
  expect(exitCode).toBe(1);
  expect(report.problems).toMatchObject([{ code: 'prompt/duplicate-key', path: pathOf('refund'), message }]);
  expect(takePromptNames()).toEqual([]);
  git('clean', '-fdq');
  write('greeting', { text: 'Edited.' });
  write('billing', { text: 'Edited.' });
  git('mv', pathOf('refund'), pathOf('money'));
  commit();
  // Two prompts change. Of three prompts, 33 % are at most one prompt, and 34 % are at most two.
  expect(await cli(...SYNC, '--max-changes', '33%')).toMatchObject({ exitCode: 3 });
  expect(await cli(...SYNC, '--max-changes', '34%')).toMatchObject({ exitCode: 0 });
  const listProblems = async () => {
    const { report } = await runJson(...SINCE_HEAD, '--base', 'HEAD~1');
    return report.problems.map(({ code }) => code);
  };
  expect(await listProblems()).toEqual([]);
  git('rm', '-q', pathOf('money'));
  expect(await listProblems()).toEqual(['prompt/gone']);

  // Before any request, the command refuses a ref that names no commit, and a folder outside git.
  takePromptNames();
  expect(summarizeRun(await runJson('plan', '--changed-since=v9'))).toBe('exit 1, git/unknown-base');
  expect(takePromptNames()).toEqual([]);
  const ran = await run(makeWorkspace(workspaceFiles({ greeting: {} })), SINCE_HEAD, {
    environment: { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9', PROMPTSYNC_API_KEY: 'unused-key' },
  });
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain('requires a git repository');
});
