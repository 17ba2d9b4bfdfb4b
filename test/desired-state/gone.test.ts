import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { runJson, type Reported } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const REFUND = 'prompts/team/refund.md';
const PINS = { staging: 'latest', production: 'latest', qa: 'latest' };
const CONFIG = 'branch: main\n';
/** Excludes the refund prompt, whose file matches the default patterns. */
const EXCLUDING = `${CONFIG}prompts: ["prompts/**/*.md", "!${REFUND}"]\n`;
const PINNED = 'it pinned "staging" to "latest", "production" to "latest", and "qa" to "latest".';
const SERVED = 'The service still serves v1 in "staging" and v2 in "production".';
const unmatched = (base: string) =>
  `prompt/gone ${REFUND}: No pattern under \`prompts\` matches the file for "team/refund" anymore. At \`${base}\`, ${PINNED}`;

/** Makes a repository with two prompts, on a new branch. The service serves versions of the refund prompt. */
async function makeScene() {
  const service = await startTestService(['greeting', 'refund', 'summary', 'other']);
  const folder = makeRepository({
    ...workspaceFiles({ greeting: { pins: PINS } }, CONFIG),
    [REFUND]: promptText('refund', { key: 'team/refund', pins: PINS }),
  });
  git(folder, 'switch', '--quiet', '--create', 'feature');
  for (const [index, environment] of ['staging', 'production'].entries()) {
    const version = service.store.createVersion('prm_refund', { content: `Text ${index}` });
    service.store.setActive('prm_refund', { environment, versionId: version!.id });
  }
  const plan = (...words: readonly string[]) => runJson(folder, ['plan', ...words], service);
  return {
    ...{ folder, service, plan },
    planWithBase: (...words: readonly string[]) => plan('--base', 'main', ...words),
    write: (files: Parameters<typeof writeFiles>[1]) => writeFiles(folder, files),
    commit: () => commitAll(folder, 'Manage less'),
    /** Goes back to the state of the live branch. */
    reset: () => (git(folder, 'reset', '--quiet', '--hard', 'main'), git(folder, 'clean', '-fdq')),
  };
}

/** Returns the codes, paths and messages of the warnings about prompts and environments that left management. */
function leftIn({ report }: Reported): readonly string[] {
  const left = report.problems.filter(({ code }) => code === 'prompt/gone' || code === 'pin/gone');
  return left.map(({ code, path, message }) => `${code} ${path}: ${message}`).toSorted();
}

test('plan --base warns about a deleted prompt file and lists the versions that the service still serves', async () => {
  const { folder, service, planWithBase, commit } = await makeScene();
  const deleted = `prompt/gone ${REFUND}: The file for "team/refund" has been deleted. At \`main\`, ${PINNED}`;
  git(folder, 'rm', '--quiet', REFUND);
  expect(leftIn(await planWithBase())).toEqual([`${deleted} ${SERVED}`]);
  commit();
  const { exitCode, report } = await planWithBase();
  expect(exitCode).toBe(0);
  expect(report.problems).toMatchObject([{ code: 'prompt/gone', severity: 'warning', path: REFUND }]);
  expect(report.summary.prompts).toBe(1);
  expect(service.takeWrites()).toEqual([]);
  const other = await startTestService(['greeting']);
  const words = ['plan', '--base', 'main'];
  expect(leftIn(await runJson(folder, words, other))).toEqual([`${deleted} The service no longer has the prompt.`]);
  other.store.registerPrompt({ id: 'prm_refund', projectId: 'project', key: 'team/refund', name: 'refund' });
  expect(leftIn(await runJson(folder, words, other))).toEqual([
    `${deleted} The service serves no version in these environments.`,
  ]);
});

