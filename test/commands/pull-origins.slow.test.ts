import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, initRepository, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';
import {
  active,
  change,
  changeOutside,
  edit,
  makeSynced,
  only,
  PATH,
  pinned,
  pull,
  settle,
  source,
  sync,
  TEXT,
  textIn,
  through,
  writeSource,
  type Scene,
} from './pulling.ts';

/** Nothing of either side is lost. */
function expectBoth(scene: Pick<Scene, 'folder'>, ...lines: readonly string[]): void {
  for (const line of lines) expect(source(scene).split('\n')).toContain(line);
}

const first = { 'One.': '1.' };
const last = { 'Three.': '3.' };
const merged = change(TEXT, { ...first, ...last });

/** A prompt that was never synced, in a folder. */
async function unsynced(folder: string): Promise<Scene> {
  return { folder, service: await startTestService(['greeting']) };
}

describe('the text that both come from', () => {
  test('is git’s of the version whose record was copied, although the service no longer shows it', async () => {
    const scene = await makeSynced({});
    const copied = active(scene, 'staging')?.metadata_ ?? {};
    edit(scene, { text: change(TEXT, last) });
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, first), metadata: copied });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(merged);
    await settle(scene);
  });

  test('is not known of a record that no ledger has: both sides are kept', async () => {
    const scene = await makeSynced({});
    const record = { digest: `sha256:${'0'.repeat(64)}`, operation: 'x', ledger: [] };
    changeOutside(scene, { content: change(TEXT, first), metadata: { promptsync: record } });
    expect((await pull(scene)).exitCode).toBe(4);
    expectBoth(scene, 'One.', '1.');
  });

  test('of an environment that is pinned to a number is what it served before', async () => {
    const scene = await makeSynced({});
    edit(scene, { pins: { staging: 'latest', production: 1 }, text: change(TEXT, first) });
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, last), environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(merged);
    expect(source(scene)).toContain(`"production":"${pinned(scene)}"`);
    await settle(scene);
  });

  test('is not known of a number that no ledger has: both sides are kept', async () => {
    const configuration = { 'promptsync.yaml': 'environments: { staging: {}, production: {} }\n' };
    const scene = await unsynced(makeRepository(configuration));
    changeOutside(scene, { content: 'First.', environments: ['production'] });
    changeOutside(scene, { content: 'Second.' });
    await runJson(scene.folder, ['import', 'prm_greeting'], scene.service);
    commitAll(scene.folder, 'Import');
    changeOutside(scene, { content: 'Third.', environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(4);
    expectBoth(scene, 'Second.', 'Third.', `  production: ${pinned(scene)}  # 3`);
  });

  test('is found where the file had another name, and where the workspace is in a folder of the repository', async () => {
    const files = Object.entries(workspaceFiles({ greeting: { text: TEXT } }));
    const root = makeRepository(Object.fromEntries(files.map(([path, text]) => [`team/${path}`, text])));
    const scene = await unsynced(join(root, 'team'));
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, first) });
    edit(scene, { text: change(TEXT, last) });
    const renamed = 'prompts/renamed.md';
    renameSync(join(scene.folder, PATH), join(scene.folder, renamed));
    commitAll(scene.folder, 'Rename');
    expect((await pull(scene, '--commit')).exitCode).toBe(0);
    expect(textIn(scene, renamed)).toBe(merged);
  });

  test('is the file’s where it was never synced and git says that it never changed', async () => {
    const scene = await unsynced(makeRepository(workspaceFiles({ greeting: { text: TEXT } })));
    changeOutside(scene, { content: change(TEXT, first) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(TEXT, first));
    await settle(scene);
  });
});

describe('where it is not known what both come from, no side is lost', () => {
  const theirs = change(TEXT, { 'One.': 'Theirs.' });
  const ours = change(TEXT, { 'Three.': 'Ours.' });

  test('in a shallow clone: what the version itself says is enough', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: theirs });
    edit(scene, { text: ours });
    const shallow = { ...scene, folder: cloneOf(scene.folder) };
    rmSync(join(scene.folder, '.git'), { recursive: true });
    expect((await pull(shallow)).exitCode).toBe(0);
    expectBoth(shallow, 'Theirs.', 'Ours.');
  });

  test.each<[string, () => string]>([
    ['without git', () => makeWorkspace(workspaceFiles({ greeting: { text: ours } }))],
    [
      'in a repository without a commit',
      () => {
        const folder = makeWorkspace(workspaceFiles({ greeting: { text: ours } }));
        initRepository(folder);
        return folder;
      },
    ],
    ['where the file was edited before the first sync', () => makeEdited()],
    ['in a shallow clone of that', () => cloneOf(makeEdited())],
  ])('%s', async (_, make) => {
    const scene = await unsynced(make());
    changeOutside(scene, { content: theirs });
    const before = source(scene);
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'pull/conflict' }] });
    expectBoth(scene, 'Theirs.', 'Ours.', 'One.', 'Three.');
    writeSource(scene, before);
    expect((await pull(scene, '--theirs')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(theirs);
  });

  function makeEdited(): string {
    const folder = makeRepository(workspaceFiles({ greeting: { text: TEXT } }));
    writeFiles(folder, { [PATH]: promptText('greeting', { text: ours }) });
    commitAll(folder, 'Edit');
    return folder;
  }

  test('where the service drops metadata', async () => {
    const scene = await makeSynced({});
    const stamp = /"metadata_":\{"promptsync".*\}(?=,"created_at")/g;
    const options = await through(scene, (body) => body.replaceAll(stamp, '"metadata_":null'));
    // What an earlier commit asked for is no edit.
    edit(scene, { text: ours });
    expect(only(await runJson(scene.folder, ['pull'], options))).toMatchObject({ status: 'unchanged' });
    changeOutside(scene, { content: theirs });
    expect((await runJson(scene.folder, ['pull'], options)).exitCode).toBe(4);
    expectBoth(scene, 'Theirs.', 'Ours.', 'One.', 'Three.');
  });
});

test('a file that is edited while the service is asked keeps that edit', async () => {
  const scene = await makeSynced({});
  changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }) });
  const mine = promptText('greeting', { text: change(TEXT, { 'Three.': '3.' }) });
  const options = await through(scene, (body) => {
    writeSource(scene, mine);
    return body;
  });
  const ran = await runJson(scene.folder, ['pull'], options);
  expect(ran.exitCode).toBe(4);
  expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'edit/changed-meanwhile' }] });
  expect(source(scene)).toBe(mine);
});

describe('what --ours has kept it keeps when it is run again', () => {
  test.each<[string, PromptParts['pins']]>([
    ['where another environment is pinned to a number', { staging: 'latest', production: 1 }],
    ['in the other order', { production: 1, staging: 'latest' }],
  ])('%s that is not known', async (_, pins = {}) => {
    const scene = await unsynced(makeRepository(workspaceFiles({ greeting: { text: TEXT, pins } })));
    changeOutside(scene, { content: 'Before git.', environments: [] });
    changeOutside(scene, { content: 'Theirs.', environments: ['staging', 'production'] });
    const first = only(await pull(scene, '--ours'));
    expect(first).toMatchObject({ status: 'applied', edits: [{ kind: 'set-pin', after: pinned(scene) }] });
    const kept = source(scene);
    expect(textIn(scene)).toBe(TEXT);
    expect(only(await pull(scene, '--ours'))).toMatchObject({ status: 'unchanged', edits: [] });
    commitAll(scene.folder, 'Pull');
    expect(only(await pull(scene, '--ours'))).toMatchObject({ status: 'unchanged', edits: [] });
    expect(source(scene)).toBe(kept);
  });
});
