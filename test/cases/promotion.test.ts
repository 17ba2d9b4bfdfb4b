import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { makePromotionScene, PATH, PROMOTION, summarizeRun, type Scene } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

const SYNC = ['sync', '--yes'] as const;
const REFUSED = 'exit 3, greeting blocked guard/promotion-order';
const APPLIED = 'exit 0, greeting applied';

type Pins = Readonly<Record<string, string | number>>;

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
        hint: 'To promote the version that "staging" serves (v2), run: `promptsync promote greeting --from staging --to production`',
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

  const REMOVE_PIN = 'Remove the pin for "production" from the file';
  const COMMAND = '`promptsync promote greeting --from staging --to production`';
  const SERVE_FIRST =
    'Pin "staging" to the same commit as "production", then run `promptsync sync --environment staging`. After that, sync "production". If you have already made this promotion in another service, check out the commit that made the promotion, and sync that commit with `--any-commit` before you sync the newest one.';
  const SYNC_STAGING = 'First run `promptsync sync --environment staging`, then sync "production".';
  const THEN = `. After the next sync, run: ${COMMAND}`;

  test.each<[string, PromptParts]>([
    [
      'sync explains how to promote new text if both environments are pinned to latest',
      { text: 'New.', pins: { staging: 'latest', production: 'latest' } },
    ],
    [
      'sync explains how to promote new text if production is pinned to git:HEAD',
      { text: 'New.', pins: { staging: 'latest', production: 'git:HEAD' } },
    ],
  ])('%s', async (_, parts) => {
    const scene = await makePromotionScene(parts);
    const { report } = await scene.runJson(...SYNC);
    expect(report.prompts[0]?.problems).toMatchObject([{ code: 'guard/promotion-order', hint: SYNC_STAGING }]);
    expect(summarizeRun(await scene.runJson(...SYNC, '--environment', 'staging'))).toBe(APPLIED);
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v1', 'v1']);
  });

  test.each<[string, Pins, readonly string[], string]>([
    [
      'The promotion hint suggests syncing staging first if new text would reach both environments in one sync',
      { staging: 'latest', production: 'latest' },
      ['staging'],
      SYNC_STAGING,
    ],
    [
      'The promotion hint suggests adding a staging pin if the file pins only production',
      { production: 'latest' },
      [],
      `Pin "staging". ${REMOVE_PIN}${THEN}`,
    ],
    [
      'The promotion hint suggests the promote command if the file pins staging to an older version',
      { staging: 1, production: 'latest' },
      ['staging'],
      `To promote the version that "staging" serves (v1), run: ${COMMAND}`,
    ],
    [
      'The promotion hint suggests serving the text in staging first if the service has no version of the pinned commit',
      { staging: 1, production: 'git:HEAD' },
      ['staging'],
      SERVE_FIRST,
    ],
  ])('%s', async (_, pins, serving, hint) => {
    const scene = await makePromotionScene({ text: 'Two.', pins });
    scene.make(['One.']);
    for (const environment of serving) scene.activate(environment, 1);
    const { report } = await scene.runJson('plan');
    expect(report.prompts[0]?.problems.map((problem) => problem.hint)).toEqual([hint]);
  });

  test('sync refuses to promote a version that an earlier commit replaced in staging, regardless of --base and later commits', async () => {
    const scene = await startWithThreeVersions(2, 1);
    scene.commit(textThree(3, 1));
    scene.activate('staging', 3);
    scene.commit(textThree(3, 2));
    const expectRefusedWith = async (...bases: readonly string[]) => {
      expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
      for (const base of bases)
        expect([base, summarizeRun(await scene.runJson(...SYNC, '--base', base))]).toEqual([base, REFUSED]);
    };
    await expectRefusedWith('HEAD', 'HEAD~1', 'HEAD~2');
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Add a file that is no prompt');
    await expectRefusedWith('HEAD', 'HEAD~1', 'HEAD~2', 'HEAD~3');
    scene.commit({ ...textThree(3, 2), text: 'Four.' });
    await expectRefusedWith('HEAD', 'HEAD~1', 'HEAD~2', 'HEAD~3', 'HEAD~4');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('sync refuses to promote a version that a commit pinned for staging but no sync ever activated there', async () => {
    const scene = await startWithThreeVersions(1, 1);
    scene.commit(textThree(2, 1));
    scene.commit(textThree(3, 2));
    for (const words of [[], ['--base', 'HEAD'], ['--base', 'HEAD~1'], ['--base', 'HEAD~2']]) {
      expect(summarizeRun(await scene.runJson(...SYNC, ...words))).toBe(REFUSED);
    }
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Add a file that is no prompt');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
  });

  test('sync refuses a promotion that skips staging even if git treats the moved prompt file as a new file', async () => {
    const scene = await startWithThreeVersions(2, 1);
    rmSync(join(scene.folder, PATH));
    const moved = { ...textThree(2, 3), text: 'A text that has nothing in common with the one before.\n'.repeat(20) };
    writeFiles(scene.folder, { 'prompts/moved.md': promptText('greeting', moved) });
    commitAll(scene.folder, 'Move it and write it anew');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson(...SYNC, '--base', 'HEAD'))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson(...SYNC, '--base', 'HEAD~1'))).toBe(REFUSED);
  });

  test('plan and sync refuse a promotion that skipped staging, even after later commits revert and reapply it', async () => {
    const scene = await startWithThreeVersions(2, 1);
    scene.commit(textThree(2, 3));
    scene.commit(textThree(2, 1));
    scene.commit(textThree(2, 3));
    expect(summarizeRun(await scene.runJson('plan', '--base', 'HEAD~3'))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson(...SYNC, '--base', 'HEAD~3'))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    scene.commit(textThree(3, 3));
    scene.commit(textThree(2, 3));
    expect(summarizeRun(await scene.runJson('plan', '--base', 'HEAD~5'))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson('plan'))).toBe(REFUSED);
  });

  test('sync refuses a merged promotion that skipped staging, even after another branch is merged', async () => {
    const scene = await startWithThreeVersions(2, 1);
    git(scene.folder, 'switch', '--quiet', '--create', 'side');
    scene.commit({ ...textThree(2, 1), text: 'Edited.' });
    git(scene.folder, 'switch', '--quiet', 'main');
    git(scene.folder, 'switch', '--quiet', '--create', 'skip');
    scene.commit(textThree(2, 3));
    scene.commit(textThree(2, 1));
    scene.commit(textThree(2, 3));
    git(scene.folder, 'switch', '--quiet', 'main');
    git(scene.folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'skip');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    git(scene.folder, 'merge', '--quiet', '--no-ff', '--no-edit', 'side');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
  });

  test.each([['latest'], ['git:side']])(
    'If a promotion that skips staging is reverted and reapplied, sync refuses it again (production: %s)',
    async (pin) => {
      const scene = await startWithThreeVersions(2, 1);
      git(scene.folder, 'switch', '--quiet', '--create', 'side');
      scene.commit({ ...textThree(2, 1), text: 'Four.' });
      git(scene.folder, 'switch', '--quiet', 'main');
      const text = pin === 'latest' ? 'Four.' : 'Three.';
      scene.commit({ ...textThree(2, pin), text });
      expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
      git(scene.folder, 'revert', '--no-edit', 'HEAD');
      expect(summarizeRun(await scene.runJson(...SYNC))).toBe('exit 0, greeting unchanged');
      scene.commit({ ...textThree(2, pin), text });
      expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
      expect(listServed(scene)).toEqual(['v2', 'v1']);
    },
  );

  test.each<[string, Pins]>([
    [
      'sync refuses a reapplied promotion that skips staging even if the file initially pinned only production',
      { production: 1 },
    ],
    ['sync refuses a reapplied promotion that skips staging even if the file initially had no pins', {}],
    [
      'if a promotion that skips staging is reapplied, sync rejects it even if the file initially pinned staging to a branch',
      { staging: 'git:release', production: 1 },
    ],
  ])('%s', async (_, pins) => {
    const scene = await makePromotionScene({ text: 'Three.', pins });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 2);
    scene.activate('production', 1);
    for (const production of [3, 1, 3]) scene.commit(textThree(2, production));
    // The branch now contains the text of version 3.
    git(scene.folder, 'branch', 'release');
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);
  });

  test('sync rejects a production pin to a branch if staging does not serve the text on that branch, and still rejects it after the branch is moved', async () => {
    const scene = await startWithThreeVersions(3, 3);
    git(scene.folder, 'switch', '--quiet', '--create', 'side');
    scene.commit({ ...textThree(3, 3), text: 'Four.' });
    git(scene.folder, 'branch', 'release');
    scene.commit({ ...textThree(3, 3), text: 'Two.' });
    git(scene.folder, 'switch', '--quiet', 'main');
    scene.commit(textThree(3, 'git:release'));
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    scene.commit(textThree(3, 3));
    git(scene.folder, 'branch', '--force', 'release', 'side');
    scene.commit(textThree(3, 'git:release'));
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(listServed(scene)).toEqual(['v3', 'v3']);
  });
});

