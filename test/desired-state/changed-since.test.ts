import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeService } from '../support/service.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { makeSyncedTeam, makeTeam, NAMES, pathOf, type Team } from './since-team.ts';

const SYNC = ['sync', '--yes', '--changed-since', 'HEAD~1'];

describe('sync --changed-since', () => {
  const rows: Readonly<Record<string, readonly [change: (team: Team) => unknown, observed: readonly string[]]>> = {
    'no change': [() => {}, []],
    'an edited text': [({ write }) => write('greeting', { text: 'Edited.' }), ['greeting']],
    'an edited pin': [({ write }) => write('refund', { pins: { production: 'latest' } }), ['refund']],
    'a renamed file': [(team) => team.git('mv', pathOf('refund'), pathOf('money')), ['refund']],
    'a deleted file': [(team) => team.git('rm', '-q', pathOf('refund')), []],
    'a changed configuration': [
      ({ folder }) => writeFiles(folder, { 'promptsync.yaml': `${CONFIG}concurrency: 2\n` }),
      NAMES,
    ],
    'a changed file that is no prompt': [({ folder }) => writeFiles(folder, { 'README.md': 'Prompts' }), []],
    'a change in the service': [({ service }) => changeService(service.baseUrl, 'refund', 'staging', 'Other.'), []],
  };

  test('sync --changed-since reads only changed prompts from the service and reports how many it skipped', async () => {
    const team = await makeSyncedTeam();
    const base = team.git('rev-parse', 'HEAD');
    for (const [what, [change, observed]] of Object.entries(rows)) {
      await change(team);
      team.commit();
      const { report, exitCode } = await team.runJson(...SYNC);
      expect([what, exitCode, team.takePromptNames()]).toEqual([what, 0, observed]);
      const files = readdirSync(join(team.folder, 'prompts')).length;
      expect(report.summary).toMatchObject({ prompts: observed.length, not_looked_at: files - observed.length });
      expect(report.changed_since).toBe(base);
      team.git('reset', '--quiet', '--hard', base);
    }
  });

  test('plan --changed-since includes uncommitted edits and untracked prompt files', async () => {
    const { folder, git, write, commit, runJson, takePromptNames } = await makeSyncedTeam();
    write('billing', { text: 'Not committed.' });
    const { report } = await runJson('plan', '--changed-since', 'HEAD');
    expect(report.prompts).toMatchObject([{ key: 'billing', status: 'pending' }]);
    expect(takePromptNames()).toEqual(['billing']);
    git('rm', '--quiet', pathOf('refund'));
    commit();
    write('refund', {});
    expect(readdirSync(join(folder, 'prompts'))).toHaveLength(NAMES.length);
    await runJson('plan', '--changed-since', 'HEAD');
    expect(takePromptNames()).toEqual(['refund']);
  });

  test.for(['--assume-unchanged', '--skip-worktree'])(
    'plan --changed-since detects edits to a file marked with git update-index %s',
    async (flag) => {
      const team = await makeSyncedTeam();
      team.git('update-index', flag, pathOf('greeting'));
      team.write('greeting', { text: 'Tried.' });
      const { report } = await team.runJson('plan', '--changed-since', 'HEAD');
      expect(report.prompts).toMatchObject([{ key: 'greeting', status: 'pending' }]);
    },
  );

  test('plan --changed-since sends no requests for prompts that last changed before the given commit', async () => {
    const { write, commit, run: cli, takePromptNames, takeRequests } = await makeSyncedTeam();
    write('greeting', { text: 'Edited.' });
    commit();
    await cli('plan', '--only', 'greeting');
    const requestsForOne = takeRequests();
    await cli('plan', '--changed-since', 'HEAD~1');
    expect(takeRequests()).toEqual(requestsForOne);
    write('refund', { text: 'Edited.' });
    commit();
    await cli('plan', '--changed-since', 'HEAD~1');
    expect(takePromptNames()).toEqual(['refund']);
    await cli('plan', '--changed-since', 'HEAD~2');
    expect(takePromptNames()).toEqual(['greeting', 'refund']);
  });

  test('plan --changed-since reads every prompt from the service if the target of a symlinked configuration file changes', async () => {
    const { folder, commit, run: cli, takePromptNames } = await makeSyncedTeam();
    writeFiles(folder, { 'shared/real.yaml': CONFIG });
    symlinkSync('shared/real.yaml', join(folder, 'linked.yaml'));
    commit();
    await cli('plan', '--changed-since', 'HEAD', '--config', 'linked.yaml');
    expect(takePromptNames()).toEqual([]);
    writeFiles(folder, { 'shared/real.yaml': `${CONFIG}concurrency: 2\n` });
    await cli('plan', '--changed-since', 'HEAD', '--config', 'linked.yaml');
    expect(takePromptNames()).toEqual(NAMES);
  });

  test('plan with --changed-since and --only reads only prompts that match both and reports how many it skipped', async () => {
    const { write, runJson, run: cli, takePromptNames } = await makeSyncedTeam();
    const since = ['plan', '--changed-since', 'HEAD'];
    expect((await cli(...since)).stdout).toContain('nothing to do: 0 prompts in sync, 3 not checked.');
    write('greeting', { text: 'Edited.' });
    expect((await cli(...since)).stdout).toContain(
      'Plan: 1 of 1 prompt changes (1 new version, 1 activation). 2 not checked.',
    );
    write('refund', { text: 'Edited.' });
    takePromptNames();
    const { report } = await runJson(...since, '--only', 'greeting', '--only', 'billing');
    expect(takePromptNames()).toEqual(['greeting']);
    expect(report.summary).toMatchObject({ prompts: 1, not_looked_at: 1 });
  });
});

