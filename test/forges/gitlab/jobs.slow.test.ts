import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { splitSections } from '../github/support.ts';
import { greets, makeTeam, type Edits, type Team } from '../github/team.ts';
import { git, initRepository, makeFolder, makeWorkspace } from '../../support/folder.ts';
import { startGitLab } from '../../support/gitlab-api.ts';
import { jobsOf, readJobs, runJob, type JobRun, type Variables } from '../../support/gitlab-runner.ts';
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
  const runOneJob = async (name: string, commit: string, variables: Variables, key = KEY): Promise<JobRun> => {
    const project = { PROMPTSYNC_BASE_URL: baseUrl, ...(key === '' ? {} : { PROMPTSYNC_API_KEY: key }) };
    const ran = await runJob(jobs.get(name)!, team.origin, commit, { ...project, ...variables });
    expect(JSON.stringify(ran)).not.toContain(KEY);
    expect(ran.stdout).toContain('npm install --global --install-links git+https://');
    return ran;
  };
  /** Runs the first job of a pipeline. All other jobs need somebody to start them. */
  const pipeline = (commit: string, variables: Variables, key?: string): Promise<JobRun> =>
    runOneJob(jobsOf(jobs, variables)[0]!, commit, variables, key);
  return { ...team, commit, pipeline, runOneJob };
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
function openMergeRequest({ push, origin }: Pick<Team, 'push' | 'origin'>, edits: Edits = greets('Changed.')) {
  const head = push('change', edits);
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

test('The jobs of two environments report in one note', async () => {
  const order = 'environments:\n  staging: {}\n  production: { promote_from: staging, allow_latest: false }\n';
  const pinsOf = (production: number) => ({ staging: 'latest', production });
  const editsOf = (text: string, production: number) => ({
    'prompts/greeting.md': promptText('greeting', { text, pins: pinsOf(production) }),
  });
  const team = await makeGitLabTeam({ greeting: { text: 'One.', pins: pinsOf(1) } }, CONFIG + order);
  const gitlab = await startGitLab();
  gitlab.addMergeRequest({ iid: 1, state: 'opened' });
  const apply = async (name: string, commit: string) => {
    const before = git(team.origin, 'rev-parse', `${commit}^`);
    return (await team.runOneJob(name, commit, { ...gitlab.branchVariables(commit), ...push(before) })).exitCode;
  };
  const readServed = (environment: string) =>
    team.service.store.readPrompt('prm_greeting', environment)?.active_version?.content;
  /** Returns the only note of the merge request, split into the part of each environment. */
  const readNote = () => {
    const [note, ...others] = gitlab.notes(1);
    expect(others).toEqual([]);
    return splitSections(note?.body);
  };
  for (const name of [STAGING, PRODUCTION]) expect(await apply(name, team.commit)).toBe(0);
  expect(await apply(STAGING, team.pushMain(editsOf('Two.', 1)))).toBe(0);

  const { head, variables } = openMergeRequest(team, editsOf('Three.', 2));
  expect((await team.pipeline(head, { ...gitlab.mergeRequestVariables(1), ...variables })).exitCode).toBe(0);
  const reviewed = readNote();
  expect(reviewed.production).toContain('production: 1 prompt\n');
  const merged = team.mergePull(team.openPull('change'));
  gitlab.addMergeRequest({ iid: 1, state: 'merged', commits: [head], merge_commit_sha: merged });
  expect(await apply(STAGING, merged)).toBe(0);
  expect(readNote()).toEqual({
    staging: expect.stringContaining('staging: applied, '),
    production: reviewed.production,
  });

  expect(await apply(PRODUCTION, merged)).toBe(0);
  expect(readNote().production).toContain('production: applied, ');
  expect(['staging', 'production'].map(readServed)).toEqual(['Three.', 'Two.']);
});
