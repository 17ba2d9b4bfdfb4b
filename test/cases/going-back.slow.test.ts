import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startStory, expectInSync, PATH, summarizeRun, type Story } from './support.ts';
import { commitAll, git, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';

/** Syncs the text A as version 1 and the text B as version 2. */
async function syncAAndB(): Promise<Story> {
  const story = await startStory({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  await story.sync();
  return story;
}

describe('git revert', () => {
  test('If git revert undoes a change to a pin, sync reactivates the earlier version without creating a new one', async () => {
    const story = await syncAAndB();
    story.edit({ pins: { staging: 'latest', production: 1 } });
    await story.sync();
    story.edit({ pins: { staging: 'latest', production: 2 } });
    await story.sync();
    expect(story.serves('production')).toBe('v2 B');
    git(story.folder, 'revert', '--no-edit', 'HEAD');
    expect(summarizeRun(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.versions()]).toEqual(['v1 A', 2]);
    await expectInSync(story);
  });
});

test('sync reuses an old version after the workspace moves to a different folder', async () => {
  const story = await startStory({ text: 'A' });
  mkdirSync(join(story.folder, 'team'));
  git(story.folder, 'mv', 'promptsync.yaml', 'prompts', 'team');
  commitAll(story.folder, 'Move it');
  const sync = (folder: string) => runJson(join(story.folder, folder), ['sync', '--yes'], story.service);
  const edit = (folder: string, text: string) => {
    writeFiles(story.folder, { [`${folder}/${PATH}`]: promptText('greeting', { text }) });
    commitAll(story.folder, 'Edit');
  };
  await sync('team');
  edit('team', 'B');
  await sync('team');
  git(story.folder, 'revert', '--no-edit', 'HEAD');
  expect(summarizeRun(await sync('team'))).toBe('exit 0, applied, staging made');
  git(story.folder, 'mv', 'team', 'moved');
  edit('moved', 'B');
  expect(summarizeRun(await sync('moved'))).toBe('exit 0, applied, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 2]);
});

test('After git revert, sync reuses the version that it created for a merge commit with text changes from both sides', async () => {
  const story = await startStory({ text: 'one\n\ntwo\n\nthree' });
  git(story.folder, 'checkout', '--quiet', '-b', 'side');
  story.edit({ text: 'ONE\n\ntwo\n\nthree' });
  git(story.folder, 'checkout', '--quiet', 'main');
  story.edit({ text: 'one\n\ntwo\n\nTHREE' });
  git(story.folder, 'merge', '--quiet', '--no-edit', 'side');
  await story.sync();
  expect(story.serves('staging')).toBe('v1 ONE\n\ntwo\n\nTHREE');
  story.edit({ text: 'B' });
  await story.sync();
  git(story.folder, 'revert', '--no-edit', 'HEAD');
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, staging made');
  expect([story.active('staging')!.version_number, story.versions()]).toEqual([1, 2]);
});
