import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { greets, makeTeam, type Team } from '../github/team.ts';
import { git, initRepository, makeFolder, makeWorkspace } from '../../support/folder.ts';
import { startGitLab, TOKEN } from '../../support/gitlab-api.ts';
import { startPipeline } from '../../support/gitlab-pipeline.ts';
import { jobsOf, readJobs, runJob, type Job, type JobRun, type Variables } from '../../support/gitlab-runner.ts';
import { expectInert } from '../../support/markdown.ts';
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
async function makeSynced(prompts?: Readonly<Record<string, PromptParts>>) {
  const team = await makeGitLabTeam(prompts);
  expect((await team.pipeline(team.commit, push())).exitCode).toBe(0);
  team.service.requests.splice(0);
  return team;
}

/** Pushes a change to a branch. Returns its commit and the variables of its merge request. */
function openMergeRequest({ push, origin }: Pick<Team, 'push' | 'origin'>, text = 'Changed.') {
  const head = push('change', greets(text));
  return {
    head,
    variables: { ...MERGE_REQUEST, CI_MERGE_REQUEST_DIFF_BASE_SHA: git(origin, 'merge-base', 'main', head) },
  };
}

test.each<[string, Variables, readonly string[]]>([
  ['The generated pipeline runs the plan job for a merge request', MERGE_REQUEST, ['promptsync:plan']],
  ['The generated pipeline has the apply jobs for a push to the default branch', push(), [STAGING, PRODUCTION]],
  [
    'The generated pipeline has the apply jobs if somebody starts it manually on the default branch',
    { ...BRANCH, CI_PIPELINE_SOURCE: 'web' },
    [STAGING, PRODUCTION],
  ],
  [
    'The generated pipeline runs only the drift job for a scheduled run on the default branch',
    SCHEDULE,
    ['promptsync:drift'],
  ],
  ['The generated pipeline runs no job for a push to another branch', { ...push(), CI_COMMIT_BRANCH: 'change' }, []],
  [
    'The generated pipeline runs no job for a scheduled run on another branch',
    { ...SCHEDULE, CI_COMMIT_BRANCH: 'change' },
    [],
  ],
  [
    'The generated pipeline runs no job for a tag',
    { CI_DEFAULT_BRANCH: 'main', CI_PIPELINE_SOURCE: 'push', CI_COMMIT_TAG: 'v1' },
    [],
  ],
])('%s', async (_, variables, expected) => {
  expect(jobsOf(readJobs(makeWorkspace(await initJobs())), variables)).toEqual(expected);
});

describe('the generated plan job', () => {
  test('The plan job for a merge request shows the plan and writes nothing to the service', async () => {
    const team = await makeSynced();
    const { head, variables } = openMergeRequest(team);
    const { exitCode, workspace } = await team.pipeline(head, variables);
    expect(exitCode).toBe(0);
    expect(team.service.requests.length).toBeGreaterThan(0);
    expect(team.service.takeWrites()).toEqual([]);
    expect(reportOf(workspace, 'plan')).toContain('greeting');
  });

  test('Without an API key, as in a fork, the plan job shows the changes and does not contact the service', async () => {
    const team = await makeSynced();
    const { head, variables } = openMergeRequest(team);
    const { exitCode, stderr, workspace } = await team.pipeline(head, variables, '');
    expect({ exitCode, requests: team.service.requests }).toEqual({ exitCode: 0, requests: [] });
    expect(stderr).toContain('`--offline` was specified');
    expect(reportOf(workspace, 'plan')).toContain('greeting');
  });

  test('The plan job in a merged results pipeline shows only the changes of its own merge request', async () => {
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

  test('The plan job fails on invalid files but still writes its reports and runs its after_script', async () => {
    const team = await makeSynced();
    const { variables } = openMergeRequest(team);
    const head = team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: '' }) });
    const { exitCode, workspace, after } = await team.pipeline(head, variables);
    expect(exitCode).toBe(1);
    expect(reportOf(workspace, 'plan')).toContain('prompt/empty-body');
    expect(after.stdout + after.stderr).not.toBe('');
  });
});

