import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, makeWorkspace } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
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

/** Three versions of promptsync's: production is pinned to the first, and has been to the second. */
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

describe('an environment that is pinned to a number', () => {
  test('gets the number that it was moved to in the service', async () => {
    const scene = await makeHistory();
    moveOutside(scene, 'production', 'staging');
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(0);
    const edits = [{ kind: 'set-pin', environment: 'production', before: '2', after: '3' }];
    expect(only(ran)).toMatchObject({ status: 'applied', edits, problems: [] });
    expect(source(scene)).toBe(withPins(3));
    await settle(scene);
  });

  test('gets the number of a version that was made outside of git, and the file its text', async () => {
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
    // It is in no ledger of before: it must be seen to have been moved all the same.
    changeOutside(scene, { content: `${theirs}\nmore`, environments: ['production'] });
    expect(only(await pull(scene)).edits).toMatchObject([
      { kind: 'set-text' },
      { kind: 'set-pin', before, after: pinned(scene) },
    ]);
    await settle(scene);
  });

  test('is seen to have been moved although its number is not known, nor what that was', async () => {
    const scene = await makeSynced({});
    edit(scene, { pins: { ...pins, production: 7 } });
    changeOutside(scene, { content: theirs, environments: ['production'] });
    expect(only(await pull(scene))).toMatchObject({
      status: 'failed',
      edits: [
        { kind: 'set-text', conflicts: 1 },
        { kind: 'set-pin', before: '7', after: pinned(scene) },
      ],
    });
  });

  test('is left alone where it still serves the version of an earlier commit', async () => {
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

describe('an environment that follows the file', () => {
  test('is left alone where a sync has not got there yet', async () => {
    const scene = await makeSynced({});
    edit(scene, { text: theirs });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [], problems: [] });
    expect(textIn(scene)).toBe(theirs);
  });

  test('that serves another version of promptsync’s is told, and left to a sync or a rollback', async () => {
    const scene = await makeHistory();
    edit(scene, { pins: { staging: 'latest', production: 3, canary: 'latest' }, text: `${TEXT}\nv3` });
    await sync(scene);
    moveOutside(scene, 'production', 'canary');
    const before = source(scene);
    // Never asked for in canary: the second version.
    edit(scene, { pins: { staging: 2, production: 3, canary: 'latest' }, text: `${TEXT}\nv3` });
    await sync(scene);
    moveOutside(scene, 'canary', 'staging');
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(0);
    expect(only(ran)).toMatchObject({
      status: 'unchanged',
      edits: [],
      problems: [{ code: 'pull/known-version', severity: 'warning' }],
    });
    expect(source(scene)).toBe(before.replace('"latest","production"', '2,"production"'));
  });
});

describe('several environments', () => {
  const both = { staging: 'latest', production: 'latest' };

  test('changed differently block, and are pulled one after the other', async () => {
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

  test('changed alike are one change, whatever order they are promoted in', async () => {
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

  test.each<[PromptParts, number]>([
    [{ metadata: { model: 'a' } }, 3],
    [{}, 0],
  ])('with one text and two sorts of metadata block where the file manages metadata: %j', async (managed, exitCode) => {
    const scene = await makeSynced({ pins: both, ...managed });
    changeOutside(scene, { content: theirs, metadata: { model: 'b' } });
    changeOutside(scene, { content: theirs, metadata: { model: 'c' }, environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(exitCode);
  });
});

test.each<[string, (scene: Scene) => string]>([
  ['because it is not committed', ({ folder }) => folder],
  [
    'because the clone is shallow',
    ({ folder }) => {
      commitAll(folder, 'Pin');
      return cloneOf(folder);
    },
  ],
  [
    'because there is no git',
    (scene) => makeWorkspace({ ...workspaceFiles({}), 'prompts/greeting.md': source(scene) }),
  ],
])('a pin that may have been changed in the file as well is asked for %s', async (_, place) => {
  const scene = await makeHistory();
  moveOutside(scene, 'production', 'staging');
  writeSource(scene, withPins(1));
  const there = { ...scene, folder: place(scene) };
  const ran = await pull(there);
  expect(ran.exitCode).toBe(3);
  const message = expect.stringContaining('"production" serves v3 and the file pins 1');
  const problem = { code: 'pull/pin-conflict', line: 5, message, hint: expect.stringContaining('--ours') };
  expect(only(ran)).toMatchObject({ status: 'blocked', problems: [problem] });
  expect(source(there)).toBe(withPins(1));
  expect(only(await pull(there, '--ours'))).toMatchObject({ status: 'unchanged' });
  expect((await pull(there, '--theirs')).exitCode).toBe(0);
  expect(source(there)).toBe(withPins(3));
});
