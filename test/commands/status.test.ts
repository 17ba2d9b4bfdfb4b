import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { git, makeRepository, type Files } from '../support/folder.ts';
import { makePromotionScene, type Scene } from '../support/promotion.ts';
import type { PromptParts } from '../support/prompts.ts';

const PINNED = { text: 'Three.', pins: { staging: 'latest', production: 1 } };

/** The git commands of a run that reads no history. */
const NO_HISTORY = ['cat-file', 'config', 'diff', 'for-each-ref', 'ls-files', 'rev-parse'];

/** Makes three versions. Staging and production serve the given ones. */
async function makeServingScene(staging: number, production: number): Promise<Scene> {
  const scene = await makePromotionScene(PINNED);
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

describe('status', () => {
  test.each<[string, number, number, string]>([
    [
      'status shows in the production column how many versions production is behind staging',
      3,
      1,
      'greeting  v3       v1 ↑2',
    ],
    [
      'If production does not serve its pinned version, status shows the distance to staging next to the active version',
      ...([3, 2, 'greeting  v3       v2 ↑1 → v1 drift'] as const),
    ],
    [
      'status shows no distance to staging if staging and production serve the same version',
      1,
      1,
      'greeting  v1 → v3  v1',
    ],
    [
      'status shows in the production column how many versions production is ahead of staging',
      1,
      2,
      'greeting  v1 → v3  v2 ↓1 → v1 drift',
    ],
  ])('%s', async (_, staging, production, row) => {
    const scene = await makeServingScene(staging, production);
    const { stdout } = await scene.run('status');
    expect(stdout.split('\n')[1]).toBe(row);
    const legends = {
      '↑': '\n\n↑n: at least n versions behind its promotion source\n',
      '↓': '\n\n↓n: at least n versions ahead of its promotion source, so promote leaves it alone\n',
    };
    for (const [sign, legend] of Object.entries(legends)) expect(stdout.includes(legend)).toBe(row.includes(sign));
  });

  test.each<[string, number, boolean]>([
    ['status names the prompt that has waited longest for a promotion, and the commit that pinned staging', 3, true],
    [
      'status does not name a commit for the prompt that has waited longest if staging does not serve its pinned version',
      2,
      false,
    ],
  ])('%s', async (_, staging, isKnown) => {
    const scene = await makeServingScene(staging, 1);
    const { stdout } = await scene.run('status');
    const line =
      /^1 promotion is waiting: greeting to production; the newer version was pinned in staging on Friday 2026-01-02 \([0-9a-f]{12}\)$/m;
    expect(line.test(stdout)).toBe(isKnown);
  });

  test('in every output format, status shows when the promotion source was pinned to the version that awaits promotion', async () => {
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 3);
    scene.activate('production', 1);
    const commit = scene.commit({ ...PINNED, pins: { staging: 'latest' } });
    scene.commit(PINNED);
    const { report } = await scene.runJson('status');
    expect(report.prompts[0]?.waiting).toMatchObject([
      { environment: 'production', from: 'staging', versions: 2, since: { commit, date: '2026-01-02T03:04:05+00:00' } },
    ]);
    const since = `the newer version was pinned in staging on Friday 2026-01-02 (${commit.slice(0, 12)})`;
    for (const format of ['text', 'markdown', 'html']) {
      const shown = (await scene.run('status', '--format', format)).stdout.replaceAll('`', '');
      expect(shown).toContain(since);
      expect(shown.includes(`production: 2 versions behind staging; ${since}`)).toBe(format !== 'text');
      expect(shown).toContain(format === 'html' ? 'v1 <em>↑2</em>' : 'v1 ↑2');
    }
  });

  test('status reports in JSON and Markdown that production is ahead of staging, without reading git history', async () => {
    const scene = await makeServingScene(1, 3);
    scene.commit({ text: 'One.', pins: { staging: 'latest', production: 3 } });
    const { report } = await scene.runJson('status');
    const [prompt] = report.prompts;
    expect(prompt).toMatchObject({ waiting: [], ahead: [{ environment: 'production', from: 'staging', versions: 2 }] });
    const listCommands = countGit();
    expect((await scene.run('status', '--format', 'markdown')).stdout).toContain('`v3 ↓2`');
    expect(listCommands()).toEqual(NO_HISTORY);
  });

  test('status does not count a baseline that has the text of the environment behind', async () => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
    scene.service.store.createVersion('prm_greeting', { content: 'One.' });
    const [first] = ['staging', 'production'].map((environment) => {
      const { latest_version_id: versionId } = scene.service.store.readPrompt('prm_greeting')!;
      scene.service.store.setActive('prm_greeting', { environment, versionId: versionId! });
      return versionId;
    });
    scene.commit({ text: 'One.', pins: { staging: 'latest', production: `version:${first}` } });
    expect((await scene.run('sync', '--yes')).stdout).toContain('created baseline v2');
    scene.commit({ text: 'Two.', pins: { staging: 'latest', production: `version:${first}` } });
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    expect((await scene.run('status')).stdout).toContain('greeting  v3       v1 ↑1\n');
  });

  test('status lists no promotion for an environment that a sync moves to the version of its promotion source', async () => {
    const scene = await makeServingScene(3, 1);
    scene.commit({ ...PINNED, pins: { staging: 'latest', production: 3 } });
    const { stdout } = await scene.run('status');
    expect(stdout).toContain('greeting  v3       v1 → v3\n');
    expect(stdout).not.toContain('waiting');
  });

  test('status lists no promotion for a version that was rolled back in the target environment', async () => {
    const scene = await makeServingScene(3, 1);
    scene.commit({ ...PINNED, pins: { staging: 'latest', production: 3 } });
    scene.commit(PINNED);
    const { report } = await scene.runJson('status');
    expect(report.prompts[0]).toMatchObject({ waiting: [] });
  });

  test('status marks an environment that somebody changed in the service', async () => {
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } });
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    scene.commit({ text: 'Two.', pins: { staging: 'latest' } });
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    const fix = scene.service.store.createVersion('prm_greeting', { content: 'Fixed.' })!;
    scene.service.store.setActive('prm_greeting', { environment: 'staging', versionId: fix.id });
    const { stdout } = await scene.run('status');
    expect(stdout).toContain('greeting  v3 → v2 drift  ·\n');
    expect(stdout).toContain('drift: the service differs from git; for details, run promptsync plan\n');
    expect((await scene.run('status', '--format', 'markdown')).stdout).toContain('`v3 → v2 drift`');
  });

  test('status does not read the git history if no prompt is waiting for promotion', async () => {
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } });
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    const listCommands = countGit();
    expect((await scene.run('status')).exitCode).toBe(0);
    expect(listCommands()).toEqual(NO_HISTORY);
  });

  test('if git cannot read the history, status prints a notice and still counts the versions that are waiting for promotion', async () => {
    const scene = await makeServingScene(3, 1);
    const first = git(scene.folder, 'rev-parse', 'HEAD').trim();
    scene.commit({ ...PINNED, name: 'Another' });
    rmSync(join(scene.folder, '.git/objects', first.slice(0, 2), first.slice(2)));
    const { exitCode, stdout, stderr } = await scene.run('status');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('v1 ↑2');
    expect(stderr).toContain('promptsync cannot show how long prompts have been waiting for promotion because');
    expect((await scene.run('status', '--quiet')).stderr).not.toContain('since when');
  });

  test('plan does not report versions that are waiting for promotion', async () => {
    const scene = await makeServingScene(3, 1);
    expect((await scene.runJson('plan')).report.prompts[0]).not.toHaveProperty('waiting');
  });
});

