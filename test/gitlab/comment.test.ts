import { describe, expect, test } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { makeProblem, type ProblemCode } from '../../src/problem.ts';
import { promptOf, reportOf } from '../report/support.ts';
import { ADA, FORK, PROJECT, type GitLabMergeRequest } from '../support/gitlab-api.ts';
import { makeJob, PLAN, formatRun, type Job } from './support.ts';

const NOTE = 'http://gitlab/acme/prompts/-/merge_requests/1#note_';
const POST = `POST /projects/${PROJECT}/merge_requests/1/notes`;
const PUT = (id: number) => `PUT /projects/${PROJECT}/merge_requests/1/notes/${id}`;

/** Publishes the first note of a job and returns its body. */
async function firstNote({ gitlab, publish }: Job): Promise<string> {
  await publish();
  return gitlab.notes(1)[0]!.body;
}

describe('comment without a merge request', () => {
  const without = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));
  const REQUEST = ['CI_MERGE_REQUEST_IID', 'CI_MERGE_REQUEST_PROJECT_ID'];
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['promptsync comment publishes nothing outside of GitLab CI', without('GITLAB_CI'), 'this is not a GitLab CI job'],
    [
      'promptsync comment publishes nothing without a token, as in the pipeline of a fork',
      without('GITLAB_TOKEN'),
      'the variable GITLAB_TOKEN is not set',
    ],
    [
      'promptsync comment publishes nothing if the token is blank',
      { GITLAB_TOKEN: ' \n' },
      'the variable GITLAB_TOKEN is not set',
    ],
    ['promptsync comment publishes nothing on a tag', without(...REQUEST), 'this commit has no merge request'],
    [
      'promptsync comment publishes nothing if a variable contains a path instead of an id',
      { CI_MERGE_REQUEST_IID: '../1' },
      'this commit has no merge request',
    ],
  ])('%s', async (_, variables, why) => {
    const { gitlab, publish } = await makeJob();
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), ...variables } });
    expect(formatRun(ran)).toBe(`0 No note published: ${why}.`);
    expect(gitlab.requests).toEqual([]);
  });

  test('promptsync comment succeeds outside of GitLab CI even if the configuration is missing', async () => {
    const { publish } = await makeJob();
    expect((await publish(PLAN, { environment: {}, words: ['--config', 'none.yaml'] })).exitCode).toBe(0);
  });
});

test('promptsync comment rejects a file that is not a report', async () => {
  const { gitlab, publish } = await makeJob();
  const ran = await publish({ ...PLAN, schema_version: 2 } as never);
  expect(formatRun(ran)).toMatch(/^1 .*\[usage\/not-a-report\]/);
  expect(gitlab.writes()).toEqual([]);
});

