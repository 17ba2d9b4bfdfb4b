import { describe, expect, test } from 'vitest';
import { cloneOf, makeWorkspace } from '../../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import {
  changeOutside,
  edit,
  makeSynced,
  moveOutside,
  only,
  pinned,
  pull,
  settle,
  source,
  sync,
  TEXT,
  textIn,
  writeSource,
  type Scene,
} from './pulling.ts';

const pins = { staging: 'latest', production: 1 };
const theirs = TEXT.replace('One.', '1.');

/** Makes three managed versions. Production is pinned to the second and was pinned to the first. */
async function makeHistory(): Promise<Scene> {
  const scene = await makeSynced({ pins: { staging: 'latest', production: 'latest' } });
  edit(scene, { pins, text: `${TEXT}\nv2` });
  await sync(scene);
  edit(scene, { pins: { ...pins, production: 2 }, text: `${TEXT}\nv3` });
  await sync(scene);
  return scene;
}

const withPins = (production: number, text = `${TEXT}\nv3`) =>
  promptText('greeting', { pins: { ...pins, production }, text });

describe('pull of an environment that is pinned to a number', () => {
  test('pull updates a pinned version number if a different version is activated in the service', async () => {
    const scene = await makeHistory();
    moveOutside(scene, 'production', 'staging');
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(0);
    const edits = [{ kind: 'set-pin', environment: 'production', before: '2', after: '3' }];
    expect(only(ran)).toMatchObject({ status: 'applied', edits, problems: [] });
    expect(source(scene)).toBe(withPins(3));
    await settle(scene);
  });

  test('pull updates the pin and the text if a pinned environment serves a version created outside promptsync', async () => {
    const scene = await makeSynced({ pins: { staging: 'latest', production: 'latest' } });
    edit(scene, { pins });
    await sync(scene);
    changeOutside(scene, { content: theirs, environments: ['production'] });
    const ran = await pull(scene);
    expect(only(ran).edits).toMatchObject([
      { kind: 'set-text', from: 'production v2' },
      { kind: 'set-pin', after: pinned(scene) },
    ]);
    expect(source(scene)).toBe(promptText('greeting', { pins: { ...pins, production: pinned(scene) }, text: theirs }));
    await settle(scene);
    const before = pinned(scene);
    // No earlier ledger lists this version, but pull must still notice that the environment moved.
    changeOutside(scene, { content: `${theirs}\nmore`, environments: ['production'] });
    expect(only(await pull(scene)).edits).toMatchObject([
      { kind: 'set-text' },
      { kind: 'set-pin', before, after: pinned(scene) },
    ]);
    await settle(scene);
  });

  test('pull pins the served version if the file pins a higher version number that promptsync does not know', async () => {
    const scene = await makeSynced({});
    edit(scene, { pins: { ...pins, production: 1 } });
    await sync(scene);
    edit(scene, { pins: { ...pins, production: 7 } });
    changeOutside(scene, { content: theirs, environments: ['production'] });
    expect(only(await pull(scene))).toMatchObject({
      status: 'applied',
      edits: [{ kind: 'set-pin', before: '7', after: pinned(scene) }],
    });
  });

  test('pull does not revert an unsynced pin edit if the environment still serves the version that an earlier commit pinned', async () => {
    const scene = await makeHistory();
    edit(scene, { pins: { ...pins, production: 3 }, text: `${TEXT}\nv3` });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
    edit(scene, { pins: { ...pins, production: 1 }, text: `${TEXT}\nv3` });
    await sync(scene);
    edit(scene, { pins: { ...pins, production: 3 }, text: `${TEXT}\nv3` });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
    expect(source(scene)).toBe(withPins(3));
  });
});

describe('pull of an environment that is pinned to latest', () => {
  test('pull preserves an unsynced edit to the prompt text if the service has not changed', async () => {
    const scene = await makeSynced({});
    edit(scene, { text: theirs });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
    expect(textIn(scene)).toBe(theirs);
  });

  /** Makes three managed versions. Production follows the file and never wanted the second one. */
  const makeFollowing = async () => {
    const scene = await makeSynced({ pins: { staging: 'latest', production: 'latest' } });
    edit(scene, { pins, text: `${TEXT}\nv2` });
    await sync(scene);
    moveOutside(scene, 'canary', 'staging');
    edit(scene, { pins: { staging: 'latest', production: 'latest' }, text: `${TEXT}\nv3` });
    return scene;
  };

  test('pull replaces a pin to latest with the number of the served version if somebody moved the environment to an older version', async () => {
    const scene = await makeFollowing();
    await sync(scene);
    moveOutside(scene, 'production', 'canary');
    expect(only(await pull(scene))).toMatchObject({
      status: 'applied',
      edits: [{ kind: 'set-pin', environment: 'production', before: 'latest', after: '2' }],
      problems: [],
    });
    expect(source(scene)).toBe(withPins(2));
    await settle(scene);
  });

  test('pull only warns if an environment pinned to latest serves a version created by promptsync and the text of the file is not synced yet', async () => {
    const scene = await makeFollowing();
    moveOutside(scene, 'production', 'canary');
    const before = source(scene);
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(0);
    expect(only(ran)).toMatchObject({
      status: 'unchanged',
      edits: [],
      problems: [{ code: 'pull/known-version', severity: 'warning' }],
    });
    expect(source(scene)).toBe(before);
  });
});

