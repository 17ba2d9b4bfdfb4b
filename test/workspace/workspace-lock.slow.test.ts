import { execFile, type ExecFileException } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { childEnvironment, CLI, KILLED, runCli, startCli } from '../support/cli.ts';
import { git, makeWorkspace } from '../support/folder.ts';
import { CONFIG } from '../support/prompts.ts';
import { parseReport } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import { editsIn, isLocked, makeScene, PROMOTE, PULL, startHeldPull } from './locking.ts';

/** The time in milliseconds after which a lock that nobody renews is stale. */
const STALE = 7_000;

describe('the workspace lock of two processes', () => {
  test('pull and promote both save their edits even when they start at the same time', async () => {
    const scene = await makeScene();
    for (let round = 0; round < 3; round += 1) {
      const ran = await Promise.all([PULL, PROMOTE].map((words) => runCli(scene.folder, words, scene.service)));
      const codes = ran.map(({ exitCode }) => exitCode);
      expect({ codes, edits: editsIn(scene) }).toEqual({ codes: [0, 0], edits: ['pulled', 'promoted'] });
      git(scene.folder, 'checkout', '--quiet', '.');
    }
  });

  test('promote acquires the workspace lock after the pull that held it is killed', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    held.child.kill('SIGKILL');
    expect(await held.ended).toMatchObject({ exitCode: KILLED });
    expect(isLocked(scene)).toBe(true);
    const { exitCode, stderr } = await runCli(scene.folder, PROMOTE, scene.service);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Waiting for another') });
    expect([editsIn(scene), isLocked(scene)]).toEqual([['promoted'], false]);
  });

  test('a pull that loses the workspace lock while it is suspended writes nothing', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene, ['--format', 'json']);
    held.child.kill('SIGSTOP');
    await setTimeout(STALE);
    expect(await runCli(scene.folder, PROMOTE, scene.service)).toMatchObject({ exitCode: 0 });
    held.child.kill('SIGCONT');
    held.letGo();
    const { exitCode, stdout } = await held.ended;
    const { problems, prompts } = parseReport(stdout);
    expect({ exitCode, problems, prompts }).toMatchObject({ exitCode: 1, problems: [{ code: 'edit/lock-lost' }] });
    expect(editsIn(scene)).toEqual(['promoted']);
  });

  test('a running command keeps the workspace lock after the stale-lock timeout, and Ctrl-C ends a command that waits for it', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    await setTimeout(STALE);
    const promote = startCli(scene.folder, PROMOTE, scene.service);
    await expect.poll(() => promote.written.stderr).toContain('Waiting');
    promote.child.kill('SIGINT');
    expect(await promote.ended).toMatchObject({ exitCode: 130 });
    expect([isLocked(scene), editsIn(scene)]).toEqual([true, []]);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect([isLocked(scene), editsIn(scene)]).toEqual([false, ['pulled']]);
  });
});

describe('a command that holds the workspace lock', () => {
  test('a command releases the workspace lock after a signal and writes nothing, even if a second signal ends it immediately', async () => {
    for (const signals of [1, 2]) {
      const scene = await makeScene();
      const held = await startHeldPull(scene);
      held.child.kill('SIGINT');
      await expect.poll(() => held.written.stderr).toContain('Interrupted');
      expect(isLocked(scene)).toBe(true);
      if (signals === 2) held.child.kill('SIGINT');
      else held.letGo();
      expect(await held.ended).toMatchObject({ exitCode: signals === 2 ? KILLED : 130 });
      expect([isLocked(scene), editsIn(scene)]).toEqual([false, []]);
    }
  });

  test('import reports an error instead of being killed if the prompt file would exceed the file size limit of the process', async () => {
    const { store, environment } = await startTestService(['large']);
    const version = store.createVersion('prm_large', { content: 'Text.\n'.repeat(10_000) });
    store.setActive('prm_large', { environment: 'staging', versionId: version?.id ?? '' });
    const folder = makeWorkspace({ 'promptsync.yaml': CONFIG });
    const line = `ulimit -f 8; "${process.execPath}" "${CLI}" import prm_large --environment staging --format json`;
    const ran = promisify(execFile)('bash', ['-c', line], { cwd: folder, env: childEnvironment(environment) });
    const { code, stdout } = await ran.then(() => ({ code: 0, stdout: '' })).catch((error: ExecFileException) => error);
    expect(code).toBe(1);
    const { problems } = parseReport(stdout ?? '').prompts[0] ?? {};
    expect(problems).toMatchObject([{ code: 'edit/unwritable', message: expect.stringContaining('EFBIG') }]);
    expect(readdirSync(join(folder, 'prompts'))).toEqual([]);
  });
});
