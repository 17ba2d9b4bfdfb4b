import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { makePromotionScene, PATH, PROMOTION, summarizeRun, type Scene } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

const SYNC = ['sync', '--yes'] as const;
const REFUSED = 'exit 3, greeting blocked guard/promotion-order';
const APPLIED = 'exit 0, greeting applied';

/** The text of version 3 with pins for both environments. */
const textThree = (staging: number | string, production: number | string) => ({
  text: 'Three.',
  pins: { staging, production },
});

/** Makes three versions. The environments serve these numbers, and the first commit pins them. */
async function startWithThreeVersions(staging: number, production: number): Promise<Scene> {
  const scene = await makePromotionScene(textThree(staging, production));
  scene.make(['One.', 'Two.', 'Three.']);
  scene.activate('staging', staging);
  scene.activate('production', production);
  return scene;
}

const listServed = ({ serves }: Scene) => [serves('staging'), serves('production')];

describe('the promotion guard', () => {
  test('plan, sync and status refuse a promotion of a version that staging does not serve', async () => {
    const scene = await startWithThreeVersions(2, 1);
    scene.commit({ ...textThree(2, 3), name: 'Renamed' });
    expect(summarizeRun(await scene.runJson('plan'))).toBe(REFUSED);
    const { report, exitCode } = await scene.runJson(...SYNC);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]?.problems).toMatchObject([
      {
        code: 'guard/promotion-order',
        path: PATH,
        line: 5,
        hint: 'To promote the version that "staging" serves (v2), run: `promptsync promote greeting --from staging --to production --allow-older`',
      },
    ]);
    const status = await scene.runJson('status');
    expect(summarizeRun(status)).toBe(REFUSED);
    expect(status.report.prompts[0]?.environments).toMatchObject([
      { environment: 'staging', in_sync: true },
      { environment: 'production', in_sync: false },
    ]);
    expect((await scene.run('status')).stdout).toContain('promptsync promote greeting');

    scene.commit({ ...textThree(2, 3), name: 'Once more' });
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(scene.service.takeWrites()).toEqual([]);
  });
});

describe('the promotion guard without the git history of the file', () => {
  const LONG = 'A text that has nothing in common with the one before.\n'.repeat(20);
  const SKIP = { ...textThree(2, 3), text: LONG };

  /** Syncs two versions from commits: staging serves version 2, and production serves version 1. */
  async function syncFromCommits(): Promise<Scene> {
    const scene = await makePromotionScene({ text: 'One.', pins: { staging: 'latest' } });
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit({ text: 'Two.', pins: { staging: 1, production: 1 } });
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit(textThree(2, 1));
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);
    return scene;
  }

  test('sync refuses a promotion that skips staging if the file is deleted and added elsewhere, and accepts it in another repository', async () => {
    const scene = await syncFromCommits();
    const { folder, service } = scene;
    rmSync(join(folder, PATH));
    commitAll(folder, 'Remove the prompt');
    writeFiles(folder, { 'prompts/moved.md': promptText('greeting', SKIP) });
    commitAll(folder, 'Add the prompt elsewhere');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    git(folder, 'clone', '--quiet', '--depth', '2', `file://${folder}`, 'cut');
    expect(summarizeRun(await runJson(`${folder}/cut`, [...SYNC], service))).toBe(REFUSED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);

    const other = makeRepository({ 'README.md': 'No prompts yet.' });
    writeFiles(other, { 'promptsync.yaml': PROMOTION, 'prompts/moved.md': promptText('greeting', textThree(2, 3)) });
    commitAll(other, 'Import');
    expect(summarizeRun(await runJson(other, [...SYNC], service))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v2', 'v3']);
  });
});

describe('changes of production that are not promotions', () => {
  test('sync accepts a rollback and the commit that reverts the rollback', async () => {
    const scene = await startWithThreeVersions(2, 1);
    const sync = async () => summarizeRun(await scene.runJson(...SYNC));
    scene.commit(textThree(2, 2));
    expect(await sync()).toBe(APPLIED);
    scene.commit(textThree(3, 2));
    expect(await sync()).toBe(APPLIED);
    scene.commit(textThree(3, 1));
    expect(await sync()).toBe(APPLIED);
    git(scene.folder, 'revert', '--no-edit', 'HEAD');
    expect(await sync()).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v3', 'v2']);
    scene.commit(textThree(1, 1));
    expect(await sync()).toBe(APPLIED);
    git(scene.folder, 'revert', '--no-edit', 'HEAD');
    expect(await sync()).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v3', 'v2']);
  });
});
