import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, git, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';
import {
  makePromotionScene,
  PATH,
  PROMOTION,
  summarizeRun,
  type Scene,
  type SceneOptions,
} from '../../support/promotion.ts';

const ROLLBACK = ['rollback', 'greeting', '--environment', 'production'] as const;
const TEXTS = ['One.', 'Two.', 'Three.', 'Four.', 'Five.'];
const APPLIED = 'exit 0, greeting applied';
const pinned = (production: number | string) => ({ text: 'Five.', pins: { staging: 'latest', production } });

const outsideGit: SceneOptions = { makeFolder: makeWorkspace };
/** Has no promotion order, so that any version may be active in any environment. */
const free: SceneOptions = { ...outsideGit, config: CONFIG };

/** Makes five versions. Staging serves the newest and production the given one. The first commit has the first pin. */
async function makeReadyScene(first: number | string, served: number, options?: SceneOptions): Promise<Scene> {
  const scene = await makePromotionScene(pinned(first), options);
  scene.make(TEXTS);
  scene.activate('staging', 5);
  scene.activate('production', served);
  return scene;
}

function productionOf({ read }: Scene): string | undefined {
  return /production": ?("?[^,}]*)/.exec(read())?.[1];
}

describe('rollback', () => {
  test('rollback restores the previous pin from git, even if the pinned version numbers are not consecutive', async () => {
    const scene = await makeReadyScene(2, 4);
    scene.commit(pinned(4));
    const ran = await scene.run(...ROLLBACK);
    expect(ran.exitCode).toBe(0);
    expect(productionOf(scene)).toBe('2');
    expect(ran.stdout).toContain('production: 4 → 2');
    expect(scene.service.takeWrites()).toEqual([]);
  });

  test('each repeated rollback goes one pin further back in git and never moves forward', async () => {
    const scene = await makeReadyScene(2, 4);
    scene.commit(pinned(3));
    scene.commit(pinned(4));
    for (const expected of [3, 2]) {
      expect(summarizeRun(await scene.runJson(...ROLLBACK, '--commit'))).toBe(APPLIED);
      expect(productionOf(scene)).toBe(String(expected));
      scene.activate('production', expected);
    }
  });

  test('rollback is idempotent until the next sync because it starts from the version that the environment serves', async () => {
    const scene = await makeReadyScene(2, 4);
    scene.commit(pinned(4));
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe('exit 0, greeting unchanged');
    expect(productionOf(scene)).toBe('2');
  });

  test('rollback warns that it will go back another version if the environment already serves an earlier version than the file asks for', async () => {
    const scene = await makeReadyScene(2, 4);
    scene.commit(pinned(4));
    scene.activate('production', 2);
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(`${APPLIED} rollback/already-back`);
    expect(productionOf(scene)).toBe('1');
  });

  test('rollback replaces a pin to latest with the number of the version that contains the previous text', async () => {
    const scene = await makePromotionScene({ text: 'Four.', pins: { staging: 'latest' } });
    scene.make(TEXTS);
    scene.activate('staging', 5);
    scene.commit({ text: 'Five.', pins: { staging: 'latest' } });
    const words = ['rollback', 'greeting', '--environment', 'staging'];
    expect(summarizeRun(await scene.runJson(...words))).toBe(APPLIED);
    expect(scene.read()).toMatch(/"staging": ?4/);
  });

  test('rollback outside a git repository pins the previous version in the version ledger', async () => {
    const scene = await makeReadyScene(4, 4, free);
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(productionOf(scene)).toBe('3');
  });

  test('rollback --branch commits all prompts that match a pattern and names their versions in the commit message', async () => {
    const scene = await makeReadyScene(2, 4, { others: { goodbye: pinned(2) }, config: CONFIG });
    scene.make(TEXTS, 'goodbye');
    scene.activate('production', 4, 'goodbye');
    const ran = await scene.runJson('rollback', 'g*', '--environment', 'production', '--to', '1', '--branch', 'back');
    expect(summarizeRun(ran)).toBe('exit 0, goodbye applied, greeting applied');
    expect(ran.report.committed?.branch).toBe('back');
    expect(git(scene.folder, 'log', '-1', '--format=%B').trim()).toBe(
      'Roll 2 prompts back in production\n\n- goodbye (v2 → v1)\n- greeting (v2 → v1)',
    );
  });
});

