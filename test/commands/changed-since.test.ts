import { readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeService } from '../support/service.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { makeSyncedTeam, makeTeam, NAMES, pathOf, type Team } from './since-team.ts';

const SYNC = ['sync', '--yes', '--changed-since', 'HEAD~1'];

describe('only what has changed is looked at', () => {
  const rows: Readonly<Record<string, readonly [change: (team: Team) => unknown, looked: readonly string[]]>> = {
    'nothing, where nothing has changed': [() => {}, []],
    'a text that was edited': [({ write }) => write('greeting', { text: 'Edited.' }), ['greeting']],
    'a pin that was edited': [({ write }) => write('refund', { pins: { production: 'latest' } }), ['refund']],
    'a file that was renamed': [(team) => team.git('mv', pathOf('refund'), pathOf('money')), ['refund']],
    'no file that is gone': [(team) => team.git('rm', '-q', pathOf('refund')), []],
    'every prompt, after a change of the configuration': [
      ({ folder }) => writeFiles(folder, { 'promptsync.yaml': `${CONFIG}concurrency: 2\n` }),
      NAMES,
    ],
    'no change of another file': [({ folder }) => writeFiles(folder, { 'README.md': 'Prompts' }), []],
    'no change in the service': [({ service }) => changeService(service.baseUrl, 'refund', 'staging', 'Other.'), []],
  };

  test('and the report counts the rest', async () => {
    const team = await makeSyncedTeam();
    const base = team.git('rev-parse', 'HEAD');
    for (const [what, [change, looked]] of Object.entries(rows)) {
      await change(team);
      team.commit();
      const { report, exitCode } = await team.runJson(...SYNC);
      expect([what, exitCode, team.asked()]).toEqual([what, 0, looked]);
      const there = readdirSync(join(team.folder, 'prompts')).length;
      expect(report.summary).toMatchObject({ prompts: looked.length, not_looked_at: there - looked.length });
      expect(report.changed_since).toBe(base);
      team.git('reset', '--quiet', '--hard', base);
    }
  });

  test('a dry run is narrowed in the same way, and sees what is not committed, or not kept by git yet', async () => {
    const { folder, git, write, commit, runJson, asked } = await makeSyncedTeam();
    write('billing', { text: 'Not committed.' });
    const { report } = await runJson('plan', '--changed-since', 'HEAD');
    expect(report.prompts).toMatchObject([{ key: 'billing', status: 'pending' }]);
    expect(asked()).toEqual(['billing']);
    git('rm', '--quiet', pathOf('refund'));
    commit();
    write('refund', {});
    expect(readdirSync(join(folder, 'prompts'))).toHaveLength(NAMES.length);
    await runJson('plan', '--changed-since', 'HEAD');
    expect(asked()).toEqual(['refund']);
  });

  test.for(['--assume-unchanged', '--skip-worktree'])(
    'edits that git was told to overlook are seen: %s',
    async (flag) => {
      const team = await makeSyncedTeam();
      team.git('update-index', flag, pathOf('greeting'));
      team.write('greeting', { text: 'Tried.' });
      const { report } = await team.runJson('plan', '--changed-since', 'HEAD');
      expect(report.prompts).toMatchObject([{ key: 'greeting', status: 'pending' }]);
    },
  );

  test('what changed before the commit that is named is not looked at, and costs no request', async () => {
    const { write, commit, run: cli, asked, taken } = await makeSyncedTeam();
    write('greeting', { text: 'Edited.' });
    commit();
    await cli('plan', '--only', 'greeting');
    const alone = taken();
    await cli('plan', '--changed-since', 'HEAD~1');
    expect(taken()).toEqual(alone);
    write('refund', { text: 'Edited.' });
    commit();
    await cli('plan', '--changed-since', 'HEAD~1');
    expect(asked()).toEqual(['refund']);
    await cli('plan', '--changed-since', 'HEAD~2');
    expect(asked()).toEqual(['greeting', 'refund']);
  });

  test('a configuration behind a link counts as changed where what it leads to has changed', async () => {
    const { folder, commit, run: cli, asked } = await makeSyncedTeam();
    writeFiles(folder, { 'shared/real.yaml': CONFIG });
    symlinkSync('shared/real.yaml', join(folder, 'linked.yaml'));
    commit();
    await cli('plan', '--changed-since', 'HEAD', '--config', 'linked.yaml');
    expect(asked()).toEqual([]);
    writeFiles(folder, { 'shared/real.yaml': `${CONFIG}concurrency: 2\n` });
    await cli('plan', '--changed-since', 'HEAD', '--config', 'linked.yaml');
    expect(asked()).toEqual(NAMES);
  });

  test('--only selects among all prompts, what it selects is narrowed, and the last line counts the rest', async () => {
    const { write, runJson, run: cli, asked } = await makeSyncedTeam();
    const since = ['plan', '--changed-since', 'HEAD'];
    expect((await cli(...since)).stdout).toContain('nothing to do: 0 prompts in sync, 3 not looked at.');
    write('greeting', { text: 'Edited.' });
    expect((await cli(...since)).stdout).toContain('Plan: 1 to create, 1 to activate, 2 not looked at.');
    write('refund', { text: 'Edited.' });
    asked();
    const { report } = await runJson(...since, '--only', 'greeting', '--only', 'billing');
    expect(asked()).toEqual(['greeting']);
    expect(report.summary).toMatchObject({ prompts: 1, not_looked_at: 1 });
  });
});

describe('what is left out still counts', () => {
  test.for<[sentence: string, names: { id: string; key: string }, code: string]>([
    ['an id', { id: 'prm_refund', key: 'new' }, 'prompt/duplicate-id'],
    ['a key', { id: 'prm_new', key: 'refund' }, 'prompt/duplicate-key'],
  ])('%s of it cannot be used twice', async ([, { id, key }, code]) => {
    const { folder, commit, runJson, taken } = await makeSyncedTeam();
    writeFiles(folder, { [pathOf('new')]: `---\nid: ${id}\nkey: ${key}\nname: New\n---\n\nText.\n` });
    commit();
    const { report, exitCode } = await runJson(...SYNC);
    expect(exitCode).toBe(1);
    const [first, second] = report.problems;
    expect([first?.code, second?.code]).toEqual([code, code]);
    expect([first?.path, second?.path]).toEqual([pathOf('new'), pathOf('refund')]);
    expect(taken()).toEqual([]);
  });

  test('a percentage of changes is one of all prompts', async () => {
    const { write, commit, run: cli } = await makeSyncedTeam();
    write('greeting', { text: 'Edited.' });
    write('refund', { text: 'Edited.' });
    commit();
    expect(await cli(...SYNC, '--max-changes', '33%')).toMatchObject({ exitCode: 3 });
    expect(await cli(...SYNC, '--max-changes', '34%')).toMatchObject({ exitCode: 0 });
  });

  test('a prompt whose file was renamed and synced is not gone', async () => {
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

test('a ref that does not help ends the run, and outside of git there is nothing to compare with', async () => {
  const { runJson, taken, environment } = await makeTeam();
  for (const ref of ['v9', '--all', 'HEAD~1..HEAD']) {
    const { report, exitCode } = await runJson('plan', `--changed-since=${ref}`);
    expect({ exitCode, problems: report.problems }).toMatchObject({
      exitCode: 1,
      problems: [{ code: 'git/unknown-base' }],
    });
  }
  expect((await runJson('plan', '--changed-since', '')).exitCode).toBe(1);
  expect(taken()).toEqual([]);
  const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
  const ran = await run(folder, ['plan', '--changed-since', 'HEAD'], { environment });
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain('needs a git repository');
});
