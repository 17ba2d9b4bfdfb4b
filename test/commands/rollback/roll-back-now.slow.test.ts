import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { KILLED, startCli } from '../../support/cli.ts';
import { commitAll, git, makeRepository, writeFiles } from '../../support/folder.ts';
import { startFrontFor } from '../../support/front.ts';
import { CONFIG, workspaceFiles } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';
import { changeService } from '../../support/service.ts';
import { makePromotionScene, PROMOTION, summarizeRun } from '../../support/promotion.ts';
import {
  addOrigin,
  APPLIED,
  BRANCH,
  makeIncident,
  NOW,
  pinned,
  pushFromElsewhere,
  readState,
  TEXTS,
} from './incident.ts';

describe('rollback --now in unusual states', () => {
  test('Running rollback --now again completes a run that was killed before the activation', async () => {
    const scene = await makeIncident();
    const arrived = Promise.withResolvers<void>();
    const { environment } = await startFrontFor(scene.service, ({ method }) => {
      if (method === 'GET') return null;
      arrived.resolve();
      return new Promise(() => {});
    });
    const { child, ended } = startCli(scene.folder, [...NOW, '--yes'], { environment });
    await arrived.promise;
    child.kill('SIGKILL');
    expect((await ended).exitCode).toBe(KILLED);
    expect([git(scene.folder, 'branch', '--show-current'), scene.serves('production')]).toEqual([BRANCH, 'v4']);
    // The lock of a killed process expires after five seconds.
    rmSync(join(scene.folder, 'promptsync.lock'), { recursive: true });
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
    expect(git(scene.folder, 'rev-list', '--count', 'main..')).toBe('1');
  });

  test('rollback --now leaves the file of a blocked prompt unchanged and rolls back the other prompt', async () => {
    const scene = await makeIncident({ others: { other: pinned(4) } });
    scene.make(TEXTS, 'other');
    scene.activate('staging', 5, 'other');
    scene.activate('production', 4, 'other');
    scene.write({ ...pinned(4), text: 'Changed.' });
    const before = readState(scene);
    const blocked = await scene.runJson(...NOW, '--to', '3', '--yes');
    expect(summarizeRun(blocked)).toBe('exit 3, greeting blocked guard/uncommitted-edit');
    expect(blocked.report.prompts[0]?.problems[0]?.hint).toContain('without `--commit`, `--branch`, and `--now`');
    expect(readState(scene)).toEqual(before);
    const words = ['rollback', 'greeting', 'other', '-e', 'production', '--to', '3', '--now', '--yes'];
    const ran = await scene.runJson(...words);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked guard/uncommitted-edit, other applied');
    expect([scene.serves('production'), scene.serves('production', 'other')]).toEqual(['v4', 'v3']);
    expect(git(scene.folder, 'show', '--format=', '--name-only')).toBe('prompts/other.md');
    expect(scene.read()).toContain('Changed.');
  });

  test.each([
    ['drift', 'on_drift: fail\n', 'guard/drift', 'without `--now`'],
    ['max_changes', 'max_changes: 0\n', 'guard/max-changes', '`max_changes` in `promptsync.yaml`'],
  ])(
    'If %s blocks every prompt, rollback --now creates no branch and suggests a possible step',
    async (_, settings, code, step) => {
      const scene = await makeIncident({ config: PROMOTION + settings });
      const { baseUrl } = scene.service;
      if (code === 'guard/drift') await changeService(baseUrl, 'greeting', 'production', 'Hot fix.');
      const before = readState(scene);
      const ran = await scene.runJson(...NOW, '--to', '1', '--yes');
      expect(summarizeRun(ran)).toBe(`exit 3, greeting blocked ${code}`);
      expect(ran.report.prompts[0]?.problems[0]?.hint).toContain(step);
      expect(readState(scene)).toEqual(before);
    },
  );

  test('With portable pins, rollback --now pins the previous commit and refuses a text that no version contains', async () => {
    const config = `${CONFIG}portable_pins: true\n`;
    const scene = await makePromotionScene({ text: 'Never synced.', pins: { staging: 'latest' } }, { config });
    const refs = [git(scene.folder, 'rev-parse', 'HEAD')];
    scene.make(['One.', 'Two.']);
    for (const text of ['One.', 'Two.', 'Two.']) {
      refs.push(scene.commit({ text, pins: { staging: 'latest', production: `git:${refs.at(-1)}` } }));
    }
    scene.activate('staging', 2);
    scene.activate('production', 2);
    expect(summarizeRun(await scene.runJson(...NOW, '--yes'))).toBe(APPLIED);
    expect(scene.read()).toContain(`"production":"git:${refs[1]}"`);
    expect(scene.serves('production')).toBe('v1');
    git(scene.folder, 'switch', '--quiet', 'main');
    scene.service.takeWrites();
    expect(summarizeRun(await scene.runJson(...NOW, '--yes', '--branch', 'more'))).toBe(
      'exit 3, greeting blocked rollback/new-version',
    );
    expect(git(scene.folder, 'branch', '--list', 'more')).toBe('');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('rollback --now also checks the remote for newer commits if the service is embedded', async () => {
    const config = `${CONFIG}service: { embedded: .promptsync/service.db }\n`;
    const files = (text: string) => workspaceFiles({ greeting: { text, pins: { production: 'latest' } } }, config);
    const folder = makeRepository({ ...files('One.'), '.gitignore': '.promptsync\n' });
    const origin = addOrigin(folder);
    for (const text of ['One.', 'Two.']) {
      writeFiles(folder, files(text));
      commitAll(folder, text);
      git(folder, 'push', '--quiet');
      expect((await runJson(folder, ['sync', '--yes'])).exitCode).toBe(0);
    }
    pushFromElsewhere(origin, { text: 'Three.', pins: { production: 'latest' } });
    expect(summarizeRun(await runJson(folder, [...NOW, '--yes']))).toContain('rollback/newer-files');
    git(folder, 'pull', '--quiet');
    expect(summarizeRun(await runJson(folder, [...NOW, '--yes']))).toBe(APPLIED);
  });
});
