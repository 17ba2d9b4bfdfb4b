import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cloneOf, commitAll, initRepository, makeRepository, makeWorkspace, writeFiles } from '../../support/folder.ts';
import { promptText, workspaceFiles, type PromptParts } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';
import { startTestService } from '../../support/service.ts';
import {
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

/** Checks that the file contains these lines, so that neither side lost one. */
function expectBoth(scene: Pick<Scene, 'folder'>, ...lines: readonly string[]): void {
  for (const line of lines) expect(source(scene).split('\n')).toContain(line);
}

const first = { 'One.': '1.' };
const last = { 'Three.': '3.' };
const merged = change(TEXT, { ...first, ...last });

/** Makes a scene of a prompt that was never synced. */
async function makeUnsynced(folder: string): Promise<Scene> {
  return { folder, service: await startTestService(['greeting']) };
}

describe('the merge base of pull', () => {
  test('pull ignores the version record of a version created outside promptsync, because anybody can copy or forge a record', async () => {
    const scene = await makeSynced({});
    const record = { digest: `sha256:${'0'.repeat(64)}`, operation: 'x', ledger: [] };
    edit(scene, { text: change(TEXT, last) });
    changeOutside(scene, { content: change(TEXT, first), metadata: { promptsync: record } });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(merged);
    await settle(scene);
  });

  test('pull uses the pinned version as the merge base if the pinned environment serves a new version', async () => {
    const scene = await makeSynced({});
    edit(scene, { pins: { staging: 'latest', production: 1 }, text: change(TEXT, first) });
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, last), environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(merged);
    expect(source(scene)).toContain(`"production":"${pinned(scene)}"`);
    await settle(scene);
  });

  test('pull writes both sides of a conflict to the file if the text of the pinned version is unknown', async () => {
    const configuration = { 'promptsync.yaml': 'environments: { staging: {}, production: {} }\n' };
    const scene = await makeUnsynced(makeRepository(configuration));
    changeOutside(scene, { content: 'First.', environments: ['production'] });
    changeOutside(scene, { content: 'Second.' });
    await runJson(scene.folder, ['import', 'prm_greeting'], scene.service);
    commitAll(scene.folder, 'Import');
    changeOutside(scene, { content: 'Third.', environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(4);
    expectBoth(scene, 'Second.', 'Third.', `  production: ${pinned(scene)}  # 3`);
  });

  test('pull finds the merge base of a renamed file if the workspace is a subfolder of the repository', async () => {
    const files = Object.entries(workspaceFiles({ greeting: { text: TEXT } }));
    const root = makeRepository(Object.fromEntries(files.map(([path, text]) => [`team/${path}`, text])));
    const scene = await makeUnsynced(join(root, 'team'));
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, first) });
    edit(scene, { text: change(TEXT, last) });
    const renamed = 'prompts/renamed.md';
    renameSync(join(scene.folder, PATH), join(scene.folder, renamed));
    commitAll(scene.folder, 'Rename');
    expect((await pull(scene, '--commit')).exitCode).toBe(0);
    expect(textIn(scene, renamed)).toBe(merged);
  });

  test('pull changes nothing in a file that was never synced, because the service still has the content from before the file', async () => {
    const scene = await makeUnsynced(makeRepository(workspaceFiles({ greeting: { text: TEXT } })));
    changeOutside(scene, { content: change(TEXT, first) });
    expect(only(await pull(scene))).toMatchObject({ status: 'unchanged', edits: [] });
  });
});

describe('pull without a merge base from git', () => {
  const theirs = change(TEXT, { 'One.': 'Theirs.' });
  const ours = change(TEXT, { 'Three.': 'Ours.' });

  test('pull in a shallow clone merges both sides if a version in the service has the text of the only commit', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: theirs });
    const shallow = { ...scene, folder: cloneOf(scene.folder) };
    rmSync(join(scene.folder, '.git'), { recursive: true });
    writeSource(shallow, promptText('greeting', { text: ours }));
    const ran = await pull(shallow);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain('pulls every difference because this clone is shallow');
    expectBoth(shallow, 'Theirs.', 'Ours.');
  });

  test.each<[string, () => string]>([
    [
      'pull outside a git repository writes both sides of a conflict to the file of an unsynced prompt',
      () => makeWorkspace(workspaceFiles({ greeting: { text: ours } })),
    ],
    [
      'pull in a repository without commits writes both sides of a conflict to the file of an unsynced prompt',
      () => {
        const folder = makeWorkspace(workspaceFiles({ greeting: { text: ours } }));
        initRepository(folder);
        return folder;
      },
    ],
    [
      'pull in a shallow clone writes both sides of a conflict to the file of an unsynced prompt',
      () => cloneOf(makeEdited()),
    ],
  ])('%s', async (_, make) => {
    const scene = await makeUnsynced(make());
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

  test('pull merges both sides even if the service returns the text of the merge base without version metadata', async () => {
    const scene = await makeSynced({});
    const stamp = /"metadata_":\{"promptsync".*\}(?=,"created_at")/g;
    const options = await through(scene, (body) => body.replaceAll(stamp, '"metadata_":null'));
    // The service serves what an earlier commit wanted, which is not an outside edit.
    edit(scene, { text: ours });
    expect(only(await runJson(scene.folder, ['pull'], options))).toMatchObject({ status: 'unchanged' });
    changeOutside(scene, { content: theirs });
    expect((await runJson(scene.folder, ['pull'], options)).exitCode).toBe(0);
    expectBoth(scene, 'Theirs.', 'Ours.');
  });
});

test('pull preserves an edit that the user makes while pull waits for the service', async () => {
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

describe('pull --ours', () => {
  test.each<[string, PromptParts['pins']]>([
    [
      'pull --ours is idempotent if the last of two pins names an unknown version',
      { staging: 'latest', production: 1 },
    ],
    [
      'pull --ours is idempotent if the first of two pins names an unknown version',
      { production: 1, staging: 'latest' },
    ],
  ])('%s', async (_, pins = {}) => {
    const scene = await makeUnsynced(makeRepository(workspaceFiles({ greeting: { text: TEXT, pins } })));
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
