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

/** A file that equals what the service has had as v2, of which the service remembers nothing once v3 is active. */
async function makePulled(): Promise<Scene> {
  const scene = await makeSynced({});
  changeOutside(scene, { content: PULLED });
  expect((await pull(scene, '--commit')).exitCode).toBe(0);
  await sync(scene);
  return scene;
}

/** A file that was imported, and pulled once since: promptsync has made a baseline alone. */
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

/** The exit code and the text of a pull; then the file is put back, and the same with `--theirs`. */
async function pullBothWays(scene: Scene): Promise<readonly [number, string, number, string]> {
  const before = source(scene);
  const { exitCode } = await pull(scene);
  const written = textIn(scene);
  writeSource(scene, before);
  return [exitCode, written, (await pull(scene, '--theirs')).exitCode, textIn(scene)];
}

const takesBack = change(TEXT, { 'Three.': '3.' });
const changesAgain = change(TEXT, { 'Two.': 'II.' });

describe('after a pull, the next edit in the service', () => {
  test.each<[string, () => Promise<Scene>, string, string]>([
    [
      'that takes a line back and changes another',
      makePulled,
      takesBack,
      change(takesBack, { 'Two.': both('2.', 'Two.') }),
    ],
    ['that goes back to an older text', makePulled, TEXT, change(TEXT, { 'Two.': both('2.', 'Two.') })],
    ['that changes the same line again', makePulled, changesAgain, change(TEXT, { 'Two.': both('2.', 'II.') })],
  ])('%s is asked about, and wholly in the file with --theirs', async (_, make, theirs, asked) => {
    const scene = await make();
    changeOutside(scene, { content: theirs });
    expect(await pullBothWays(scene)).toEqual([4, asked, 0, theirs]);
    await settle(scene);
  });

  test('that changes the same line again, after an import that was synced, is taken over', async () => {
    const scene = await makeImported();
    changeOutside(scene, { content: changesAgain });
    expect(await pullBothWays(scene)).toEqual([0, changesAgain, 0, changesAgain]);
    await settle(scene);
  });

  test('that changes another line only is merged without a question', async () => {
    const scene = await makePulled();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(PULLED, { 'Three.': '3.' }));
    await settle(scene);
  });
});

describe('an edit that goes back to an older text', () => {
  test('is taken over where the service has had the file’s text by a sync', async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    changeOutside(scene, { content: TEXT });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(TEXT);
    await settle(scene);
  });

  test('is none where an environment waits for a sync of what git has changed since the last pull', async () => {
    const scene = await makePulled();
    edit(scene, { text: change(PULLED, { 'Three.': '3.' }) });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });
});

describe('a file that went back to an older text', () => {
  const makeReverted = async () => {
    const scene = await makeSynced({});
    edit(scene, { text: PULLED });
    await sync(scene);
    edit(scene, { text: TEXT });
    return scene;
  };

  test('keeps that where the service does not know of it yet: it is asked about', async () => {
    const scene = await makeReverted();
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(change(TEXT, { 'Two.': both('Two.', '2.'), 'Three.': '3.' }));
  });

  test('keeps that after a pull as well', async () => {
    const scene = await makePulled();
    edit(scene, { text: TEXT });
    changeOutside(scene, { content: change(PULLED, { 'Three.': '3.' }) });
    expect((await pull(scene)).exitCode).toBe(4);
    expect(textIn(scene)).toBe(change(TEXT, { 'Two.': both('Two.', '2.'), 'Three.': '3.' }));
  });

  test('gets what was changed since, and is asked about where somebody undoes it in the service', async () => {
    const scene = await makeReverted();
    await sync(scene);
    changeOutside(scene, { content: takesBack });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(takesBack);
    const undone = await makeReverted();
    await sync(undone);
    changeOutside(undone, { content: PULLED });
    const asked = change(TEXT, { 'Two.': both('Two.', '2.') });
    expect(await pullBothWays(undone)).toEqual([4, asked, 0, PULLED]);
    await settle(undone);
  });
});

test.each<[string, string, string]>([
  ['is taken back by the next is asked about', 'b', 'a'],
  ['git has put back since stays unless somebody decides', 'a', 'b'],
])('metadata that was changed in a pulled edit and %s', async (_, ours, theirs) => {
  const scene = await makeSynced({ metadata: { model: 'a' } });
  changeOutside(scene, { content: TEXT, metadata: { model: 'b' } });
  expect((await pull(scene, '--commit')).exitCode).toBe(0);
  await sync(scene);
  if (ours === 'a') edit(scene, { metadata: { model: 'a' } });
  changeOutside(scene, { content: takesBack, metadata: { model: theirs } });
  expect((await pull(scene, '--dry-run')).exitCode).toBe(4);
  expect((await pull(scene, '--theirs')).exitCode).toBe(0);
  expect(source(scene)).toContain(`"model":"${theirs}"`);
});
