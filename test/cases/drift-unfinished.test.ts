import { describe, expect, test } from 'vitest';
import { commitAll, git, writeFiles } from '../support/folder.ts';
import { promptText } from '../support/prompts.ts';
import { activates, cutBefore, on } from './faults.ts';
import { PATH, begin, expectSettled, told, type Story } from './support.ts';

const BASE = ['--base', 'HEAD~1', '--on-drift', 'fail'];

/** Staging and production follow the file; the sync of B is cut when production is to be set. */
async function cutBetween(): Promise<Story> {
  const story = await begin({ text: 'A', pins: { staging: 'latest', production: 'latest' } });
  await story.sync();
  story.edit({ text: 'B' });
  await story.through(on(activates('production'), cutBefore));
  expect(await story.sync(...BASE)).toMatchObject({ exitCode: 4 });
  story.directly();
  expect([story.serves('staging'), story.serves('production')]).toEqual(['v2 B', 'v1 A']);
  return story;
}

describe('a sync cut between staging and production, under on_drift: fail', () => {
  test('run again: it goes on, and has no drift', async () => {
    const story = await cutBetween();
    const again = await story.sync(...BASE);
    expect(told(again)).toBe('exit 0, applied, production made');
    expect(again.report.prompts[0]!.drift).toEqual([]);
    expect([story.serves('staging'), story.serves('production'), story.versions()]).toEqual(['v2 B', 'v2 B', 2]);
    await expectSettled(story);
  });

  test('the next commit’s run: what was left is unfinished, and not refused', async () => {
    const story = await cutBetween();
    story.edit({ text: 'C' });
    const next = await story.sync(...BASE);
    expect(told(next)).toBe('exit 0, applied, create made, staging made, production made');
    expect(next.report.prompts[0]!.drift).toMatchObject([
      {
        environment: 'production',
        kind: 'unfinished',
        expected: { version_number: 2 },
        observed: { version_number: 1, made_by: 'git' },
      },
    ]);
    expect([story.serves('production'), story.versions()]).toEqual(['v3 C', 3]);
    await expectSettled(story);
  });

  test('somebody meddles with production in between: that is drift from outside', async () => {
    const story = await cutBetween();
    story.activate('production', story.draft('Theirs.'));
    const again = await story.sync(...BASE);
    expect(again.exitCode).toBe(3);
    expect(again.report.prompts[0]!.drift).toMatchObject([{ environment: 'production', kind: 'outside' }]);
  });
});

test('a finished run run again: no drift, nothing to do', async () => {
  const story = await begin({ text: 'A', pins: { staging: 'latest', production: 'latest' } });
  await story.sync();
  story.edit({ text: 'B', name: 'New name' });
  expect(await story.sync(...BASE)).toMatchObject({ exitCode: 0 });
  const again = await story.sync(...BASE);
  expect(told(again)).toBe('exit 0, unchanged');
  expect(again.report.prompts[0]!.drift).toEqual([]);
});

test('a base that was never synced: nothing is active, which is unfinished', async () => {
  const story = await begin({ text: 'A' });
  story.edit({ text: 'B' });
  const ran = await story.sync(...BASE);
  expect(told(ran)).toBe('exit 0, applied, create made, staging made');
  expect(ran.report.prompts[0]!.drift).toMatchObject([
    { environment: 'staging', kind: 'unfinished', expected: { new: true }, observed: null },
  ]);
});

test('a run that skipped commits: what stands there is of an ancestor, which is unfinished', async () => {
  const story = await begin({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  story.edit({ text: 'C' });
  const ran = await story.sync(...BASE);
  expect(ran.exitCode).toBe(0);
  expect(ran.report.prompts[0]!.drift).toMatchObject([{ environment: 'staging', kind: 'unfinished' }]);
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 C', 2]);
});

describe('fields that a skipped commit changed', () => {
  test('are unfinished', async () => {
    const story = await begin({ text: 'A', name: 'One' });
    await story.sync();
    story.edit({ name: 'Two' });
    story.edit({ name: 'Three' });
    const ran = await story.sync(...BASE);
    expect(told(ran)).toBe('exit 0, applied, update made');
    expect(ran.report.prompts[0]!.drift).toEqual([
      { field: 'name', kind: 'unfinished', restores: false, expected: 'Two', observed: 'One' },
    ]);
    await expectSettled(story);
  });

  test('are unfinished across a rename', async () => {
    const story = await begin({ text: 'A', name: 'One' });
    await story.sync();
    git(story.folder, 'mv', PATH, 'prompts/renamed.md');
    writeFiles(story.folder, { 'prompts/renamed.md': promptText('greeting', { text: 'A', name: 'Two' }) });
    commitAll(story.folder, 'Rename it');
    writeFiles(story.folder, { 'prompts/renamed.md': promptText('greeting', { text: 'A', name: 'Three' }) });
    commitAll(story.folder, 'Edit');
    const ran = await story.sync(...BASE);
    expect(told(ran)).toBe('exit 0, applied, update made');
    expect(ran.report.prompts[0]!.drift).toMatchObject([{ field: 'name', kind: 'unfinished' }]);
  });
});
