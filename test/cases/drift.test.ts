import { expect, test } from 'vitest';
import { CONFIG } from '../support/prompts.ts';
import { startStory, expectInSync, summarizeRun, type Story } from './support.ts';

const BASE = ['--base', 'HEAD~1'];

/** Syncs version 1 from the base, and then activates a foreign version 2 in staging. */
async function makeDrift(config = CONFIG): Promise<{ story: Story; theirs: string }> {
  const story = await startStory({ text: 'A' }, { config });
  await story.sync();
  const theirs = story.draft('Theirs.');
  story.activate('staging', theirs);
  return { story, theirs };
}

test('The report contains the id of an overwritten foreign version, and a pin to this id restores that version', async () => {
  const { story, theirs } = await makeDrift();
  story.edit({ text: 'B' });
  const ran = await story.sync(...BASE);
  expect(summarizeRun(ran)).toBe('exit 0, applied, create made, staging made');
  expect(ran.report.prompts[0]!.drift).toMatchObject([
    {
      environment: 'staging',
      kind: 'outside',
      expected: { version_number: 1 },
      observed: { id: theirs, version_number: 2, made_by: 'outside' },
    },
  ]);
  story.edit({ pins: { staging: `version:${theirs}` } });
  expect(summarizeRun(await story.sync())).toBe('exit 0, applied, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 Theirs.', 3]);
  await expectInSync(story);
});

test('--on-drift takes precedence over on_drift in the configuration', async () => {
  const { story } = await makeDrift('on_drift: fail\n');
  story.edit({ text: 'B' });
  expect(await story.plan(...BASE)).toMatchObject({ exitCode: 3 });
  expect(await story.plan(...BASE, '--on-drift', 'overwrite')).toMatchObject({ exitCode: 0 });
});