describe('the generated apply jobs', () => {
  const written = (what: string) => ['POST prm_greeting versions', 'set-active prm_greeting promptsync', what];

  test('The apply job applies a merge commit but refuses to apply an older commit when its pipeline runs again', async () => {
    const team = await makeSynced();
    openMergeRequest(team);
    const merged = team.mergePull(team.openPull('change'));
    expect((await team.pipeline(merged, push(team.commit))).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual(written('set-active prm_greeting staging'));
    expect((await team.pipeline(team.commit, push())).exitCode).toBe(3);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('A manual pipeline applies pending changes and writes nothing when it runs again', async () => {
    const team = await makeSynced();
    const merged = team.pushMain(greets('Changed.'));
    const byHand = { ...push(), CI_PIPELINE_SOURCE: 'web' };
    expect((await team.pipeline(merged, byHand)).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual(written('set-active prm_greeting staging'));
    expect((await team.pipeline(merged, byHand)).exitCode).toBe(0);
    expect(team.service.takeWrites()).toEqual([]);
  });

  test('The apply job does not overwrite a change made directly in the service if on_drift is set to fail', async () => {
    const team = await makeSynced();
    team.pushMain({ 'promptsync.yaml': 'prompts: ["prompts/**/*.md"]\non_drift: fail\n' });
    await changeService(team.service.baseUrl, 'greeting', 'staging', 'By somebody else.');
    team.service.takeWrites();
    const merged = team.pushMain(greets('Changed.'));
    expect((await team.pipeline(merged, push(team.commit))).exitCode).toBe(3);
    expect(team.service.takeWrites()).toEqual([]);
  });
});

test('The scheduled job passes if the service is in sync, fails on drift and never writes to the service', async () => {
  const team = await makeSynced();
  const green = await team.pipeline(team.commit, SCHEDULE);
  await changeService(team.service.baseUrl, 'greeting', 'staging', 'By somebody else.');
  team.service.takeWrites();
  const red = await team.pipeline(team.commit, SCHEDULE);
  expect([green.exitCode, red.exitCode]).toEqual([0, 2]);
  expect(team.service.takeWrites()).toEqual([]);
  expect(reportOf(red.workspace, 'drift')).toContain('greeting');
});

test('The GitLab jobs update a single note from plan to apply despite hostile prompt text and failing requests', async () => {
  const [team, gitlab] = await Promise.all([makeSynced(), startGitLab()]);
  /** Returns the title of each note and the heading of its section about staging. */
  const titles = () =>
    gitlab.notes(1).map(({ body }) => {
      const headings = body.split('\n').filter((line) => /^(?:### promptsync|#### staging)/.test(line));
      return headings.join('; ').replace(/\d{4}-.*/, '');
    });
  const job = async (commit: string, variables: Variables) => {
    const ran = await team.pipeline(commit, variables);
    expect(JSON.stringify(ran) + JSON.stringify(gitlab.notes(1))).not.toContain(TOKEN);
    for (const { body } of gitlab.notes(1)) expectInert(body, [gitlab.branchVariables('').CI_JOB_URL]);
    return ran.exitCode;
  };
  gitlab.addMergeRequest({ iid: 1, state: 'opened' });

  // The job publishes the note even if the plan fails, so the note shows the problems.
  const { variables } = openMergeRequest(team);
  const review = { ...gitlab.mergeRequestVariables(1), ...variables };
  gitlab.fail({ path: /./ }, { status: 502 });
  const empty = team.push('change', { 'prompts/greeting.md': promptText('greeting', { text: '' }) });
  expect(await job(empty, review)).toBe(1);
  expect(gitlab.notes(1)[0]?.body).toContain('prompt/empty-body');

  const head = team.push('change', greets('/merge\n@all ~bug #1 <b>x</b>\n```\n/close\n```'));
  gitlab.fail({ method: 'PUT', path: /notes/ }, { status: 429, headers: { 'retry-after': '1' } });
  expect(await job(head, review)).toBe(0);
  expect(titles()).toEqual(['### promptsync plan; #### staging: 1 prompt']);
  expect(team.service.takeWrites()).toEqual([]);

  const merged = team.mergePull(team.openPull('change'));
  gitlab.addMergeRequest({ iid: 1, state: 'merged', commits: [empty, head], merge_commit_sha: merged });
  expect(await job(merged, { ...gitlab.branchVariables(merged), ...push(team.commit) })).toBe(0);
  expect(titles()).toEqual(['### promptsync plan; #### staging: applied, ']);

  // A repeated pipeline of an older commit is refused and leaves the note unchanged.
  const newer = team.pushMain(greets('Newer.'));
  expect(await job(newer, { ...gitlab.branchVariables(newer), ...push(merged) })).toBe(0);
  expect(await job(merged, { ...gitlab.branchVariables(merged), ...push(team.commit) })).toBe(3);
  expect(titles()).toEqual(['### promptsync plan; #### staging: applied, ']);
  expect(gitlab.actions).toEqual([]);
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
      const visible = note?.body.replaceAll(/^<!-- .* -->\n/gm, '') ?? '';
      const parts = visible.split(/^#### (?=production|staging)/m);
      const findPart = (name: string) => parts.find((part) => part.startsWith(name)) ?? '';
      return { staging: findPart('staging'), production: findPart('production') };
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

  test.each([
    ['A merge is applied to staging at once, and to production when somebody starts the manual job', []],
    ['A merge is applied to staging at once, and to production after the required approval', ['production']],
  ])('%s', async (_, protectedEnvironments) => {
    const team = await makeTwoEnvironments(protectedEnvironments);
    const merged = await team.mergeReviewed('change', 1, writeGreeting('Three.', 2));
    const reviewed = team.readNote();
    expect(reviewed.staging).toContain('staging: 1 prompt\n');
    expect(reviewed.production).toContain('production: 1 prompt\n');
    expect(team.service.takeWrites()).toEqual([]);

    const pipeline = await team.startAt(merged);
    const waiting = protectedEnvironments.length === 0 ? 'manual' : 'blocked';
    expect(pipeline.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: waiting });
    expect(['staging', 'production'].map(team.readServed)).toEqual(['Three.', 'One.']);
    expect(team.readNote().staging).toContain('staging: applied, ');
    expect(team.readNote().production).toBe(reviewed.production);

    if (waiting === 'blocked') pipeline.approve(PRODUCTION);
    await pipeline.play(PRODUCTION);
    expect(pipeline.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'success' });
    expect(['staging', 'production'].map(team.readServed)).toEqual(['Three.', 'Two.']);
    expect(team.readNote().staging).toContain('staging: applied, ');
    expect(team.readNote().production).toContain('production: applied, ');
  });

  test('A production job that starts after main has moved on ends as superseded, and the job of the newer commit applies both merges', async () => {
    const team = await makeTwoEnvironments([]);
    const first = await team.startAt(await team.mergeReviewed('change', 1, writeGreeting('Two.', 2)));
    const second = await team.startAt(await team.mergeReviewed('next', 2, writeGreeting('Three.', 2)));
    expect([first.statuses()[PRODUCTION], second.statuses()[PRODUCTION]]).toEqual(['manual', 'manual']);
    team.service.takeWrites();

    await first.play(PRODUCTION);
    expect(first.statuses()[PRODUCTION]).toBe('failed');
    expect(team.readNote(1).production).toMatch(/^production: superseded, /);
    expect(team.service.takeWrites()).toEqual([]);

    await second.play(PRODUCTION);
    expect(second.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'success' });
    expect(['staging', 'production'].map(team.readServed)).toEqual(['Three.', 'Two.']);
  });

  test('GitLab skips the production job if the staging job fails, and offers it after a successful retry', async () => {
    const exitCodes = [4, 0, 0];
    const { jobs } = await makeGitLabTeam();
    const pipeline = await startPipeline(jobs, push(), { runJob: async () => exitCodes.shift() ?? 1 });
    expect(pipeline.statuses()).toEqual({ [STAGING]: 'failed', [PRODUCTION]: 'skipped' });
    await pipeline.retry(STAGING);
    expect(pipeline.statuses()).toEqual({ [STAGING]: 'success', [PRODUCTION]: 'manual' });
  });

  test('With `when: always`, the production job runs by itself, even if the staging job fails', async () => {
    const files = await initJobs();
    const [, path] = PATHS;
    const jobs = readJobs(makeWorkspace({ ...files, [path]: files[path]!.replace('when: manual', 'when: always') }));
    const ended: string[] = [];
    const pipeline = await startPipeline(jobs, push(), {
      runJob: async (name) => {
        ended.push(name);
        return name === STAGING ? 4 : 0;
      },
    });
    expect(ended).toEqual([STAGING, PRODUCTION]);
    expect(pipeline.statuses()).toEqual({ [STAGING]: 'failed', [PRODUCTION]: 'success' });
  });
});
