import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { INPUT_NAMES } from '../src/forges/github/action-runner.ts';
import { makeScheduler } from './support/github-workflow.ts';
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
  concurrency: z.unknown().optional(),
  permissions,
  environment: z.string().optional(),
  steps: z.array(StepShape),
});
const ConcurrencyShape = z.object({ group: z.string(), 'cancel-in-progress': z.union([z.boolean(), z.string()]) });
const WorkflowShape = z.object({
  permissions,
  concurrency: ConcurrencyShape.optional(),
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

  test(`${path} has a concurrency group for the workflow or for each of its jobs`, () => {
    const ungrouped = jobs.filter((job) => job.concurrency === undefined);
    expect(workflow.concurrency === undefined ? ungrouped : []).toEqual([]);
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
  expect(concurrency?.['cancel-in-progress']).toBe(false);
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

describe('the apply workflow', () => {
  const text = readFileSync(join(root, 'prompts.example/.github/workflows/promptsync-apply.yml'), 'utf8');

  /** Starts a scheduler whose steps run until the test ends them. */
  function startScheduler(protectedEnvironments: readonly string[]) {
    const steps = new Map<string, (exitCode: number) => void>();
    const scheduler = makeScheduler(text, {
      protectedEnvironments,
      secrets: {
        staging: { PROMPTSYNC_API_KEY: 'key of staging' },
        production: { PROMPTSYNC_API_KEY: 'key of production' },
      },
      runStep: (commit, inputs) => {
        const { environments, 'api-key': key, 'require-reviewed-plan': reviewed } = inputs;
        expect({ key, reviewed }).toEqual({ key: `key of ${environments}`, reviewed: 'true' });
        return new Promise((end) => steps.set(`${environments} ${commit}`, end));
      },
    });
    /** Ends a running step, and waits until the scheduler has seen the result. */
    const end = async (step: string, exitCode = 0): Promise<void> => {
      steps.get(step)?.(exitCode);
      steps.delete(step);
      await new Promise((done) => setImmediate(done));
    };
    return { ...scheduler, end, running: () => [...steps.keys()] };
  }

  test('The production job starts with its own key after the staging job of the same commit has ended, even if that has failed', async () => {
    for (const [exitCode, result] of [
      [0, 'success'],
      [1, 'failure'],
    ] as const) {
      const { begin, end, running } = startScheduler([]);
      const run = begin('a');
      expect(running()).toEqual(['staging a']);
      await end('staging a', exitCode);
      expect(running()).toEqual(['production a']);
      await end('production a');
      expect(run.statuses()).toEqual({ staging: result, production: 'success' });
    }
  });

  test('A production job that waits for approval does not block the jobs of a newer commit', async () => {
    const { begin, end, running } = startScheduler(['production']);
    const first = begin('a');
    await end('staging a');
    const second = begin('b');
    await end('staging b');
    expect([first.statuses(), second.statuses()]).toEqual(
      [first, second].map(() => ({ staging: 'success', production: 'waiting' })),
    );
    const approval = second.approve('production');
    expect(running()).toEqual(['production b']);
    await end('production b');
    await approval;
    expect([first.statuses()['production'], second.statuses()['production']]).toEqual(['waiting', 'success']);
  });

  test('The staging jobs of several commits run one at a time, and the newest waiting one replaces the others', async () => {
    const { begin, end, running } = startScheduler(['production']);
    const [a, b, c] = [begin('a'), begin('b'), begin('c')];
    expect([a, b, c].map((run) => run.statuses()['staging'])).toEqual(['running', 'cancelled', 'pending']);
    await end('staging a');
    expect(running()).toEqual(['staging c']);
  });
});

test('A newer GitLab pipeline can interrupt only the plan job, and all jobs that write or look for drift are in one resource group', () => {
  const jobs = z.record(z.string(), z.looseObject({})).parse(read('prompts.example/.gitlab/promptsync.gitlab-ci.yml'));
  const interruptible = Object.entries(jobs).flatMap(([name, job]) => (job['interruptible'] === true ? [name] : []));
  expect(interruptible).toEqual(['promptsync:plan']);
  for (const name of ['.promptsync:apply', 'promptsync:drift']) {
    expect(jobs[name]).toMatchObject({ resource_group: 'promptsync' });
  }
  for (const name of ['staging', 'production']) {
    expect(jobs[`promptsync:apply:${name}`]).toMatchObject({ extends: '.promptsync:apply', environment: name });
  }
});

test('action.yml declares exactly the inputs that the action reads', () => {
  expect(Object.keys(ActionShape.parse(read('action.yml')).inputs)).toEqual(INPUT_NAMES);
});
