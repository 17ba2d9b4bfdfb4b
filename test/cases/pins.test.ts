import { describe, expect, test } from 'vitest';
import { begin, expectSettled, told } from './support.ts';

describe('the `latest` pin dropped in the commit that follows a draft', () => {
  test.each([
    ['the draft holds the new text', 'B'],
    ['the draft holds another text', 'Theirs.'],
  ])('%s: the tool makes its own version, which can be pinned', async (_, draft) => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.draft(draft);
    story.edit({ text: 'B', pins: { staging: 1 } });
    expect(told(await story.sync())).toBe('exit 0, applied, create made');
    expect([story.serves('staging'), story.serves('promptsync'), story.versions()]).toEqual(['v1 A', 'v3 B', 3]);
    await expectSettled(story);

    story.edit({ pins: { staging: 3, production: 1 } });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made, production made');
    expect([story.serves('staging'), story.serves('production')]).toEqual(['v3 B', 'v1 A']);
    story.edit({ pins: { staging: 'latest', production: 1 } });
    expect(told(await story.sync())).toBe('exit 0, unchanged');
    expect(story.versions()).toBe(3);
  });

  test('what was looked at on the way is in the ledger: the draft can be pinned by its number', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.draft('Theirs.');
    story.edit({ text: 'B', pins: { staging: 1 } });
    await story.sync();
    story.edit({ pins: { staging: 1, production: 2 } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect(story.serves('production')).toBe('v2 Theirs.');
    await expectSettled(story);
  });
});

describe('{staging: latest} → {production: 2} while version 2 is live in staging', () => {
  test('made by the tool: found in the tracking environment', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.edit({ text: 'B' });
    await story.sync();
    story.edit({ pins: { production: 2 } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.serves('staging'), story.versions()]).toEqual(['v2 B', 'v2 B', 2]);
    await expectSettled(story);
  });

  test('made outside: found by looking at the newest version, and in a plan by --base', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    story.activate('staging', story.draft('Theirs.'));
    story.edit({ pins: { production: 2 } });
    expect(told(await story.plan())).toBe('exit 3, blocked, pin/unknown-number');
    expect(told(await story.plan('--base', 'HEAD~1'))).toBe('exit 0, pending, production');
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.serves('staging')]).toEqual(['v2 Theirs.', 'v2 Theirs.']);
    expect(story.versions()).toBe(2);
    await expectSettled(story);
  });
});

describe('a `version:<id>` pin', () => {
  test('to an old version of ours: the tracking environment stays on the newest', async () => {
    const story = await begin({ text: 'A' });
    const ids: string[] = [];
    for (const text of ['A', 'B', 'C', 'D']) {
      story.edit({ text });
      await story.sync();
      ids.push(story.active('staging')!.id);
    }
    story.edit({ text: 'A' });
    await story.sync();
    story.edit({ pins: { staging: 'latest', production: `version:${ids[1]}` } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.serves('promptsync')]).toEqual(['v2 B', 'v4 D']);
    await expectSettled(story);
    story.edit({ text: 'C' });
    expect(told(await story.sync())).toBe('exit 0, applied, staging made');
    expect([story.serves('staging'), story.versions()]).toEqual(['v3 C', 4]);
  });

  test('to a draft of theirs that nobody has read', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    const id = story.draft('Theirs.');
    story.draft('Their next.');
    story.edit({ pins: { staging: 'latest', production: `version:${id}` } });
    expect(told(await story.sync())).toBe('exit 0, applied, production made');
    expect([story.serves('production'), story.serves('promptsync')]).toEqual(['v2 Theirs.', 'v1 A']);
    await expectSettled(story);
  });

  test('to a version of another prompt: refused, and nothing changes', async () => {
    const story = await begin({ text: 'A' });
    await story.sync();
    const { store } = story.service;
    store.registerPrompt({ id: 'prm_other', projectId: 'project', key: 'other', name: 'other' });
    const { id } = store.createVersion('prm_other', { content: 'Of another prompt.' })!;
    story.edit({ pins: { staging: 'latest', production: `version:${id}` } });
    const ran = await story.sync();
    expect(ran.exitCode).toBe(3);
    expect(ran.report.prompts).toMatchObject([{ status: 'blocked', problems: [{ code: 'pin/unknown-version' }] }]);
    expect([story.serves('production'), story.versions()]).toEqual(['nothing', 1]);
  });
});
