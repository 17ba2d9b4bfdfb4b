import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { greets, makeTeam, type Team } from '../github/team.ts';
import { git, initRepository, makeFolder, makeWorkspace } from '../support/folder.ts';
import { startGitLab, TOKEN } from '../support/gitlab-api.ts';
import { jobsOf, readJobs, runJob, type JobRun, type Variables } from '../support/gitlab-runner.ts';
import { expectInert } from '../support/markdown.ts';
import { promptText, type PromptParts } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { changeService, KEY } from '../support/service.ts';

const NONE = '0'.repeat(40);
const BRANCH = { CI_DEFAULT_BRANCH: 'main', CI_COMMIT_BRANCH: 'main' };
const MERGE_REQUEST = { CI_PIPELINE_SOURCE: 'merge_request_event', CI_DEFAULT_BRANCH: 'main' };
const SCHEDULE = { ...BRANCH, CI_PIPELINE_SOURCE: 'schedule', CI_COMMIT_BEFORE_SHA: NONE };
const push = (before = NONE) => ({ ...BRANCH, CI_PIPELINE_SOURCE: 'push', CI_COMMIT_BEFORE_SHA: before });

const PATHS = ['.gitlab-ci.yml', '.gitlab/promptsync.gitlab-ci.yml'] as const;

/** What `init` writes for GitLab where there is nothing yet. */
async function initJobs(): Promise<Readonly<Record<string, string>>> {
  const folder = makeFolder();
  initRepository(folder);
  await run(folder, ['init', '--url', 'https://prompts.example.com', '--ci', 'gitlab']);
  return Object.fromEntries(PATHS.map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
}

/** A team with these jobs, whose first pipeline is still to come. */
async function makeGitLabTeam(prompts: Readonly<Record<string, PromptParts>> = { greeting: {}, farewell: {} }) {
  const team = await makeTeam(prompts);
  const files = await initJobs();
  const commit = team.pushMain(files, 'Add the jobs');
  const jobs = readJobs(makeWorkspace(files));
  const { baseUrl } = team.service;
  /** Runs the one job that a pipeline has; the key is in no output of it. */
  const pipeline = async (commit: string, variables: Variables, key: string = KEY): Promise<JobRun> => {
    const names = jobsOf(jobs, variables);
    expect(names).toHaveLength(1);
    const project = { PROMPTSYNC_BASE_URL: baseUrl, ...(key === '' ? {} : { PROMPTSYNC_API_KEY: key }) };
    const ran = await runJob(jobs.get(names[0]!)!, team.origin, commit, { ...project, ...variables });
    expect(JSON.stringify(ran)).not.toContain(KEY);
    expect(ran.stdout).toContain('npm install --global --install-links git+https://');
    return ran;
  };
  return { ...team, commit, jobs, pipeline };
}

/** What a job has written, in all formats. */
function reportOf(workspace: string, name: string): string {
  const files = readdirSync(workspace).filter((file) => file.startsWith(`${name}.`));
  return files.map((file) => readFileSync(join(workspace, file), 'utf8')).join('\n');
}

/** A team that is in sync. */
async function makeSynced(prompts?: Readonly<Record<string, PromptParts>>) {
  const team = await makeGitLabTeam(prompts);
  expect((await team.pipeline(team.commit, push())).exitCode).toBe(0);
  team.service.requests.splice(0);
  return team;
}

/** A change on a branch, with what GitLab says of its merge request. */
function openMergeRequest({ push, origin }: Pick<Team, 'push' | 'origin'>, text = 'Changed.') {
  const head = push('change', greets(text));
  return {
    head,
    variables: { ...MERGE_REQUEST, CI_MERGE_REQUEST_DIFF_BASE_SHA: git(origin, 'merge-base', 'main', head) },
  };
}

test.each<[string, Variables, readonly string[]]>([
  ['a merge request is planned', MERGE_REQUEST, ['promptsync:plan']],
  ['a push to the default branch is applied', push(), ['promptsync:apply']],
  ['so is the default branch by hand', { ...BRANCH, CI_PIPELINE_SOURCE: 'web' }, ['promptsync:apply']],
  ['a schedule looks for drift, and applies nothing', SCHEDULE, ['promptsync:drift']],
  ['another branch has no job', { ...push(), CI_COMMIT_BRANCH: 'change' }, []],
  ['nor has its schedule', { ...SCHEDULE, CI_COMMIT_BRANCH: 'change' }, []],
  ['nor has a tag', { CI_DEFAULT_BRANCH: 'main', CI_PIPELINE_SOURCE: 'push', CI_COMMIT_TAG: 'v1' }, []],
])('%s', async (_, variables, expected) => {
  expect(jobsOf(readJobs(makeWorkspace(await initJobs())), variables)).toEqual(expected);
});

describe('On a merge request', () => {
  test('the plan is shown, and nothing is written', async () => {
    const team = await makeSynced();
    const { head, variables } = openMergeRequest(team);
    const { exitCode, workspace } = await team.pipeline(head, variables);
    expect(exitCode).toBe(0);
    expect(team.service.requests.length).toBeGreaterThan(0);
    expect(team.service.takeWrites()).toEqual([]);
    expect(reportOf(workspace, 'plan')).toContain('greeting');
  });

  test('a fork has no key: nothing is asked, and what it changes is shown all the same', async () => {
    const team = await makeSynced();
    const { head, variables } = openMergeRequest(team);
    const { exitCode, stderr, workspace } = await team.pipeline(head, variables, '');
    expect({ exitCode, requests: team.service.requests }).toEqual({ exitCode: 0, requests: [] });
    expect(stderr).toContain('--offline was given');
    expect(reportOf(workspace, 'plan')).toContain('greeting');
  });

  test('the pipeline of a merged result shows what the merge brings, and not what was merged before it', async () => {
    const team = await makeSynced();
    const { head, variables } = openMergeRequest(team);
    const target = team.pushMain({ 'prompts/farewell.md': promptText('farewell', { text: 'Merged before.' }) });
    const { merge } = team.openPull('change');
    const { workspace } = await team.pipeline(merge, { ...variables, CI_MERGE_REQUEST_TARGET_BRANCH_SHA: target }, '');
    expect(git(team.origin, 'rev-parse', `${merge}^2`)).toBe(head);
    const report = reportOf(workspace, 'plan');
    expect(report).toContain('Changed.');
    expect(report).not.toContain('Merged before.');
  });

  test('what is wrong with the files makes the job red, and its reports and the note come all the same', async () => {
    const team = await makeSynced();
    const { variables } = openMergeRequest(team);
    const head = team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: '' }) });
    const { exitCode, workspace, after } = await team.pipeline(head, variables);
    expect(exitCode).toBe(1);
    expect(reportOf(workspace, 'plan')).toContain('prompt/empty-body');
    expect(after.stdout + after.stderr).not.toBe('');
  });
});

