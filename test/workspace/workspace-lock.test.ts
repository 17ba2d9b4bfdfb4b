import { execFile, type ExecFileException } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { childEnvironment, CLI, KILLED, startCli } from '../support/cli.ts';
import { git, makeWorkspace } from '../support/folder.ts';
import { summarizeRun } from '../support/promotion.ts';
import { CONFIG } from '../support/prompts.ts';
import { parseReport, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { editsIn, isLocked, LOCK, makeScene, PROMOTE, startHeldPull } from './locking.ts';

const WRITING = [
  ['pull', 'greeting'],
  PROMOTE,
  ['rollback', 'greeting', '--environment', 'staging'],
  ['import', 'prm_other'],
];

describe('the workspace lock', () => {
  test.each(WRITING)('%s writes nothing and exits with 1 while another process holds the lock', async (...words) => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const before = scene.read();
    const ran = await scene.runJson(...words);
    expect(summarizeRun(ran)).toBe('exit 1, edit/locked');
    expect(ran.stderr).toContain(`Waiting for another promptsync process, which holds the lock ${LOCK}\n`);
    expect(ran.report.problems[0]?.hint).toContain(`delete \`${LOCK}\``);
    expect(scene.read()).toBe(before);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['pulled']);
  });

  test.each(WRITING)('%s --dry-run does not wait for a lock of another process', async (...words) => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const ran = await scene.runJson(...words, '--dry-run');
    expect(summarizeRun(ran)).not.toContain('edit/locked');
    expect(ran.stderr).not.toContain('Waiting');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test('promote waits for a running pull to release the lock, and both edits end up in the file', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const promote = startCli(scene.folder, PROMOTE, scene.service);
    await expect.poll(() => promote.written.stderr).toContain('Waiting');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(await promote.ended).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['pulled', 'promoted']);
  });

  test('import does not hold the workspace lock while it waits for ids on standard input', async () => {
    const scene = await makeScene();
    const asked = Promise.withResolvers<void>();
    const input = new Readable({ read: () => asked.resolve() });
    const imported = runJson(scene.folder, ['import', '-'], { ...scene.service, input });
    await asked.promise;
    expect(await scene.run(...PROMOTE)).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['promoted']);
    input.push('prm_greeting\n');
    input.push(null);
    expect(summarizeRun(await imported)).toBe('exit 0, greeting unchanged');
  });

  test('the workspace lock is invisible to git and is deleted after the command', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    expect(isLocked(scene)).toBe(true);
    expect(git(scene.folder, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(isLocked(scene)).toBe(false);
  });

  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    'a command releases the workspace lock after the signal %s and exits with code 130',
    async (signal) => {
      const scene = await makeScene();
      const held = await startHeldPull(scene);
      held.child.kill(signal);
      await expect.poll(() => held.written.stderr).toContain('Interrupted');
      expect(isLocked(scene)).toBe(true);
      held.letGo();
      expect(await held.ended).toMatchObject({ exitCode: 130 });
      expect(isLocked(scene)).toBe(false);
      expect(editsIn(scene)).toEqual([]);
    },
  );

  test('a command releases the workspace lock even if a second signal ends it immediately', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    held.child.kill('SIGINT');
    await expect.poll(() => held.written.stderr).toContain('Interrupted');
    held.child.kill('SIGINT');
    expect(await held.ended).toMatchObject({ exitCode: KILLED, stdout: '' });
    expect(isLocked(scene)).toBe(false);
  });

  test('Ctrl-C ends a command that is waiting for the workspace lock', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const promote = startCli(scene.folder, PROMOTE, scene.service);
    await expect.poll(() => promote.written.stderr).toContain('Waiting');
    promote.child.kill('SIGINT');
    expect(await promote.ended).toMatchObject({ exitCode: 130 });
    expect(isLocked(scene)).toBe(true);
    expect(editsIn(scene)).toEqual([]);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test('promote respects a held workspace lock even if --config is a symbolic link to the configuration', async () => {
    const scene = await makeScene();
    symlinkSync('promptsync.yaml', join(scene.folder, 'link.yaml'));
    const held = await startHeldPull(scene);
    expect(summarizeRun(await scene.runJson(...PROMOTE, '--config', 'link.yaml'))).toBe('exit 1, edit/locked');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test.each(['other.yaml', 'team/promptsync.yaml'])(
    'a command respects the lock of a command with another configuration in the same repository, here %s',
    async (other) => {
      const scene = await makeScene();
      mkdirSync(join(scene.folder, 'team'));
      copyFileSync(join(scene.folder, 'promptsync.yaml'), join(scene.folder, other));
      const held = await startHeldPull(scene);
      const words = ['new', 'refund', '--config', other];
      expect(summarizeRun(await scene.runJson(...words))).toBe('exit 1, edit/locked');
      held.letGo();
      expect(await held.ended).toMatchObject({ exitCode: 0 });
    },
  );

  test('outside a repository, commands in the same folder share a lock, and commands in other folders do not wait for it', async () => {
    const scene = await makeScene(makeWorkspace);
    mkdirSync(join(scene.folder, 'team'));
    for (const other of ['other.yaml', 'team/promptsync.yaml'])
      copyFileSync(join(scene.folder, 'promptsync.yaml'), join(scene.folder, other));
    const held = await startHeldPull(scene, ['--theirs']);
    const inSameFolder = await scene.runJson('new', 'refund', '--config', 'other.yaml');
    const inOtherFolder = await scene.runJson('new', 'refund', '--config', 'team/promptsync.yaml');
    expect([inSameFolder, inOtherFolder].map(summarizeRun)).toEqual(['exit 1, edit/locked', 'exit 0, refund applied']);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test.each<[string, (path: string, folder: string) => void]>([
    ['promote writes nothing if the lock path is a file', (path) => writeFileSync(path, '')],
    [
      'promote writes nothing if the lock path is a non-empty folder',
      (path) => mkdirSync(join(path, 'folder'), { recursive: true }),
    ],
    [
      'promote writes nothing if the lock path is a symbolic link to a folder',
      (path, folder) => symlinkSync(join(folder, 'prompts'), path),
    ],
  ])('%s', async (_, make) => {
    const scene = await makeScene();
    const path = join(scene.folder, LOCK);
    make(path, scene.folder);
    utimesSync(path, 1, 1);
    const before = scene.read();
    expect(summarizeRun(await scene.runJson(...PROMOTE))).toBe('exit 1, edit/not-lockable');
    expect(scene.read()).toBe(before);
    expect(existsSync(path)).toBe(true);
  });

  test('import reports an error instead of being killed if the prompt file would exceed the file size limit of the process', async () => {
    const { folder, environment } = await makeLargePrompt();
    const line = `ulimit -f 8; "${process.execPath}" "${CLI}" import prm_large --environment staging --format json`;
    const ran = promisify(execFile)('bash', ['-c', line], { cwd: folder, env: childEnvironment(environment) });
    const { code, stdout } = await ran.then(() => ({ code: 0, stdout: '' })).catch((error: ExecFileException) => error);
    expect(code).toBe(1);
    const { problems } = parseReport(stdout ?? '').prompts[0] ?? {};
    expect(problems).toMatchObject([{ code: 'edit/unwritable', message: expect.stringContaining('EFBIG') }]);
    expect(readdirSync(join(folder, 'prompts'))).toEqual([]);
  });
});

/** Makes a workspace without prompt files, and a service with a prompt of 60 kB. */
async function makeLargePrompt() {
  const { store, environment } = await startTestService(['large']);
  const version = store.createVersion('prm_large', { content: 'Text.\n'.repeat(10_000) });
  store.setActive('prm_large', { environment: 'staging', versionId: version?.id ?? '' });
  return { folder: makeWorkspace({ 'promptsync.yaml': CONFIG }), environment };
}
