import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type Reported } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const REFUND = 'prompts/team/refund.md';
const PINS = { staging: 'latest', production: 'latest', qa: 'latest' };

/** Makes a repository whose second commit deletes one of two prompt files. The service still has its versions. */
async function makeGone(service: TestService): Promise<string> {
  const folder = makeRepository({
    ...workspaceFiles({ greeting: {} }),
    [REFUND]: promptText('refund', { key: 'team/refund', pins: PINS }),
  });
  git(folder, 'rm', '--quiet', REFUND);
  commitAll(folder, 'Remove it');
  for (const [index, environment] of ['staging', 'production'].entries()) {
    const version = service.store.createVersion('prm_refund', { content: `Text ${index}` });
    if (version !== null) service.store.setActive('prm_refund', { environment, versionId: version.id });
  }
  return folder;
}

const PLAN = ['plan', '--base', 'HEAD^'] as const;

/** Returns the paths of the deleted files that the report names. */
function deletedFilesIn({ report }: Reported): readonly (string | undefined)[] {
  return report.problems.filter(({ code }) => code === 'prompt/gone').map(({ path }) => path);
}

describe('plan --base with a deleted prompt file', () => {
  test('plan --base warns about a deleted prompt file and lists the versions that the service still serves', async () => {
    const service = await startTestService(['greeting', 'refund']);
    const folder = await makeGone(service);
    const { exitCode, report } = await runJson(folder, PLAN, service);
    expect(exitCode).toBe(0);
    expect(report.problems).toMatchObject([
      {
        code: 'prompt/gone',
        severity: 'warning',
        path: REFUND,
        message:
          'The file for "team/refund" has been deleted. At `HEAD^`, it pinned "staging" to "latest", "production" to "latest", and "qa" to "latest". The service still serves v1 in "staging" and v2 in "production".',
      },
    ]);
    expect(report.summary.prompts).toBe(1);
    expect(service.takeWrites()).toEqual([]);
    expect((await run(folder, PLAN, service)).stderr).toContain('still serves v1');
  });

  test('If a key and a folder have the same name, plan with that key reports no deleted file in the folder', async () => {
    const service = await startTestService(['greeting', 'refund', 'summary']);
    const folder = await makeGone(service);
    writeFiles(folder, {
      'prompts/greeting.md': promptText('greeting', { key: 'team' }),
      'prompts/summary.md': promptText('summary', { key: 'team/summary' }),
    });
    expect(deletedFilesIn(await runJson(folder, [...PLAN, 'team'], service))).toEqual([]);
    expect(deletedFilesIn(await runJson(folder, [...PLAN, 'team/'], service))).toEqual([REFUND]);
  });

  test('plan --base warns about a deleted prompt file even if the service no longer contains the prompt', async () => {
    const service = await startTestService(['greeting']);
    const folder = await makeGone(service);
    const { exitCode, report } = await runJson(folder, PLAN, service);
    expect(exitCode).toBe(0);
    expect(report.problems).toMatchObject([{ code: 'prompt/gone', severity: 'warning' }]);
    expect(report.problems[0]?.message).toMatch(/ The service no longer has the prompt\.$/);
    service.store.registerPrompt({ id: 'prm_refund', projectId: 'project', key: 'team/refund', name: 'refund' });
    const again = await runJson(folder, PLAN, service);
    expect(again.report.problems[0]?.message).toContain('The service serves no version in these environments.');
  });

  test('plan --base warns about an uncommitted deletion of a prompt file', async () => {
    const service = await startTestService(['greeting', 'refund']);
    const folder = await makeGone(service);
    git(folder, 'revert', '--no-edit', 'HEAD');
    git(folder, 'rm', '--quiet', REFUND);
    expect(deletedFilesIn(await runJson(folder, ['plan', '--base', 'HEAD'], service))).toEqual([REFUND]);
  });
});

