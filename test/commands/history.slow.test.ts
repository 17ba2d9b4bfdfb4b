import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Report } from '../../src/report/schema/report-schema.ts';
import { changeService, startTestService } from '../support/service.ts';
import { cloneOf, commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';

/** A pattern for the time in a row of the history. */
const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;

const both = (production: string | number) => ({ staging: 'latest', production });

const versionsOf = ({ prompts }: Report) => prompts[0]?.history?.versions ?? [];

/** Makes a repository with one synced prompt, and functions that write, sync and show it. */
async function makeStory(pins: PromptParts['pins'] = { staging: 'latest' }, environments = '') {
  const folder = makeRepository(workspaceFiles({ greeting: { pins: pins! } }, `${CONFIG}${environments}`));
  const service = await startTestService(['greeting']);
  const sync = async (...words: readonly string[]) => {
    expect(await run(folder, ['sync', '--yes', ...words], service)).toMatchObject({ exitCode: 0 });
    return git(folder, 'rev-parse', 'HEAD');
  };
  const write = (parts: PromptParts): void =>
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', parts) });
  return {
    ...{ folder, service, sync, write },
    first: await sync(),
    readHistory: async (...words: readonly string[]) => {
      service.takeWrites();
      const reported = await runJson(folder, ['history', ...words], service);
      expect(service.takeWrites()).toEqual([]);
      return reported;
    },
    text: async (...words: readonly string[]) => (await run(folder, ['history', 'greeting', ...words], service)).stdout,
  };
}

test('history shows changes made directly in the service and earlier paths, works in a shallow clone, and shows no pending changes', async () => {
  const story = await makeStory(both('latest'), 'environments: { staging: {}, production: {} }\n');
  const { folder, service, first, sync, readHistory, text, write } = story;
  write({ pins: both(1), text: 'Two.' });
  commitAll(folder, 'Shorter');
  await sync();
  const id = await changeService(service.baseUrl, 'greeting', 'production', 'Somebody’s.');
  const { report, exitCode } = await readHistory('greeting');
  expect(exitCode).toBe(0);
  expect(versionsOf(report)).toMatchObject([
    { version_number: 3, made_by: 'outside', active_in: ['production'] },
    { version_number: 2, made_by: 'git', active_in: ['staging'] },
    { version_number: 1, made_by: 'git', active_in: [] },
  ]);
  const lineage = await text('--environment', 'production');
  expect(lineage).toMatch(
    new RegExp(
      `^production serves v3 \\(${id}\\)\n.*\nmade +${TIME} +created outside git\n! production serves v3,`,
      'm',
    ),
  );

  // A shallow clone lacks the commits.
  const clone = await runJson(cloneOf(folder), ['history', 'greeting'], service);
  expect(clone).toMatchObject({ exitCode: 0, report: { problems: [{ code: 'git/shallow' }] } });
  const oldest = versionsOf(clone.report)[2];
  expect(oldest).toMatchObject({ commit: first, pinned: [{ environment: 'production', from: null, until: null }] });
  expect(oldest).not.toHaveProperty('author');

  // The path is shown only if it was another one at that time.
  expect(await text('-e', 'staging')).toMatch(/^ +date \(UTC\) +commit +author +subject\n/m);
  renameSync(join(folder, 'prompts/greeting.md'), join(folder, 'prompts/hello.md'));
  commitAll(folder, 'Rename');
  expect(await text('-e', 'staging')).toMatch(/subject +path\nmade .* prompts\/greeting\.md\n/);
  renameSync(join(folder, 'prompts/hello.md'), join(folder, 'prompts/greeting.md'));

  // Pending changes and unknown pins are not the subject of history.
  write({ pins: both(99), text: 'Next.' });
  const pending = await readHistory('*');
  expect(pending.exitCode).toBe(0);
  expect(pending.report.prompts).toMatchObject([{ status: 'unchanged', changes: [], problems: [] }]);
});

test('history accepts any environment name if the configuration lists none, and marks versions from uncommitted files', async () => {
  const { sync, write, readHistory, text } = await makeStory();
  const readLineage = async (environment: string) =>
    (await readHistory('greeting', '--environment', environment)).report.prompts[0]?.lineage;
  expect(await readLineage('canary')).toEqual({ environment: 'canary', serves: null, pinned: null });
  expect(await readLineage('promptsync')).toMatchObject({ serves: { version_number: 1 } });
  write({ text: 'Not committed.' });
  await sync('--allow-dirty');
  const { report } = await readHistory('greeting');
  expect(versionsOf(report)[0]).toMatchObject({ made_by: 'uncommitted', pinned: [] });
  expect(await text('--environment', 'staging')).toMatch(
    new RegExp(`^made +${TIME} +from an uncommitted file\npinned +not by a known commit\n`, 'm'),
  );
});
