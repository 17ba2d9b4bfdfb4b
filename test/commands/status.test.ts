import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { git } from '../support/folder.ts';
import { makePromotionScene, type Scene } from '../support/promotion.ts';
import type { PromptParts } from '../support/prompts.ts';

/** Returns a prompt file whose text is the third version. */
const pinned = (production?: number | string): PromptParts => ({
  text: 'Three.',
  pins: { staging: 'latest', ...(production !== undefined && { production }) },
});

/** The git commands of a run that reads no history. */
const NO_HISTORY = ['cat-file', 'config', 'diff', 'for-each-ref', 'ls-files', 'rev-parse'];

/** Makes three versions. Staging and production serve the given ones. */
async function makeServingScene(staging: number, production: number, first = pinned(1)): Promise<Scene> {
  const scene = await makePromotionScene(first);
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

describe('status', () => {
  test('status shows in the production column how many versions production is behind or ahead of staging', async () => {
    const scene = await makeServingScene(3, 1);
    const waiting =
      /^1 promotion is waiting: greeting to production; the newer version was pinned in staging on Friday 2026-01-02 \([0-9a-f]{12}\)$/m;
    for (const [staging, production, row, isSinceKnown] of [
      [3, 1, 'greeting  v3       v1 ↑2', true],
      [3, 2, 'greeting  v3       v2 ↑1 → v1 drift', true],
      // Staging does not serve its pinned version, so no commit pinned the newer version there.
      [2, 1, 'greeting  v2 → v3  v1 ↑1', false],
      [1, 1, 'greeting  v1 → v3  v1', false],
      [1, 2, 'greeting  v1 → v3  v2 ↓1 → v1 drift', false],
    ] as const) {
      scene.activate('staging', staging);
      scene.activate('production', production);
      const { stdout } = await scene.run('status');
      expect(stdout.split('\n')[1]).toBe(row);
      const legend = '\n\n↓n: at least n versions ahead of its promotion source, so promote leaves it alone\n';
      expect(stdout.includes(legend)).toBe(row.includes('↓'));
      expect([row, waiting.test(stdout)]).toEqual([row, isSinceKnown]);
    }
  });

  test('in every output format, status shows when the promotion source was pinned to the version that awaits promotion', async () => {
    const scene = await makeServingScene(3, 1, { text: 'One.', pins: { staging: 'latest' } });
    const commit = scene.commit(pinned());
    scene.commit(pinned(1));
    const readPrompt = async (command: string) => (await scene.runJson(command)).report.prompts[0];
    expect(await readPrompt('status')).toMatchObject({
      waiting: [
        {
          ...{ environment: 'production', from: 'staging', versions: 2 },
          since: { commit, date: '2026-01-02T03:04:05+00:00' },
        },
      ],
    });
    expect(await readPrompt('plan')).not.toHaveProperty('waiting');
    const since = `the newer version was pinned in staging on Friday 2026-01-02 (${commit.slice(0, 12)})`;
    for (const format of ['text', 'markdown', 'html']) {
      const shown = (await scene.run('status', '--format', format)).stdout.replaceAll('`', '');
      expect(shown).toContain(since);
      expect(shown.includes(`production: 2 versions behind staging; ${since}`)).toBe(format !== 'text');
      expect(shown).toContain(format === 'html' ? 'v1 <em>↑2</em>' : 'v1 ↑2');
    }
    // The next sync would promote the version.
    scene.commit(pinned(3));
    const { stdout } = await scene.run('status');
    expect(stdout).toContain('greeting  v3       v1 → v3\n');
    expect(stdout).not.toContain('waiting');
    // The version was rolled back in production.
    scene.commit(pinned(1));
    expect(await readPrompt('status')).toMatchObject({ waiting: [] });
  });

  test('status does not read the git history if no prompt is waiting for promotion, even if production is ahead of staging', async () => {
    const scene = await makeServingScene(1, 3, { text: 'One.', pins: { staging: 'latest', production: 3 } });
    const { report } = await scene.runJson('status');
    expect(report.prompts[0]).toMatchObject({
      ...{ waiting: [], ahead: [{ environment: 'production', from: 'staging', versions: 2 }] },
    });
    const listCommands = countGit();
    expect((await scene.run('status', '--format', 'markdown')).stdout).toContain('`v3 ↓2`');
    expect(listCommands()).toEqual(NO_HISTORY);
  });

  test('status does not count a baseline that has the text of the environment behind, and marks changes made in the service', async () => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
    const { store } = scene.service;
    const serve = (content: string, environments: readonly string[]): string => {
      const { id: versionId } = store.createVersion('prm_greeting', { content })!;
      for (const environment of environments) store.setActive('prm_greeting', { environment, versionId });
      return versionId;
    };
    const production = `version:${serve('One.', ['staging', 'production'])}`;
    scene.commit({ text: 'One.', pins: { staging: 'latest', production } });
    expect((await scene.run('sync', '--yes')).stdout).toContain('created baseline v2');
    scene.commit({ text: 'Two.', pins: { staging: 'latest', production } });
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    expect((await scene.run('status')).stdout).toContain('greeting  v3       v1 ↑1\n');
    serve('Fixed.', ['staging']);
    const { stdout } = await scene.run('status');
    expect(stdout).toContain('greeting  v4 → v3 drift  v1 ↑2\n');
    expect(stdout).toContain('drift: the service differs from git; for details, run promptsync plan\n');
    expect((await scene.run('status', '--format', 'markdown')).stdout).toContain('`v4 → v3 drift`');
  });

  test('if git cannot read the history, status prints a notice and still counts the versions that are waiting for promotion', async () => {
    const scene = await makeServingScene(3, 1);
    const first = git(scene.folder, 'rev-parse', 'HEAD').trim();
    scene.commit({ ...pinned(1), name: 'Another' });
    rmSync(join(scene.folder, '.git/objects', first.slice(0, 2), first.slice(2)));
    const { exitCode, stdout, stderr } = await scene.run('status');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('v1 ↑2');
    const notice = 'promptsync cannot show how long prompts have been waiting for promotion because';
    expect(stderr).toContain(notice);
    expect((await scene.run('status', '--quiet')).stderr).not.toContain(notice);
  });

  test('status lists prompts that need attention first, and names the promotion that has been waiting the longest', async () => {
    const others = { aligned: pinned(3), lost: pinned(99), moved: pinned(2), waiting: pinned(1) };
    const scene = await makePromotionScene(pinned(1), { others });
    for (const [id, production] of Object.entries({ greeting: 1, aligned: 3, lost: 3, moved: 3, waiting: 1 })) {
      scene.make(['One.', 'Two.', 'Three.'], id);
      scene.activate('staging', 3, id);
      scene.activate('production', production, id);
    }
    const { stdout } = await scene.run('status');
    const keys = stdout
      .split('\n')
      .slice(1, 6)
      .map((line) => line.split(' ')[0]);
    expect(keys).toEqual(['lost', 'moved', 'greeting', 'waiting', 'aligned']);
    expect(stdout).toMatch(
      /^2 promotions are waiting, the longest: greeting to production; the newer version was pinned/m,
    );
  });
});
