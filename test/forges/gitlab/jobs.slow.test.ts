import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitSections } from '../github/support.ts';
import { greets, makeTeam, type Team } from '../github/team.ts';
import { git, initRepository, makeFolder, makeWorkspace } from '../../support/folder.ts';
import { startGitLab } from '../../support/gitlab-api.ts';
import { startPipeline } from '../../support/gitlab-pipeline.ts';
import { jobsOf, readJobs, runJob, type Job, type JobRun, type Variables } from '../../support/gitlab-runner.ts';
import { CONFIG, promptText, type PromptParts } from '../../support/prompts.ts';
import { run } from '../../support/run.ts';
import { changeService, KEY } from '../../support/service.ts';

const NONE = '0'.repeat(40);
const BRANCH = { CI_DEFAULT_BRANCH: 'main', CI_COMMIT_BRANCH: 'main' };
const MERGE_REQUEST = { CI_PIPELINE_SOURCE: 'merge_request_event', CI_DEFAULT_BRANCH: 'main' };
const SCHEDULE = { ...BRANCH, CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_BEFORE_SHA: NONE };
const push = (before = NONE) => ({ ...BRANCH, CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BEFORE_SHA: before });

const PATHS = ['.gitlab-ci.yml', '.gitlab/promptsync.gitlab-ci.yml'] as const;

/** Returns the files that `init` writes for GitLab in an empty repository. */
async function initJobs(): Promise<Readonly<Record<string, string>>> {
  const folder = makeFolder();
  initRepository(folder);
  await run(folder, ['init', '--url', 'https://prompts.example.com', '--ci', 'gitlab']);
  return Object.fromEntries(PATHS.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

const STAGING = 'promptsync:apply:staging';
const PRODUCTION = 'promptsync:apply:production';

/** Makes a team with the generated jobs. No pipeline has run yet. */
async function makeGitLabTeam(
  prompts: Readonly<Record<string, PromptParts>> = { greeting: {}, farewell: {} },
  config = CONFIG,
) {
  const team = await makeTeam(prompts, config);
  const files = await initJobs();
  const commit = team.pushMain(files, 'Add the jobs');
  const jobs = readJobs(makeWorkspace(files));
  const { baseUrl } = team.service;
  /** Runs one job, and expects no output to contain the key. */
  const runOneJob = async (job: Job, commit: string, variables: Variables, key: string): Promise<JobRun> => {
    const project = { PROMPTSYNC_BASE_URL: baseUrl, ...(key === '' ? {} : { PROMPTSYNC_API_KEY: key }) };
    const ran = await runJob(job, team.origin, commit, { ...project, ...variables });
    expect(JSON.stringify(ran)).not.toContain(KEY);
    expect(ran.stdout).toContain('npm install --global --install-links git+https://');
    return ran;
  };
  /** Runs the first job of a pipeline. All other jobs need somebody to start them. */
  const pipeline = async (commit: string, variables: Variables, key: string = KEY): Promise<JobRun> => {
    const runs: JobRun[] = [];
    await startPipeline(jobs, variables, {
      runJob: async (_, job) => {
        const ran = await runOneJob(job, commit, variables, key);
        runs.push(ran);
        return ran.exitCode;
      },
    });
    expect(runs).toHaveLength(1);
    return runs[0]!;
  };
  return { ...team, commit, jobs, pipeline, runOneJob };
}

/** Returns the reports that a job wrote, in all formats. */
function reportOf(workspace: string, name: string): string {
  const files = readdirSync(workspace).filter((file) => file.startsWith(`${name}.`));
  return files.map((file) => readFileSync(join(workspace, file), 'utf8')).join('\n');
}

/** Makes a team whose first pipeline has synced the prompts. */
async function makeSynced() {
  const team = await makeGitLabTeam();
  expect((await team.pipeline(team.commit, push())).exitCode).toBe(0);
  team.service.requests.splice(0);
  return team;
}

/** Pushes a change to a branch. Returns its commit and the variables of its merge request. */
function openMergeRequest({ push, origin }: Pick<Team, 'push' | 'origin'>) {
  const head = push('change', greets('Changed.'));
  const base = git(origin, 'merge-base', 'main', head);
  return { head, variables: { ...MERGE_REQUEST, CI_MERGE_REQUEST_DIFF_BASE_SHA: base } };
}

test('The generated pipeline has a plan job for merge requests, and apply and drift jobs only for the default branch', async () => {
  const jobs = readJobs(makeWorkspace(await initJobs()));
  const rows: readonly (readonly [Variables, readonly string[]])[] = [
    [MERGE_REQUEST, ['promptsync:plan']],
    [push(), [STAGING, PRODUCTION]],
    [{ ...BRANCH, CI_PIPELINE_SOURCE: 'web' }, [STAGING, PRODUCTION]],
    [SCHEDULE, ['promptsync:drift']],
    [{ ...push(), CI_COMMIT_BRANCH: 'change' }, []],
    [{ ...SCHEDULE, CI_COMMIT_BRANCH: 'change' }, []],
    [{ CI_DEFAULT_BRANCH: 'main', CI_PIPELINE_SOURCE: 'push', CI_COMMIT_TAG: 'v1' }, []],
  ];
  expect(rows.map(([variables]) => jobsOf(jobs, variables))).toEqual(rows.map(([, expected]) => expected));
});

test('The plan job shows the changes of its merge request, with and without a key, and writes its reports even if it fails', async () => {
  const team = await makeSynced();
  const { head, variables } = openMergeRequest(team);
  const planned = await team.pipeline(head, variables);
  expect(planned.exitCode).toBe(0);
  expect(reportOf(planned.workspace, 'plan')).toContain('greeting');
  expect(team.service.requests.length).toBeGreaterThan(0);
  expect(team.service.takeWrites()).toEqual([]);

  // Without a key, as in a fork, in a merged results pipeline.
  const target = team.pushMain({ 'prompts/farewell.md': promptText('farewell', { text: 'Merged before.' }) });
  const { merge } = team.openPull('change');
  expect(git(team.origin, 'rev-parse', `${merge}^2`)).toBe(head);
  const merged = await team.pipeline(merge, { ...variables, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: target }, '');
  expect({ exitCode: merged.exitCode, requests: team.service.requests }).toEqual({ exitCode: 0, requests: [] });
  expect(merged.stderr).toContain('`--offline` was specified');
  const report = reportOf(merged.workspace, 'plan');
  expect(report).toContain('Changed.');
  expect(report).not.toContain('Merged before.');

  const invalid = team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: '' }) });
  const { exitCode, workspace, after } = await team.pipeline(invalid, variables);
  expect(exitCode).toBe(1);
  expect(reportOf(workspace, 'plan')).toContain('prompt/empty-body');
  expect(after.stdout + after.stderr).not.toBe('');
});