describe('pull of several environments', () => {
  const both = { staging: 'latest', production: 'latest' };

  test('pull refuses to merge different changes from two environments at once but accepts one environment at a time', async () => {
    const scene = await makeSynced({ pins: both });
    changeOutside(scene, { content: TEXT.replace('One.', '1.') });
    changeOutside(scene, { content: TEXT.replace('Three.', '3.'), environments: ['production'] });
    const before = source(scene);
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(3);
    expect(only(ran)).toMatchObject({
      status: 'blocked',
      problems: [{ code: 'pull/several', message: expect.stringMatching(/staging.*production/) }],
    });
    expect(source(scene)).toBe(before);
    expect((await pull(scene, '--environment', 'staging')).exitCode).toBe(0);
    expect((await pull(scene, '--environment', 'production')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(TEXT.replace('One.', '1.').replace('Three.', '3.'));
    await settle(scene);
  });

  test('pull treats identical text in two environments as one change', async () => {
    const config = 'prompts: ["prompts/**/*.md"]\nenvironments: { staging: {}, production: {} }\n';
    const parts = { pins: { production: 'latest', staging: 'latest' } };
    const scene = await makeSynced(parts, config);
    changeOutside(scene, { content: theirs, environments: ['staging', 'production'] });
    for (const environment of ['stagin', 'promptsync']) {
      expect((await pull(scene, '--environment', environment)).exitCode).toBe(1);
    }
    expect((await pull(scene)).exitCode).toBe(0);
    expect(source(scene)).toBe(promptText('greeting', { ...parts, text: theirs }));
  });

  test.each<[string, PromptParts, number]>([
    [
      'pull refuses different metadata in two environments if the file contains metadata',
      { metadata: { model: 'a' } },
      3,
    ],
    ['pull ignores different metadata in two environments if the file contains no metadata', {}, 0],
  ])('%s', async (_, managed, exitCode) => {
    const scene = await makeSynced({ pins: both, ...managed });
    changeOutside(scene, { content: theirs, metadata: { model: 'b' } });
    changeOutside(scene, { content: theirs, metadata: { model: 'c' }, environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(exitCode);
  });
});

test.each<[string, (scene: Scene) => string]>([
  ['pull refuses to update a pin that has an uncommitted edit', ({ folder }) => folder],
  [
    'pull outside a git repository refuses to update a pin that was edited in the file',
    (scene) => makeWorkspace({ ...workspaceFiles({}), 'prompts/greeting.md': source(scene) }),
  ],
])('%s', async (_, place) => {
  const scene = await makeHistory();
  moveOutside(scene, 'production', 'staging');
  writeSource(scene, withPins(1));
  const there = { ...scene, folder: place(scene) };
  const ran = await pull(there);
  expect(ran.exitCode).toBe(3);
  const message = expect.stringContaining('"production" serves v3, but the file pins `1`');
  const problem = { code: 'pull/pin-conflict', line: 5, message, hint: expect.stringContaining('`--ours`') };
  expect(only(ran)).toMatchObject({ status: 'blocked', problems: [problem] });
  expect(source(there)).toBe(withPins(1));
  expect(only(await pull(there, '--ours'))).toMatchObject({ status: 'unchanged' });
  expect((await pull(there, '--theirs')).exitCode).toBe(0);
  expect(source(there)).toBe(withPins(3));
});

test('pull in a shallow clone updates a committed pin, because promptsync cannot tell whether somebody changed the service', async () => {
  const scene = await makeHistory();
  edit(scene, { pins: { ...pins, production: 3 }, text: `${TEXT}\nv3` });
  const shallow = { ...scene, folder: cloneOf(scene.folder) };
  expect(only(await pull(shallow))).toMatchObject({ status: 'applied', edits: [{ before: '3', after: '2' }] });
  expect(source(shallow)).toBe(withPins(2));
});