describe('On the default branch', () => {
  const written = (what: string) => ['POST prm_greeting versions', 'set-active prm_greeting promptsync', what];

  test('a merge is applied; an older pipeline that is run once more is refused', async () => {
    const team = await makeSynced();
    openMergeRequest(team);
    const merged = team.mergePull(team.openPull('change'));
    expect((await team.pipeline(merged, push(team.commit))).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual(written('set-active prm_greeting staging'));
    expect((await team.pipeline(team.commit, push())).exitCode).toBe(3);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('a pipeline by hand applies what an earlier one has left, and nothing the second time', async () => {
    const team = await makeSynced();
    const merged = team.pushMain(greets('Changed.'));
    const byHand = { ...push(), CI_PIPELINE_SOURCE: 'web' };
    expect((await team.pipeline(merged, byHand)).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual(written('set-active prm_greeting staging'));
    expect((await team.pipeline(merged, byHand)).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('what was changed outside is found where the configuration forbids to overwrite it', async () => {
    const team = await makeSynced();
    team.pushMain({ 'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\non_drift: fail\n' });
    await changeService(team.service.baseUrl, 'greeting', 'staging', 'By somebody else.');
    team.service.takeWrites();
    const merged = team.pushMain(greets('Changed.'));
    expect((await team.pipeline(merged, push(team.commit))).exitCode).toBe(3);
    expect(team.service.takeWrites()).toEqual([]);
  });
});

test('On a schedule the job is green where all is in sync, and red on drift; it writes nothing', async () => {
  const team = await makeSynced();
  const green = await team.pipeline(team.commit, SCHEDULE);
  await changeService(team.service.baseUrl, 'greeting', 'staging', 'By somebody else.');
  team.service.takeWrites();
  const red = await team.pipeline(team.commit, SCHEDULE);
  expect([green.exitCode, red.exitCode]).toEqual([0, 2]);
  expect(team.service.takeWrites()).toEqual([]);
  expect(reportOf(red.workspace, 'drift')).toContain('greeting');
});

test('A merge request from open to applied: one note says all of it, whatever the texts and GitLab do', async () => {
  const [team, gitlab] = await Promise.all([makeSynced(), startGitLab()]);
  const titles = () => gitlab.notes(1).map(({ body }) => body.split('\n')[1]?.replace(/\d{4}-.*/, ''));
  const job = async (commit: string, variables: Variables) => {
    const ran = await team.pipeline(commit, variables);
    expect(JSON.stringify(ran) + JSON.stringify(gitlab.notes(1))).not.toContain(TOKEN);
    for (const { body } of gitlab.notes(1)) expectInert(body, [gitlab.branchVariables('').CI_JOB_URL]);
    return ran.exitCode;
  };
  gitlab.addMergeRequest({ iid: 1, state: 'opened' });

  // What is wrong with it is in the note as well: it comes when the plan is red.
  const { variables } = openMergeRequest(team);
  const review = { ...gitlab.mergeRequestVariables(1), ...variables };
  gitlab.fail({ path: /./ }, { status: 502 });
  const empty = team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: '' }) });
  expect(await job(empty, review)).toBe(1);
  expect(gitlab.notes(1)[0]?.body).toContain('prompt/empty-body');

  const head = team.push('change', greets('/merge\n@all ~bug #1 <b>x</b>\n```\n/close\n```'));
  gitlab.fail({ method: 'PUT', path: /notes/ }, { status: 429, headers: { 'retry-after': '1' } });
  expect(await job(head, review)).toBe(0);
  expect(titles()).toEqual(['### promptsync plan']);
  expect(team.service.takeWrites()).toEqual([]);

  const merged = team.mergePull(team.openPull('change'));
  gitlab.addMergeRequest({ iid: 1, state: 'merged', commits: [empty, head], merge_commit_sha: merged });
  expect(await job(merged, { ...gitlab.branchVariables(merged), ...push(team.commit) })).toBe(0);
  expect(titles()).toEqual(['### promptsync applied, ']);

  // A pipeline that is started again when main has gone on is refused, and takes nothing back.
  const newer = team.pushMain(greets('Newer.'));
  expect(await job(newer, { ...gitlab.branchVariables(newer), ...push(merged) })).toBe(0);
  expect(await job(merged, { ...gitlab.branchVariables(merged), ...push(team.commit) })).toBe(3);
  expect(titles()).toEqual(['### promptsync applied, ']);
  expect(gitlab.actions).toEqual([]);
});