test('The apply job applies merges but no older commit and not over drift, and the scheduled job fails on drift', async () => {
  const team = await makeSynced();
  const written = [
    'POST prm_greeting versions',
    'set-active prm_greeting promptsync',
    'set-active prm_greeting staging',
  ];
  const runJob = async (commit: string, variables: Variables) => {
    const { exitCode, workspace } = await team.pipeline(commit, variables);
    return { exitCode, workspace, writes: team.service.takeWrites() };
  };
  openMergeRequest(team);
  const merged = team.mergePull(team.openPull('change'));
  expect(await runJob(merged, push(team.commit))).toMatchObject({ exitCode: 0, writes: written });
  expect(await runJob(team.commit, push())).toMatchObject({ exitCode: 3, writes: [] });
  const byHand = { ...push(), CI_PIPELINE_SOURCE: 'web' };
  const next = team.pushMain(greets('Changed again.'));
  expect(await runJob(next, byHand)).toMatchObject({ exitCode: 0, writes: written });
  expect(await runJob(next, byHand)).toMatchObject({ exitCode: 0, writes: [] });
  expect(await runJob(next, SCHEDULE)).toMatchObject({ exitCode: 0, writes: [] });

  await changeService(team.service.baseUrl, 'greeting', 'staging', 'By somebody else.');
  team.service.takeWrites();
  const red = await runJob(next, SCHEDULE);
  expect(red).toMatchObject({ exitCode: 2, writes: [] });
  expect(reportOf(red.workspace, 'drift')).toContain('greeting');
  team.pushMain({ 'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\non_drift: fail\n' });
  const last = team.pushMain(greets('Changed once more.'));
  expect(await runJob(last, push(next))).toMatchObject({ exitCode: 3, writes: [] });
});

