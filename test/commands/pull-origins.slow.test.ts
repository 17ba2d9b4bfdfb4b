import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, initRepository, makeFolder, makeRepository, makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
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
  pull,
  settle,
  source,
  sync,
  TEXT,
  textIn,
  writeSource,
  type Scene,
} from './pulling.ts';

/** Nothing of either side is lost. */
function expectBoth(scene: Pick<Scene, 'folder'>, ...lines: readonly string[]): void {
  for (const line of lines) expect(source(scene).split('\n')).toContain(line);
}

describe('the text that both come from', () => {
  test('is git’s of the version whose record was copied, although the service no longer shows it', async () => {
    const scene = await makeSynced({});
    const copied = active(scene, 'staging')?.metadata_ ?? {};
    edit(scene, { text: change(TEXT, { 'Three.': '3.' }) });
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }), metadata: copied });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(TEXT, { 'One.': '1.', 'Three.': '3.' }));
    await settle(scene);
  });

  test('of an environment that is pinned to a number is what it served before', async () => {
    const pins = { staging: 'latest', production: 1 };
    const scene = await makeSynced({});
    edit(scene, { pins, text: change(TEXT, { 'One.': '1.' }) });
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, { 'Three.': '3.' }), environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(TEXT, { 'One.': '1.', 'Three.': '3.' }));
    expect(source(scene)).toContain('"production":3');
    await settle(scene);
  });

  test('is not known of a number that no ledger has: both sides are kept', async () => {
    const folder = makeRepository({ 'promptsync.yaml': 'environments: { staging: {}, production: {} }\n' });
    const scene = { folder, service: await startTestService(['greeting']) };
    changeOutside(scene, { content: 'First.', environments: ['production'] });
    changeOutside(scene, { content: 'Second.' });
    await runJson(folder, ['import', 'prm_greeting'], scene.service);
    commitAll(folder, 'Import');
    changeOutside(scene, { content: 'Third.', environments: ['production'] });
    expect((await pull(scene)).exitCode).toBe(4);
    expectBoth(scene, 'Second.', 'Third.', '  production: 3');
  });

  test('is found where the file had another name', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }) });
    edit(scene, { text: change(TEXT, { 'Three.': '3.' }) });
    renameSync(join(scene.folder, PATH), join(scene.folder, 'prompts/renamed.md'));
    commitAll(scene.folder, 'Rename');
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene, 'prompts/renamed.md')).toBe(change(TEXT, { 'One.': '1.', 'Three.': '3.' }));
  });

  test('is found where the workspace is in a folder of the repository', async () => {
    const files = Object.entries(workspaceFiles({ greeting: { text: TEXT } }));
    const root = makeRepository(Object.fromEntries(files.map(([path, text]) => [`team/${path}`, text])));
    const scene = { folder: join(root, 'team'), service: await startTestService(['greeting']) };
    await sync(scene);
    changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }) });
    edit(scene, { text: change(TEXT, { 'Three.': '3.' }) });
    expect((await pull(scene, '--commit')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(TEXT, { 'One.': '1.', 'Three.': '3.' }));
  });

  test('is the file’s where it was never synced and git says that it never changed', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { text: TEXT } }));
    const scene = { folder, service: await startTestService(['greeting']) };
    changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }) });
    expect((await pull(scene)).exitCode).toBe(0);
    expect(textIn(scene)).toBe(change(TEXT, { 'One.': '1.' }));
    await settle(scene);
  });
});

