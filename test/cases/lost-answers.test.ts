import { expect, test } from 'vitest';
import {
  startStoryOutsideGit,
  cutAfter,
  expectNoWrites,
  expectInSync,
  isCreate,
  faultOn,
  summarizeRun,
  type Fault,
  type Story,
} from './support.ts';

test('sync creates only one version if the connection breaks after create-version', async () => {
  const story = await startStoryOutsideGit({ text: 'A' });
  const front = await story.through(faultOn(isCreate, cutAfter));
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, create adopted, staging made');
  expect(front.requests.filter(isCreate)).toHaveLength(1);
  story.directly();
  expect([story.versions(), story.serves('staging'), story.serves('promptsync')]).toEqual([1, 'v1 A', 'v1 A']);
  await expectNoWrites(story);
});

test('If someone else creates a version after a lost response, following the hint in the error creates no duplicate version', async () => {
  let [ours, theirs] = ['', ''];
  const onWait = (times: number): void => {
    if (times === 1) theirs = story.draft('Theirs.');
  };
  const story: Story = await startStoryOutsideGit({ text: 'A' }, { onWait });
  await story.sync();
  story.edit({ text: 'B' });
  const cutAfterCreate: Fault = async (request, forward) => {
    ours = JSON.parse((await forward(request)).body).id;
    throw new Error('cut');
  };
  await story.through(faultOn(isCreate, cutAfterCreate));
  const ran = await story.sync();
  expect(summarizeRun(ran)).toBe('exit 4, failed, create unknown, staging not_made, apply/somebody-else-wrote');
  const { message, hint } = ran.report.prompts[0]!.problems[0]!;
  expect(message).toContain(theirs);
  expect(hint).toMatch(/run the command again/i);
  expect([story.serves('staging'), story.serves('promptsync')]).toEqual(['v1 A', 'v1 A']);

  story.directly();
  story.activate('staging', ours);
  expect(await story.sync()).toMatchObject({ exitCode: 0 });
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 B', 3]);
  await expectInSync(story);
});
