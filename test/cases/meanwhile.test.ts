import { expect, test } from 'vitest';
import { startStory, expectInSync, faultOn, isReadOf, summarizeRun } from './support.ts';

test('sync replans and reports the replaced version if another version becomes active before the first write', async () => {
  const story = await startStory({ text: 'A' });
  await story.sync();
  story.edit({ text: 'B' });
  // A run reads staging for the second time right before its first write.
  const activateForeign = faultOn(
    isReadOf('staging'),
    async () => {
      story.activate('staging', story.draft('Theirs.'));
      return null;
    },
    2,
  );
  await story.through(activateForeign);
  const ran = await story.sync();
  expect(summarizeRun(ran)).toBe('exit 0, applied, create made, staging made');
  expect(ran.report.prompts[0]!.changes[1]).toMatchObject({ before: { version_number: 2 } });
  story.directly();
  expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
  await expectInSync(story);
});
