import { expect, test } from 'vitest';
import { cloneOf, git } from '../../support/folder.ts';
import { CONFIG } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';
import {
  makePromotionScene,
  OUTSIDE_GIT,
  summarizeRun,
  type Scene,
  type SceneOptions,
} from '../../support/promotion.ts';
import { APPLIED, pinned, TEXTS } from './incident.ts';

const ROLLBACK = ['rollback', 'greeting', '--environment', 'production'] as const;

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

test('each rollback goes one pin further back in git than the served version, and a sync restores that version', async () => {
  const scene = await makeReadyScene(2, 3);
  scene.commit(pinned(3));
  scene.commit(pinned(4));
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(`${APPLIED} rollback/already-back`);
  expect(productionOf(scene)).toBe('2');
  git(scene.folder, 'restore', '.');
  scene.activate('production', 4);
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(productionOf(scene)).toBe('3');
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe('exit 0, greeting unchanged');
  expect(scene.service.takeWrites()).toEqual([]);
  git(scene.folder, 'restore', '.');
  for (const expected of [3, 2]) {
    expect(summarizeRun(await scene.runJson(...ROLLBACK, '--commit'))).toBe(APPLIED);
    expect(productionOf(scene)).toBe(String(expected));
    if (expected === 3) scene.activate('production', expected);
  }
  // Staging no longer serves the version, but production served it before.
  expect(summarizeRun(await scene.runJson('sync', '--yes'))).toBe(APPLIED);
  expect(scene.serves('production')).toBe('v2');
  scene.make(['Six.']);
  const refused = await scene.runJson(...ROLLBACK, '--to', '6');
  expect(summarizeRun(refused)).toBe('exit 3, greeting blocked guard/promotion-order');
  expect(productionOf(scene)).toBe('2');
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

test('rollback edits nothing if its arguments are invalid, the requested version is unknown, or --now needs a git repository', async () => {
  const scene = await makeReadyScene(4, 4, OUTSIDE_GIT);
  const before = scene.read();
  const UNKNOWN = 'exit 3, greeting blocked rollback/unknown-version';
  const NEEDS_GIT = 'exit 1, greeting not_attempted, git/needs-repository';
  for (const { words, expected } of [
    { words: 'greeting --environment production --to 99', expected: UNKNOWN },
    { words: 'greeting --environment production --to 4', expected: 'exit 0, greeting unchanged' },
    { words: 'greeting --environment production --to 0', expected: 'exit 1, usage/invalid' },
    { words: 'greeting --environment production --to v3', expected: 'exit 1, usage/invalid' },
    { words: 'greeting', expected: 'exit 1, usage/needs-environment' },
    { words: 'greeting --environment production --yes', expected: 'exit 1, usage/invalid' },
    { words: 'greeting --environment production --now --yes', expected: NEEDS_GIT },
    { words: 'greeting --environment production --now --commit', expected: 'exit 1, usage/invalid' },
    { words: '--environment production', expected: 'exit 1, usage/nothing-named' },
    { words: 'greeting --environment prod', expected: 'exit 1, greeting not_attempted, usage/unknown-environment' },
    { words: 'hello --environment production', expected: 'exit 1, usage/nothing-selected' },
  ]) {
    expect([words, summarizeRun(await scene.runJson('rollback', ...words.split(' ')))]).toEqual([words, expected]);
  }
  expect(scene.read()).toBe(before);
});

test('rollback outside a git repository pins the next older version, and refuses if there is no older or no served version', async () => {
  const other = { text: 'One.', pins: { staging: 'latest' } };
  const scene = await makeReadyScene(2, 2, { ...OUTSIDE_GIT, config: CONFIG, others: { other } });
  scene.make(['One.'], 'other');
  scene.activate('staging', 1, 'other');
  const idle = await scene.runJson('rollback', 'other', '--environment', 'production');
  expect(summarizeRun(idle)).toBe('exit 3, other blocked rollback/nothing-served');
  expect(summarizeRun(await scene.runJson(...ROLLBACK))).toBe(APPLIED);
  expect(productionOf(scene)).toBe('1');
  scene.activate('production', 1);
  const refused = await scene.runJson(...ROLLBACK);
  expect(summarizeRun(refused)).toBe('exit 3, greeting blocked rollback/nothing-before');
  expect(refused.report.prompts[0]?.problems[0]).toMatchObject({
    message: '"production" serves v1, and promptsync found no older version with different text to restore.',
    hint: expect.stringContaining('`promptsync history greeting`'),
  });
});

test('rollback stops at an earlier pin to an unknown version, and refuses to guess in a shallow clone', async () => {
  const scene = await makeReadyScene(1, 4, { config: CONFIG });
  scene.commit(pinned('version:gone'));
  scene.commit(pinned(4));
  const ran = await scene.runJson(...ROLLBACK);
  expect(summarizeRun(ran)).toBe('exit 3, greeting blocked rollback/unclear-before');
  const commit = git(scene.folder, 'rev-parse', 'HEAD~1').slice(0, 12);
  expect(ran.report.prompts[0]?.problems[0]?.message).toContain(`Commit ${commit} pinned "production"`);
  expect(productionOf(scene)).toBe('4');
  const shallow = await runJson(cloneOf(scene.folder), ROLLBACK, scene.service);
  expect(summarizeRun(shallow)).toBe('exit 3, greeting blocked rollback/shallow');
});