describe('comment', () => {
  test('promptsync comment creates one note and later updates it only if its content changes', async () => {
    const job = await makeJob();
    const { gitlab, publish } = job;
    expect(formatRun(await publish())).toBe(`0 Note created: ${NOTE}5001`);
    const variables = gitlab.mergeRequestVariables(1);
    const later = { ...variables, CI_JOB_URL: `${variables.CI_JOB_URL}2` };
    expect(formatRun(await publish(PLAN, { environment: later }))).toBe(`0 Note unchanged: ${NOTE}5001`);
    expect(formatRun(await publish({ ...PLAN, commit: null }))).toMatch(`0 Note updated: ${NOTE}5001`);
    expect(gitlab.writes()).toEqual([POST, PUT(5001)]);
    expect(gitlab.requests.filter(({ path }) => path === '/user')).toHaveLength(2);
  });

  test('The note names the source commit, the job and the folder below its marker', async () => {
    const { gitlab, publish } = await makeJob();
    const variables = { ...gitlab.mergeRequestVariables(1), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'ab12'.repeat(10) };
    await publish(PLAN, { environment: variables, in: 'team-a' });
    const [{ body } = { body: '' }] = gitlab.notes(1);
    expect(body).toMatch(/^<!-- promptsync [0-9a-f]{16} -->\n### promptsync plan in `team-a`\n/);
    expect(body).toMatch(/commit `ab12ab12ab12` .* \[run\]\(http:\S+\/-\/jobs\/1\)$/);
  });

  test.each<[string, (job: Job, body: string) => void, readonly string[]]>([
    [
      'promptsync comment ignores a note with its marker by another person',
      ({ gitlab }, body) => gitlab.addNote(1, { body, author: ADA }),
      [POST],
    ],
    [
      'promptsync comment ignores a note that only quotes its marker',
      ({ gitlab }, body) => gitlab.addNote(1, { body: `> ${body}` }),
      [POST],
    ],
    [
      'promptsync comment updates its own note',
      ({ gitlab }, body) => gitlab.addNote(1, { body: `${body} of before` }),
      [PUT(5001)],
    ],
    [
      'promptsync comment finds its note behind pages with hidden notes',
      ({ gitlab }, body) => {
        // GitLab hides notes that the token may not see. Two pages are short, and one is empty.
        for (let number = 0; number < 300; number++)
          gitlab.addNote(1, { body: 'x', hidden: number % 9 > 0 || number > 200 });
        gitlab.addNote(1, { body: `${body} of before` });
      },
      [PUT(5301)],
    ],
    [
      'promptsync comment updates the first of two notes of its own',
      ({ gitlab }, body) => [1, 2].forEach((number) => gitlab.addNote(1, { body: `${body} of before ${number}` })),
      [PUT(5001)],
    ],
  ])('%s', async (_, before, writes) => {
    const job = await makeJob();
    before(job, await firstNote(await makeJob()));
    await job.publish();
    expect(job.gitlab.writes()).toEqual(writes);
  });

  test('promptsync comment keeps a separate note for each folder and configuration', async () => {
    const { gitlab, publish } = await makeJob();
    for (let again = 0; again < 2; again++) {
      for (const folder of ['', 'team-a', 'team-b']) await publish(PLAN, { in: folder });
      await publish(PLAN, { words: ['--config', 'other.yaml'] });
    }
    expect(new Set(gitlab.notes(1).map(({ body }) => body.split('\n')[0])).size).toBe(4);
    expect(gitlab.writes()).toEqual([POST, POST, POST, POST]);
  });

  test('promptsync comment writes the note of a fork in the project of the merge request', async () => {
    const { gitlab, publish } = await makeJob();
    await publish(PLAN, { environment: gitlab.mergeRequestVariables(1, FORK) });
    expect(gitlab.writes()).toEqual([POST]);
  });
});

describe('comment in a branch pipeline', () => {
  const COMMIT = 'c'.repeat(40);
  const merged = (iid: number, parts: Partial<GitLabMergeRequest> = {}): GitLabMergeRequest => {
    return { iid, state: 'merged', commits: [COMMIT], ...parts };
  };
  const opened = (iid: number, parts: Partial<GitLabMergeRequest> = {}) => merged(iid, { state: 'opened', ...parts });
  test.each<[string, readonly GitLabMergeRequest[], number | null]>([
    ['In a branch pipeline, comment publishes nothing without a merge request', [], null],
    [
      'In a branch pipeline, comment finds a merge request by its merge commit',
      [merged(2, { commits: [], merge_commit_sha: COMMIT })],
      2,
    ],
    [
      'In a branch pipeline, comment finds a merge request by its squash commit',
      [merged(2, { commits: [], squash_commit_sha: COMMIT })],
      2,
    ],
    ['In a branch pipeline, comment finds a merge request after a fast-forward merge', [merged(2)], 2],
    [
      'In a branch pipeline, comment ignores a merge request into another branch',
      [merged(2, { target_branch: 'next' })],
      null,
    ],
    ['In a branch pipeline, comment ignores a closed merge request', [merged(2, { state: 'closed' })], null],
    ['In a branch pipeline, comment finds an open merge request', [opened(2)], 2],
    [
      'In a branch pipeline, comment prefers the merge request with the same merge commit',
      [merged(2), merged(3, { merge_commit_sha: COMMIT, commits: ['a'] }), merged(4, { commits: [COMMIT, 'b'] })],
      3,
    ],
    [
      'In a branch pipeline, comment prefers a merged merge request to an open one',
      [opened(3), merged(2), opened(4)],
      2,
    ],
    [
      'In a branch pipeline, comment prefers an open merge request from the same branch',
      [opened(3), opened(2, { source_branch: 'main' }), opened(4)],
      2,
    ],
    [
      'In a branch pipeline, comment finds a merge request on the second page',
      [merged(2), ...Array.from({ length: 100 }, (_, at) => merged(9 + at, { state: 'closed' }))],
      2,
    ],
  ])('%s', async (_, requests, expected) => {
    const { gitlab, publish } = await makeJob();
    requests.forEach(gitlab.addMergeRequest);
    const ran = await publish(PLAN, { environment: gitlab.branchVariables(COMMIT) });
    const address = `https://gitlab.example/acme/prompts/-/merge_requests/${expected}#note_5001`;
    const end = expected === null ? 'No note published: this commit has no merge request.' : `Note created: ${address}`;
    expect(formatRun(ran)).toBe(`0 ${end}`);
  });
});

describe('the note after the merge', () => {
  const blocked = (...codes: readonly ProblemCode[]) =>
    promptOf({ status: 'blocked', problems: codes.map((code) => ({ ...makeProblem('usage/nothing-named'), code })) });
  const applied = promptOf({ status: 'applied' });
  const failed = promptOf({ status: 'failed' });
  const apply = (...prompts: Report['prompts']): Report => reportOf(prompts, { mode: 'apply' });
  const withProblem = (code: ProblemCode, severity: 'error' | 'warning' = 'error') => {
    return { problems: [{ ...makeProblem('usage/nothing-named'), code, severity }] };
  };
  const TIME = '2026-01-02 03:04 UTC';
  const RESULTS: readonly (readonly [sentence: string, title: string, Report])[] = [
    ['The note after the merge reports that the plan was applied', 'applied', apply(applied, promptOf())],
    [
      'The note after the merge reports a newer commit that overtook the apply',
      'applied and overtaken',
      { ...apply(applied), ...withProblem('guard/overtaken', 'warning') },
    ],
    [
      'The note after the merge reports a partial apply if a prompt failed',
      'applied in part (failed)',
      apply(applied, failed, blocked('guard/drift')),
    ],
    [
      'The note after the merge reports a partial apply if a prompt was refused',
      'applied in part (refused)',
      apply(applied, blocked('guard/max-changes')),
    ],
    ['The note after the merge reports a failure if every prompt failed', 'failed', apply(failed)],
    [
      'The note after the merge reports a failure if no prompt was attempted',
      'failed',
      apply(promptOf({ status: 'not_attempted' })),
    ],
    [
      'The note after the merge reports invalid files if the configuration is missing',
      'invalid',
      { ...apply(), ...withProblem('config/not-found') },
    ],
    [
      'The note after the merge reports a refusal because of uncommitted files',
      'refused',
      { ...apply(), ...withProblem('guard/uncommitted') },
    ],
    [
      'The note after the merge reports that the run was superseded',
      'superseded',
      apply(blocked('guard/superseded'), promptOf()),
    ],
    ['The note after the merge reports drift if nothing else blocked a prompt', 'drift', apply(blocked('guard/drift'))],
    [
      'The note after the merge reports a refusal if drift was not the only reason',
      'refused',
      apply(blocked('guard/drift', 'guard/not-merged')),
    ],
    ['The note after the merge reports an apply if nothing was left to do', 'applied', apply(promptOf())],
  ];
  test.each(RESULTS)('%s', async (_, title, report) => {
    const { publish, titles } = await makeJob();
    await publish();
    await publish(report);
    expect(titles()).toEqual([`${title}, ${TIME}`]);
  });

  const [DONE, IDLE, LATE] = [apply(applied), apply(promptOf()), apply(blocked('guard/superseded'))];
  test.each<[string, readonly Report[], readonly string[]]>([
    ['promptsync comment creates no note for a sync without changes', [IDLE], []],
    ['promptsync comment creates no note for a superseded sync', [LATE], []],
    ['promptsync comment creates a note for a sync with changes', [DONE], [`applied, ${TIME}`]],
    ['A superseded sync does not overwrite the note of an apply', [PLAN, DONE, LATE], [`applied, ${TIME}`]],
    [
      'A sync without changes does not overwrite the note of a partial apply',
      [PLAN, apply(applied, failed), IDLE],
      [`applied in part (failed), ${TIME}`],
    ],
    ['A repeated plan does not overwrite the note of an apply', [PLAN, DONE, PLAN], [`applied, ${TIME}`]],
    ['A successful sync overwrites the note of a failed sync', [PLAN, apply(failed), DONE], [`applied, ${TIME}`]],
    ['A sync without changes overwrites the note of a superseded sync', [PLAN, LATE, IDLE], [`applied, ${TIME}`]],
  ])('%s', async (_, reports, expected) => {
    const { publish, titles } = await makeJob();
    for (const report of reports) expect((await publish(report)).exitCode).toBe(0);
    expect(titles()).toEqual(expected);
  });
});