describe('the apply jobs of two environments', () => {
  const ORDER = 'environments:\n  staging: {}\n  production: { promote_from: staging, allow_latest: false }\n';
  const writeGreeting = (text: string, production = 1) => ({
    'prompts/greeting.md': promptText('greeting', { text, pins: { staging: 'latest', production } }),
  });

  /** Makes a team whose greeting is at v2 in staging and at v1 in production. */
  async function makeTwoEnvironments(protectedEnvironments: readonly string[]) {
    const [team, gitlab] = await Promise.all([
      makeGitLabTeam({ greeting: { text: 'One.' } }, CONFIG + ORDER),
      startGitLab(),
    ]);
    let before = NONE;
    const startAt = async (commit: string) => {
      const variables = { ...gitlab.branchVariables(commit), ...push(before) };
      before = commit;
      return startPipeline(team.jobs, variables, {
        protectedEnvironments,
        runJob: async (_, job) => (await team.runOneJob(job, commit, variables, KEY)).exitCode,
      });
    };
    const startSynced = async (commit: string) => {
      const pipeline = await startAt(commit);
      expect(pipeline.statuses()[STAGING]).toBe('success');
      return pipeline;
    };
    await startSynced(team.commit);
    const pipeline = await startSynced(team.pushMain(writeGreeting('One.')));
    if (protectedEnvironments.includes('production')) pipeline.approve(PRODUCTION);
    await pipeline.play(PRODUCTION);
    await startSynced(team.pushMain(writeGreeting('Two.')));
    team.service.takeWrites();
    const readServed = (environment: string) =>
      team.service.store.readPrompt('prm_greeting', environment)?.active_version?.content;
    /** Returns the only note of a merge request, split into the part of each environment. */
    const readNote = (iid = 1) => {
      const [note, ...others] = gitlab.notes(iid);
      expect(others).toEqual([]);
      return splitSections(note?.body);
    };
    /** Reviews a change of the greeting in a merge request, merges it and returns the new tip of main. */
    const mergeReviewed = async (branch: string, iid: number, edits: ReturnType<typeof writeGreeting>) => {
      gitlab.addMergeRequest({ iid, state: 'opened' });
      const head = team.push(branch, edits);
      const base = git(team.origin, 'merge-base', 'main', head);
      const variables = { ...MERGE_REQUEST, CI_MERGE_REQUEST_DIFF_BASE_SHA: base };
      expect((await team.pipeline(head, { ...gitlab.mergeRequestVariables(iid), ...variables })).exitCode).toBe(0);
      const merged = team.mergePull(team.openPull(branch));
      gitlab.addMergeRequest({ iid, state: 'merged', commits: [head], merge_commit_sha: merged });
      return merged;
    };
    return { ...team, gitlab, startAt, readServed, readNote, mergeReviewed };
  }

  test('Merges are applied to staging at once and to production after an approval, and an outdated production job is superseded', async () => {
    const team = await makeTwoEnvironments(['production']);
    const merged = await team.mergeReviewed('change', 1, writeGreeting('Two.', 2));
    const reviewed = team.readNote();
    expect(reviewed.production).toContain('production: 1 prompt\n');
    expect(team.service.takeWrites()).toEqual([]);
    const first = await team.startAt(merged);
    expect(first.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'blocked' });
    expect(team.readNote().production).toBe(reviewed.production);

    const second = await team.startAt(await team.mergeReviewed('next', 2, writeGreeting('Three.', 2)));
    expect(['staging', 'production'].map(team.readServed)).toEqual(['Three.', 'One.']);
    expect(team.readNote(2).staging).toContain('staging: applied, ');
    team.service.takeWrites();
    for (const pipeline of [first, second]) pipeline.approve(PRODUCTION);
    await first.play(PRODUCTION);
    expect(first.statuses()[PRODUCTION]).toBe('failed');
    expect(team.readNote(1).production).toMatch(/^production: superseded, /);
    expect(team.service.takeWrites()).toEqual([]);

    await second.play(PRODUCTION);
    expect(second.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'success' });
    expect(['staging', 'production'].map(team.readServed)).toEqual(['Three.', 'Two.']);
    expect(team.readNote(2).staging).toContain('staging: applied, ');
    expect(team.readNote(2).production).toContain('production: applied, ');
  });

  test('GitLab offers the production job only after a successful staging job, unless its rule says `when: always`', async () => {
    const files = await initJobs();
    const [, path] = PATHS;
    const start = (when: string, exitCodes: number[]) => {
      const jobs = readJobs(makeWorkspace({ ...files, [path]: files[path]!.replace('when: manual', `when: ${when}`) }));
      return startPipeline(jobs, push(), { runJob: async () => exitCodes.shift() ?? 1 });
    };
    const manual = await start('manual', [4, 0]);
    expect(manual.statuses()).toEqual({ [STAGING]: 'failed', [PRODUCTION]: 'skipped' });
    await manual.retry(STAGING);
    expect(manual.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'manual' });
    expect((await start('always', [4, 0])).statuses()).toEqual({ [STAGING]: 'failed', [PRODUCTION]: 'success' });
  });
});
