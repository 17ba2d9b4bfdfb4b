import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { INPUT_NAMES } from '../src/github/runner.ts';
import { ActionShape, readYaml as read, unknownInputsIn, unpinnedIn } from './support/workflow.ts';

const root = resolve(import.meta.dirname, '..');
const folders = ['.github/workflows', 'prompts.example/.github/workflows'];
const workflows = folders.flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)));

const permissions = z.record(z.string(), z.enum(['read', 'write']));
const StepShape = z.object({
  uses: z.string().optional(),
  run: z.string().optional(),
  with: z.record(z.string(), z.unknown()).optional(),
});
const JobShape = z.object({
  'timeout-minutes': z.int(),
  permissions,
  environment: z.string().optional(),
  steps: z.array(StepShape),
});
const WorkflowShape = z.object({
  permissions,
  concurrency: z.object({ group: z.string(), 'cancel-in-progress': z.union([z.boolean(), z.string()]) }),
  jobs: z.record(z.string(), JobShape),
});
type Job = z.infer<typeof JobShape>;

/** Whether a step opens a pull request. An action that the user chooses counts, because each choice opens one. */
const opensPullRequest = (step: { readonly with?: Readonly<Record<string, unknown>> | undefined }) =>
  ['pull', '${{ inputs.action }}'].includes(String(step.with?.['mode']));

const keepsCredentials = ({ uses = '', with: inputs }: Job['steps'][number]) =>
  uses.startsWith('actions/checkout@') && inputs?.['persist-credentials'] !== false;

const writePermissionsOf = (job: Job) =>
  Object.entries(job.permissions).flatMap(([name, access]) => (access === 'write' ? [name] : []));

/** Whether a job may publish a release, because it runs no code of the repository. */
const runsNoRepositoryCode = (job: Job) =>
  job.steps.every(
    ({ uses = '', run = '' }) => !/checkout|^\.\//.test(uses) && !/npm (?:ci|install|run)|\.ci\//.test(run),
  );

describe.each(workflows)('%s', (path) => {
  const workflow = WorkflowShape.parse(read(path));
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test(`${path} grants write permissions only to the jobs that need them`, () => {
    expect(workflow.permissions).toEqual({});
    for (const job of jobs) {
      // Only jobs that open a pull request push a branch.
      const publishes = [
        'checks',
        'issues',
        'pull-requests',
        ...(job.steps.some(opensPullRequest) ? ['contents'] : []),
      ];
      const allowed = path.startsWith('prompts.example')
        ? publishes
        : runsNoRepositoryCode(job)
          ? ['contents', 'id-token']
          : [];
      expect(writePermissionsOf(job).filter((name) => !allowed.includes(name))).toEqual([]);
    }
  });

  test(`${path} persists git credentials only in jobs that open a pull request`, () => {
    const kept = jobs.flatMap((job) => (job.steps.some(opensPullRequest) ? [] : job.steps.filter(keepsCredentials)));
    expect(path.startsWith('prompts.example') ? [] : kept).toEqual([]);
  });

  test(`${path} has no job whose name starts with promptsync, because GitHub could display it as the promptsync check`, () => {
    expect(Object.keys(workflow.jobs).filter((name) => name.startsWith('promptsync'))).toEqual([]);
  });

  test(`${path} never inserts workflow inputs or event data into a shell script`, () => {
    const shells = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(shells.filter((run) => /\$\{\{\s*(?:inputs|github\.event)/.test(run))).toEqual([]);
  });

  test(`${path} pins every action to a commit SHA`, () => {
    expect(unpinnedIn(steps)).toEqual([]);
  });

  test(`${path} passes only known inputs to the promptsync action`, () => {
    expect(unknownInputsIn(steps)).toEqual([]);
  });
});

test('the release workflow runs CI before packing and publishes from the npm environment without using secrets', () => {
  const { concurrency, jobs } = WorkflowShape.parse(read('.github/workflows/release.yml'));
  expect(concurrency['cancel-in-progress']).toBe(false);
  expect(Object.values(jobs).map(writePermissionsOf)).toEqual([[], ['id-token'], ['contents']]);
  expect(jobs['npm']?.environment).toBe('npm');
  expect(jobs['pack']?.steps.flatMap(({ run }) => run ?? []).slice(-2)).toEqual([
    '.ci/run',
    'npm run --silent release',
  ]);
  expect(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')).not.toMatch(
    /^[^#]*(?:secrets\.|registry-url:)/m,
  );
});

test('newer runs do not cancel the apply workflow, and its apply job uses the production environment', () => {
  const { concurrency, jobs } = WorkflowShape.parse(read('prompts.example/.github/workflows/promptsync-apply.yml'));
  expect(concurrency['cancel-in-progress']).toBe(false);
  expect(jobs['apply']?.environment).toBe('production');
});

test('a newer GitLab pipeline can interrupt the plan job but not the apply job', () => {
  const jobs = z.record(z.string(), z.looseObject({})).parse(read('prompts.example/.gitlab/promptsync.gitlab-ci.yml'));
  const [plan, apply, drift] = ['plan', 'apply', 'drift'].map((name) => jobs[`promptsync:${name}`]);
  expect(apply).toMatchObject({ environment: 'production', resource_group: 'promptsync' });
  expect(drift).toMatchObject({ resource_group: 'promptsync' });
  expect([plan, apply, drift].map((job) => job?.['interruptible'])).toEqual([true, undefined, undefined]);
});

describe('action.yml', () => {
  const action = ActionShape.parse(read('action.yml'));

  test('action.yml declares exactly the inputs that the action reads', () => {
    expect(Object.keys(action.inputs)).toEqual(INPUT_NAMES);
  });
});
