import { existsSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { lockWorkspace } from '../../src/workspace/lock-workspace.ts';
import { git, makeRepository, makeWorkspace } from '../support/folder.ts';
import { summarizeRun } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';
import { editsIn, LOCK, makeScene, PROMOTE, PULL } from './locking.ts';

/** Makes a lock as a process holds it that renews it for as long as the test runs. */
function holdLock(path: string): void {
  mkdirSync(path);
  utimesSync(path, new Date(), new Date(Date.now() + 3_600_000));
}

/** Tries to lock a workspace. Returns the codes of the problems, the pauses and the notices. */
async function tryToLock(root: string, folder = root, onPause: (pauses: number) => void = () => {}) {
  const notices: string[] = [];
  let pauses = 0;
  const lock = await lockWorkspace(
    { root, folder },
    {
      printNotice: (line) => void notices.push(line),
      sleep: async () => onPause((pauses += 1)),
    },
  );
  return { lock, notices, pauses, codes: lock.isSuccess ? [] : lock.problems.map(({ code }) => code) };
}

describe('lockWorkspace', () => {
  test('the workspace lock is a folder that git does not list, and it is deleted when it is released', async () => {
    const root = makeRepository({ 'prompts/a.md': '' });
    const { lock, notices } = await tryToLock(root);
    expect([lock.isSuccess, existsSync(join(root, LOCK)), notices]).toEqual([true, true, []]);
    expect(git(root, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    expect(lock.isSuccess && lock.value.findLossProblem()).toBeNull();
    if (lock.isSuccess) await lock.value.release();
    expect(existsSync(join(root, LOCK))).toBe(false);
  });

  test('lockWorkspace prints one notice while another process holds the lock, and gives up after 50 pauses', async () => {
    const root = makeWorkspace({ 'team/x': '' });
    holdLock(join(root, LOCK));
    const { lock, notices, pauses, codes } = await tryToLock(root, join(root, 'team'));
    expect({ codes, pauses }).toEqual({ codes: ['edit/locked'], pauses: 51 });
    expect(notices).toEqual([`Waiting for another promptsync process, which holds the lock ../${LOCK}`]);
    expect(lock).toMatchObject({ problems: [{ hint: expect.stringContaining(`delete \`../${LOCK}\``) }] });
  });

  test('lockWorkspace gets the lock as soon as another process releases it', async () => {
    const root = makeWorkspace({ x: '' });
    holdLock(join(root, LOCK));
    const release = (pauses: number) => void (pauses === 3 && rmSync(join(root, LOCK), { recursive: true }));
    const { lock, pauses, notices } = await tryToLock(root, root, release);
    expect([lock.isSuccess, pauses, notices.length]).toEqual([true, 3, 1]);
    if (lock.isSuccess) await lock.value.release();
  });

  test('lockWorkspace stops waiting if the user interrupts the command', async () => {
    const root = makeWorkspace({ x: '' });
    holdLock(join(root, LOCK));
    const interrupt = () => {
      throw new Error('interrupted');
    };
    expect((await tryToLock(root, root, interrupt)).codes).toEqual(['apply/interrupted']);
    expect(existsSync(join(root, LOCK))).toBe(true);
  });

  test('lockWorkspace uses the same lock for a repository and for a symbolic link to it', async () => {
    const top = makeWorkspace({ 'repository/x': '' });
    symlinkSync('repository', join(top, 'link'));
    holdLock(join(top, 'repository', LOCK));
    expect((await tryToLock(join(top, 'link'))).codes).toEqual(['edit/locked']);
  });

  test('lockWorkspace takes over a lock that no process has renewed for longer than five seconds', async () => {
    const root = makeWorkspace({ x: '' });
    mkdirSync(join(root, LOCK));
    utimesSync(join(root, LOCK), 1, 1);
    const { lock } = await tryToLock(root);
    expect(lock.isSuccess).toBe(true);
    if (lock.isSuccess) await lock.value.release();
  });

  test.each<[string, (path: string, folder: string) => void]>([
    ['lockWorkspace fails and deletes nothing if the lock path is a file', (path) => writeFileSync(path, '')],
    [
      'lockWorkspace fails and deletes nothing if the lock path is a non-empty folder',
      (path) => mkdirSync(join(path, 'folder'), { recursive: true }),
    ],
    [
      'lockWorkspace fails and deletes nothing if the lock path is a symbolic link to a folder',
      (path, folder) => symlinkSync(join(folder, 'prompts'), path),
    ],
  ])('%s', async (_, make) => {
    const root = makeWorkspace({ 'prompts/a.md': '' });
    make(join(root, LOCK), root);
    utimesSync(join(root, LOCK), 1, 1);
    expect((await tryToLock(root)).codes).toEqual(['edit/not-lockable']);
    expect(existsSync(join(root, LOCK))).toBe(true);
  });
});

describe('commands and the workspace lock', () => {
  test('each command that edits files writes nothing and exits with 1 while another process holds the lock of the repository, and a dry run does not wait', async () => {
    const scene = await makeScene();
    const before = scene.read();
    writeFileSync(join(scene.folder, 'other.yaml'), '');
    holdLock(join(scene.folder, LOCK));
    const rollback = ['rollback', 'greeting', '--environment', 'staging'];
    const commands = [PULL, PROMOTE, rollback, ['import', 'prm_other'], ['new', 'refund', '--config', 'other.yaml']];
    for (const words of commands) expect(summarizeRun(await scene.runJson(...words))).toBe('exit 1, edit/locked');
    for (const words of [PULL, PROMOTE]) {
      const { exitCode, stderr } = await scene.runJson(...words, '--dry-run');
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining('Waiting') });
    }
    expect(scene.read()).toBe(before);
    rmSync(join(scene.folder, LOCK), { recursive: true });
    expect(await scene.run(...PROMOTE)).toMatchObject({ exitCode: 0 });
    expect([editsIn(scene), existsSync(join(scene.folder, LOCK))]).toEqual([['promoted'], false]);
  });

  test('import does not hold the workspace lock while it waits for ids on standard input', async () => {
    const scene = await makeScene();
    const asked = Promise.withResolvers<void>();
    const input = new Readable({ read: () => asked.resolve() });
    const imported = runJson(scene.folder, ['import', '-'], { ...scene.service, input });
    await asked.promise;
    expect(existsSync(join(scene.folder, LOCK))).toBe(false);
    input.push('prm_greeting\n');
    input.push(null);
    expect(summarizeRun(await imported)).toBe('exit 0, greeting unchanged');
  });
});