describe('the refusals of rollback', () => {
  test('rollback edits nothing if its arguments are invalid or the requested version is unknown', async () => {
    const scene = await makeReadyScene(4, 4, outsideGit);
    const before = scene.read();
    const UNKNOWN = 'exit 3, greeting blocked rollback/unknown-version';
    for (const { words, expected } of [
      { words: 'greeting --environment production --to 99', expected: UNKNOWN },
      { words: 'greeting --environment production --to 4', expected: 'exit 0, greeting unchanged' },
      { words: 'greeting --environment production --to 0', expected: 'exit 1, usage/invalid' },
      { words: 'greeting --environment production --to v3', expected: 'exit 1, usage/invalid' },
      { words: 'greeting', expected: 'exit 1, usage/needs-environment' },
      { words: 'greeting --environment production --yes', expected: 'exit 1, usage/invalid' },
      { words: '--environment production', expected: 'exit 1, usage/nothing-named' },
      { words: 'greeting --environment prod', expected: 'exit 1, greeting not_attempted, usage/unknown-environment' },
      { words: 'hello --environment production', expected: 'exit 1, usage/nothing-selected' },
    ]) {
      expect([words, summarizeRun(await scene.runJson('rollback', ...words.split(' ')))]).toEqual([words, expected]);
    }
    expect(scene.read()).toBe(before);
    const first = await makeReadyScene(1, 1, free);
    const refused = await first.runJson(...ROLLBACK);
    expect(summarizeRun(refused)).toBe('exit 3, greeting blocked rollback/nothing-before');
    expect(refused.report.prompts[0]?.problems[0]).toMatchObject({
      message: '"production" serves v1, and promptsync found no older version with different text to restore.',
      hint: expect.stringContaining('`promptsync history greeting`'),
    });
  });

  test('rollback refuses an environment that serves no version, even if another environment serves one', async () => {
    const scene = await makePromotionScene({ text: 'Two.', pins: { staging: 'latest' } }, free);
    scene.make(['One.', 'Two.']);
    scene.activate('staging', 2);
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe('exit 3, greeting blocked rollback/nothing-served');
  });

  test('rollback stops at an earlier pin to an unknown version and names the commit that contains the pin', async () => {
    const scene = await makeReadyScene(1, 4, { config: CONFIG });
    scene.commit(pinned('version:gone'));
    scene.commit(pinned(4));
    const ran = await scene.runJson(...ROLLBACK);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked rollback/unclear-before');
    const commit = git(scene.folder, 'rev-parse', 'HEAD~1').slice(0, 12);
    expect(ran.report.prompts[0]?.problems[0]?.message).toContain(`Commit ${commit} pinned "production"`);
    expect(productionOf(scene)).toBe('4');
  });

  test('rollback refuses to guess the previous pin if a shallow clone lacks the commit that contains it', async () => {
    const scene = await makeReadyScene(1, 4, { config: CONFIG });
    scene.commit(pinned(4));
    const ran = await runJson(cloneOf(scene.folder), ROLLBACK, scene.service);
    expect(summarizeRun(ran)).toBe('exit 3, greeting blocked rollback/shallow');
    expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
    expect(productionOf(scene)).toBe('1');
  });
});

describe('rollback with a promotion order', () => {
  test('rollback can restore a previously pinned version that the source environment no longer serves', async () => {
    const scene = await makeReadyScene(2, 4);
    scene.commit(pinned(4));
    expect(summarizeRun(await scene.runJson(...ROLLBACK, '--commit'))).toBe(APPLIED);
    expect(summarizeRun(await scene.runJson('sync', '--yes'))).toBe(APPLIED);
    expect(scene.serves('production')).toBe('v2');
  });

  test('rollback --to refuses a version newer than the active one if the source environment does not serve that version', async () => {
    const scene = await makeReadyScene(2, 2);
    const before = scene.read();
    expect(summarizeRun(await scene.runJson(...ROLLBACK, '--to', '3'))).toBe(
      'exit 3, greeting blocked guard/promotion-order',
    );
    expect(scene.read()).toBe(before);
  });
});

describe('rollback to an adopted version', () => {
  /** Imports a prompt, and then edits and promotes it, so that no environment serves the first text. */
  async function makeAdoptedScene(): Promise<Scene> {
    const scene = await makePromotionScene({}, { config: PROMOTION });
    const { store } = scene.service;
    const { id } = store.createVersion('prm_greeting', { content: 'Imported.' })!;
    for (const environment of ['staging', 'production'])
      store.setActive('prm_greeting', { environment, versionId: id });
    const pins = { staging: 'latest', production: `version:${id}` };
    scene.commit({ text: 'Imported.', pins });
    git(scene.folder, 'mv', PATH, 'prompts/hello.md');
    commitAll(scene.folder, 'Rename');
    writeFiles(scene.folder, { 'prompts/hello.md': promptText('greeting', { text: 'Edited.', pins }) });
    commitAll(scene.folder, 'Edit');
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    await scene.run('promote', 'greeting', '--to', 'production', '--commit');
    expect((await scene.run('sync', '--yes')).exitCode).toBe(0);
    return scene;
  }

  test('rollback, plan and sync read the text of an imported version from git and show it in a diff', async () => {
    const scene = await makeAdoptedScene();
    for (const words of [[...ROLLBACK, '--commit'], ['plan'], ['sync', '--yes']]) {
      const { stdout, exitCode } = await scene.run(...words);
      expect({ words, exitCode, stdout }).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('+Imported.') });
      expect(stdout).toContain('-Edited.');
    }
    expect(scene.serves('production')).toBe('v1');
  });
});
