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

/** A mode that the person who starts the workflow chooses is one of those that open a pull request. */
const proposes = (step: { readonly with?: Readonly<Record<string, unknown>> | undefined }) =>
  ['pull', '${{ inputs.action }}'].includes(String(step.with?.['mode']));

const keepsCredentials = ({ uses = '', with: inputs }: Job['steps'][number]) =>
  uses.startsWith('actions/checkout@') && inputs?.['persist-credentials'] !== false;

const writtenBy = (job: Job) =>
  Object.entries(job.permissions).flatMap(([name, access]) => (access === 'write' ? [name] : []));

/** Nothing of the repository is run by a job that publishes a release. */
const releases = (job: Job) =>
  job.steps.every(
    ({ uses = '', run = '' }) => !/checkout|^\.\//.test(uses) && !/npm (?:ci|install|run)|\.ci\//.test(run),
  );

describe.each(workflows)('%s', (path) => {
  const workflow = WorkflowShape.parse(read(path));
  const jobs = Object.values(workflow.jobs);
  const steps = jobs.flatMap((job) => job.steps);

  test('grants nothing to all jobs, and to none to write what it publishes nothing in', () => {
    expect(workflow.permissions).toEqual({});
    for (const job of jobs) {
      // The branch is pushed by jobs that open a pull request alone.
      const publishes = ['checks', 'issues', 'pull-requests', ...(job.steps.some(proposes) ? ['contents'] : [])];
      const allowed = path.startsWith('prompts.example') ? publishes : releases(job) ? ['contents', 'id-token'] : [];
      expect(writtenBy(job).filter((name) => !allowed.includes(name))).toEqual([]);
    }
  });

  test('leaves no credentials where none are needed', () => {
    const kept = jobs.flatMap((job) => (job.steps.some(proposes) ? [] : job.steps.filter(keepsCredentials)));
    expect(path.startsWith('prompts.example') ? [] : kept).toEqual([]);
  });

  test('has no job that GitHub would show as the check of a review', () => {
    expect(Object.keys(workflow.jobs).filter((name) => name.startsWith('promptsync'))).toEqual([]);
  });

  test('hands inputs over as inputs, and to no shell', () => {
    const shells = steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
    expect(shells.filter((run) => /\$\{\{\s*(?:inputs|github\.event)/.test(run))).toEqual([]);
  });

  test('pins each action by the SHA of its commit', () => {
    expect(unpinnedIn(steps)).toEqual([]);
  });

  test('gives promptsync only inputs that it has', () => {
    expect(unknownInputsIn(steps)).toEqual([]);
  });
});

test('A release publishes from a protected environment what its tests have passed, is never cut short, and has no token', () => {
  const { concurrency, jobs } = WorkflowShape.parse(read('.github/workflows/release.yml'));
  expect(concurrency['cancel-in-progress']).toBe(false);
  expect(Object.values(jobs).map(writtenBy)).toEqual([[], ['id-token'], ['contents']]);
  expect(jobs['npm']?.environment).toBe('npm');
  expect(jobs['pack']?.steps.flatMap(({ run }) => run ?? []).slice(-2)).toEqual([
    '.ci/run',
    'npm run --silent release',
  ]);
  expect(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8')).not.toMatch(
    /^[^#]*(?:secrets\.|registry-url:)/m,
  );
});

test('The merge is applied by one run at a time, from a protected environment, and is never cut short', () => {
  const { concurrency, jobs } = WorkflowShape.parse(read('prompts.example/.github/workflows/promptsync-apply.yml'));
  expect(concurrency['cancel-in-progress']).toBe(false);
  expect(jobs['apply']?.environment).toBe('production');
});

test('So do the jobs of GitLab; a plan is cut short by a newer one', () => {
  const jobs = z.record(z.string(), z.looseObject({})).parse(read('prompts.example/.gitlab/promptsync.gitlab-ci.yml'));
  const [plan, apply, drift] = ['plan', 'apply', 'drift'].map((name) => jobs[`promptsync:${name}`]);
  expect(apply).toMatchObject({ environment: 'production', resource_group: 'promptsync' });
  expect(drift).toMatchObject({ resource_group: 'promptsync' });
  expect([plan, apply, drift].map((job) => job?.['interruptible'])).toEqual([true, undefined, undefined]);
});

describe('action.yml', () => {
  const action = ActionShape.parse(read('action.yml'));

  test('has the inputs that are read', () => {
    expect(Object.keys(action.inputs)).toEqual(INPUT_NAMES);
  });
});