describe('plan --base --only with a deleted prompt file', () => {
  test('plan --only reports a deleted prompt file if a selector matches its former key or path', async () => {
    const service = await startTestService(['greeting', 'refund']);
    const folder = await makeGone(service);
    // A selector that matches only a deleted file is an error, so another prompt has its key or its path.
    const sameKey = { 'prompts/team/other.md': promptText('other', { key: 'team/refund' }) };
    const samePath = { [REFUND]: promptText('other2', { key: 'team/other' }) };
    for (const [files, only, expected] of [
      [sameKey, ['greeting', 'team/*'], [REFUND]],
      [sameKey, ['greeting'], []],
      [samePath, ['greeting', REFUND], [REFUND]],
    ] as const) {
      rmSync(join(folder, 'prompts/team'), { recursive: true, force: true });
      writeFiles(folder, files);
      const ran = await runJson(folder, [...PLAN, ...only.flatMap((one) => ['--only', one])], service);
      expect(deletedFilesIn(ran)).toEqual(expected);
    }
  });

  test.each<[string, string, string]>([
    [
      'plan --only does not report a prompt file as deleted if it moved to an unselected path',
      'prompts/elsewhere.md',
      'elsewhere',
    ],
    ['plan --only does not report a prompt file as deleted if its new key is not selected', REFUND, 'elsewhere'],
  ])('%s', async (_, path, key) => {
    const service = await startTestService(['greeting', 'refund', 'other']);
    const folder = makeRepository({
      ...workspaceFiles({}),
      'prompts/team/other.md': promptText('other', { key: 'team/other' }),
      [REFUND]: promptText('refund', { key: 'team/refund' }),
    });
    git(folder, 'rm', '--quiet', REFUND);
    writeFiles(folder, { [path]: promptText('refund', { key }) });
    commitAll(folder, 'Move it');
    const selector = path === REFUND ? 'team/*' : 'prompts/team/*';
    const ran = await runJson(folder, [...PLAN, '--only', selector], service);
    expect(ran.report.prompts.length).toBeGreaterThan(0);
    expect(deletedFilesIn(ran)).toEqual([]);
  });
});

