import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { checkOut } from '../forges/github/team.ts';
import { childEnvironment, withCommand } from './cli.ts';
import { makeFolder } from './folder.ts';
import type { Ran } from './run.ts';

const Lines = z.array(z.string()).default([]);
const JobShape = z.looseObject({
  variables: z.record(z.string(), z.coerce.string()).default({}),
  environment: z.string().optional(),
  needs: z.array(z.strictObject({ job: z.string(), artifacts: z.literal(false) })).default([]),
  resource_group: z.string().optional(),
  rules: z
    .array(z.strictObject({ if: z.string(), when: z.enum(['on_success', 'manual', 'always']).default('on_success') }))
    .default([]),
  before_script: Lines,
  script: Lines,
  after_script: Lines,
});
export type Job = z.infer<typeof JobShape>;
const WrittenJobShape = z.looseObject({ extends: z.string().optional() });

const PipelineShape = z.object({ include: z.array(z.strictObject({ local: z.string() })) });

/** The predefined variables of a pipeline and the variables of the project. */
export type Variables = Readonly<Record<string, string>>;

export type JobRun = Ran & {
  /** The result of `after_script`. */
  readonly after: Ran;
  readonly workspace: string;
};

/** Reads the jobs that `.gitlab-ci.yml` includes and resolves `extends`. Supports only what the generated jobs use. */
export function readJobs(folder: string): ReadonlyMap<string, Job> {
  const read = (path: string): unknown => parse(readFileSync(join(folder, path), 'utf8'), { version: '1.1' });
  const included = PipelineShape.parse(read('.gitlab-ci.yml')).include.map(({ local }) => read(local));
  const all = z.record(z.string(), WrittenJobShape).parse(Object.assign({}, ...included));
  const resolveJob = (name: string): object => {
    const { extends: parent, ...own } = all[name]!;
    return parent === undefined ? own : { ...resolveJob(parent), ...own };
  };
  const names = Object.keys(all).filter((name) => !name.startsWith('.'));
  return new Map(names.map((name) => [name, JobShape.parse(resolveJob(name))]));
}

/** Returns the names of the jobs that a pipeline with these variables runs. */
export function jobsOf(jobs: ReadonlyMap<string, Job>, variables: Variables): readonly string[] {
  return [...jobs].flatMap(([name, { rules }]) => (rules.some((rule) => holds(rule.if, variables)) ? [name] : []));
}

function holds(condition: string, variables: Variables): boolean {
  return condition.split(' && ').every((part) => {
    const [, left = '', operator, right, text] = /^\$(\w+) (==|!=) (?:\$(\w+)|"(.*)")$/.exec(part) ?? [];
    if (operator === undefined) throw new Error(`no condition that is understood here: ${part}`);
    const wanted = right === undefined ? text : variables[right];
    return (variables[left] === wanted) === (operator === '==');
  });
}

/** Runs a job like a runner: in a new clone, with one shell for `script` and always another one for `after_script`. */
export async function runJob(job: Job, origin: string, commit: string, pipeline: Variables): Promise<JobRun> {
  // By default, new GitLab projects clone 20 commits.
  const workspace = checkOut(origin, commit, Number(job.variables['GIT_DEPTH'] ?? 20));
  const variables = {
    ...job.variables,
    ...pipeline,
    ...(job.environment === undefined ? {} : { CI_ENVIRONMENT_NAME: job.environment }),
    CI: 'true',
    GITLAB_CI: 'true',
    CI_COMMIT_SHA: commit,
    CI_PROJECT_DIR: workspace,
  };
  const environment = withNpm(withCommand(childEnvironment(variables)));
  const ran = await runShell([...job.before_script, ...job.script], workspace, environment);
  const CI_JOB_STATUS = ran.exitCode === 0 ? 'success' : 'failed';
  return { ...ran, workspace, after: await runShell(job.after_script, workspace, { ...environment, CI_JOB_STATUS }) };
}

/** Replaces npm by a script that prints its arguments, because `promptsync` is already in `PATH`. */
function withNpm(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const programs = makeFolder();
  writeFileSync(join(programs, 'npm'), '#!/bin/sh\necho "npm $*"\n');
  chmodSync(join(programs, 'npm'), 0o755);
  return { ...environment, PATH: `${programs}${delimiter}${environment['PATH'] ?? ''}` };
}

function runShell(lines: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn('bash', ['-eo', 'pipefail', '-c', lines.join('\n')], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => void (written[name] += text));
  }
  return new Promise((done, fail) => {
    child.on('error', fail).on('close', (code) => done({ exitCode: code ?? -1, ...written }));
  });
}
