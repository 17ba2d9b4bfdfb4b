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
    for (let round = 0; round < 2; round += 1) {
      const ran = await Promise.all([PULL, PROMOTE].map((words) => runCli(scene.folder, words, scene.service)));
      const codes = ran.map(({ exitCode }) => exitCode);
      expect({ codes, edits: editsIn(scene) }).toEqual({ codes: [0, 0], edits: ['pulled', 'promoted'] });
      git(scene.folder, 'checkout', '--quiet', '.');
    }
  });

  test('A killed or suspended command loses the workspace lock and writes nothing, but a running command keeps it beyond the stale-lock timeout', async () => {
    const [first, second, third] = [await makeScene(), await makeScene(), await makeScene()];
    const running = await startHeldPull(third);
    const killed = await startHeldPull(first);
    killed.child.kill('SIGKILL');
    expect(await killed.ended).toMatchObject({ exitCode: KILLED });
    expect(isLocked(first)).toBe(true);
    const suspended = await startHeldPull(second, ['--format', 'json']);
    suspended.child.kill('SIGSTOP');

    const promoted = runCli(first.folder, PROMOTE, first.service);
    await setTimeout(STALE);
    expect(await runCli(second.folder, PROMOTE, second.service)).toMatchObject({ exitCode: 0 });
    suspended.child.kill('SIGCONT');
    suspended.letGo();
    const { exitCode, stdout } = await suspended.ended;
    expect({ exitCode, ...parseReport(stdout) }).toMatchObject({ exitCode: 1, problems: [{ code: 'edit/lock-lost' }] });
    expect(editsIn(second)).toEqual(['promoted']);
    expect(await promoted).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Waiting for another') });
    expect([editsIn(first), isLocked(first)]).toEqual([['promoted'], false]);

    const waiting = startCli(third.folder, PROMOTE, third.service);
    await expect.poll(() => waiting.written.stderr).toContain('Waiting');
    waiting.child.kill('SIGINT');
    expect(await waiting.ended).toMatchObject({ exitCode: 130 });
    expect([isLocked(third), editsIn(third)]).toEqual([true, []]);
    running.letGo();
    expect(await running.ended).toMatchObject({ exitCode: 0 });
    expect([isLocked(third), editsIn(third)]).toEqual([false, ['pulled']]);
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
