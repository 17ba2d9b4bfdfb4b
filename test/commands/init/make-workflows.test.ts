import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { EXAMPLE, initRepository, makeFolder, writeFiles } from '../../support/folder.ts';
import { makeScheduler } from '../../support/github-workflow.ts';
import { readJobs } from '../../support/gitlab-runner.ts';
import { run, runJson } from '../../support/run.ts';

const APPLY = '.github/workflows/promptsync-apply.yml';
const GITLAB_FILE = '.gitlab/promptsync.gitlab-ci.yml';

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');

/** Runs init in a new repository with these files. */
async function initWith(
  ci: 'github' | 'gitlab',
  words: readonly string[],
  files: Readonly<Record<string, string>> = {},
) {
  const folder = makeFolder();
  initRepository(folder);
  writeFiles(folder, files);
  const flags = ['init', '--url', 'https://prompts.example.com', '--ci', ci, ...words];
  return { folder, ...(await runJson(folder, flags)) };
}

/** Returns the inputs that the jobs of the apply workflow pass to the action, in the order of the runs. */
async function runAllJobs(workflow: string, environments: readonly string[]) {
  const inputs: Readonly<Record<string, string>>[] = [];
  const secrets = Object.fromEntries(environments.map((name) => [name, { PROMPTSYNC_API_KEY: `key of ${name}` }]));
  const scheduler = makeScheduler(workflow, {
    protectedEnvironments: [],
    secrets,
    runStep: async (_, given) => {
      inputs.push(given);
      return 0;
    },
  });
  const { statuses } = await scheduler.push('0'.repeat(40));
  return { inputs, statuses: Object.values(statuses()) };
}

/** Names that some version of YAML reads as another type, or that cannot be the id of a GitHub job. */
const NAMES = ['on', 'no', 'null', '~', '10', '1e3', '0x10', '12:30:45', '2026-01-02', 'Prod', 'prod', 'promptsync-eu'];
const UNUSUAL_FOR_GITHUB = [
  "it's",
  '"quoted"',
  '#a',
  'a:b',
  '-',
  '{a}',
  '[a]',
  '&a',
  '*a',
  '!a',
  '%a',
  '@a',
  '`a`',
  'ä',
];
const UNUSUAL_FOR_GITLAB = ['a b', 'eu/production', 'environment-1', '.a', '-a', '_'];

describe('the apply jobs that init writes', () => {
  test.each([['staging'], ['dev,qa,production'], [NAMES.join(',')], [UNUSUAL_FOR_GITHUB.join(',')]])(
    'The apply workflow for the environments %s has one job per environment, in promotion order, each with its own key',
    async (environments) => {
      const names = environments.split(',');
      const { folder, exitCode } = await initWith('github', ['--environments', environments]);
      expect(exitCode).toBe(0);
      const { inputs, statuses } = await runAllJobs(read(folder, APPLY), names);
      expect(statuses).toEqual(names.map(() => 'success'));
      expect(inputs).toEqual(
        names.map((name) => ({
          'api-key': `key of ${name}`,
          environments: name,
          'require-reviewed-plan': 'true',
        })),
      );
      const ids = Object.keys(parse(read(folder, APPLY)).jobs);
      expect(ids.filter((id) => !/^(?!promptsync)[a-z_][\w-]*$/i.test(id))).toEqual([]);
      expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(names.length);
    },
  );

  test.each([['staging'], ['dev,qa,production'], [NAMES.join(',')], [UNUSUAL_FOR_GITLAB.join(',')]])(
    'The GitLab file for the environments %s has one apply job per environment, in promotion order',
    async (environments) => {
      // A colon is not allowed in the name of a GitLab environment.
      const names = environments.split(',').filter((name) => !/[:~]/.test(name));
      const { folder, exitCode } = await initWith('gitlab', ['--environments', names.join(',')]);
      expect(exitCode).toBe(0);
      const jobs = [...readJobs(folder)].filter(([name]) => name.startsWith('promptsync:apply:'));
      const jobName = (name: string) => `promptsync:apply:${name}`;
      expect(jobs.map(([name, { environment }]) => [name, environment])).toEqual(
        names.map((name) => [jobName(name), name]),
      );
      expect(jobs.map(([, { needs, rules }]) => [needs, rules.map(({ when }) => when)])).toEqual(
        names.map((_, index) =>
          index === 0 ? [[], ['on_success']] : [[{ job: jobName(names[index - 1]!), artifacts: false }], ['manual']],
        ),
      );
      expect(parse(read(folder, GITLAB_FILE))).toEqual(parse(read(folder, GITLAB_FILE), { version: '1.1' }));
    },
  );

  test('The environments staging and production give exactly the files in prompts.example', async () => {
    for (const [ci, path] of [['github', APPLY] as const, ['gitlab', GITLAB_FILE] as const]) {
      const { folder } = await initWith(ci, ['--environments', 'staging,production']);
      expect(read(folder, path)).toBe(read(EXAMPLE, path));
    }
  });

  test('init writes the jobs of the environments in an existing promptsync.yaml that it keeps', async () => {
    const config = 'prompts: ["prompts/**/*.md"]\nenvironments: { dev: {}, live: {} }\n';
    const { folder, report } = await initWith('github', [], { 'promptsync.yaml': config });
    expect(report.problems).toMatchObject([{ code: 'init/kept' }]);
    expect(Object.keys(parse(read(folder, APPLY)).jobs)).toEqual(['dev', 'live']);
    expect(report.next_steps?.[2]).toContain('create "dev", "live".');
  });

  test('init writes the jobs of its flags if an existing promptsync.yaml lists no environments', async () => {
    const { folder } = await initWith('github', ['--environments', 'qa'], {
      'promptsync.yaml': 'prompts: ["**/*.md"]\n',
    });
    expect(Object.keys(parse(read(folder, APPLY)).jobs)).toEqual(['qa']);
  });

  test('init puts the path of the workspace into each job of the apply workflow', async () => {
    const { folder } = await initWith('github', [], { 'team/.keep': '' });
    const team = join(folder, 'team');
    await run(team, ['init', '--url', 'https://prompts.example.com', '--ci', 'github', '--force']);
    const { inputs } = await runAllJobs(read(folder, APPLY), ['staging', 'production']);
    expect(inputs.map((given) => given['working-directory'])).toEqual(['team', 'team']);
  });

  test.each([
    ['init refuses an environment name with a space for GitHub', 'github', 'pre prod'],
    ['init refuses an environment name that GitHub could read as an expression', 'github', '${{github.token}}'],
    ['init refuses an environment name that GitLab would replace by a variable', 'gitlab', '$CI_JOB_TOKEN'],
    ['init refuses an environment name with a character that GitLab does not allow', 'gitlab', 'a:b'],
    ['init --ci gitlab refuses an environment name that ends with a slash', 'gitlab', 'a/'],
  ] as const)('%s', async (_, ci, name) => {
    const { folder, exitCode, report } = await initWith(ci, ['--environments', `staging,${name}`]);
    expect(exitCode).toBe(1);
    expect(report.problems).toMatchObject([{ code: 'init/invalid-flag' }]);
    expect(report.problems[0]?.message).toContain(`"${name}"`);
    expect(report.files ?? []).toEqual([]);
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 1 });
  });
});