describe('prompts that --changed-since leaves out', () => {
  test.for<[sentence: string, names: { id: string; key: string }, code: string]>([
    [
      'sync --changed-since rejects a new prompt with the id of an unchanged prompt',
      { id: 'prm_refund', key: 'new' },
      'prompt/duplicate-id',
    ],
    [
      'sync --changed-since rejects a new prompt with the key of an unchanged prompt',
      { id: 'prm_new', key: 'refund' },
      'prompt/duplicate-key',
    ],
  ])('%s', async ([, { id, key }, code]) => {
    const { folder, commit, runJson, takeRequests } = await makeSyncedTeam();
    writeFiles(folder, { [pathOf('new')]: `---\nid: ${id}\nkey: ${key}\nname: New\n---\n\nText.\n` });
    commit();
    const { report, exitCode } = await runJson(...SYNC);
    expect(exitCode).toBe(1);
    const message = expect.stringContaining(pathOf('new'));
    expect(report.problems).toMatchObject([{ code, path: pathOf('refund'), message }]);
    expect(takeRequests()).toEqual([]);
  });

  test('sync --changed-since calculates a --max-changes percentage from all prompts, not only from the changed ones', async () => {
    const { write, commit, run: cli } = await makeSyncedTeam();
    write('greeting', { text: 'Edited.' });
    write('refund', { text: 'Edited.' });
    commit();
    expect(await cli(...SYNC, '--max-changes', '33%')).toMatchObject({ exitCode: 3 });
    expect(await cli(...SYNC, '--max-changes', '34%')).toMatchObject({ exitCode: 0 });
  });

  test('plan --changed-since warns about a deleted prompt file but not about a renamed one', async () => {
    const { git, commit, run: cli, runJson } = await makeSyncedTeam();
    git('mv', pathOf('refund'), pathOf('money'));
    commit();
    await cli(...SYNC);
    const { report } = await runJson('plan', '--changed-since', 'HEAD', '--base', 'HEAD~1');
    expect(report.problems).toEqual([]);
    git('rm', '-q', pathOf('money'));
    expect((await runJson('plan', '--changed-since', 'HEAD', '--base', 'HEAD~1')).report.problems).toMatchObject([
      { code: 'prompt/gone' },
    ]);
  });
});

test('plan --changed-since fails if the ref is unknown or there is no git repository', async () => {
  const { runJson, takeRequests, environment } = await makeTeam();
  for (const ref of ['v9', '--all', 'HEAD~1..HEAD']) {
    const { report, exitCode } = await runJson('plan', `--changed-since=${ref}`);
    expect({ exitCode, problems: report.problems }).toMatchObject({
      exitCode: 1,
      problems: [{ code: 'git/unknown-base' }],
    });
  }
  expect((await runJson('plan', '--changed-since', '')).exitCode).toBe(1);
  expect(takeRequests()).toEqual([]);
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const ran = await run(folder, ['plan', '--changed-since', 'HEAD'], { environment });
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain('requires a git repository');
});
