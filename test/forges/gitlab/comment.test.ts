import { describe, expect, test } from 'vitest';
import { makeOutcomeTitle, type FailureReason } from '../../../src/report/formats/outcome-title.ts';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { makeProblem, type ProblemCode } from '../../../src/problem.ts';
import { promptOf, reportOf } from '../../report/support.ts';
import { ADA, FORK, PROJECT, type GitLabMergeRequest } from '../../support/gitlab-api.ts';
import { makeJob, NOW, PLAN, formatRun, type Job } from './support.ts';

const NOTE = 'http://gitlab/acme/prompts/-/merge_requests/1#note_';
const POST = `POST /projects/${PROJECT}/merge_requests/1/notes`;
const PUT = (id: number) => `PUT /projects/${PROJECT}/merge_requests/1/notes/${id}`;

/** Publishes the first note of a job and returns its body. */
async function firstNote({ gitlab, publish }: Job): Promise<string> {
  await publish();
  return gitlab.notes(1)[0]!.body;
}

const without = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));
const [NO_TOKEN, NO_REQUEST] = ['the variable `GITLAB_TOKEN` is not set', 'this commit has no merge request'];
const REQUEST = ['CI_MERGE_REQUEST_IID', 'CI_MERGE_REQUEST_PROJECT_ID'];
test.each<[string, Readonly<Record<string, string>>, string]>([
  ['promptsync comment posts nothing outside GitLab CI', without('GITLAB_CI'), 'this is not a GitLab CI job'],
  ['promptsync comment posts nothing with a blank GITLAB_TOKEN', { GITLAB_TOKEN: ' \n' }, NO_TOKEN],
  ['promptsync comment posts nothing in a tag pipeline', without(...REQUEST), NO_REQUEST],
  ['promptsync comment posts nothing if the number is a path', { CI_MERGE_REQUEST_IID: '../1' }, NO_REQUEST],
])('%s', async (_, variables, why) => {
  const { gitlab, publish } = await makeJob();
  const environment = { ...gitlab.mergeRequestVariables(1), ...variables };
  const ran = await publish(PLAN, { environment, words: ['--config', 'none.yaml'] });
  expect(formatRun(ran)).toBe(`0 No note published: ${why}.`);
  expect(gitlab.requests).toEqual([]);
});

test('promptsync comment creates one note and updates it only when its content changes', async () => {
  const job = await makeJob();
  const { gitlab, publish } = job;
  expect(formatRun(await publish())).toBe(`0 Note created: ${NOTE}5001`);
  const variables = gitlab.mergeRequestVariables(1);
  const later = { ...variables, CI_JOB_URL: `${variables.CI_JOB_URL}2` };
  expect(formatRun(await publish(PLAN, { environment: later }))).toBe(`0 Note unchanged: ${NOTE}5001`);
  expect(formatRun(await publish({ ...PLAN, commit: null }))).toMatch(`0 Note updated: ${NOTE}5001`);
  expect(gitlab.writes()).toEqual([POST, PUT(5001)]);
  expect(gitlab.requests.filter(({ path }) => path === '/api/v4/user')).toHaveLength(2);
});