test('plan with selectors reports a deleted prompt file only if a selector matches its former key or folder and it did not move', async () => {
  const { folder, planWithBase, write, commit, reset } = await makeScene();
  git(folder, 'rm', '--quiet', REFUND);
  commit();
  // A selector that matches only a deleted file is an error, so other prompts have its key or its folder.
  const sameKey = { 'prompts/team/other.md': promptText('other', { key: 'team/refund' }) };
  const keyOfFolder = {
    'prompts/greeting.md': promptText('greeting', { key: 'team', pins: PINS }),
    'prompts/summary.md': promptText('summary', { key: 'team/summary' }),
  };
  const movedFile = {
    'prompts/team/other.md': promptText('other', { key: 'team/other' }),
    'prompts/elsewhere.md': promptText('refund', { key: 'elsewhere' }),
  };
  for (const [what, files, selectors, count] of [
    ['the former key', sameKey, ['greeting', 'team/*'], 1],
    ['another key', sameKey, ['greeting'], 0],
    ['a key like the folder', keyOfFolder, ['team'], 0],
    ['the folder', keyOfFolder, ['team/'], 1],
    ['a folder from which the file moved', movedFile, ['prompts/team/*'], 0],
  ] as const) {
    for (const path of ['prompts/team', 'prompts/summary.md', 'prompts/elsewhere.md']) {
      rmSync(join(folder, path), { recursive: true, force: true });
    }
    write(files);
    const ran = await planWithBase(...selectors);
    expect(ran.report.prompts.length).toBeGreaterThan(0);
    expect([what, leftIn(ran).length]).toEqual([what, count]);
  }
  reset();
  write({ [REFUND]: promptText('other', { key: 'team/refund', pins: PINS }) });
  expect(leftIn(await planWithBase())[0]).toContain('The file for "team/refund" no longer has `id: prm_refund`.');
});

test('plan --base lists a prompt whose file no longer matches any pattern, and the versions that the service still serves', async () => {
  const { folder, plan, planWithBase, write, commit, reset } = await makeScene();
  write({ 'promptsync.yaml': EXCLUDING });
  expect(leftIn(await planWithBase())).toEqual([`${unmatched('main')} ${SERVED}`]);
  expect(leftIn(await planWithBase('greeting'))).toEqual([]);
  // The file of the greeting has moved to the only folder that the patterns still match.
  write({ 'other/greeting.md': promptText('greeting', { pins: PINS }) });
  write({ 'promptsync.yaml': `${CONFIG}prompts: ["other/*.md"]\n` });
  git(folder, 'rm', '--quiet', 'prompts/greeting.md');
  commit();
  expect(leftIn(await planWithBase())).toEqual([`${unmatched('main')} ${SERVED}`]);

  // Without --base, promptsync does not ask what the service serves.
  reset();
  const base = git(folder, 'rev-parse', 'main').slice(0, 12);
  write({ 'promptsync.yaml': `${CONFIG}prompts: ["prompts/greeting.md"]\n` });
  write({ 'prompts/greeting.md': promptText('greeting', { pins: { staging: 'latest' } }) });
  const expected = [
    `pin/gone prompts/greeting.md: Since the base commit \`${base}\`, these pins have been removed from the file: "production" to "latest" and "qa" to "latest".`,
    unmatched(base),
  ];
  expect(leftIn(await plan())).toEqual(expected);
  commit();
  expect(leftIn(await plan())).toEqual(expected);

  reset();
  write({ 'promptsync.yaml': EXCLUDING });
  git(folder, 'rm', '--quiet', REFUND);
  expect(leftIn(await planWithBase())[0]).toContain('The file for "team/refund" has been deleted.');
});

test('plan --base lists each environment whose pin was removed, and the version that the service still serves in that environment', async () => {
  const { planWithBase, write } = await makeScene();
  write({ [REFUND]: promptText('refund', { key: 'team/refund', pins: { staging: 'latest' } }) });
  const message = `pin/gone ${REFUND}: Since the base commit \`main\`, these pins have been removed from the file: "production" to "latest" and "qa" to "latest".`;
  expect(leftIn(await planWithBase())).toEqual([`${message} The service still serves v2 in "production".`]);
  expect(leftIn(await planWithBase('--offline'))).toEqual([message]);
  expect(leftIn(await planWithBase('--environment', 'staging'))).toEqual([]);
});
