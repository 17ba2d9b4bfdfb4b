import { describe, expect, test } from 'vitest';
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
  test('pull reports a conflict if a service edit reverts a previously pulled line and changes another line', async () => {
    const scene = await makePulled();
    changeOutside(scene, { content: changedThree });
    const asked = `One.\n\n${both('2.\n\nThree.', 'Two.\n\n3.')}`;
    expect(await pullBothWays(scene)).toEqual([4, asked, 0, changedThree]);
    await settle(scene);
  });

  test('pull reports a conflict if a previously pulled line changes again in the service', async () => {
    const scene = await makePulled();
    changeOutside(scene, { content: changesAgain });
    expect(await pullBothWays(scene)).toEqual([4, change(TEXT, { 'Two.': both('2.', 'II.') }), 0, changesAgain]);
    await settle(scene);
  });

  test('pull merges a service edit without a conflict if the edit changes none of the previously pulled lines', async () => {
    const scene = await makePulled();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(PULLED, { 'Three.': '3.' }));
    await settle(scene);
  });
});

describe('pull of an older text from the service', () => {
  test('pull changes nothing if the service has a text that an earlier commit asked for', async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    changeOutside(scene, { content: TEXT });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
    expect(textIn(scene)).toBe(PULLED);
  });

  test('pull changes nothing if git has unsynced edits but the service has not changed', async () => {
    const scene = await makePulled();
    edit(scene, { text: change(PULLED, { 'Three.': '3.' }) });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });
});

describe('pull into a file that was reverted in git', () => {
  const REVERT_CONFLICT = `One.\n\n${both('Two.\n\nThree.', '2.\n\n3.')}`;
  const makeReverted = async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    edit(scene, { text: TEXT });
    return scene;
  };

  test('pull reports a conflict if an unsynced commit reverts a synced edit and the service changes another line', async () => {
    const scene = await makeReverted();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(REVERT_CONFLICT);
  });

  test('pull reports a conflict if an unsynced commit reverts previously pulled text and the service changes another line', async () => {
    const scene = await makePulled();
    edit(scene, { text: TEXT });
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(REVERT_CONFLICT);
  });

  test('after a synced git revert, pull merges an unrelated service edit but reports a conflict if a service edit undoes the revert', async () => {
    const scene = await makeReverted();
    await sync(scene);
    changeOutside(scene, { content: changedThree });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(changedThree);
    const undone = await makeReverted();
    await sync(undone);
    const undoing = change(PULLED, { 'Three.': '3.' });
    changeOutside(undone, { content: undoing });
    expect(await pullBothWays(undone)).toEqual([4, REVERT_CONFLICT, 0, undoing]);
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
