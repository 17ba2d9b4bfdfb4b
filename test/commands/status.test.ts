import { describe, expect, test } from 'vitest';
import { makePromotionScene, type Scene } from '../support/promotion.ts';

const PINNED = { text: 'Three.', pins: { staging: 'latest', production: 1 } };

/** Makes three versions. Staging and production serve the given ones. */
async function makeServingScene(staging: number, production: number): Promise<Scene> {
  const scene = await makePromotionScene(PINNED);
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

describe('status', () => {
  test.each<[string, number, number, string | null]>([
    [
      'status shows how many versions production is behind staging and since when',
      3,
      1,
      'production: 2 versions behind staging, since ',
    ],
    [
      'status omits the commit of the last pin change if production does not serve its pinned version',
      3,
      2,
      'production: 1 version behind staging\n',
    ],
    ['status shows nothing to promote if both environments serve the same version', 1, 1, null],
    ['status shows nothing to promote if production is ahead of staging', 1, 2, null],
  ])('%s', async (_, staging, production, said) => {
    const scene = await makeServingScene(staging, production);
    const { stdout } = await scene.run('status');
    expect(stdout.includes(' behind ')).toBe(said !== null);
    if (said !== null) expect(stdout).toContain(`\n\ngreeting  ${said}`);
  });

  test('status shows the commit and the date of the last pin change in every output format', async () => {
    const scene = await makePromotionScene({ ...PINNED, pins: { staging: 'latest' } });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 3);
    scene.activate('production', 1);
    const commit = scene.commit(PINNED);
    scene.commit({ ...PINNED, name: 'Another' });
    const { report } = await scene.runJson('status');
    expect(report.prompts[0]?.waiting).toMatchObject([
      { environment: 'production', from: 'staging', versions: 2, since: { commit, date: '2026-01-02T03:04:05+00:00' } },
    ]);
    const line = `2 versions behind staging, since ${commit.slice(0, 12)}, Friday 2026-01-02`;
    for (const format of ['text', 'markdown', 'html']) {
      expect((await scene.run('status', '--format', format)).stdout.replaceAll('`', '')).toContain(line);
    }
  });

  test('plan does not report versions that are waiting for promotion', async () => {
    const scene = await makeServingScene(3, 1);
    expect((await scene.runJson('plan')).report.prompts[0]).not.toHaveProperty('waiting');
  });
});
