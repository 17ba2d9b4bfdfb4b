import { describe, expect, test } from 'vitest';
import { commitAll, git, makeWorkspace } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { begin, PATH, PROMOTION, told, type Scene } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

const SYNC = ['sync', '--yes'] as const;
const REFUSED = 'exit 3, greeting blocked guard/promotion-order';
const APPLIED = 'exit 0, greeting applied';

/** The pins of both environments; the text is that of version 3. */
const pinned = (staging: number | string, production: number | string) => ({
  text: 'Three.',
  pins: { staging, production },
});

/** Three versions; the environments serve these numbers, and the first commit pins them. */
async function ready(staging: number, production: number): Promise<Scene> {
  const scene = await begin(pinned(staging, production));
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

describe('a promotion that skips an environment', () => {
  test('of a branch is none the less one once it is merged, whatever else was merged after it', async () => {
    const scene = await ready(2, 1);
    git(scene.folder, 'switch', '--quiet', '--create', 'side');
    scene.commit({ ...pinned(2, 1), text: 'Edited.' });
    git(scene.folder, 'switch', '--quiet', 'main');
    git(scene.folder, 'switch', '--quiet', '--create', 'skip');
    scene.commit(pinned(2, 3));
    scene.commit(pinned(2, 1));
    scene.commit(pinned(2, 3));
    git(scene.folder, 'switch', '--quiet', 'main');
    git(scene.folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'skip');
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    git(scene.folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
  });
});

describe('a promotion', () => {
  test.each<[string, (scene: Scene) => string]>([
    ['version:', ({ service }) => `version:${service.store.readPrompt('prm_greeting', 'staging')!.active_version!.id}`],
    ['git:', () => 'git:main'],
  ])('by a pin %s is judged by the version that it means', async (_, pin) => {
    const scene = await begin({ text: 'Three.', pins: { staging: 'latest', production: 1 } });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 3);
    scene.activate('production', 1);
    const wanted = { text: 'Three.', pins: { staging: 'latest', production: pin(scene) } };
    scene.commit(wanted);
    scene.activate('staging', 2);
    scene.commit({ ...wanted, pins: { ...wanted.pins, staging: 2 } });
    // Staging had it at the base, and went back: that is no way to production.
    expect(told(await scene.runJson('plan', '--base', 'HEAD~2'))).toBe(REFUSED);
    scene.activate('staging', 3);
    scene.commit(wanted);
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v3');
  });
});

describe('no promotion, though staging has moved on', () => {
  test('is putting back what came through staging where the file has another name now', async () => {
    const scene = await ready(2, 1);
    scene.commit(pinned(2, 2));
    scene.commit(pinned(3, 2));
    git(scene.folder, 'mv', PATH, 'prompts/welcome.md');
    commitAll(scene.folder, 'Rename it');
    scene.activate('staging', 3);
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
  });

  test('is not to be known without the commits: outside of git, and in a shallow clone', async () => {
    const scene = await ready(2, 1);
    scene.commit(pinned(2, 2));
    scene.commit(pinned(3, 2));
    scene.activate('staging', 3);
    const { folder } = scene;
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, 'cut');
    expect(told(await runJson(`${folder}/cut`, ['plan'], scene.service))).toBe(REFUSED);
    const files = { 'promptsync.yaml': PROMOTION, [PATH]: promptText('greeting', pinned(3, 2)) };
    expect(told(await runJson(makeWorkspace(files), ['plan'], scene.service))).toBe(REFUSED);
    expect(told(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
  });
});
