import { describe, expect, test } from 'vitest';
import { startStory, expectInSync, summarizeRun, type Story } from './support.ts';
import { git } from '../support/folder.ts';

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
