import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startLangfuse } from '../../doubles/langfuse-server.ts';
import { commitAllAt, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { CONFIG, promptText, type PromptParts } from '../../support/prompts.ts';
import { runJson } from '../../support/run.ts';

const NAME = 'prm_main';
const PATH = 'prompts/main.md';
const BOTH_LATEST = { staging: 'latest', production: 'latest' };
const PARTS: PromptParts = { key: NAME, name: NAME, pins: BOTH_LATEST };

/** Returns the time of an hour on a day of January 2026. Each test commits on the hour and syncs some hours later. */
const at = (day: number, hour = 0) => `2026-01-${String(day).padStart(2, '0')}T${String(hour).padStart(2, '0')}:00:00Z`;

/** Makes a repository and a Langfuse with two texts, which were committed and synced on the first two days. */
async function makeScene() {
  const langfuse = await startLangfuse();
  const { store } = langfuse;
  const folder = makeFolder();
  initRepository(folder);
  const run = async (...words: readonly string[]) => {
    const { exitCode, report } = await runJson(folder, words, langfuse);
    const [prompt] = report.prompts;
    const drift = prompt?.drift.map((one) => `${'environment' in one ? one.environment : one.field} ${one.kind}`);
    return { exitCode, status: prompt?.status, drift, problems: prompt?.problems.map(({ code }) => code) };
  };
  const scene = {
    ...{ store, folder, run },
    /** Commits the prompt at the beginning of a day. */
    commit: (day: number, parts: PromptParts): void => {
      writeFiles(folder, { [PATH]: promptText('main', { ...PARTS, ...parts }) });
      commitAllAt(folder, at(day));
    },
    /** Syncs the prompt, as seen from Langfuse, at an hour of a day. */
    sync: async (day: number, hour = 6, ...flags: readonly string[]): Promise<void> => {
      store.setTime(at(day, hour));
      expect((await run('sync', '--yes', ...flags)).exitCode).toBe(0);
    },
    drift: async () => (await run('plan', '--base', 'HEAD')).drift,
    read: () => readFileSync(join(folder, PATH), 'utf8'),
  };
  writeFiles(folder, { 'promptsync.yaml': `${CONFIG}service: { provider: langfuse }\n` });
  for (const [index, text] of ['Two.', 'Three.'].entries()) {
    scene.commit(index + 1, { text });
    await scene.sync(index + 1);
  }
  store.setTime(at(3));
  return scene;
}

test('A label that somebody moved back or removed in Langfuse is drift, and pull keeps a label that was moved back', async () => {
  const { store, folder, run, drift, read } = await makeScene();
  store.moveLabel(NAME, 1, 'production');
  expect(await drift()).toEqual(['production outside']);
  expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'applied' });
  expect(read()).toContain('pins: {"staging":"latest","production":1}');
  expect(read()).toContain('Three.');
  commitAllAt(folder, at(4));
  expect(await run('plan', '--base', 'HEAD', '--exit-code')).toMatchObject({ exitCode: 0, drift: [] });

  const pinned = read();
  store.setTime(at(4, 6));
  store.removeLabel(NAME, 'production');
  expect(await drift()).toEqual(['production outside']);
  expect(await run('pull')).toMatchObject({ exitCode: 0, status: 'unchanged', problems: ['pull/nothing-active'] });
  expect(read()).toBe(pinned);
});

test('A label that waits for its own job does not count as moved, but a label that somebody moved after both jobs does', async () => {
  const { store, run, commit, sync, drift, read } = await makeScene();
  commit(4, { text: 'Four.' });
  await sync(4, 6, '-e', 'staging');
  store.setTime(at(4, 9));
  expect(await drift()).toEqual(['production unfinished']);
  expect(await run('pull')).toMatchObject({ exitCode: 0 });
  expect(read()).toContain('"production":"latest"');
  await sync(4, 9, '--on-drift', 'fail', '-e', 'production');
  expect(await run('plan')).toMatchObject({ status: 'unchanged' });
  store.setTime(at(4, 12));
  store.moveLabel(NAME, 2, 'production');
  expect(await drift()).toEqual(['production outside']);
});
