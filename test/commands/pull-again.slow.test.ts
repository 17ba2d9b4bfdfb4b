import { describe, expect, test } from 'vitest';
import { commitAll, makeRepository } from '../support/folder.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import {
  change,
  changeOutside,
  conflict,
  edit,
  makeSynced,
  only,
  pull,
  settle,
  source,
  sync,
  TEXT,
  textIn,
  writeSource,
  type Scene,
} from './pulling.ts';

const PULLED = change(TEXT, { 'Two.': '2.' });

/** Makes a file that equals v2. The service shows nothing of v2 after v3 is active. */
async function makePulled(): Promise<Scene> {
  const scene = await makeSynced({});
  changeOutside(scene, { content: PULLED });
  expect((await pull(scene, '--commit')).exitCode).toBe(0);
  await sync(scene);
  return scene;
}

/** Makes a file that was imported and pulled once. promptsync has created only a baseline. */
async function makeImported(): Promise<Scene> {
  const folder = makeRepository({ 'promptsync.yaml': 'environments: { staging: {} }\n' });
  const scene = { folder, service: await startTestService(['greeting']) };
  changeOutside(scene, { content: TEXT });
  await runJson(folder, ['import', 'prm_greeting'], scene.service);
  commitAll(folder, 'Import');
  changeOutside(scene, { content: PULLED });
  expect((await pull(scene, '--commit')).exitCode).toBe(0);
  await sync(scene);
  return scene;
}

const both = (ours: string, theirs: string) => conflict(ours, theirs, 'staging v3');

/** Returns the exit code and the text of a pull, and then those of a pull with `--theirs` of the same file. */
async function pullBothWays(scene: Scene): Promise<readonly [number, string, number, string]> {
  const before = source(scene);
  const { exitCode } = await pull(scene);
  const written = textIn(scene);
  writeSource(scene, before);
  return [exitCode, written, (await pull(scene, '--theirs')).exitCode, textIn(scene)];
}

const changedThree = change(TEXT, { 'Three.': '3.' });
const changesAgain = change(TEXT, { 'Two.': 'II.' });

describe('pull after an earlier pull', () => {
  test.each<[string, () => Promise<Scene>, string, string]>([
    [
      'pull reports a conflict if the service reverts a previously pulled line and changes another',
      makePulled,
      changedThree,
      change(changedThree, { 'Two.': both('2.', 'Two.') }),
    ],
    [
      'pull reports a conflict if the service reverts to the text from before the last pull',
      makePulled,
      TEXT,
      change(TEXT, { 'Two.': both('2.', 'Two.') }),
    ],
    [
      'pull reports a conflict if the service changes a previously pulled line again',
      makePulled,
      changesAgain,
      change(TEXT, { 'Two.': both('2.', 'II.') }),
    ],
  ])('%s', async (_, make, theirs, asked) => {
    const scene = await make();
    changeOutside(scene, { content: theirs });
    expect(await pullBothWays(scene)).toEqual([4, asked, 0, theirs]);
    await settle(scene);
  });

  test('pull accepts a second service edit to the same line of an imported prompt after a sync', async () => {
    const scene = await makeImported();
    changeOutside(scene, { content: changesAgain });
    expect(await pullBothWays(scene)).toEqual([0, changesAgain, 0, changesAgain]);
    await settle(scene);
  });

  test('pull merges a later service edit to a different line without a conflict', async () => {
    const scene = await makePulled();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(PULLED, { 'Three.': '3.' }));
    await settle(scene);
  });
});

describe('pull of an older text from the service', () => {
  test('pull accepts a service edit that restores older text if the newer text was synced', async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    changeOutside(scene, { content: TEXT });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(TEXT);
    await settle(scene);
  });

  test('pull changes nothing if the service only lacks unsynced edits from git', async () => {
    const scene = await makePulled();
    edit(scene, { text: change(PULLED, { 'Three.': '3.' }) });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });
});

describe('pull into a file that was reverted in git', () => {
  const makeReverted = async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    edit(scene, { text: TEXT });
    return scene;
  };

  test('pull reports a conflict between a service edit and an unsynced revert in git', async () => {
    const scene = await makeReverted();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(change(TEXT, { 'Two.': both('Two.', '2.'), 'Three.': '3.' }));
  });

  test('pull reports a conflict between a service edit and a git revert of previously pulled text', async () => {
    const scene = await makePulled();
    edit(scene, { text: TEXT });
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(change(TEXT, { 'Two.': both('Two.', '2.'), 'Three.': '3.' }));
  });

  test('pull merges service edits after a synced git revert but reports a conflict if the service undoes the revert', async () => {
    const scene = await makeReverted();
    await sync(scene);
    changeOutside(scene, { content: changedThree });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(changedThree);
    const undone = await makeReverted();
    await sync(undone);
    changeOutside(undone, { content: PULLED });
    const asked = change(TEXT, { 'Two.': both('Two.', '2.') });
    expect(await pullBothWays(undone)).toEqual([4, asked, 0, PULLED]);
    await settle(undone);
  });
});

test.each<[string, string, string]>([
  ['pull reports a conflict if previously pulled metadata is reverted in the service', 'b', 'a'],
  ['pull reports a conflict if previously pulled metadata is reverted in git', 'a', 'b'],
])('%s', async (_, ours, theirs) => {
  const scene = await makeSynced({ metadata: { model: 'a' } });
  changeOutside(scene, { content: TEXT, metadata: { model: 'b' } });
  expect((await pull(scene, '--commit')).exitCode).toBe(0);
  await sync(scene);
  if (ours === 'a') edit(scene, { metadata: { model: 'a' } });
  changeOutside(scene, { content: changedThree, metadata: { model: theirs } });
  expect((await pull(scene, '--dry-run')).exitCode).toBe(4);
  expect((await pull(scene, '--theirs')).exitCode).toBe(0);
  expect(source(scene)).toContain(`"model":"${theirs}"`);
});
