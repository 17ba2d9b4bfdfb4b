import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeRepository, writeFiles } from '../support/folder.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run, runJson, type Reported } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

const REFUND = 'prompts/team/refund.md';
const PINS = { staging: 'latest', production: 'latest', qa: 'latest' };

/** Two prompts; the second one's file is gone in the second commit. The service has versions of it. */
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

/** What is said of files that are gone, by their path. */
function goneIn({ report }: Reported): readonly (string | undefined)[] {
  return report.problems.filter(({ code }) => code === 'prompt/gone').map(({ path }) => path);
}

describe('a file that is gone since the base', () => {
  test('is told with what each environment of it serves still', async () => {
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
          'The file of prompt "prm_refund" is gone since HEAD^; the service still serves v1 in "staging", v2 in "production".',
      },
    ]);
    expect(report.summary.prompts).toBe(1);
    expect(service.takeWrites()).toEqual([]);
    expect((await run(folder, PLAN, service)).stderr).toContain('still serves v1');
  });

  test('of which nothing is served, and that was deleted in the service as well', async () => {
    const service = await startTestService(['greeting']);
    const folder = await makeGone(service);
    const { exitCode, report } = await runJson(folder, PLAN, service);
    expect(exitCode).toBe(0);
    expect(report.problems).toMatchObject([{ code: 'prompt/gone', severity: 'warning' }]);
    expect(report.problems[0]?.message).toMatch(/what it serves cannot be read: .*\.$/);
    service.store.registerPrompt({ id: 'prm_refund', projectId: 'project', key: 'team/refund', name: 'refund' });
    const again = await runJson(folder, PLAN, service);
    expect(again.report.problems[0]?.message).toContain('no environment of it serves anything.');
  });

  test('gone from the folder, and not committed yet', async () => {
    const service = await startTestService(['greeting', 'refund']);
    const folder = await makeGone(service);
    git(folder, 'revert', '--no-edit', 'HEAD');
    git(folder, 'rm', '--quiet', REFUND);
    expect(goneIn(await runJson(folder, ['plan', '--base', 'HEAD'], service))).toEqual([REFUND]);
    expect(goneIn(await runJson(folder, ['plan'], service))).toEqual([]);
  });
});

describe('with --only', () => {
  test('it is told where its key or its path is selected', async () => {
    const service = await startTestService(['greeting', 'refund']);
    const folder = await makeGone(service);
    // What selects a file that is gone alone would select nothing: another prompt has its key, then one its path.
    const others = { 'prompts/team/other.md': promptText('other', { key: 'team/refund' }) };
    const there = { [REFUND]: promptText('other2', { key: 'team/other' }) };
    for (const [files, only, expected] of [
      [others, ['greeting', 'team/*'], [REFUND]],
      [others, ['greeting'], []],
      [there, ['greeting', REFUND], [REFUND]],
    ] as const) {
      rmSync(join(folder, 'prompts/team'), { recursive: true, force: true });
      writeFiles(folder, files);
      const ran = await runJson(folder, [...PLAN, ...only.flatMap((one) => ['--only', one])], service);
      expect(goneIn(ran)).toEqual(expected);
    }
  });

  test.each<[string, string, string]>([
    ['moved out of what is selected', 'prompts/elsewhere.md', 'elsewhere'],
    ['was given another key', REFUND, 'elsewhere'],
  ])('a file that %s is not gone', async (_, path, key) => {
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
    expect(goneIn(ran)).toEqual([]);
  });
});
