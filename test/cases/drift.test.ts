import { describe, expect, test } from 'vitest';
import { begin, expectSettled, told, type Story } from './support.ts';

const BASE = ['--base', 'HEAD~1'];

/** Version 1 holds A and is made from the base; version 2 is theirs, and active in staging. */
async function drifted(parts: object = {}, config?: string): Promise<{ story: Story; theirs: string }> {
  const story = await begin({ text: 'A', ...parts }, config === undefined ? {} : { config });
  await story.sync();
  const theirs = story.draft('Theirs.');
  story.activate('staging', theirs);
  return { story, theirs };
}

describe('an outside edit in an environment', () => {
  test.each([
    ['that the head changes as well', { text: 'B' }, 'create made, staging made', 'v3 B'],
    ['that the head does not change', { name: 'New name' }, 'update made, staging made', 'v1 A'],
  ])('%s: told apart, and overwritten', async (_, change, changes, serves) => {
    const { story, theirs } = await drifted();
    story.edit(change);
    const ran = await story.sync(...BASE);
    expect(told(ran)).toBe(`exit 0, applied, ${changes}`);
    expect(ran.report.prompts[0]!.drift).toMatchObject([
      {
        environment: 'staging',
        kind: 'outside',
        expected: { version_number: 1 },
        observed: { id: theirs, version_number: 2, made_by: 'outside' },
      },
    ]);
    expect(story.serves('staging')).toBe(serves);
    await expectSettled(story);
  });

  test('nothing is lost: the report names the id, and pinning it goes back', async () => {
    const { story, theirs } = await drifted();
    story.edit({ text: 'B' });
    const ran = await story.sync(...BASE);
    const { observed } = ran.report.prompts[0]!.drift[0]!;
    expect(observed).toMatchObject({ id: theirs });
    story.edit({ pins: { staging: `version:${theirs}` } });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v2 Theirs.', 3]);
    await expectSettled(story);
  });

  test('taken over into the file: no drift any more', async () => {
    const { story } = await drifted();
    story.edit({ text: 'Theirs.' });
    const ran = await story.sync(...BASE, '--on-drift', 'fail');
    expect(told(ran)).toBe('exit 0, unchanged');
    expect(ran.report.prompts[0]!.drift).toEqual([]);
  });
});

describe('the flag goes before the configuration', () => {
  test.each([
    ['fail', [], 3],
    ['fail', ['--on-drift', 'overwrite'], 0],
    ['overwrite', ['--on-drift', 'fail'], 3],
    ['overwrite', [], 0],
  ])('on_drift: %s, %j', async (configured, words, exitCode) => {
    const { story } = await drifted({}, `on_drift: ${configured}\n`);
    story.edit({ text: 'B' });
    expect(await story.plan(...BASE, ...words)).toMatchObject({ exitCode });
  });
});

test('on_drift: fail without a base has nothing to go by, and says so', async () => {
  const story = await begin({ text: 'A' }, { config: 'on_drift: fail\n' });
  expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, config/drift-needs-base');
});

describe('fields', () => {
  const rename = ({ service }: Story, name: string) => service.store.updatePrompt('prm_greeting', { name });

  test('changed outside: drift', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    rename(story, 'Their name');
    story.edit({ text: 'B' });
    const refused = await story.sync(...BASE, '--on-drift', 'fail');
    expect(refused.exitCode).toBe(3);
    const ran = await story.sync(...BASE);
    expect(told(ran)).toBe('exit 0, applied, create made, update made, staging made');
    for (const { report } of [refused, ran]) {
      expect(report.prompts[0]!.drift).toEqual([
        { field: 'name', kind: 'outside', restores: true, expected: 'greeting', observed: 'Their name' },
      ]);
    }
    await expectSettled(story);
  });
});
