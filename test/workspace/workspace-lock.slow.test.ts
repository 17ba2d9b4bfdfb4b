import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { KILLED, runCli } from '../support/cli.ts';
import { git } from '../support/folder.ts';
import { parseReport } from '../support/run.ts';
import { editsIn, isLocked, makeScene, PROMOTE, PULL, startHeldPull } from './locking.ts';

/** The time in milliseconds after which a lock that nobody renews is stale. */
const STALE = 7_000;

describe('the workspace lock of two processes', () => {
  test('pull and promote both save their edits even when they start at the same time', async () => {
    const scene = await makeScene();
    for (let round = 0; round < 15; round += 1) {
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
    expect(editsIn(scene)).toEqual(['promoted']);
    expect(isLocked(scene)).toBe(false);
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

  test('a running command keeps the workspace lock even after the stale-lock timeout', async () => {
    const scene = await makeScene();
    const held = await startHeldPull(scene);
    await setTimeout(STALE);
    const promote = runCli(scene.folder, PROMOTE, scene.service);
    held.letGo();
    expect(await held.ended).toMatchObject({ exitCode: 0 });
    expect(await promote).toMatchObject({ exitCode: 0 });
    expect(editsIn(scene)).toEqual(['pulled', 'promoted']);
  });
});
