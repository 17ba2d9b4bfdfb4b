import { describe, expect, test } from 'vitest';
import { CONFIG } from '../support/prompts.ts';
import { begin, expectSettled, told, type Story } from './support.ts';

const BASE = ['--base', 'HEAD~1'];

/** Version 1 holds A and is made from the base; version 2 is theirs, and active in staging. */
async function drifted(config = CONFIG): Promise<{ story: Story; theirs: string }> {
  const story = await begin({ text: 'A' }, { config });
  await story.sync();
  const theirs = story.draft('Theirs.');
  story.activate('staging', theirs);
  return { story, theirs };
}

test('nothing is lost: the report names the id, and pinning it goes back', async () => {
  const { story, theirs } = await drifted();
  story.edit({ text: 'B' });
  const ran = await story.sync(...BASE);
  expect(told(ran)).toBe('exit 0, applied, create made, staging made');
  expect(ran.report.prompts[0]!.drift).toMatchObject([
    {
      environment: 'staging',
      kind: 'outside',
      expected: { version_number: 1 },
      observed: { id: theirs, version_number: 2, made_by: 'outside' },
    },
  ]);
  story.edit({ pins: { staging: `version:${theirs}` } });
  expect(told(await story.sync())).toBe('exit 0, applied, staging made');
  expect([story.serves('staging'), story.versions()]).toEqual(['v2 Theirs.', 3]);
  await expectSettled(story);
});

describe('the flag goes before the configuration', () => {
  test.each([
    ['fail', [], 3],
    ['fail', ['--on-drift', 'overwrite'], 0],
    ['overwrite', ['--on-drift', 'fail'], 3],
    ['overwrite', [], 0],
  ])('on_drift: %s, %j', async (configured, words, exitCode) => {
    const { story } = await drifted(`on_drift: ${configured}\n`);
    story.edit({ text: 'B' });
    expect(await story.plan(...BASE, ...words)).toMatchObject({ exitCode });
  });
});

test('on_drift: fail without a base has nothing to go by, and says so', async () => {
  const story = await begin({ text: 'A' }, { config: 'on_drift: fail\n' });
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, config/drift-needs-base');
});
