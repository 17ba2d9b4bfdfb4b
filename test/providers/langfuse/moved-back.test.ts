import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { cloneOf, commitAllAt, git, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';

const NAME = 'prm_main';
const PATH = 'prompts/main.md';
const BOTH_LATEST = { staging: 'latest', production: 'latest' };

/** Returns the time of an hour on a day of January 2026. Each test commits on the hour and syncs some hours later. */
const at = (day: number, hour = 0) => `2026-01-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;

/**
 * Makes a repository and a Langfuse with three texts, which were committed and synced on the first three days. Both
 * labels are on version 3.
 */
async function makeScene() {
  const langfuse = await startLangfuse();
  const { store } = langfuse;
  const folder = makeFolder();
  initRepository(folder);
  const runIn = async (place: string, ...words: readonly string[]) => {
    const { exitCode, report } = await runJson(place, words, langfuse);
    const [prompt] = report.prompts;
    const drift = prompt?.drift.map((one) => `${'environment' in one ? one.environment : one.field} ${one.kind}`);
    return { exitCode, status: prompt?.status, drift, problems: prompt?.problems.map(({ code }) => code) };
  };
  const run = (...words: readonly string[]) => runIn(folder, ...words);
  const scene = {
    store,
    folder,
    run,
    /** Commits the prompt at the beginning of a day. */
    commit: (day: number, parts: PromptParts): void => {
      writeFiles(folder, { [PATH]: promptText('main', { key: NAME, name: NAME, pins: BOTH_LATEST, ...parts }) });
      commitAllAt(folder, at(day));
    },
    /** Syncs the prompt, as seen from Langfuse, at an hour of a day. */
    sync: async (day: number, hour = 6): Promise<void> => {
      store.setTime(at(day, hour));
      expect((await run('sync', '--yes')).exitCode).toBe(0);
    },
    plan: (...words: readonly string[]) => run('plan', '--base', 'HEAD', ...words),
    planIn: (place: string) => runIn(place, 'plan', '--base', 'HEAD'),
    read: () => readFileSync(join(folder, PATH), 'utf8'),
  };
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n` });
  for (const [index, text] of ['One.', 'Two.', 'Three.'].entries()) {
    scene.commit(index + 1, { text });
    await scene.sync(index + 1);
  }
  store.setTime(at(4));
  return scene;
}

describe('the jobs of two environments', () => {
  test.each<[string, readonly [first: string, second: string]]>([
    ['A label that waits for its own job does not count as moved', ['staging', 'production']],
    ['A label that waits for its own job does not count as moved, whatever the order', ['production', 'staging']],
  ])('%s', async (_, [first, second]) => {
    const { store, run, commit, plan, read } = await makeScene();
    commit(4, { text: 'Four.' });
    store.setTime(at(4, 6));
    expect(await run('sync', '--yes', '-e', first)).toMatchObject({ exitCode: 0, status: 'applied' });
    store.setTime(at(4, 9));
    expect((await plan()).drift).toEqual([`${second} unfinished`]);
    expect(await run('pull')).toMatchObject({ exitCode: 0 });
    expect(read()).toContain('"production":"latest"');
    const strict = ['sync', '--yes', '--on-drift', 'fail', '-e', second];
    expect(await run(...strict)).toMatchObject({ exitCode: 0, status: 'applied' });
    expect(await run('plan')).toMatchObject({ status: 'unchanged' });
  });

  test('A label that somebody moved away after both jobs counts as moved', async () => {
    const { store, run, commit, plan } = await makeScene();
    commit(4, { text: 'Four.' });
    for (const [hour, environment] of [
      [6, 'staging'],
      [7, 'production'],
    ] as const) {
      store.setTime(at(4, hour));
      await run('sync', '--yes', '-e', environment);
    }
    store.setTime(at(4, 9));
    store.moveLabel(NAME, 3, 'production');
    expect((await plan()).drift).toEqual(['production outside']);
  });
});

describe('a clone that is behind', () => {
  test('In a clone that is behind, plan reports no drift even if the newer, already synced commit moved the prompt file', async () => {
    const { store, folder, sync, run } = await makeScene();
    git(folder, 'mv', PATH, 'prompts/moved.md');
    const parts = { key: NAME, name: NAME, pins: BOTH_LATEST, text: 'Four.' };
    writeFiles(folder, { 'prompts/moved.md': promptText('main', parts) });
    const config = `${CONFIG}service: { provider: langfuse }\nbranch: main\n`;
    writeFiles(folder, { 'promptsync.yaml': config });
    commitAllAt(folder, at(4));
    await sync(4);
    store.setTime(at(5));
    git(folder, 'switch', '--quiet', '--detach', 'HEAD~1');
    writeFiles(folder, { 'promptsync.yaml': config });
    expect(await run('plan')).toMatchObject({ exitCode: 0, drift: [] });
  });
});

