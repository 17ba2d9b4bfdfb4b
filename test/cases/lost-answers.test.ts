import { expect, test } from 'vitest';
import { startStoryOutsideGit, cutAfter, expectNoWrites, isCreate, faultOn, summarizeRun } from './support.ts';

test('sync creates only one version if the connection breaks after create-version', async () => {
  const story = await startStoryOutsideGit({ text: 'A' });
  const front = await story.through(faultOn(isCreate, cutAfter));
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
  expect(front.requests.filter(isCreate)).toHaveLength(1);
  story.directly();
  expect([story.versions(), story.serves('staging'), story.serves('promptsync')]).toEqual([1, 'v1 A', 'v1 A']);
  await expectNoWrites(story);
});
