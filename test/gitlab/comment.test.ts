import { describe, expect, test } from 'vitest';
import type { Report } from '../../src/report/schema.ts';
import { makeProblem, type ProblemCode } from '../../src/problem.ts';
import { promptOf, reportOf } from '../report/support.ts';
import { ADA, FORK, PROJECT, type GitLabMergeRequest } from '../support/gitlab-api.ts';
import { makeJob, PLAN, said, type Job } from './support.ts';

const NOTE = 'http://gitlab/acme/prompts/-/merge_requests/1#note_';
const POST = `POST /projects/${PROJECT}/merge_requests/1/notes`;
const PUT = (id: number) => `PUT /projects/${PROJECT}/merge_requests/1/notes/${id}`;

/** The marker and the rest of the note that a job makes first. */
async function firstNote({ gitlab, publish }: Job): Promise<string> {
  await publish();
  return gitlab.notes(1)[0]!.body;
}

describe('nothing is published, nothing asked and all is in order', () => {
  const without = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));
  const REQUEST = ['CI_MERGE_REQUEST_IID', 'CI_MERGE_REQUEST_PROJECT_ID'];
  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['outside of GitLab CI', without('GITLAB_CI'), 'this is no job of GitLab CI'],
    ['without a token, as in a fork’s pipeline', without('GITLAB_TOKEN'), 'this job has no GITLAB_TOKEN'],
    ['with a token of blanks', { GITLAB_TOKEN: ' \n' }, 'this job has no GITLAB_TOKEN'],
    ['on a tag', without(...REQUEST), 'there is no merge request of this commit'],
    ['where variables lead elsewhere', { CI_MERGE_REQUEST_IID: '../1' }, 'there is no merge request of this commit'],
  ])('%s', async (_, variables, why) => {
    const { gitlab, publish } = await makeJob();
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), ...variables } });
    expect(said(ran)).toBe(`0 No note published: ${why}.`);
    expect(gitlab.requests).toEqual([]);
  });

  test('whatever the file is', async () => {
    const { publish } = await makeJob();
    expect((await publish(PLAN, { environment: {}, words: ['--config', 'none.yaml'] })).exitCode).toBe(0);
  });
});

test('a file that is no report is an error, and nothing is published', async () => {
  const { gitlab, publish } = await makeJob();
  const ran = await publish({ ...PLAN, schema_version: 2 } as never);
  expect(said(ran)).toMatch(/^1 .*\[usage\/not-a-report\]/);
  expect(gitlab.writes()).toEqual([]);
});