/**
 * Makes 40 prompts with three versions each. Every second prompt waits for a promotion. In production, p09 does not serve
 * its pinned version, p11 has no pin, and p13 has a pin to a version that does not exist.
 */
async function makeFortyPrompts(): Promise<Scene> {
  const ids = Array.from({ length: 40 }, (_, index) => `p${String(index + 1).padStart(2, '0')}`);
  const isWaiting = (index: number): boolean => index % 2 === 1;
  const pin = (index: number) => ({ ...PINNED, pins: { staging: 'latest', production: isWaiting(index) ? 1 : 3 } });
  const others: Record<string, PromptParts> = Object.fromEntries(ids.map((id, index) => [id, pin(index)]));
  others['p09'] = { ...PINNED, pins: { staging: 'latest', production: 2 } };
  others['p11'] = { ...PINNED, pins: { staging: 'latest' } };
  others['p13'] = { ...PINNED, pins: { staging: 'latest', production: 99 } };
  const options = { terminal: true, columns: 80, environment: { NO_COLOR: '1' } };
  const scene = await makePromotionScene({}, { others, options, makeFolder: makeRepositoryWithout('greeting') });
  for (const [index, id] of ids.entries()) {
    scene.make(['One.', 'Two.', 'Three.'], id);
    scene.activate('staging', 3, id);
    scene.activate('production', isWaiting(index) ? 1 : 3, id);
  }
  return scene;
}

const makeRepositoryWithout = (id: string) => (files: Files) =>
  makeRepository(Object.fromEntries(Object.entries(files).filter(([path]) => path !== `prompts/${id}.md`)));

describe('status of 40 prompts on a terminal with 80 columns', () => {
  test('For 40 prompts, status lists those that need attention at the top and adds only six lines of notes', async () => {
    const { stdout } = await (await makeFortyPrompts()).run('status');
    const lines = stdout.split('\n');
    const keys = lines.slice(1, 41).map((line) => line.slice(0, 3));
    expect(keys.slice(0, 5)).toEqual(['p13', 'p09', 'p02', 'p04', 'p06']);
    expect(keys.slice(20, 25)).toEqual(['p38', 'p40', 'p01', 'p03', 'p05']);
    expect(keys.toSorted()).toHaveLength(new Set(keys).size);
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
