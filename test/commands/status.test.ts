import { describe, expect, test } from 'vitest';
import { begin, type Scene } from '../support/promotion.ts';

const PINNED = { text: 'Three.', pins: { staging: 'latest', production: 1 } };

/** Three versions; staging serves one of them, and production another one. */
async function serving(staging: number, production: number): Promise<Scene> {
  const scene = await begin(PINNED);
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

describe('What waits for promotion', () => {
  test.each<[string, number, number, string | null]>([
    ['versions between, since the commit of the pin', 3, 1, 'production: 2 versions behind staging, since '],
    [
      'one, and no commit where another version is served than is pinned',
      3,
      2,
      'production: 1 version behind staging\n',
    ],
    ['nothing where both serve the same', 1, 1, null],
    ['nothing where it is ahead', 1, 2, null],
  ])('is %s', async (_, staging, production, said) => {
    const scene = await serving(staging, production);
    const { stdout } = await scene.run('status');
    expect(stdout.includes(' behind ')).toBe(said !== null);
    if (said !== null) expect(stdout).toContain(`\n\ngreeting  ${said}`);
  });

  test('names the commit that last changed the pin, and its day, in all formats', async () => {
    const scene = await begin({ ...PINNED, pins: { staging: 'latest' } });
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

  test('is not asked for elsewhere', async () => {
    const scene = await serving(3, 1);
    expect((await scene.runJson('plan')).report.prompts[0]).not.toHaveProperty('waiting');
  });
});
