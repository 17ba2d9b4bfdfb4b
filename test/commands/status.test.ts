import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { git, makeRepository } from '../support/folder.ts';
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
    const legends = {
      '↑': '\n\n↑n: at least n versions behind its promotion source\n',
      '↓': '\n\n↓n: at least n versions ahead of its promotion source, so promote leaves it alone\n',
    };
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
      for (const [sign, legend] of Object.entries(legends)) expect(stdout.includes(legend)).toBe(row.includes(sign));
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

  /**
   * Every second of the 40 prompts waits for a promotion. In production, p09 does not serve its pinned version, p11 has no
   * pin, and p13 has a pin to a version that does not exist.
   */
  test('On a terminal with 80 columns, status of 40 prompts lists those that need attention at the top and adds only six lines of notes', async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `p${String(index + 1).padStart(2, '0')}`);
    const isWaiting = (index: number): boolean => index % 2 === 1;
    const regular = Object.fromEntries(ids.map((id, index) => [id, pinned(isWaiting(index) ? 1 : 3)]));
    const scene = await makePromotionScene(
      {},
      {
        others: { ...regular, p09: pinned(2), p11: pinned(), p13: pinned(99) },
        options: { terminal: true, columns: 80, environment: { NO_COLOR: '1' } },
        makeFolder: ({ 'prompts/greeting.md': _, ...files }) => makeRepository(files),
      },
    );
    for (const [index, id] of ids.entries()) {
      scene.make(['One.', 'Two.', 'Three.'], id);
      scene.activate('staging', 3, id);
      scene.activate('production', isWaiting(index) ? 1 : 3, id);
    }
    const lines = (await scene.run('status')).stdout.split('\n');
    const keys = lines.slice(1, 41).map((line) => line.slice(0, 3));
    expect(keys.slice(0, 5)).toEqual(['p13', 'p09', 'p02', 'p04', 'p06']);
    expect(keys.slice(20, 25)).toEqual(['p38', 'p40', 'p01', 'p03', 'p05']);
    expect(keys.toSorted()).toEqual(ids);
    expect(lines[3]).toBe('p02     v3       v1 ↑2');
    expect(lines.find((line) => line.startsWith('p11'))).toBe('p11     v3       ·');
    expect(lines.slice(41, 49)).toEqual([
      '',
      'n?: promptsync did not find the pinned version; for details, run promptsync plan',
      '↑n: at least n versions behind its promotion source',
      '·: the file does not pin this environment',
      'drift: the service differs from git; for details, run promptsync plan',
      '20 promotions are waiting, the longest: p02 to production; the newer version ',
      expect.stringMatching(/^ {2}was pinned in staging on Friday 2026-01-02 \([0-9a-f]{12}\)$/),
      '',
    ]);
  });
});
