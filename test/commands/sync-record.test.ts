import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { changeService } from '../support/change-service.ts';
import { startCli } from '../support/cli.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { activates, makeSyncedTeam, makeTeam, NAMES, pathOf, type Team } from './since-team.ts';

const SYNC = ['sync', '--yes', '--changed-since', 'HEAD'];
const PLAN = ['plan', '--changed-since', 'HEAD'];

/** The clone's one record. */
function recordOf({ folder }: Team): string {
  const where = join(folder, '.git', 'promptsync');
  const names = readdirSync(where);
  expect(names).toHaveLength(1);
  return join(where, names[0] ?? '');
}

const spoil = (change: (record: string) => string) => (team: Team) => {
  const path = recordOf(team);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
};

const replaced = (put: (path: string) => unknown) => (team: Team) => {
  const path = recordOf(team);
  rmSync(path);
  put(path);
};

const withCommit = (commit: string) => spoil((record) => JSON.stringify({ ...JSON.parse(record), commit }));

describe('without a record that can be relied on, every prompt is looked at', () => {
  test.for<[sentence: string, spoil: (team: Team) => void, reason: string]>([
    ['it is empty', spoil(() => ''), 'no sync of this clone is known to be complete'],
    ['it was cut short', spoil((record) => record.slice(0, 80)), 'no sync of this clone'],
    ['it is of another kind', spoil(() => '{"version":2}'), 'no sync of this clone'],
    ['its prompts are none', spoil((record) => record.replaceAll('"path"', '"paht"')), 'no sync of this clone'],
    ['its commit is not there', withCommit('0'.repeat(40)), 'the commit of the last sync (000000000000) is not'],
    ['its commit is a word of git', withCommit('--help'), 'the commit of the last sync (--help) is not'],
    ['its commit is a branch', withCommit('main'), 'the commit of the last sync (main) is not'],
    ['it is a folder', replaced((path) => mkdirSync(path)), 'no sync of this clone'],
    ['it is a pipe', replaced((path) => execFileSync('mkfifo', [path])), 'no sync of this clone'],
    ['it is a link to a device', replaced((path) => symlinkSync('/dev/zero', path)), 'no sync of this clone'],
    ['it is huge', (team) => truncateSync(recordOf(team), 2 ** 32), 'no sync of this clone'],
  ])('%s', async ([, change, reason]) => {
    const team = await makeSyncedTeam();
    change(team);
    for (const words of [PLAN, SYNC]) {
      const { stderr, exitCode } = await team.run(...words);
      expect(exitCode).toBe(0);
      expect(stderr).toContain(`All prompts are looked at: ${reason}`);
      expect(team.asked()).toEqual(NAMES);
    }
  });

  test('it names a file that is not there: that one counts for nothing', async () => {
    const team = await makeSyncedTeam();
    spoil((record) => record.replaceAll(pathOf('greeting'), '../elsewhere.md'))(team);
    const { report, exitCode } = await team.runJson(...SYNC);
    expect(exitCode).toBe(0);
    expect(report.summary).toMatchObject({ prompts: 1, not_looked_at: 2 });
    expect(team.asked()).toEqual(['greeting']);
  });

  test('there was no sync yet', async () => {
    const { run: cli, asked } = await makeTeam();
    expect((await cli(...SYNC)).stderr).toContain('no sync of this clone is known to be complete');
    expect(asked()).toEqual(NAMES);
  });

  test('the sync was one of another clone', async () => {
    const { folder, git, environment, asked } = await makeSyncedTeam();
    const clone = join(makeFolder(), 'clone');
    git('clone', '--quiet', folder, clone);
    await run(clone, PLAN, { environment });
    expect(asked()).toEqual(NAMES);
  });

  test('the sync was one with another service', async () => {
    const { folder } = await makeSyncedTeam();
    const other = await startTestService(NAMES);
    await run(folder, PLAN, other);
    expect(other.requests.length).toBeGreaterThanOrEqual(NAMES.length);
  });

  test('a dry run leaves no record', async () => {
    const { run: cli, folder } = await makeTeam();
    await cli('plan');
    expect(readdirSync(join(folder, '.git'))).not.toContain('promptsync');
  });

  test('another work tree of the clone knows of it', async () => {
    const { folder, git, environment, asked } = await makeSyncedTeam();
    const tree = join(makeFolder(), 'tree');
    git('worktree', 'add', '--quiet', tree);
    await run(tree, PLAN, { environment });
    expect(asked()).toEqual([]);
    expect(readdirSync(join(folder, '.git'))).toContain('promptsync');
  });
});

