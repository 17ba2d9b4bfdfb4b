import { findRule, type Job, type Variables } from './gitlab-runner.ts';

export type JobStatus =
  /** The job waits for the job that it needs. */
  | 'created'
  /** Somebody has to start the job. */
  | 'manual'
  /** The protected environment of the job requires an approval. */
  | 'blocked'
  | 'running'
  | 'success'
  | 'failed'
  | 'skipped';

/** One job of a pipeline. */
type PipelineJob = {
  readonly name: string;
  readonly job: Job;
  readonly when: Job['rules'][number]['when'];
  status: JobStatus;
};

export type Pipeline = {
  /** Returns the status of each job. */
  readonly statuses: () => Readonly<Record<string, JobStatus>>;
  /** Approves the deployment of a blocked job. GitLab does not start the job then, so somebody has to do that. */
  readonly approve: (name: string) => void;
  /** Starts a manual job. Resolves when no job is running. */
  readonly play: (name: string) => Promise<void>;
  /** Runs a failed job again, and then the jobs that were skipped because of it. */
  readonly retry: (name: string) => Promise<void>;
};

/** The settings of the project, and what its runner does. */
export type PipelineSettings = {
  /** The protected environments that require an approval of each deployment. */
  readonly protectedEnvironments?: readonly string[];
  /** Runs a job. Resolves to its exit code. */
  readonly runJob: (name: string, job: Job) => Promise<number>;
};

/**
 * Starts a pipeline as GitLab does, with `needs`, `when` and required approvals. Resolves when no job is running. The
 * rules come from GitLab's `Ci::ProcessBuildService`: a job with `needs` is skipped unless the jobs that it needs have
 * succeeded, except with `when: always`. Jobs run one at a time, like jobs of one resource group.
 */
export async function startPipeline(
  jobs: ReadonlyMap<string, Job>,
  variables: Variables,
  { protectedEnvironments = [], runJob }: PipelineSettings,
): Promise<Pipeline> {
  const all = [...jobs].flatMap(([name, job]): PipelineJob[] => {
    const rule = findRule(job, variables);
    return rule === undefined ? [] : [{ name, job, when: rule.when, status: 'created' }];
  });
  const find = (name: string, status: JobStatus): PipelineJob => {
    const found = all.find((one) => one.name === name);
    if (found?.status !== status) throw new Error(`The job ${name} is ${found?.status ?? 'missing'}, not ${status}.`);
    return found;
  };

  async function runAndContinue(one: PipelineJob): Promise<void> {
    one.status = 'running';
    one.status = (await runJob(one.name, one.job)) === 0 ? 'success' : 'failed';
    await continuePipeline();
  }

  async function continuePipeline(): Promise<void> {
    for (const one of all) {
      if (one.status !== 'created') continue;
      const needed = all.filter(({ name }) => one.job.needs.some(({ job }) => job === name));
      if (!needed.every(({ status }) => ['success', 'failed', 'skipped'].includes(status))) continue;
      const mayRun = one.when === 'always' || needed.every(({ status }) => status === 'success');
      if (!mayRun) one.status = 'skipped';
      else if (protectedEnvironments.includes(one.job.environment ?? '')) one.status = 'blocked';
      else if (one.when === 'manual') one.status = 'manual';
      else await runAndContinue(one);
    }
  }

  await continuePipeline();
  return {
    statuses: () => Object.fromEntries(all.map(({ name, status }) => [name, status])),
    approve: (name) => void (find(name, 'blocked').status = 'manual'),
    play: (name) => runAndContinue(find(name, 'manual')),
    retry: (name) => {
      const failed = find(name, 'failed');
      for (const one of all) if (one.status === 'skipped') one.status = 'created';
      return runAndContinue(failed);
    },
  };
}