describe('the promotion guard without the git history of the file', () => {
  const LONG = 'A text that has nothing in common with the one before.\n'.repeat(20);
  const SKIP = { ...textThree(2, 3), text: LONG };

  /** Syncs two versions from commits: staging serves version 2, and production serves version 1. */
  async function syncFromCommits(config?: string): Promise<Scene> {
    const scene = await makePromotionScene(
      { text: 'One.', pins: { staging: 'latest' } },
      config === undefined ? {} : { config },
    );
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit({ text: 'Two.', pins: { staging: 1, production: 1 } });
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit(textThree(2, 1));
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);
    return scene;
  }

  /** Removes the prompt file and commits the skipped promotion in a new file. */
  function commitInNewFile({ folder }: Scene, path = 'prompts/moved.md'): void {
    rmSync(join(folder, PATH), { force: true });
    writeFiles(folder, { [path]: promptText('greeting', SKIP) });
    commitAll(folder, 'Add the prompt elsewhere');
  }

  function commitRemoval({ folder }: Scene): void {
    rmSync(join(folder, PATH));
    commitAll(folder, 'Remove the prompt');
  }

  const BOTH_ENDINGS = PROMOTION.replace('["prompts/**/*.md"]', '["prompts/**/*.md", "prompts/**/*.txt"]');

  test.each<[string, (scene: Scene) => void, string?]>([
    [
      'sync refuses a promotion that skips staging even if the file is deleted and then added elsewhere',
      (scene) => {
        commitRemoval(scene);
        commitInNewFile(scene);
      },
    ],
    [
      'sync refuses a promotion that skips staging even if one commit breaks the file and the next one replaces it',
      (scene) => {
        writeFiles(scene.folder, { [PATH]: '---\nid: [\n---\n' });
        commitAll(scene.folder, 'Break it');
        commitInNewFile(scene);
      },
    ],
    [
      'sync refuses a promotion that skips staging even if the file matches no prompt pattern in one commit',
      (scene) => {
        git(scene.folder, 'mv', PATH, 'prompts/greeting.txt');
        commitAll(scene.folder, 'Give it another ending');
        rmSync(join(scene.folder, 'prompts/greeting.txt'));
        commitInNewFile(scene);
      },
    ],
    [
      'sync refuses a promotion that skips staging even if one commit rewrites the file and changes its extension',
      (scene) => commitInNewFile(scene, 'prompts/greeting.txt'),
      BOTH_ENDINGS,
    ],
    [
      'sync refuses a promotion that skips staging even if the prompt id gets a Unicode escape before the file is moved',
      (scene) => {
        writeFiles(scene.folder, { [PATH]: scene.read().replace('prm_greeting', String.raw`prm\u005fgreeting`) });
        commitAll(scene.folder, 'Write the id in another way');
        commitInNewFile(scene);
      },
    ],
    [
      'sync refuses a reapplied promotion that skips staging even if the file was moved in the meantime',
      (scene) => {
        commitRemoval(scene);
        commitInNewFile(scene);
        git(scene.folder, 'mv', 'prompts/moved.md', PATH);
        scene.commit({ ...textThree(2, 1), text: LONG });
        scene.commit(SKIP);
      },
    ],
  ])('%s', async (_, loseHistory, config) => {
    const scene = await syncFromCommits(config);
    loseHistory(scene);
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);
  });

  test('sync refuses a promotion that skips staging in a shallow clone that lacks the original commits', async () => {
    const scene = await syncFromCommits();
    commitRemoval(scene);
    commitInNewFile(scene);
    git(scene.folder, 'clone', '--quiet', '--depth', '2', `file://${scene.folder}`, 'cut');
    expect(summarizeRun(await runJson(`${scene.folder}/cut`, [...SYNC], scene.service))).toBe(REFUSED);
  });

  test('sync accepts pins that skip staging in the commit that adds an existing prompt to another repository', async () => {
    const scene = await syncFromCommits();
    const other = makeRepository({ 'README.md': 'No prompts yet.' });
    writeFiles(other, { 'promptsync.yaml': PROMOTION, 'prompts/moved.md': promptText('greeting', textThree(2, 3)) });
    commitAll(other, 'Import');
    expect(summarizeRun(await runJson(other, [...SYNC], scene.service))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v2', 'v3']);
  });
});