describe('a prompt is looked at as long as its last sync is not known to be complete', () => {
  test('it failed', async () => {
    const team = await makeSyncedTeam();
    team.write('greeting', { text: 'Edited.' });
    team.commit();
    team.refuse(activates('greeting'));
    expect(await team.run(...SYNC)).toMatchObject({ exitCode: 4 });
    team.write('refund', { text: 'Edited.' });
    team.commit();
    team.refuse();
    team.taken();
    expect(await team.run(...SYNC)).toMatchObject({ exitCode: 0 });
    expect(team.asked()).toEqual(['greeting', 'refund']);
    await team.run(...PLAN);
    expect(team.asked()).toEqual([]);
  });

  test('it failed where nothing but the service had changed', async () => {
    const team = await makeSyncedTeam();
    await changeService(team.service.baseUrl, 'greeting', 'staging', 'Meddled.');
    team.refuse(activates('greeting'));
    await team.run('sync', '--yes');
    team.refuse();
    team.taken();
    await team.run(...PLAN);
    expect(team.asked()).toEqual(['greeting']);
  });

  test('a guard refused it', async () => {
    const team = await makeSyncedTeam();
    await changeService(team.service.baseUrl, 'greeting', 'staging', 'Meddled.');
    expect(await team.run('sync', '--yes', '--max-changes', '0')).toMatchObject({ exitCode: 3 });
    team.taken();
    await team.run(...PLAN);
    expect(team.asked()).toEqual(['greeting']);
  });

  test('its run was killed', async () => {
    const team = await makeSyncedTeam();
    await changeService(team.service.baseUrl, 'greeting', 'staging', 'Meddled.');
    const { environment } = team;
    const { child, ended } = startCli(team.folder, ['sync', '--yes'], { environment });
    team.refuse((request) => (activates('greeting')(request) ? child.kill('SIGKILL') : false));
    await ended;
    team.refuse();
    team.taken();
    await team.run(...PLAN);
    expect(team.asked()).toEqual(['greeting']);
  });

  test('only some prompts were selected, from another commit', async () => {
    const team = await makeSyncedTeam();
    team.write('greeting', { text: 'Edited.' });
    team.commit();
    await team.run('sync', '--yes', '--only', 'greeting');
    team.git('revert', '--no-edit', 'HEAD');
    team.taken();
    await team.run(...PLAN);
    expect(team.asked()).toEqual(['greeting']);
  });

  test.for<[sentence: string, config: string, words: readonly string[]]>([
    ['another configuration', CONFIG, ['--config', 'other.yaml']],
    ['another tracking environment', `${CONFIG}tracking_environment: other\n`, []],
  ])('it was written by a run of %s since', async ([, config, words]) => {
    const team = await makeSyncedTeam();
    writeFiles(team.folder, { 'promptsync.yaml': config, 'other.yaml': CONFIG });
    team.write('greeting', { text: 'Edited.' });
    team.commit();
    expect(await team.run('sync', '--yes', ...words)).toMatchObject({ exitCode: 0 });
    team.git('reset', '--quiet', '--hard', 'HEAD~1');
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'greeting', status: 'applied' }]);
  });

  test('another clone has synced what was taken back since', async () => {
    const team = await makeSyncedTeam();
    team.write('greeting', { text: 'Edited.' });
    team.commit();
    const clone = join(makeFolder(), 'clone');
    team.git('clone', '--quiet', team.folder, clone);
    await run(clone, ['sync', '--yes'], { environment: team.environment });
    team.git('revert', '--no-edit', 'HEAD');
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'greeting', status: 'applied' }]);
  });

  test.for(['--assume-unchanged', '--skip-worktree'])('git was told to overlook its edits: %s', async (flag) => {
    const team = await makeSyncedTeam();
    team.git('update-index', flag, pathOf('greeting'));
    team.write('greeting', { text: 'Tried.' });
    expect((await team.runJson(...PLAN)).report.prompts).toMatchObject([{ key: 'greeting', status: 'pending' }]);
    expect(await team.run(...SYNC)).toMatchObject({ exitCode: 3 });
  });

  test.for(['edited', 'edited behind the back of git'])('it was written from a file that was %s', async (how) => {
    const team = await makeSyncedTeam();
    if (how !== 'edited') team.git('update-index', '--assume-unchanged', pathOf('greeting'));
    team.write('greeting', { text: 'Tried.' });
    await team.run('sync', '--yes', '--allow-dirty');
    // In sync by now with what is not committed.
    await team.run('sync', '--yes', '--allow-dirty');
    team.git('update-index', '--no-assume-unchanged', pathOf('greeting'));
    team.git('checkout', '--quiet', '--', pathOf('greeting'));
    team.taken();
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'greeting', status: 'applied' }]);
  });

  test('it follows a branch that has moved', async () => {
    const team = await makeTeam();
    team.write('greeting', { pins: { production: 'git:main' } });
    team.commit();
    await team.run('sync', '--yes');
    team.taken();
    await team.run(...PLAN);
    expect(team.asked()).toEqual([]);
    writeFiles(team.folder, { 'README.md': 'Prompts' });
    team.commit();
    await team.run(...PLAN);
    expect(team.asked()).toEqual(['greeting']);
  });

  test('it was of a file that was put back as committed while the run went on', async () => {
    const team = await makeSyncedTeam();
    team.write('greeting', { text: 'Tried.' });
    await team.run('sync', '--yes', '--allow-dirty');
    team.refuse(() => (team.git('checkout', '--quiet', '--', pathOf('greeting')), false));
    expect(await team.run('sync', '--yes')).toMatchObject({ exitCode: 0 });
    team.refuse();
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'greeting', status: 'applied' }]);
  });

  test('it was written on a branch without a commit', async () => {
    const team = await makeSyncedTeam();
    team.git('checkout', '--quiet', '--orphan', 'other');
    team.write('greeting', { text: 'Edited.' });
    expect(await team.run('sync', '--yes', '--allow-dirty')).toMatchObject({ exitCode: 0 });
    team.git('checkout', '--quiet', '--force', 'main');
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'greeting', status: 'applied' }]);
  });

  test('the branch that is checked out is another one', async () => {
    const team = await makeSyncedTeam();
    team.git('switch', '--quiet', '--create', 'other');
    team.write('refund', { text: 'Other.' });
    team.commit();
    await team.run(...SYNC);
    team.git('switch', '--quiet', 'main');
    team.taken();
    expect((await team.runJson(...SYNC)).report.prompts).toMatchObject([{ key: 'refund', status: 'applied' }]);
  });
});

test.skipIf(process.getuid?.() === 0)('a record that cannot be written is told', async () => {
  const team = await makeSyncedTeam();
  const { chmodSync } = await import('node:fs');
  chmodSync(join(team.folder, '.git', 'promptsync'), 0o500);
  team.write('greeting', { text: 'Edited.' });
  team.commit();
  const { report } = await team.runJson('sync', '--yes');
  chmodSync(join(team.folder, '.git', 'promptsync'), 0o700);
  expect(report.problems).toMatchObject([{ code: 'apply/record-unwritable' }]);
});