describe('a label that somebody moved after the sync', () => {
  test('plan reports drift caused outside git if somebody moves a label back to an older version after the sync', async () => {
    const { store, plan } = await makeScene();
    store.moveLabel(NAME, 2, 'production');
    expect(await plan()).toMatchObject({ exitCode: 0, drift: ['production outside'] });
  });

  test('sync with on-drift fail refuses to undo an emergency rollback in Langfuse', async () => {
    const { store, run } = await makeScene();
    store.moveLabel(NAME, 2, 'production');
    const ran = await run('sync', '--yes', '--on-drift', 'fail', '--base', 'HEAD');
    expect(ran).toMatchObject({ exitCode: 3, status: 'blocked', problems: ['guard/drift'] });
    expect(store.serves(NAME, 'production')).toMatchObject({ version: 2 });
  });

  test('pull replaces the pin "latest" with the number of the version that the label was moved back to', async () => {
    const { store, run, plan, read, folder } = await makeScene();
    store.moveLabel(NAME, 2, 'production');
    expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'applied' });
    expect(read()).toContain('pins: {"staging":"latest","production":2}');
    expect(read()).toContain('Three.');
    commitAllAt(folder, at(5));
    expect(await plan('--exit-code')).toMatchObject({ exitCode: 0, drift: [] });
  });

  test('pull --environment does not write the pin of a different environment that somebody moved back', async () => {
    const { store, run, read } = await makeScene();
    store.moveLabel(NAME, 2, 'production');
    expect(await run('pull', '--environment', 'staging')).toMatchObject({ status: 'unchanged' });
    expect(read()).toContain('"production":"latest"');
  });

  test('plan reports drift caused outside git if somebody moves a label away from the synced version number', async () => {
    const { store, commit, sync, plan } = await makeScene();
    commit(5, { text: 'Three.', pins: { staging: 'latest', production: 2 } });
    await sync(5);
    store.moveLabel(NAME, 1, 'production');
    expect(await plan()).toMatchObject({ drift: ['production outside'] });
  });

  test('plan reports drift caused outside git if somebody removes a label from the version that a sync created', async () => {
    const { store, plan } = await makeScene();
    store.removeLabel(NAME, 'production');
    expect(await plan()).toMatchObject({ drift: ['production outside'] });
  });

  test('with portable_pins, pull of a label that was moved back takes the earlier text instead of pinning its number', async () => {
    const { store, run, read, folder } = await makeScene();
    const settings = `${CONFIG}service: { provider: langfuse }\nportable_pins: true\n`;
    writeFiles(folder, { 'promptsync.yaml': settings });
    store.moveLabel(NAME, 2, 'production');
    expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'applied' });
    expect(read()).toBe(promptText('main', { key: NAME, name: NAME, pins: BOTH_LATEST, text: 'Two.' }));
  });

  test('pull does not change the file if somebody removed a label, and reports the label', async () => {
    const { store, run, read } = await makeScene();
    const before = read();
    store.removeLabel(NAME, 'production');
    expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'unchanged', problems: ['pull/nothing-active'] });
    expect(read()).toBe(before);
  });

  test('pull merges a config that somebody edited under an unchanged text, even if an older commit had no metadata', async () => {
    const { store, commit, sync, plan, run, read } = await makeScene();
    commit(5, { text: 'Three.', metadata: { model: 'a' } });
    await sync(5);
    store.addVersion(NAME, { text: 'Three.', config: { model: 'b' }, labels: ['staging', 'production'] });
    expect(await plan()).toMatchObject({ drift: ['staging outside', 'production outside'] });
    expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'applied' });
    expect(read()).toContain('metadata: {"model":"b"}');
  });

  test('plan on a feature branch compares with the commit of the live branch that introduced the text', async () => {
    const { store, folder, commit, run } = await makeScene();
    git(folder, 'switch', '--quiet', '--create', 'feature');
    commit(6, { text: 'Three.', metadata: {} });
    commit(7, { text: 'Three.' });
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}branch: main\nservice: { provider: langfuse }\n` });
    store.moveLabel(NAME, 2, 'production');
    expect(await run('plan')).toMatchObject({ drift: ['production outside'] });
  });
});

describe('a label that no sync has moved yet', () => {
  test('plan reports unfinished drift if the text of the last commit exists only as an older draft', async () => {
    const { store, commit, plan } = await makeScene();
    store.addVersion(NAME, { text: 'Four.' });
    commit(5, { text: 'Four.' });
    expect(await plan()).toMatchObject({ drift: ['staging unfinished', 'production unfinished'] });
  });

  test('plan reports unfinished drift if no sync has run since a commit reverted the text', async () => {
    const { commit, plan } = await makeScene();
    commit(5, { text: 'Two.' });
    expect(await plan()).toMatchObject({ drift: ['staging unfinished', 'production unfinished'] });
  });

  test('plan reports unfinished drift if a sync was interrupted between the labels of the same commit', async () => {
    const { store, commit, plan } = await makeScene();
    commit(5, { text: 'Two.' });
    store.setTime(at(5, 6));
    store.moveLabel(NAME, 2, 'staging');
    expect(await plan()).toMatchObject({ drift: ['production unfinished'] });
  });

  test('plan reports unfinished drift if a label never was on any version and the pin is a version number', async () => {
    const { store, commit, plan } = await makeScene();
    commit(5, { text: 'Three.', pins: { ...BOTH_LATEST, canary: 1 } });
    expect(await plan()).toMatchObject({ drift: ['canary unfinished'] });
    store.setTime(at(6));
    expect(store.serves(NAME, 'canary')).toBeNull();
  });

  test('plan does not judge a removed label if the shallow clone lacks the commit that introduced the text', async () => {
    const { store, folder, commit, plan, planIn } = await makeScene();
    writeFiles(folder, { 'README.md': 'Unrelated.' });
    commit(4, { text: 'Three.' });
    store.removeLabel(NAME, 'production');
    expect(await plan()).toMatchObject({ drift: ['production outside'] });
    expect(await planIn(cloneOf(folder))).toMatchObject({ drift: ['production unfinished'] });
  });
});