describe('where it is not known what both come from, no side is lost', () => {
  const theirs = change(TEXT, { 'One.': 'Theirs.' });
  const ours = change(TEXT, { 'Three.': 'Ours.' });

  test('in a shallow clone', async () => {
    const scene = await makeSynced({});
    changeOutside(scene, { content: theirs });
    edit(scene, { text: ours });
    const clone = join(makeFolder(), 'clone');
    git(scene.folder, 'clone', '--quiet', '--depth', '1', `file://${scene.folder}`, clone);
    const shallow = { ...scene, folder: clone };
    rmSync(join(scene.folder, '.git'), { recursive: true });
    expect((await pull(shallow)).exitCode).toBe(0);
    expectBoth(shallow, 'Theirs.', 'Ours.');
  });

  test('in a shallow clone of what was never synced', async () => {
    const origin = makeRepository(workspaceFiles({ greeting: { text: TEXT } }));
    const scene = { folder: origin, service: await startTestService(['greeting']) };
    edit(scene, { text: ours });
    changeOutside(scene, { content: theirs });
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', '--depth', '1', `file://${origin}`, clone);
    expect((await pull({ ...scene, folder: clone })).exitCode).toBe(4);
    expectBoth({ folder: clone }, 'Theirs.', 'Ours.', 'One.', 'Three.');
  });

  test.each<[string, (folder: string) => void]>([
    ['without git', () => {}],
    ['in a repository without a commit', (folder) => void initRepository(folder)],
  ])('%s', async (_, prepare) => {
    const folder = makeWorkspace(workspaceFiles({ greeting: { text: ours } }));
    prepare(folder);
    const scene = { folder, service: await startTestService(['greeting']) };
    changeOutside(scene, { content: theirs });
    const ran = await pull(scene);
    expect(ran.exitCode).toBe(4);
    expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'pull/conflict' }] });
    expectBoth(scene, 'Theirs.', 'Ours.', 'One.', 'Three.');
  });

  test('where the file was edited before the first sync', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { text: TEXT } }));
    const scene = { folder, service: await startTestService(['greeting']) };
    edit(scene, { text: ours });
    changeOutside(scene, { content: theirs });
    expect((await pull(scene)).exitCode).toBe(4);
    expectBoth(scene, 'Theirs.', 'Ours.', 'One.', 'Three.');
  });

  test('where the service drops metadata', async () => {
    const scene = await makeSynced({});
    const front = await startFront({
      target: scene.service.baseUrl,
      answer: async ({ method, path }) => {
        if (method !== 'GET') return null;
        const answer = await fetch(scene.service.baseUrl + path, {
          headers: { 'x-api-key': scene.service.environment['PROMPTSYNC_API_KEY'] ?? '' },
        });
        return {
          status: answer.status,
          body: (await answer.text()).replaceAll(
            /"metadata_":\{"promptsync".*\}(?=,"created_at")/g,
            '"metadata_":null',
          ),
        };
      },
    });
    const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    // What an earlier commit asked for is no edit.
    edit(scene, { text: ours });
    expect(only(await runJson(scene.folder, ['pull'], { environment }))).toMatchObject({ status: 'unchanged' });
    changeOutside(scene, { content: theirs });
    expect((await runJson(scene.folder, ['pull'], { environment })).exitCode).toBe(4);
    expectBoth(scene, 'Theirs.', 'Ours.', 'One.', 'Three.');
  });

  test('nor with --theirs what the service has', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: { text: ours } }));
    const scene = { folder, service: await startTestService(['greeting']) };
    changeOutside(scene, { content: theirs });
    expect((await pull(scene, '--theirs')).exitCode).toBe(0);
    expect(textIn(scene)).toBe(theirs);
  });
});

test('a file that is edited while the service is asked keeps that edit', async () => {
  const scene = await makeSynced({});
  changeOutside(scene, { content: change(TEXT, { 'One.': '1.' }) });
  const mine = promptText('greeting', { text: change(TEXT, { 'Three.': '3.' }) });
  const front = await startFront({
    target: scene.service.baseUrl,
    answer: () => {
      writeSource(scene, mine);
      return null;
    },
  });
  const environment = { ...scene.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
  const ran = await runJson(scene.folder, ['pull'], { environment });
  expect(ran.exitCode).toBe(4);
  expect(only(ran)).toMatchObject({ status: 'failed', problems: [{ code: 'edit/changed-meanwhile' }] });
  expect(source(scene)).toBe(mine);
});

describe('what --ours has kept it keeps when it is run again', () => {
  test.each<[string, PromptParts['pins']]>([
    ['where another environment is pinned to a number', { staging: 'latest', production: 1 }],
    ['in the other order', { production: 1, staging: 'latest' }],
  ])('%s that is not known', async (_, pins = {}) => {
    const folder = makeRepository(workspaceFiles({ greeting: { text: TEXT, pins } }));
    const scene = { folder, service: await startTestService(['greeting']) };
    changeOutside(scene, { content: 'Before git.', environments: [] });
    changeOutside(scene, { content: 'Theirs.', environments: ['staging', 'production'] });
    const first = only(await pull(scene, '--ours'));
    expect(first).toMatchObject({ status: 'applied', edits: [{ kind: 'set-pin', after: '2' }] });
    const kept = source(scene);
    expect(textIn(scene)).toBe(TEXT);
    expect(only(await pull(scene, '--ours'))).toMatchObject({ status: 'unchanged', edits: [] });
    commitAll(folder, 'Pull');
    expect(only(await pull(scene, '--ours'))).toMatchObject({ status: 'unchanged', edits: [] });
    expect(source(scene)).toBe(kept);
  });
});
