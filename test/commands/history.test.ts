import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Report } from '../../src/report/schema/report-schema.ts';
import { changeService, startTestService } from '../support/service.ts';
import { cloneOf, commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { commitOn, makeStory } from './history-story.ts';

const versionsOf = ({ prompts }: Report) => prompts[0]?.history?.versions ?? [];

/** Returns for each version where it is active, and when each environment was pinned to it. */
function placesOf(report: Report) {
  return versionsOf(report).map(({ version_number: number, made_by: by, active_in: active, pinned }) => ({
    ...{ number, by, active },
    pinned: pinned.map(({ environment, from, until }) => {
      return [environment, from?.date?.slice(0, 10), until?.date?.slice(0, 10) ?? null];
    }),
  }));
}

const both = (production: string | number) => ({ staging: 'latest', production });

/** A pattern for the time in a row of the history. */
const TIME = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d`;

describe('history', () => {
  test('history shows edits, promotions, rollbacks and changes made directly in the service', async () => {
    const { first, edit, readHistory, text, baseUrl } = await makeStory({ pins: both('latest') });
    const second = await edit({ pins: both(1), text: 'Two.' }, 'Shorter (#2)', 3);
    await edit({ pins: both(2), text: 'Two.' }, 'Promote', 4);
    await edit({ pins: both(1), text: 'Two.' }, 'Back', 5);
    await changeService(baseUrl, 'greeting', 'production', 'Somebody’s.');
    const { report, exitCode } = await readHistory('greeting');
    expect(exitCode).toBe(0);
    expect(placesOf(report)).toEqual([
      { number: 3, by: 'outside', active: ['production'], pinned: [] },
      {
        ...{ number: 2, by: 'git', active: ['staging'] },
        pinned: [
          ['staging', '2026-01-03', null],
          ['production', '2026-01-04', '2026-01-05'],
        ],
      },
      {
        ...{ number: 1, by: 'git', active: [] },
        pinned: [
          ['staging', '2026-01-02', '2026-01-03'],
          ['production', '2026-01-05', null],
          ['production', '2026-01-02', '2026-01-04'],
        ],
      },
    ]);
    const bob = { author: 'Bob', date: '2026-01-03T12:00:00+01:00', subject: 'Shorter (#2)', pull_request: '#2' };
    expect(versionsOf(report)[1]).toMatchObject({ commit: second, path: 'prompts/greeting.md', ...bob });
    expect(versionsOf(report)[2]).toMatchObject({ commit: first, author: 'Ada' });
    expect(versionsOf(report)[2]?.pinned.map(({ served }) => served)).toEqual([false, false, false]);
    expect(await text('history', 'greeting')).toContain('2026-01-05 11:00 → not served now');
    expect(await text('history', 'greeting')).toContain('! production serves v3, but the file pins it to 1.');
  });

  test('history --environment shows which commits created and pinned the active version', async () => {
    const { edit, readHistory, first } = await makeStory({ pins: both('latest') });
    await edit({ pins: both(1), text: 'Two.' }, 'Shorter', 3);
    const { report, exitCode } = await readHistory('greeting', '--environment', 'production');
    expect(exitCode).toBe(0);
    const { lineage } = report.prompts[0] ?? {};
    expect(lineage).toMatchObject({ environment: 'production', serves: { version_number: 1, commit: first } });
    expect(lineage?.pinned).toMatchObject({ commit: first, author: 'Ada' });
    expect(report.prompts[0]).not.toHaveProperty('history');
  });

  test('history --environment shows when the active version was created outside git, and that it differs from the pin', async () => {
    const { text, baseUrl } = await makeStory({ pins: both('latest') });
    const id = await changeService(baseUrl, 'greeting', 'production', 'Somebody’s.');
    const said = await text('history', 'greeting', '--environment', 'production');
    expect(said).toMatch(
      new RegExp(`^production serves v2 \\(${id}\\)\n.*\nmade +${TIME} +created outside git\n`, 'm'),
    );
    expect(said).toContain('! production serves v2, but the file pins it to latest (v1).');
    expect(said).not.toMatch(/^pinned/m);
  });

  test('history attributes the text and the pins of a merged branch to the merge commit and its pull request', async () => {
    const { folder, sync, readHistory } = await makeStory({ pins: both('latest') });
    git(folder, 'switch', '--quiet', '--create', 'side');
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { pins: both('latest'), text: 'Two.' }) });
    commitOn(folder, 'Shorter', 3);
    git(folder, 'switch', '--quiet', 'main');
    commitOn(folder, 'Something else', 4);
    git(folder, 'merge', '--quiet', '--no-ff', '--message', 'Merge pull request #9 from a/side\n\nShort texts', 'side');
    const merged = await sync();
    const { report } = await readHistory('greeting', '--environment', 'staging');
    expect(report.prompts[0]?.lineage).toMatchObject({
      serves: { commit: merged, subject: 'Short texts', pull_request: '#9' },
      pinned: { commit: merged, subject: 'Short texts', pull_request: '#9' },
    });
  });

  test('history does not report pending changes or pins to unknown versions', async () => {
    const { folder, readHistory } = await makeStory({ pins: both('latest') });
    writeFiles(folder, { 'prompts/refund.md': promptText('refund') });
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { pins: both(99), text: 'Next.' }) });
    const { exitCode, report } = await readHistory('*');
    expect(exitCode).toBe(0);
    expect(report.prompts.map(({ key, history }) => [key, history?.versions.length])).toEqual([
      ['greeting', 1],
      ['refund', 0],
    ]);
    expect(report.prompts[0]).toMatchObject({ status: 'unchanged', changes: [], problems: [] });
  });

  test('history marks a version that was created from an uncommitted file', async () => {
    const { folder, sync, readHistory, text } = await makeStory({});
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { text: 'Not committed.' }) });
    await sync('--allow-dirty');
    expect(versionsOf((await readHistory('greeting')).report)[0]).toMatchObject({ made_by: 'uncommitted', pinned: [] });
    const said = await text('history', 'greeting', '--environment', 'staging');
    expect(said).toMatch(new RegExp(`^made +${TIME} +from an uncommitted file\npinned +not by a known commit\n`, 'm'));
  });

  test('history --environment states that the environment serves nothing or that the file does not pin it', async () => {
    const { text, baseUrl } = await makeStory({});
    expect(await text('history', 'greeting', '-e', 'production')).toContain('production serves nothing\n');
    await changeService(baseUrl, 'greeting', 'production', 'Somebody’s.');
    expect(await text('history', 'greeting', '-e', 'production')).toMatch(/^pinned +not by the file\n/m);
  });

  test('history of an environment shows the path of the file only if it was another one at that time', async () => {
    const { folder, text } = await makeStory({});
    expect(await text('history', 'greeting', '-e', 'staging')).toMatch(/^ +date \(UTC\) +commit +author +subject\n/m);
    renameSync(join(folder, 'prompts/greeting.md'), join(folder, 'prompts/hello.md'));
    commitAll(folder, 'Rename');
    const renamed = await text('history', 'greeting', '-e', 'staging');
    expect(renamed).toMatch(/subject +path\n/);
    expect(renamed).toMatch(/^made .* prompts\/greeting\.md\n/m);
  });

  test('history warns about commits missing from a shallow clone and shows only their hashes', async () => {
    const { folder, first, edit, options } = await makeStory({ pins: both('latest') });
    await edit({ pins: both(1), text: 'Two.' }, 'Shorter', 3);
    const clone = cloneOf(folder);
    const { report, exitCode } = await runJson(clone, ['history', 'greeting'], options);
    expect(versionsOf(report)[1]).toMatchObject({ version_number: 1, commit: first });
    expect(versionsOf(report)[1]).not.toHaveProperty('author');
    expect(versionsOf(report)[1]?.pinned).toMatchObject([{ environment: 'production', from: null, until: null }]);
    const said = await run(clone, ['history', 'greeting', '-e', 'production'], options);
    expect(said.stdout).toMatch(/^pinned +not by a known commit\n/m);
    expect({ exitCode, problems: report.problems }).toMatchObject({
      exitCode: 0,
      problems: [{ code: 'git/shallow' }],
    });
  });
});

describe('the errors of history', () => {
  test('history rejects an unknown prompt or environment and suggests a similar name', async () => {
    const { folder, options } = await makeStory({});
    for (const [words, code, hint] of [
      [['greting'], 'usage/nothing-selected', 'Did you mean "greeting"?'],
      [['greeting', '-e', 'prod'], 'usage/unknown-environment', 'Use "'],
      [['greeting', '-e', 'stagign'], 'usage/unknown-environment', 'mean "staging"?'],
      [['greeting', '-e', 'promptsync'], 'usage/unknown-environment', ''],
    ] as const) {
      const { report, exitCode } = await runJson(folder, ['history', ...words], options);
      expect(exitCode).toBe(1);
      expect(report.problems).toMatchObject([{ code, hint: expect.stringContaining(hint) }]);
    }
  });

  test('history accepts any environment name if the configuration lists no environments', async () => {
    const { readHistory } = await makeStory({}, CONFIG);
    const { report } = await readHistory('greeting', '--environment', 'canary');
    expect(report.prompts[0]?.lineage).toEqual({ environment: 'canary', serves: null, pinned: null });
    const own = await readHistory('greeting', '--environment', 'promptsync');
    expect(own.report.prompts[0]?.lineage).toMatchObject({ serves: { version_number: 1 } });
  });

  test.each([
    ['history exits with code 1 if the service has none of the selected prompts', 'greeting', 1, ['failed']],
    [
      'history exits with code 4 if one of several selected prompts is missing from the service',
      '*',
      4,
      ['unchanged', 'failed'],
    ],
  ])('%s', async (_, key, code, statuses) => {
    const folder = makeRepository(workspaceFiles({ greeting: {}, refund: {} }));
    const { environment } = await startTestService(key === '*' ? ['greeting'] : ['refund']);
    const { report, exitCode } = await runJson(folder, ['history', key], { environment });
    expect(exitCode).toBe(code);
    expect(report.prompts.map(({ status }) => status)).toEqual(statuses);
  });
});
