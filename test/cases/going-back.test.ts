import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { begin, expectSettled, PATH, told, type Story } from './support.ts';
import { commitAll, git, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { runJson } from '../support/run.ts';

/** Version 1 holds A, version 2 holds B, both made by the tool. */
async function madeAAndB(): Promise<Story> {
  const story = await begin({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  await story.sync();
  return story;
}

describe('going back', () => {
  test('a pin is reverted as a text is', async () => {
    const story = await madeAAndB();
    story.edit({ pins: { staging: 'latest', production: 1 } });
    await story.sync();
    story.edit({ pins: { staging: 'latest', production: 2 } });
    await story.sync();
    expect(story.serves('production')).toBe('v2 B');
    git(story.folder, 'revert', '--no-edit', 'HEAD');
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
  });
});

test('a workspace in a folder of the repository, which then moves: the old version is found by its commit', async () => {
  const story = await begin({ text: 'A' });
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
  expect(told(await sync('team'))).toBe('exit 0, applied, staging made');
  git(story.folder, 'mv', 'team', 'moved');
  edit('moved', 'B');
  expect(told(await sync('moved'))).toBe('exit 0, applied, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 2]);
});

test('a merge in which both sides changed the text: the version is of the merge, and is found again', async () => {
  const story = await begin({ text: 'one\n\ntwo\n\nthree' });
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
  expect(told(await story.sync())).toBe('exit 0, applied, staging made');
  expect([story.active('staging')!.version_number, story.versions()]).toEqual([1, 2]);
});
