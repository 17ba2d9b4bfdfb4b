import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findCiNameFault, makeCiFiles } from '../../../src/commands/init/make-workflows.ts';
import { DEFAULT_WORDS } from '../../../src/service-words.ts';
import { EXAMPLE, makeWorkspace } from '../../support/folder.ts';
import { makeScheduler } from '../../support/github-workflow.ts';
import { readJobs } from '../../support/gitlab-runner.ts';
import { makeAnswers } from './answers.ts';

const APPLY = '.github/workflows/promptsync-apply.yml';
const GITLAB_FILE = '.gitlab/promptsync.gitlab-ci.yml';
const ROOT = '/repository';

const readExample = (path: string): string => readFileSync(join(EXAMPLE, path), 'utf8');

/** Makes the CI files of a workspace, by their paths from the root of the repository. */
function makeFiles(ci: 'github' | 'gitlab', environments: readonly string[], name = ''): ReadonlyMap<string, string> {
  const folder = join(ROOT, name);
  const files = makeCiFiles(makeAnswers({ ci, environments }), { folder, root: ROOT });
  return new Map(files.map(({ path, content }) => [join(folder, path).slice(ROOT.length + 1), content]));
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
const UNUSUAL = ["it's", '"quoted"', '#a', 'a:b', '-', '{a}', '[a]', '&a', '*a', '!a', '%a', '@a', '`a`'];
const UNUSUAL_FOR_GITHUB = [...UNUSUAL, 'ä'];
const UNUSUAL_FOR_GITLAB = ['a b', 'eu/production', 'environment-1', '.a', '-a', '_'];

describe('the apply jobs that init writes', () => {
  test.each([['staging'], ['dev,qa,production'], [NAMES.join(',')], [UNUSUAL_FOR_GITHUB.join(',')]])(
    'The apply workflow for the environments %s has one job per environment, in promotion order, each with its own key',
    async (environments) => {
      const names = environments.split(',');
      const workflow = makeFiles('github', names).get(APPLY) ?? '';
      const { inputs, statuses } = await runAllJobs(workflow, names);
      expect(statuses).toEqual(names.map(() => 'success'));
      expect(inputs).toEqual(
        names.map((name) => ({ 'api-key': `key of ${name}`, environments: name, 'require-reviewed-plan': 'true' })),
      );
      const ids = Object.keys(parse(workflow).jobs);
      expect(ids.filter((id) => !/^(?!promptsync)[a-z_][\w-]*$/i.test(id))).toEqual([]);
      expect(new Set(ids.map((id) => id.toLowerCase())).size).toBe(names.length);
    },
  );

  test.each([['staging'], ['dev,qa,production'], [NAMES.join(',')], [UNUSUAL_FOR_GITLAB.join(',')]])(
    'The GitLab file for the environments %s has one apply job per environment, in promotion order',
    (environments) => {
      // A colon is not allowed in the name of a GitLab environment.
      const names = environments.split(',').filter((name) => !/[:~]/.test(name));
      const file = makeFiles('gitlab', names).get(GITLAB_FILE) ?? '';
      const folder = makeWorkspace({ [GITLAB_FILE]: file, '.gitlab-ci.yml': `include:\n  - local: ${GITLAB_FILE}\n` });
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
      expect(parse(file)).toEqual(parse(file, { version: '1.1' }));
    },
  );

  test.each([
    ['init refuses an environment name with a space for GitHub', 'github', 'pre prod'],
    ['init refuses an environment name that GitHub could read as an expression', 'github', '${{github.token}}'],
    ['init refuses an environment name that GitLab would replace by a variable', 'gitlab', '$CI_JOB_TOKEN'],
    ['init refuses an environment name with a character that GitLab does not allow', 'gitlab', 'a:b'],
    ['init --ci gitlab refuses an environment name that ends with a slash', 'gitlab', 'a/'],
  ] as const)('%s', (_, ci, name) => {
    expect(findCiNameFault(ci, ['staging', name], DEFAULT_WORDS)).toContain(`"${name}"`);
    expect(findCiNameFault('none', ['staging', name], DEFAULT_WORDS)).toBeNull();
  });
});

describe('the CI files in a subfolder', () => {
  const ENVIRONMENTS = ['staging', 'production'];
  const AMBIGUOUS = ['~', 'yes', 'null', '1e3', '0x10', '12:30:45', '2026-01-02', '---', '<<', '='];
  const INDICATORS = ["it's", '"quoted"', '# comment', 'a # b', 'a: b', '- item', '{a}', '{{ a }}', '[a]', '&anchor'];
  const OTHERS = ['*alias', '!tag', '%directive', '@at', '`tick`', '>fold', '|block', '?key', ' a', 'a ', 'a\\nb', "'"];

  test.each([...INDICATORS, ...OTHERS, ...AMBIGUOUS, 'long name '.repeat(20).trim(), 'ä 字'])(
    'init writes the folder name %j literally into CI files and adds no workflow expression',
    (name) => {
      const expressionsIn = (text: string): readonly string[] => text.match(/\$\{\{.*?\}\}/g) ?? [];
      const workflows = makeFiles('github', ENVIRONMENTS, name);
      expect(workflows.size).toBe(4);
      for (const [path, written] of workflows) {
        const template = readExample(path);
        const key = '          api-key: ${{ secrets.PROMPTSYNC_API_KEY }}\n';
        const line = `          working-directory: ${JSON.stringify(name)}\n`;
        expect(parse(written)).toEqual(parse(template.replaceAll(key, (found) => found + line)));
        expect(expressionsIn(written)).toEqual(expressionsIn(template));
      }
      const config = `PROMPTSYNC_CONFIG: ${JSON.stringify(`${name}/promptsync.yaml`)}`;
      const template = readExample(GITLAB_FILE).replace('PROMPTSYNC_CONFIG: promptsync.yaml', () => config);
      const written = makeFiles('gitlab', ENVIRONMENTS, name).get(GITLAB_FILE) ?? '';
      // GitLab parses YAML 1.1, and most other tools parse YAML 1.2.
      for (const version of ['1.1', '1.2'] as const) {
        expect(parse(written, { version })).toEqual(parse(template, { version }));
      }
    },
  );

  test('The environments staging and production give exactly the files in prompts.example, with the variable of the key', () => {
    for (const ci of ['github', 'gitlab'] as const) {
      const files = [...makeFiles(ci, ENVIRONMENTS)].filter(([path]) => path !== '.gitlab-ci.yml');
      for (const [path, content] of files) expect(content).toBe(readExample(path));
    }
    const place = { folder: ROOT, root: ROOT };
    const [jobs] = makeCiFiles(makeAnswers({ ci: 'gitlab', keyVariable: 'TEAM_KEY' }), place);
    expect(jobs?.content).toContain('$([ -n "$TEAM_KEY" ] || echo --offline)');
    expect(jobs?.content).not.toContain('PROMPTSYNC_API_KEY');
  });
});
