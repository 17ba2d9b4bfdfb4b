import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, type Files, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { begin, PATH, PROMOTION, told, type Scene } from '../support/promotion.ts';
import { runJson } from '../support/run.ts';

const SYNC = ['sync', '--yes'] as const;
const REFUSED = 'exit 3, greeting blocked guard/promotion-order';
const APPLIED = 'exit 0, greeting applied';

type Pins = Readonly<Record<string, string | number>>;

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

const servedBy = ({ serves }: Scene) => [serves('staging'), serves('production')];

describe('a promotion that skips an environment', () => {
  test('is refused by plan, sync and status, nothing of that prompt is written, and the next commit helps nothing', async () => {
    const scene = await ready(2, 1);
    scene.commit({ ...pinned(2, 3), name: 'Renamed' });
    expect(told(await scene.runJson('plan'))).toBe(REFUSED);
    const { report, exitCode } = await scene.runJson(...SYNC);
    expect(exitCode).toBe(3);
    expect(report.prompts[0]?.problems).toMatchObject([
      {
        code: 'guard/promotion-order',
        path: PATH,
        line: 5,
        hint: 'To promote what "staging" serves (v2), run: promptsync promote greeting --from staging --to production',
      },
    ]);
    const status = await scene.runJson('status');
    expect(told(status)).toBe(REFUSED);
    expect(status.report.prompts[0]?.environments).toMatchObject([
      { environment: 'staging', in_sync: true },
      { environment: 'production', in_sync: false },
    ]);
    expect((await scene.run('status')).stdout).toContain('promptsync promote greeting');

    scene.commit({ ...pinned(2, 3), name: 'Once more' });
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(scene.service.takeWrites()).toEqual([]);
  });

  const OUT = 'Take the pin of "production" out of the file';
  const COMMAND = 'promptsync promote greeting --from staging --to production';
  const THEN = `; sync, then run: ${COMMAND}`;

  test.each<[string, PromptParts]>([
    ['latest', { text: 'New.', pins: { staging: 'latest', production: 'latest' } }],
    ['the text of a commit', { text: 'New.', pins: { staging: 'latest', production: 'git:HEAD' } }],
  ])('of a new file tells the way out, which ends in production: %s', async (_, both) => {
    const scene = await begin(both);
    const { report } = await scene.runJson(...SYNC);
    expect(report.prompts[0]?.problems).toMatchObject([{ code: 'guard/promotion-order', hint: OUT + THEN }]);
    scene.commit({ text: 'New.', pins: { staging: 'latest' } });
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(told(await scene.runJson('promote', 'greeting', '--to', 'production', '--commit'))).toBe(APPLIED);
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v1', 'v1']);
  });

  test.each<[string, Pins, readonly string[], string]>([
    [
      'staging is to serve it at the same time',
      { staging: 'latest', production: 'latest' },
      ['staging'],
      `${OUT}${THEN}`,
    ],
    [
      'production serves an older one',
      { staging: 'latest', production: 'latest' },
      ['staging', 'production'],
      `${OUT}, or pin what is served there (v1)${THEN}`,
    ],
    ['nothing pins staging, which serves nothing', { production: 'latest' }, [], `Pin "staging". ${OUT}${THEN}`],
    [
      'staging stays where it is',
      { staging: 1, production: 'latest' },
      ['staging'],
      `To promote what "staging" serves (v1), run: ${COMMAND}`,
    ],
  ])('names the next step where %s', async (_, pins, serving, hint) => {
    const scene = await begin({ text: 'Two.', pins });
    scene.make(['One.']);
    for (const environment of serving) scene.activate(environment, 1);
    const { report } = await scene.runJson('plan');
    expect(report.prompts[0]?.problems.map((problem) => problem.hint)).toEqual([hint]);
  });

  test('is refused with every base, and after every later commit that keeps the pin', async () => {
    const scene = await ready(2, 1);
    scene.commit(pinned(3, 1));
    scene.activate('staging', 3);
    scene.commit(pinned(3, 2));
    const refusedByAll = async (...bases: readonly string[]) => {
      expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
      for (const base of bases)
        expect([base, told(await scene.runJson(...SYNC, '--base', base))]).toEqual([base, REFUSED]);
    };
    await refusedByAll('HEAD', 'HEAD~1', 'HEAD~2');
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Add a file that is no prompt');
    await refusedByAll('HEAD', 'HEAD~1', 'HEAD~2', 'HEAD~3');
    scene.commit({ ...pinned(3, 2), text: 'Four.' });
    await refusedByAll('HEAD', 'HEAD~1', 'HEAD~2', 'HEAD~3', 'HEAD~4');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('is refused although an earlier commit of the same branch pinned staging to the version, which no sync saw', async () => {
    const scene = await ready(1, 1);
    scene.commit(pinned(2, 1));
    scene.commit(pinned(3, 2));
    for (const words of [[], ['--base', 'HEAD'], ['--base', 'HEAD~1'], ['--base', 'HEAD~2']]) {
      expect(told(await scene.runJson(...SYNC, ...words))).toBe(REFUSED);
    }
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Add a file that is no prompt');
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
  });

  test('is refused where the prompt has moved to a file that git takes for a new one', async () => {
    const scene = await ready(2, 1);
    rmSync(join(scene.folder, PATH));
    const moved = { ...pinned(2, 3), text: 'A text that has nothing in common with the one before.\n'.repeat(20) };
    writeFiles(scene.folder, { 'prompts/moved.md': promptText('greeting', moved) });
    commitAll(scene.folder, 'Move it and write it anew');
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(told(await scene.runJson(...SYNC, '--base', 'HEAD'))).toBe(REFUSED);
    expect(told(await scene.runJson(...SYNC, '--base', 'HEAD~1'))).toBe(REFUSED);
  });

  test('cannot be hidden by two further commits of the same branch, whatever the base', async () => {
    const scene = await ready(2, 1);
    scene.commit(pinned(2, 3));
    scene.commit(pinned(2, 1));
    scene.commit(pinned(2, 3));
    expect(told(await scene.runJson('plan', '--base', 'HEAD~3'))).toBe(REFUSED);
    expect(told(await scene.runJson(...SYNC, '--base', 'HEAD~3'))).toBe(REFUSED);
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    scene.commit(pinned(3, 3));
    scene.commit(pinned(2, 3));
    expect(told(await scene.runJson('plan', '--base', 'HEAD~5'))).toBe(REFUSED);
    expect(told(await scene.runJson('plan'))).toBe(REFUSED);
  });

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

  test.each([['latest'], ['git:side']])(
    'to a text that no version holds is refused again after a revert: %s',
    async (pin) => {
      const scene = await ready(2, 1);
      git(scene.folder, 'switch', '--quiet', '--create', 'side');
      scene.commit({ ...pinned(2, 1), text: 'Four.' });
      git(scene.folder, 'switch', '--quiet', 'main');
      const text = pin === 'latest' ? 'Four.' : 'Three.';
      scene.commit({ ...pinned(2, pin), text });
      expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
      git(scene.folder, 'revert', '--no-edit', 'HEAD');
      expect(told(await scene.runJson(...SYNC))).toBe('exit 0, greeting unchanged');
      scene.commit({ ...pinned(2, pin), text });
      expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
      expect(servedBy(scene)).toEqual(['v2', 'v1']);
    },
  );

  test.each<[string, Pins]>([
    ['that did not pin staging', { production: 1 }],
    ['that had no pins', {}],
    ['that pinned staging to a tag', { staging: 'git:release', production: 1 }],
  ])('is refused again after a revert by a file %s', async (_, pins) => {
    const scene = await begin({ text: 'Three.', pins });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 2);
    scene.activate('production', 1);
    for (const production of [3, 1, 3]) scene.commit(pinned(2, production));
    // The text of version 3, whatever the tag named before.
    git(scene.folder, 'tag', 'release');
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(servedBy(scene)).toEqual(['v2', 'v1']);
  });

  test('to an older version that no environment served is refused although a tag that the file pinned names it now', async () => {
    const scene = await ready(3, 3);
    git(scene.folder, 'switch', '--quiet', '--create', 'side');
    scene.commit({ ...pinned(3, 3), text: 'Four.' });
    git(scene.folder, 'tag', 'release');
    scene.commit({ ...pinned(3, 3), text: 'Two.' });
    git(scene.folder, 'switch', '--quiet', 'main');
    scene.commit(pinned(3, 'git:release'));
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    scene.commit(pinned(3, 3));
    git(scene.folder, 'tag', '--force', 'release', 'side');
    scene.commit(pinned(3, 'git:release'));
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(servedBy(scene)).toEqual(['v3', 'v3']);
  });
});

describe('a promotion that skips staging, by a prompt that promptsync has synced and whose history git does not follow,', () => {
  const LONG = 'A text that has nothing in common with the one before.\n'.repeat(20);
  const SKIP = { ...pinned(2, 3), text: LONG };

  /** Three versions that promptsync made from commits; staging serves version 2, and production version 1. */
  async function synced(config?: string): Promise<Scene> {
    const scene = await begin({ text: 'One.', pins: { staging: 'latest' } }, config === undefined ? {} : { config });
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit({ text: 'Two.', pins: { staging: 1, production: 1 } });
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    scene.commit(pinned(2, 1));
    expect(told(await scene.runJson(...SYNC))).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v2', 'v1']);
    return scene;
  }

  /** Removes the prompt's file and commits the skip in a new one. */
  function addElsewhere({ folder }: Scene, path = 'prompts/moved.md'): void {
    rmSync(join(folder, PATH), { force: true });
    writeFiles(folder, { [path]: promptText('greeting', SKIP) });
    commitAll(folder, 'Add the prompt elsewhere');
  }

  function removeFile({ folder }: Scene): void {
    rmSync(join(folder, PATH));
    commitAll(folder, 'Remove the prompt');
  }

  const BOTH_ENDINGS = PROMOTION.replace('["prompts/**/*.md"]', '["prompts/**/*.md", "prompts/**/*.txt"]');

  test.each<[string, (scene: Scene) => void, string?]>([
    [
      'is refused where one commit deletes the file and a later one adds another',
      (scene) => {
        removeFile(scene);
        addElsewhere(scene);
      },
    ],
    [
      'is refused where one commit breaks the file and the next moves and rewrites it',
      (scene) => {
        writeFiles(scene.folder, { [PATH]: '---\nid: [\n---\n' });
        commitAll(scene.folder, 'Break it');
        addElsewhere(scene);
      },
    ],
    [
      'is refused where the file stops to be a prompt file for one commit',
      (scene) => {
        git(scene.folder, 'mv', PATH, 'prompts/greeting.txt');
        commitAll(scene.folder, 'Give it another ending');
        rmSync(join(scene.folder, 'prompts/greeting.txt'));
        addElsewhere(scene);
      },
    ],
    [
      'is refused where one commit rewrites the file and changes its ending',
      (scene) => addElsewhere(scene, 'prompts/greeting.txt'),
      BOTH_ENDINGS,
    ],
    [
      'is refused where the file writes the id with an escape before it moves',
      (scene) => {
        writeFiles(scene.folder, { [PATH]: scene.read().replace('prm_greeting', String.raw`prm\u005fgreeting`) });
        commitAll(scene.folder, 'Write the id in another way');
        addElsewhere(scene);
      },
    ],
    [
      'is refused after a revert as well',
      (scene) => {
        removeFile(scene);
        addElsewhere(scene);
        git(scene.folder, 'mv', 'prompts/moved.md', PATH);
        scene.commit({ ...pinned(2, 1), text: LONG });
        scene.commit(SKIP);
      },
    ],
  ])('%s', async (_, loseHistory, config) => {
    const scene = await synced(config);
    loseHistory(scene);
    expect(told(await scene.runJson(...SYNC))).toBe(REFUSED);
    expect(servedBy(scene)).toEqual(['v2', 'v1']);
  });

  test('is refused in a shallow clone that has none of the commits from which promptsync made the versions', async () => {
    const scene = await synced();
    removeFile(scene);
    addElsewhere(scene);
    git(scene.folder, 'clone', '--quiet', '--depth', '2', `file://${scene.folder}`, 'cut');
    expect(told(await runJson(`${scene.folder}/cut`, [...SYNC], scene.service))).toBe(REFUSED);
  });

  test('differs from an import into another repository, whose pins are put back', async () => {
    const scene = await synced();
    const other = makeRepository({ 'README.md': 'No prompts yet.' });
    writeFiles(other, { 'promptsync.yaml': PROMOTION, 'prompts/moved.md': promptText('greeting', pinned(2, 3)) });
    commitAll(other, 'Import');
    expect(told(await runJson(other, [...SYNC], scene.service))).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v2', 'v3']);
  });
});

describe('a promotion', () => {
  test.each<[string, readonly string[]]>([
    ['without a base', []],
    ['with one', ['--base', 'HEAD^']],
  ])('that was cut short once staging had moved on is finished by the next run: %s', async (_, words) => {
    const scene = await begin({ text: 'Two.', pins: { staging: 'latest', production: 1 } });
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
    expect(servedBy(scene)).toEqual(['v3', 'v1']);
    expect(told(await scene.runJson(...SYNC, ...words))).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v3', 'v2']);
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

  test.each<[string, readonly string[]]>([
    ['without a base', []],
    ['with HEAD as the base', ['--base', 'HEAD']],
    ['with the commit before as the base', ['--base', 'HEAD~1']],
  ])('is a rollback, and the revert of a rollback: %s', async (_, words) => {
    const scene = await ready(2, 1);
    const sync = async () => told(await scene.runJson(...SYNC, ...words));
    scene.commit(pinned(2, 2));
    expect(await sync()).toBe(APPLIED);
    scene.commit(pinned(3, 2));
    expect(await sync()).toBe(APPLIED);
    scene.commit(pinned(3, 1));
    expect(await sync()).toBe(APPLIED);
    git(scene.folder, 'revert', '--no-edit', 'HEAD');
    expect(await sync()).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v3', 'v2']);
    scene.commit(pinned(1, 1));
    expect(await sync()).toBe(APPLIED);
    git(scene.folder, 'revert', '--no-edit', 'HEAD');
    expect(await sync()).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v3', 'v2']);
  });

  test.each<[string, readonly string[]]>([
    ['without a base', []],
    ['with HEAD as the base', ['--base', 'HEAD']],
    ['with the import as the base', ['--base', 'HEAD~1']],
    ['with the commit before the import as the base', ['--base', 'HEAD~2']],
  ])('is putting back the version that an import has found: %s', async (_, words) => {
    const importInto = (files: Files): string => {
      const folder = makeRepository({ 'README.md': 'No prompts yet.' });
      writeFiles(folder, files);
      commitAll(folder, 'Import');
      return folder;
    };
    const scene = await begin(pinned(2, 1), { makeFolder: importInto });
    scene.make(['One.', 'Two.', 'Three.']);
    scene.activate('staging', 2);
    scene.activate('production', 3);
    writeFiles(scene.folder, { 'README.md': 'Something else.' });
    commitAll(scene.folder, 'Edit another file');
    expect(told(await scene.runJson(...SYNC, ...words))).toBe(APPLIED);
    expect(servedBy(scene)).toEqual(['v2', 'v1']);
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
