import { describe, expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import type { PromptParts } from '../support/prompts.ts';
import { begin, expectNoWrites, expectSettled, told, type Story } from './support.ts';

const withoutTracking = (parts: PromptParts): Promise<Story> =>
  begin(parts, { config: 'tracking_environment: false\n' });

describe('tracking_environment: false', () => {
  test('A, B, back to A: the ledger of what is active is enough, and nothing is looked at', async () => {
    const story = await withoutTracking({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await story.sync();
    git(story.folder, 'revert', '--no-edit', 'HEAD');
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 2]);
    await expectSettled(story);
    const written = story.service.takeWrites().join('\n');
    expect(written).toContain('set-active prm_greeting staging');
    expect(written).not.toContain('promptsync');
  });

  test('no version is made that no pin follows', async () => {
    const story = await withoutTracking({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B', pins: { staging: 1 } });
    await expectNoWrites(story);
    expect([story.serves('staging'), story.versions()]).toEqual(['v1 A', 1]);
  });

  test('a draft that nobody has read blocks a new version; once it is read in a pinned environment, no more', async () => {
    const story = await withoutTracking({ text: 'A' });
    await story.sync();
    const theirs = story.draft('Theirs.');
    story.edit({ text: 'B' });
    for (const run of [story.plan, story.sync]) {
      const { exitCode, report } = await run();
      expect(exitCode).toBe(3);
      expect(report.prompts[0]!.problems).toMatchObject([{ code: 'guard/unknown-latest' }]);
      expect(report.prompts[0]!.problems[0]!.message).toContain(theirs);
    }
    story.activate('staging', theirs);
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 B', 3]);
    await expectSettled(story);
  });

  test('an old number that a ledger names goes live; a draft’s number is blocked', async () => {
    const story = await withoutTracking({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B', pins: { staging: 'latest', production: 1 } });
    expect(told(await story.sync())).toBe('exit 0, applied, create made, staging made, production made');
    expect(story.serves('production')).toBe('v1 A');
    story.draft('Theirs.');
    story.edit({ pins: { staging: 'latest', production: 3 } });
    expect(told(await story.sync())).toBe('exit 3, blocked, pin/unknown-number');
    expect(story.serves('production')).toBe('v1 A');
  });
});