describe('the note', () => {
  test('is made, left alone while it says the same, though by another job, and updated', async () => {
    const job = await makeJob();
    const { gitlab, publish } = job;
    expect(said(await publish())).toBe(`0 Note made: ${NOTE}5001`);
    const variables = gitlab.mergeRequestVariables(1);
    const later = { ...variables, CI_JOB_URL: `${variables.CI_JOB_URL}2` };
    expect(said(await publish(PLAN, { environment: later }))).toBe(`0 Note is unchanged: ${NOTE}5001`);
    expect(said(await publish({ ...PLAN, commit: null }))).toMatch(`0 Note updated: ${NOTE}5001`);
    expect(gitlab.writes()).toEqual([POST, PUT(5001)]);
    expect(gitlab.requests.filter(({ path }) => path === '/user')).toHaveLength(2);
  });

  test('names the commit that readers know, the job and the folder, below its marker', async () => {
    const { gitlab, publish } = await makeJob();
    const variables = { ...gitlab.mergeRequestVariables(1), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'ab12'.repeat(10) };
    await publish(PLAN, { environment: variables, in: 'team-a' });
    const [{ body } = { body: '' }] = gitlab.notes(1);
    expect(body).toMatch(/^<!-- promptsync [0-9a-f]{16} -->\n### promptsync plan in `team-a`\n/);
    expect(body).toMatch(/commit `ab12ab12ab12` .* \[run\]\(http:\S+\/-\/jobs\/1\)$/);
  });

  test.each<[string, (job: Job, body: string) => void, readonly string[]]>([
    [
      'ours after strangers’ with the very marker',
      ({ gitlab }, body) => gitlab.addNote(1, { body, author: ADA }),
      [POST],
    ],
    [
      'not ours alone: one that only quotes the marker',
      ({ gitlab }, body) => gitlab.addNote(1, { body: `> ${body}` }),
      [POST],
    ],
    ['ours', ({ gitlab }, body) => gitlab.addNote(1, { body: `${body} of before` }), [PUT(5001)]],
    [
      'ours after two pages that are short and one that is empty, since GitLab hides what the token may not see',
      ({ gitlab }, body) => {
        for (let number = 0; number < 300; number++)
          gitlab.addNote(1, { body: 'x', hidden: number % 9 > 0 || number > 200 });
        gitlab.addNote(1, { body: `${body} of before` });
      },
      [PUT(5301)],
    ],
    [
      'the first of two that are ours',
      ({ gitlab }, body) => [1, 2].forEach((number) => gitlab.addNote(1, { body: `${body} of before ${number}` })),
      [PUT(5001)],
    ],
  ])('is found: %s', async (_, before, writes) => {
    const job = await makeJob();
    before(job, await firstNote(await makeJob()));
    await job.publish();
    expect(job.gitlab.writes()).toEqual(writes);
  });

  test('is another one for each folder and configuration', async () => {
    const { gitlab, publish } = await makeJob();
    for (let again = 0; again < 2; again++) {
      for (const folder of ['', 'team-a', 'team-b']) await publish(PLAN, { in: folder });
      await publish(PLAN, { words: ['--config', 'other.yaml'] });
    }
    expect(new Set(gitlab.notes(1).map(({ body }) => body.split('\n')[0])).size).toBe(4);
    expect(gitlab.writes()).toEqual([POST, POST, POST, POST]);
  });

  test('of a fork’s merge request is in the project of the merge request', async () => {
    const { gitlab, publish } = await makeJob();
    await publish(PLAN, { environment: gitlab.mergeRequestVariables(1, FORK) });
    expect(gitlab.writes()).toEqual([POST]);
  });
});

describe('on a branch the merge request is found by the commit', () => {
  const COMMIT = 'c'.repeat(40);
  const merged = (iid: number, parts: Partial<GitLabMergeRequest> = {}): GitLabMergeRequest => {
    return { iid, state: 'merged', commits: [COMMIT], ...parts };
  };
  const opened = (iid: number, parts: Partial<GitLabMergeRequest> = {}) => merged(iid, { state: 'opened', ...parts });
  test.each<[string, readonly GitLabMergeRequest[], number | null]>([
    ['none', [], null],
    ['merged with a merge commit', [merged(2, { commits: [], merge_commit_sha: COMMIT })], 2],
    ['squashed', [merged(2, { commits: [], squash_commit_sha: COMMIT })], 2],
    ['fast-forward', [merged(2)], 2],
    ['merged into another branch', [merged(2, { target_branch: 'next' })], null],
    ['closed', [merged(2, { state: 'closed' })], null],
    ['open', [opened(2)], 2],
    [
      'two: that of the merge commit',
      [merged(2), merged(3, { merge_commit_sha: COMMIT, commits: ['a'] }), merged(4, { commits: [COMMIT, 'b'] })],
      3,
    ],
    ['a merged one before an open one', [opened(3), merged(2), opened(4)], 2],
    ['two open ones: the one from this branch', [opened(3), opened(2, { source_branch: 'main' }), opened(4)], 2],
    [
      'on the second page',
      [merged(2), ...Array.from({ length: 100 }, (_, at) => merged(9 + at, { state: 'closed' }))],
      2,
    ],
  ])('%s', async (_, requests, expected) => {
    const { gitlab, publish } = await makeJob();
    requests.forEach(gitlab.addMergeRequest);
    const ran = await publish(PLAN, { environment: gitlab.branchVariables(COMMIT) });
    const address = `https://gitlab.example/acme/prompts/-/merge_requests/${expected}#note_5001`;
    const end =
      expected === null ? 'No note published: there is no merge request of this commit.' : `Note made: ${address}`;
    expect(said(ran)).toBe(`0 ${end}`);
  });
});

describe('after the merge the note says what became of the plan', () => {
  const blocked = (...codes: readonly ProblemCode[]) =>
    promptOf({ status: 'blocked', problems: codes.map((code) => ({ ...makeProblem('usage/nothing-named'), code })) });
  const applied = promptOf({ status: 'applied' });
  const failed = promptOf({ status: 'failed' });
  const apply = (...prompts: Report['prompts']): Report => reportOf(prompts, { mode: 'apply' });
  const withProblem = (code: ProblemCode, severity: 'error' | 'warning' = 'error') => {
    return { problems: [{ ...makeProblem('usage/nothing-named'), code, severity }] };
  };
  const TIME = '2026-01-02 03:04 UTC';
  const ENDS: readonly (readonly [string, Report])[] = [
    ['applied', apply(applied, promptOf())],
    ['applied and overtaken', { ...apply(applied), ...withProblem('guard/overtaken', 'warning') }],
    ['applied in part (failed)', apply(applied, failed, blocked('guard/drift'))],
    ['applied in part (refused)', apply(applied, blocked('guard/max-changes'))],
    ['failed', apply(failed)],
    ['failed', apply(promptOf({ status: 'not_attempted' }))],
    ['failed', { ...apply(), ...withProblem('config/not-found') }],
    ['refused', { ...apply(), ...withProblem('guard/uncommitted') }],
    ['superseded', apply(blocked('guard/superseded'), promptOf())],
    ['drift', apply(blocked('guard/drift'))],
    ['refused', apply(blocked('guard/drift', 'guard/not-merged'))],
    ['applied', apply(promptOf())],
  ];
  test.each(ENDS)('%s', async (title, report) => {
    const { publish, titles } = await makeJob();
    await publish();
    await publish(report);
    expect(titles()).toEqual([`${title}, ${TIME}`]);
  });

  const [DONE, IDLE, LATE] = [apply(applied), apply(promptOf()), apply(blocked('guard/superseded'))];
  test.each<[string, readonly Report[], readonly string[]]>([
    ['nothing to do, and no note there: none is made', [IDLE], []],
    ['superseded, and no note there: none is made', [LATE], []],
    ['something was done, and no note there: one is made', [DONE], [`applied, ${TIME}`]],
    ['applied is not taken back by an older run that came too late', [PLAN, DONE, LATE], [`applied, ${TIME}`]],
    [
      'nor by one that had nothing left to do',
      [PLAN, apply(applied, failed), IDLE],
      [`applied in part (failed), ${TIME}`],
    ],
    ['nor by the plan of a pipeline that ran again', [PLAN, DONE, PLAN], [`applied, ${TIME}`]],
    ['what failed is, by the run that did it', [PLAN, apply(failed), DONE], [`applied, ${TIME}`]],
    ['and superseded by one that found all done', [PLAN, LATE, IDLE], [`applied, ${TIME}`]],
  ])('%s', async (_, reports, expected) => {
    const { publish, titles } = await makeJob();
    for (const report of reports) expect((await publish(report)).exitCode).toBe(0);
    expect(titles()).toEqual(expected);
  });
});
