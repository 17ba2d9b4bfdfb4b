import { z } from 'zod';
import { parse } from 'yaml';

const StepShape = z.object({ uses: z.string().default(''), with: z.record(z.string(), z.coerce.string()).default({}) });

const JobShape = z.strictObject({
  name: z.string().optional(),
  needs: z.string().optional(),
  if: z.literal('${{ !cancelled() }}').optional(),
  'runs-on': z.string(),
  'timeout-minutes': z.int(),
  environment: z.string(),
  concurrency: z.strictObject({ group: z.string(), 'cancel-in-progress': z.literal(false) }),
  permissions: z.record(z.string(), z.string()),
  steps: z.array(StepShape),
});
type Job = z.infer<typeof JobShape>;

const WorkflowShape = z.strictObject({
  name: z.string(),
  on: z.unknown(),
  permissions: z.unknown(),
  jobs: z.record(z.string(), JobShape),
});

export type JobStatus =
  /** The job waits for the job that it needs. */
  | 'queued'
  /** The job waits for its concurrency group. */
  | 'pending'
  /** The job waits for the approval of its environment. */
  | 'waiting'
  | 'running'
  | 'success'
  | 'failure'
  | 'cancelled'
  | 'skipped';

/** One job of a workflow run. */
type JobRun = { readonly id: string; readonly job: Job; readonly group: string; status: JobStatus };

/** A run of the workflow for one commit. */
export type WorkflowRun = {
  /** Returns the status of each job. */
  readonly statuses: () => Readonly<Record<string, JobStatus>>;
  /** Approves the environment of a waiting job, and resolves when no job is running. */
  readonly approve: (id: string) => Promise<void>;
};

/** The settings of the repository, and what its runner does. */
export type WorkflowSettings = {
  /** The environments that have required reviewers. */
  readonly protectedEnvironments: readonly string[];
  /** The secrets of each environment. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Runs the promptsync step of a job with these inputs. Resolves to its exit code. */
  readonly runStep: (commit: string, inputs: Readonly<Record<string, string>>) => Promise<number>;
};

/**
 * Starts a double of GitHub's scheduler for one workflow. Supports only what the apply workflow uses. It follows GitHub
 * in these points:
 *
 * - A job that waits for approval occupies its concurrency group, like a running job.
 * - In a group, one more job can be pending. A newer job cancels and replaces it.
 * - A job with `!cancelled()` runs after the job that it needs, whatever the result of that job.
 */
export function makeScheduler(workflow: string, settings: WorkflowSettings) {
  const { jobs } = WorkflowShape.parse(parse(workflow));
  const runs: { readonly commit: string; readonly jobs: readonly JobRun[] }[] = [];
  const running = new Set<Promise<void>>();

  const occupiesGroup = ({ status }: JobRun) => status === 'waiting' || status === 'running';
  const inGroup = (group: string) => runs.flatMap((run) => run.jobs).filter((one) => one.group === group);

  function start(commit: string, one: JobRun): void {
    one.status = 'running';
    const { environment, steps } = one.job;
    const secrets = settings.secrets[environment] ?? {};
    const step = steps.find(({ uses }) => uses.includes('/promptsync@'));
    const inputs = Object.entries(step?.with ?? {}).map(([name, value]) => [name, evaluate(value, commit, secrets)]);
    const ended = settings.runStep(commit, Object.fromEntries(inputs)).then((exitCode) => {
      one.status = exitCode === 0 ? 'success' : 'failure';
      running.delete(ended);
      schedule();
    });
    running.add(ended);
  }

  function enter(commit: string, one: JobRun): void {
    const others = inGroup(one.group).filter((other) => other !== one);
    if (others.some(occupiesGroup)) {
      for (const other of others) if (other.status === 'pending') other.status = 'cancelled';
      one.status = 'pending';
      return;
    }
    if (!settings.protectedEnvironments.includes(one.job.environment)) return start(commit, one);
    one.status = 'waiting';
  }

  /** Moves each job as far as possible. */
  function schedule(): void {
    for (const { commit, jobs: all } of runs) {
      for (const one of all) {
        if (one.status === 'pending' && !inGroup(one.group).some(occupiesGroup)) enter(commit, one);
        if (one.status !== 'queued') continue;
        const needed = all.find(({ id }) => id === one.job.needs);
        if (needed !== undefined && !isDone(needed)) continue;
        if (needed === undefined || needed.status === 'success' || one.job.if !== undefined) enter(commit, one);
        else one.status = 'skipped';
      }
    }
  }

  async function waitUntilIdle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }

  /** Starts the run of a push without waiting for its jobs. */
  function begin(commit: string): WorkflowRun {
    const all = Object.entries(jobs).map(([id, job]): JobRun => {
      // GitHub ignores the case of group names.
      const group = evaluate(job.concurrency.group, commit, {}).toLowerCase();
      return { id, job, group, status: 'queued' };
    });
    runs.push({ commit, jobs: all });
    schedule();
    return {
      statuses: () => Object.fromEntries(all.map(({ id, status }) => [id, status])),
      approve: async (id) => {
        const one = all.find((job) => job.id === id);
        if (one?.status !== 'waiting') throw new Error(`The job ${id} does not wait for approval.`);
        start(commit, one);
        await waitUntilIdle();
      },
    };
  }

  return {
    begin,
    /** Runs the workflow for a push. Resolves when no job is running. */
    push: async (commit: string): Promise<WorkflowRun> => {
      const run = begin(commit);
      await waitUntilIdle();
      return run;
    },
  };
}

function isDone({ status }: JobRun): boolean {
  return ['success', 'failure', 'cancelled', 'skipped'].includes(status);
}

/** Replaces the expressions in a text. Throws if an expression is not supported here. */
function evaluate(text: string, commit: string, secrets: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    if (expression === 'github.sha') return commit;
    const secret = /^secrets\.(\w+)$/.exec(expression)?.[1];
    if (secret === undefined) throw new Error(`The expression ${expression} is not supported here.`);
    return secrets[secret] ?? '';
  });
}