test('The GitLab note starts with a marker, names the folder and the source commit, and links to the job', async () => {
  const { gitlab, publish } = await makeJob();
  const variables = { ...gitlab.mergeRequestVariables(1), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'ab12'.repeat(10) };
  await publish(PLAN, { environment: variables, in: 'team-a' });
  const [{ body } = { body: '' }] = gitlab.notes(1);
  expect(body).toMatch(/^<!-- promptsync [0-9a-f]{16} -->\n### promptsync plan in `team-a`\n/);
  expect(body).toMatch(/commit `ab12ab12ab12` .* \[run\]\(http:\S+\/-\/jobs\/1\)$/);
});

test('promptsync comment finds its note even if earlier pages contain hidden notes', async () => {
  const { gitlab, publish } = await makeJob();
  // GitLab hides notes that the token may not see. Two pages are short, and one is empty.
  for (let number = 0; number < 300; number++) gitlab.addNote(1, { body: 'x', hidden: number % 9 > 0 || number > 200 });
  gitlab.addNote(1, { body: `${await firstNote(await makeJob())} of before` });
  await publish();
  expect(gitlab.writes()).toEqual([PUT(5301)]);
});

test('promptsync comment updates its first note, replaces its other notes with links, and keeps notes by other users', async () => {
  const { gitlab, publish } = await makeJob();
  const old = `${await firstNote(await makeJob())} of before`;
  gitlab.addNote(1, { body: old, author: ADA });
  for (const body of [`> ${old}`, old, old]) gitlab.addNote(1, { body });
  expect(formatRun(await publish())).toBe(`0 Note updated: ${NOTE}5003`);
  expect(gitlab.writes()).toEqual([PUT(5003), PUT(5004)]);
  expect(gitlab.notes(1).map(({ body }) => body)).toEqual([
    ...[old, `> ${old}`, expect.stringContaining('### promptsync plan')],
    expect.stringMatching(/^This report is outdated\. Current report: http\S+\/merge_requests\/1#note_5003$/),
  ]);
});

test('promptsync comment creates a separate note for each folder and configuration file', async () => {
  const { gitlab, publish } = await makeJob();
  for (const options of [{}, { in: 'team-a' }, { words: ['--config', 'other.yaml'] }]) await publish(PLAN, options);
  expect(gitlab.writes()).toEqual([POST, POST, POST]);
});

test('For a merge request from a fork, promptsync comment posts the note in the target project', async () => {
  const { gitlab, publish } = await makeJob();
  await publish(PLAN, { environment: gitlab.mergeRequestVariables(1, FORK) });
  expect(gitlab.writes()).toEqual([POST]);
});

const COMMIT = 'c'.repeat(40);
const merged = (iid: number, parts: Partial<GitLabMergeRequest> = {}): GitLabMergeRequest => {
  return { iid, state: 'merged', commits: [COMMIT], ...parts };
};
const opened = (iid: number, parts: Partial<GitLabMergeRequest> = {}) => merged(iid, { state: 'opened', ...parts });
const closed = Array.from({ length: 100 }, (_, at) => merged(9 + at, { state: 'closed' }));
/** A merge request that contains the commit, but whose merge created another one. */
const other = (iid: number) => merged(iid, { commits: [COMMIT, 'b'] });
test.each<[string, readonly GitLabMergeRequest[], number | null]>([
  ['promptsync comment ignores a merge request into another branch', [merged(2, { target_branch: 'next' })], null],
  ['promptsync comment ignores a closed merge request', [merged(2, { state: 'closed' })], null],
  [
    'promptsync comment finds a merge request by its merge commit',
    [other(2), merged(3, { commits: [], merge_commit_sha: COMMIT }), other(4)],
    3,
  ],
  [
    'promptsync comment finds a merge request by its squash commit',
    [other(2), merged(3, { commits: [], squash_commit_sha: COMMIT }), other(4)],
    3,
  ],
  ['promptsync comment finds a fast-forwarded merge request by its last commit', [other(2), merged(3), other(4)], 3],
  ['promptsync comment prefers a merged merge request to an open one', [opened(3), other(2), opened(4)], 2],
  [
    'promptsync comment prefers an open merge request from the branch of the pipeline',
    [opened(3), opened(2, { source_branch: 'main' }), opened(4)],
    2,
  ],
  ['promptsync comment finds an open merge request on the second page', [opened(2), ...closed], 2],
])('%s', async (_, requests, expected) => {
  const { gitlab, publish } = await makeJob();
  requests.forEach(gitlab.addMergeRequest);
  const ran = await publish(PLAN, { environment: gitlab.branchVariables(COMMIT) });
  const address = `https://gitlab.example/acme/prompts/-/merge_requests/${expected}#note_5001`;
  const end = expected === null ? 'No note published: this commit has no merge request.' : `Note created: ${address}`;
  expect(formatRun(ran)).toBe(`0 ${end}`);
});

describe('the note after the merge', () => {
  const TIME = '2026-01-02 03:04 UTC';
  const blocked = (code: ProblemCode) =>
    promptOf({ status: 'blocked', problems: [{ ...makeProblem('usage/nothing-named'), code }] });
  const [applied, failed] = [promptOf({ status: 'applied' }), promptOf({ status: 'failed' })];
  const apply = (...prompts: Report['prompts']): Report => reportOf(prompts, { mode: 'apply' });
  const newer = { ...makeProblem('usage/nothing-named'), code: 'guard/overtaken', severity: 'warning' } as const;

  test.each<[title: string, Report, FailureReason]>([
    ['applied', apply(promptOf()), ''],
    ['applied and overtaken', { ...apply(applied), problems: [newer] }, ''],
    ['applied in part (refused)', apply(applied, blocked('guard/max-changes')), 'refused'],
    ['superseded', apply(blocked('guard/superseded'), promptOf()), 'superseded'],
  ])('makeOutcomeTitle returns the title "%s" for an apply', (title, report, reason) => {
    expect(makeOutcomeTitle(report, reason, NOW)).toBe(`${title}, ${TIME}`);
  });

  const [PART, PARTLY] = [apply(applied, failed), 'applied in part (failed)'];
  const [DONE, IDLE, LATE] = [apply(applied), apply(promptOf()), apply(blocked('guard/superseded'))];
  test.each<[string, readonly Report[], title: string | null]>([
    ['promptsync comment shows no note for a sync without changes', [IDLE], null],
    ['promptsync comment shows no note for a sync that was refused because of a newer commit', [LATE], null],
    ['promptsync comment shows the completed apply after a later refused sync', [DONE, LATE], 'applied'],
    ['promptsync comment shows the partial apply after a later sync without changes', [PART, IDLE], PARTLY],
    ['promptsync comment shows the completed apply after a repeated plan', [DONE, PLAN], 'applied'],
    ['promptsync comment shows the successful sync after a failed one', [apply(failed), DONE], 'applied'],
    ['promptsync comment shows a sync without changes after a refused one', [PLAN, LATE, IDLE], 'applied'],
  ])('%s', async (_, reports, title) => {
    const { publish, titles } = await makeJob();
    for (const report of reports) expect((await publish(report)).exitCode).toBe(0);
    expect(titles()).toEqual(title === null ? [] : [`${title}, ${TIME}`]);
  });
});