describe('an interrupted promotion', () => {
  test.each<[string, readonly string[]]>([
    ['sync without --base completes a promotion if the previous sync failed after it updated staging', []],
    [
      'sync with --base completes a promotion if the previous sync failed after it updated staging',
      ['--base', 'HEAD^'],
    ],
  ])('%s', async (_, words) => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
    scene.make(['One.', 'Two.']);
    scene.activate('staging', 2);
    scene.activate('production', 1);
    scene.commit({ text: 'Three.', pins: { staging: 'latest', production: 2 } });
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: ({ path, body }) =>
        path.endsWith('/set-active') && JSON.stringify(body).includes('"production"')
          ? { status: 400, body: '{}' }
          : null,
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    expect((await runJson(scene.folder, [...SYNC, ...words], { environment })).exitCode).toBe(4);
    expect(listServed(scene)).toEqual(['v3', 'v1']);
    expect(summarizeRun(await scene.runJson(...SYNC, ...words))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v3', 'v2']);
  });
});

describe('changes of production that are not promotions', () => {
  test('sync accepts a production pin that was committed while staging pinned the same version, even after a file rename', async () => {
    const scene = await startWithThreeVersions(2, 1);
    scene.commit(textThree(2, 2));
    scene.commit(textThree(3, 2));
    git(scene.folder, 'mv', PATH, 'prompts/welcome.md');
    commitAll(scene.folder, 'Rename it');
    scene.activate('staging', 3);
    expect(summarizeRun(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
  });

  test.each<[string, readonly string[]]>([
    ['sync without --base accepts a rollback and its revert', []],
    ['sync --base HEAD accepts a rollback and its revert', ['--base', 'HEAD']],
    ['sync --base HEAD~1 accepts a rollback and its revert', ['--base', 'HEAD~1']],
  ])('%s', async (_, words) => {
    const scene = await startWithThreeVersions(2, 1);
    const sync = async () => summarizeRun(await scene.runJson(...SYNC, ...words));
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

  test.each<[string, readonly string[]]>([
    ['sync without --base restores the production version that the import commit pinned', []],
    ['sync --base HEAD restores the production version that the import commit pinned', ['--base', 'HEAD']],
    [
      'sync restores the production version that the import commit pinned if --base names that commit',
      ['--base', 'HEAD~1'],
    ],
    [
      'sync restores the production version that the import commit pinned if --base names an older commit',
      ['--base', 'HEAD~2'],
    ],
  ])('%s', async (_, words) => {
    const importInto = (files: Files): string => {
      const folder = makeRepository({ 'README.md': 'No prompts yet.' });
      writeFiles(folder, files);
      commitAll(folder, 'Import');
      return folder;
    };
    const scene = await makePromotionScene(textThree(2, 1), { makeFolder: importInto });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 2);
    scene.activate('production', 3);
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Edit another file');
    expect(summarizeRun(await scene.runJson(...SYNC, ...words))).toBe(APPLIED);
    expect(listServed(scene)).toEqual(['v2', 'v1']);
  });

  test('Without the full git history, plan refuses a production pin to a version that staging pinned only in earlier commits', async () => {
    const scene = await startWithThreeVersions(2, 1);
    scene.commit(textThree(2, 2));
    scene.commit(textThree(3, 2));
    scene.activate('staging', 3);
    const { folder } = scene;
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, 'cut');
    expect(summarizeRun(await runJson(`${folder}/cut`, ['plan'], scene.service))).toBe(REFUSED);
    const files = { 'promptsync.yaml': PROMOTION, [PATH]: promptText('greeting', textThree(3, 2)) };
    expect(summarizeRun(await runJson(makeWorkspace(files), ['plan'], scene.service))).toBe(REFUSED);
    expect(summarizeRun(await scene.runJson('plan'))).toBe('exit 0, greeting pending');
  });
});
