import { execFile, type ExecFileException } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { childEnvironment, CLI, startCli } from '../support/cli.ts';
import { git, makeWorkspace } from '../support/folder.ts';
import { told } from '../support/promotion.ts';
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

describe('the lock of a workspace', () => {
  test.each(WRITING)('is held by another process: %s writes nothing and exits with 1', async (...words) => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const before = scene.read();
    const ran = await scene.runJson(...words);
    expect(told(ran)).toBe('exit 1, edit/locked');
    expect(ran.stderr).toContain(`Waiting for another promptsync process, which holds the lock ${LOCK}\n`);
    expect(ran.report.problems[0]?.hint).toContain(`remove ${LOCK}`);
    expect(scene.read()).toBe(before);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['pulled']);
  });

  test.each(WRITING)('does not concern a dry run: %s --dry-run does not wait', async (...words) => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const ran = await scene.runJson(...words, '--dry-run');
    expect(told(ran)).not.toContain('edit/locked');
    expect(ran.stderr).not.toContain('Waiting');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test('makes a promote wait for a pull, and both edits are in the file afterwards', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    const promote = startCli(scene.folder, PROMOTE, scene.service);
    await expect.poll(() => promote.written.stderr).toContain('Waiting');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(await promote.ended).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['pulled', 'promoted']);
  });

  test('is not held while import waits for the ids of standard input: a promote succeeds meanwhile', async () => {
    const scene = await makeScene();
    const asked = Promise.withResolvers<void>();
    const input = new Readable({ read: () => asked.resolve() });
    const imported = runJson(scene.folder, ['import', '-'], { ...scene.service, input });
    await asked.promise;
    expect(await scene.run(...PROMOTE)).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['promoted']);
    input.push('prm_greeting\n');
    input.push(null);
    expect(told(await imported)).toContain('import/known');
  });

  test('is invisible to git while it is held, and gone afterwards', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    expect(isLocked(scene)).toBe(true);
    expect(git(scene.folder, 'status', '--porcelain', '--untracked-files=all')).toBe('');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(isLocked(scene)).toBe(false);
  });

  test.each<NodeJS.Signals>(['SIGINT', 'SIGTERM'])(
    'is released after %s, which still exits with 130',
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

  test('is released when a second signal ends the process at once', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    held.child.kill('SIGINT');
    await expect.poll(() => held.written.stderr).toContain('Interrupted');
    held.child.kill('SIGINT');
    expect(await held.ended).toMatchObject({ exitCode: 130, stdout: '' });
    expect(isLocked(scene)).toBe(false);
  });

  test('is not waited for after Ctrl-C', async () => {
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

  test('is the same for a configuration that is reached through a symbolic link', async () => {
    const scene = await makeScene();
    symlinkSync('promptsync.yaml', join(scene.folder, 'link.yaml'));
    const held = await startHeldPull(scene);
    expect(told(await scene.runJson(...PROMOTE, '--config', 'link.yaml'))).toBe('exit 1, edit/locked');
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
  });

  test.each<[string, (path: string, folder: string) => void]>([
    ['a file', (path) => writeFileSync(path, '')],
    ['a folder that is not empty', (path) => mkdirSync(join(path, 'folder'), { recursive: true })],
    ['a symbolic link to a folder', (path, folder) => symlinkSync(join(folder, 'prompts'), path)],
  ])('is refused and nothing is written where its path is %s', async (_, make) => {
    const scene = await makeScene();
    const path = join(scene.folder, LOCK);
    make(path, scene.folder);
    utimesSync(path, 1, 1);
    const before = scene.read();
    expect(told(await scene.runJson(...PROMOTE))).toBe('exit 1, edit/not-lockable');
    expect(scene.read()).toBe(before);
    expect(existsSync(path)).toBe(true);
  });

  test('does not change which signals end the process: a write beyond the limit for files is a problem', async () => {
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

/** A workspace without prompt files, and a service with a prompt of 60 kB. */
async function makeLargePrompt() {
  const { store, environment } = await startTestService(['large']);
  const version = store.createVersion('prm_large', { content: 'Text.\n'.repeat(10_000) });
  store.setActive('prm_large', { environment: 'staging', versionId: version?.id ?? '' });
  return { folder: makeWorkspace({ 'promptsync.yaml': CONFIG }), environment };
}
