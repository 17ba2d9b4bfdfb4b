import { expect, test } from 'vitest';
import { makeStage } from '../../cli/stage.ts';
import { runCli } from '../../support/cli.ts';
import { makeFolder, writeFiles } from '../../support/folder.ts';
import { TOKEN } from '../../support/gitlab-api.ts';
import { makeJob, PLAN } from './support.ts';

/** Runs `promptsync comment` as a child process. */
async function commentIn(folder: string, environment: Readonly<Record<string, string>>) {
  const ran = await runCli(folder, ['comment', 'report.json'], {
    environment: { ...environment, CI_PROJECT_DIR: folder },
  });
  expect(ran.stdout + ran.stderr).not.toContain(TOKEN);
  return ran;
}

test('After a sync, promptsync comment replaces the plan note with the result of the sync', async () => {
  const { gitlab, titles } = await makeJob();
  const { folder, promptsync } = await makeStage();
  for (const command of ['plan', 'sync --yes']) {
    await promptsync(`${command} --format json --output report.json`);
    const ran = await commentIn(folder, gitlab.mergeRequestVariables(1));
    expect(ran.exitCode).toBe(0);
  }
  expect(titles()).toEqual([expect.stringMatching(/^applied, \d{4}-/)]);
  expect(gitlab.notes(1)[0]!.body).toContain('Applied: 1 prompt');
});

test('promptsync comment gives up within a minute if GitLab never responds', { timeout: 60_000 }, async () => {
  const { gitlab } = await makeJob();
  gitlab.fail({ path: /./ }, 'hang', Infinity);
  const folder = makeFolder();
  writeFiles(folder, { 'report.json': JSON.stringify(PLAN) });
  const { exitCode, stderr } = await commentIn(folder, gitlab.mergeRequestVariables(1));
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('[gitlab/not-published]') });
});