describe('prompts and environments that are no longer managed although no managed file was deleted', () => {
  const CONFIG = 'branch: main\n';

  /** Makes a repository with two synced prompts, on a new branch. */
  async function makeSynced() {
    const service = await startTestService(['greeting', 'refund']);
    const folder = makeRepository(workspaceFiles({ greeting: { pins: PINS }, refund: { pins: PINS } }, CONFIG));
    await runJson(folder, ['sync', '--yes'], service);
    git(folder, 'switch', '--quiet', '--create', 'feature');
    return { service, folder };
  }

  /** Returns the codes, paths and messages of the warnings about prompts and environments that left management. */
  function leftIn({ report }: Reported) {
    const left = report.problems.filter(({ code }) => code === 'prompt/gone' || code === 'pin/gone');
    return left.map(({ code, path, message }) => `${code} ${path}: ${message}`);
  }

  const ALL_PINS = 'it pinned "staging" to "latest", "production" to "latest", and "qa" to "latest".';
  const SERVED = 'The service still serves v1 in "staging", v1 in "production", and v1 in "qa".';
  const unmatched = (base: string) =>
    `prompt/gone prompts/refund.md: No pattern under \`prompts\` matches the file for "refund" anymore. At \`${base}\`, ${ALL_PINS}`;

  test('plan --base lists a prompt whose file no longer matches any pattern, and the versions that the service still serves', async () => {
    const { service, folder } = await makeSynced();
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}prompts: ["prompts/**/*.md", "!prompts/refund.md"]\n` });
    expect(leftIn(await runJson(folder, ['plan', '--base', 'main'], service))).toEqual([
      `${unmatched('main')} ${SERVED}`,
    ]);
    commitAll(folder, 'Exclude it');
    expect(leftIn(await runJson(folder, ['plan', '--base', 'main'], service))).toHaveLength(1);
    expect(leftIn(await runJson(folder, ['plan', '--base', 'main', 'greeting'], service))).toEqual([]);
  });

  test('plan lists a prompt as gone if its file matched only the default patterns at the base commit', async () => {
    const { service, folder } = await makeSynced();
    const files = { 'other/greeting.md': promptText('greeting', { pins: PINS }) };
    writeFiles(folder, { ...files, 'promptsync.yaml': `${CONFIG}prompts: ["other/*.md"]\n` });
    git(folder, 'rm', '--quiet', 'prompts/greeting.md');
    expect(leftIn(await runJson(folder, ['plan', '--base', 'main'], service))).toEqual([
      `${unmatched('main')} ${SERVED}`,
    ]);
  });

  test('Without --base, plan lists prompts and environments that are no longer managed, but not the versions that the service serves', async () => {
    const { service, folder } = await makeSynced();
    const base = git(folder, 'rev-parse', 'main').trim().slice(0, 12);
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}prompts: ["prompts/greeting.md"]\n` });
    writeFiles(folder, { 'prompts/greeting.md': promptText('greeting', { pins: { staging: 'latest' } }) });
    const expected = [
      unmatched(base),
      `pin/gone prompts/greeting.md: Since the base commit \`${base}\`, these pins have been removed from the file: "production" to "latest" and "qa" to "latest".`,
    ];
    expect(leftIn(await runJson(folder, ['plan'], service)).toSorted()).toEqual(expected.toSorted());
    commitAll(folder, 'Manage less');
    expect(leftIn(await runJson(folder, ['plan'], service)).toSorted()).toEqual(expected.toSorted());
  });

  test('plan --base lists each environment whose pin was removed, and the version that the service still serves in that environment', async () => {
    const { service, folder } = await makeSynced();
    writeFiles(folder, { 'prompts/refund.md': promptText('refund', { pins: { staging: 'latest' } }) });
    const message =
      'Since the base commit `main`, these pins have been removed from the file: "production" to "latest" and "qa" to "latest".';
    expect(leftIn(await runJson(folder, ['plan', '--base', 'main'], service))).toEqual([
      `pin/gone prompts/refund.md: ${message} The service still serves v1 in "production" and v1 in "qa".`,
    ]);
    const offline = await runJson(folder, ['plan', '--base', 'main', '--offline'], service);
    expect(leftIn(offline)).toEqual([`pin/gone prompts/refund.md: ${message}`]);
    const narrowed = await runJson(folder, ['plan', '--base', 'main', '--environment', 'staging'], service);
    expect(leftIn(narrowed)).toEqual([]);
  });

  test('if somebody changed the id in a file, plan --base reports the lost id instead of a deleted file', async () => {
    const { service, folder } = await makeSynced();
    writeFiles(folder, { 'prompts/refund.md': promptText('refunds', { pins: PINS }) });
    const [warning] = leftIn(await runJson(folder, ['plan', '--base', 'main'], service));
    expect(warning).toContain('The file for "refund" no longer has `id: prm_refund`.');
  });

  test('for deleted files and excluded files, plan --base prints one list with one hint', async () => {
    const { service, folder } = await makeSynced();
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}prompts: ["prompts/**/*.md", "!prompts/refund.md"]\n` });
    writeFiles(folder, { 'prompts/summary.md': promptText('summary') });
    git(folder, 'rm', '--quiet', 'prompts/greeting.md');
    const { stderr } = await run(folder, ['plan', '--base', 'main', '--offline'], service);
    const list =
      /2 files with this problem: \[prompt\/gone\]\n {2}prompts\/greeting.md .*\n {2}prompts\/refund.md .*\n/;
    expect(stderr).toMatch(list);
    expect(stderr.split(list)[1]).toMatch(
      /^ {2}To keep the prompt, restore whichever is missing: its file, its `id`, or a pattern under/,
    );
  });

  test('plan --base says that a file was deleted, even if its pattern was removed at the same time', async () => {
    const { service, folder } = await makeSynced();
    writeFiles(folder, { 'promptsync.yaml': `${CONFIG}prompts: ["prompts/**/*.md", "!prompts/refund.md"]\n` });
    git(folder, 'rm', '--quiet', 'prompts/refund.md');
    const [warning] = leftIn(await runJson(folder, ['plan', '--base', 'main'], service));
    expect(warning).toContain('The file for "refund" has been deleted.');
  });
});
