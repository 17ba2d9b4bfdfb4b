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
  [
    'promptsync comment posts nothing without GITLAB_TOKEN, as in a pipeline of a fork',
    without('GITLAB_TOKEN'),
    NO_TOKEN,
  ],
  ['promptsync comment posts nothing with a blank GITLAB_TOKEN', { GITLAB_TOKEN: ' \n' }, NO_TOKEN],
  ['promptsync comment posts nothing in a tag pipeline', without(...REQUEST), NO_REQUEST],
  [
    'promptsync comment posts nothing if CI_MERGE_REQUEST_IID contains a path',
    { CI_MERGE_REQUEST_IID: '../1' },
    NO_REQUEST,
  ],
])('%s', async (_, variables, why) => {
  const { gitlab, publish } = await makeJob();
  const environment = { ...gitlab.mergeRequestVariables(1), ...variables };
  const ran = await publish(PLAN, { environment, words: ['--config', 'none.yaml'] });
  expect(formatRun(ran)).toBe(`0 No note published: ${why}.`);
  expect(gitlab.requests).toEqual([]);
});

describe('comment', () => {
  test('promptsync comment creates one note and updates it only when its content changes', async () => {
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

  test('The GitLab note starts with a marker, names the folder and the source commit, and links to the job', async () => {
    const { gitlab, publish } = await makeJob();
    const variables = { ...gitlab.mergeRequestVariables(1), CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: 'ab12'.repeat(10) };
    await publish(PLAN, { environment: variables, in: 'team-a' });
    const [{ body } = { body: '' }] = gitlab.notes(1);
    expect(body).toMatch(/^<!-- promptsync [0-9a-f]{16} -->\n### promptsync plan in `team-a`\n/);
    expect(body).toMatch(/commit `ab12ab12ab12` .* \[run\]\(http:\S+\/-\/jobs\/1\)$/);
  });

  test.each<[string, (gitlab: Job['gitlab'], body: string) => void, readonly string[]]>([
    [
      'promptsync comment ignores a note that only quotes the marker',
      (gitlab, body) => gitlab.addNote(1, { body: `> ${body}` }),
      [POST],
    ],
    [
      'promptsync comment finds its note even if earlier pages contain hidden notes',
      (gitlab, body) => {
        // GitLab hides notes that the token may not see. Two pages are short, and one is empty.
        for (let number = 0; number < 300; number++)
          gitlab.addNote(1, { body: 'x', hidden: number % 9 > 0 || number > 200 });
        gitlab.addNote(1, { body: `${body} of before` });
      },
      [PUT(5301)],
    ],
  ])('%s', async (_, prepare, writes) => {
    const job = await makeJob();
    prepare(job.gitlab, await firstNote(await makeJob()));
    await job.publish();
    expect(job.gitlab.writes()).toEqual(writes);
  });

  test('promptsync comment updates its first note, replaces its other notes with links, and keeps notes by other users', async () => {
    const { gitlab, publish } = await makeJob();
    const body = await firstNote(await makeJob());
    const old = `${body} of before`;
    gitlab.addNote(1, { body: old, author: ADA });
    gitlab.addNote(1, { body: old });
    for (let index = 0; index < 100; index++) gitlab.addNote(1, { body: 'Words' });
    gitlab.addNote(1, { body: old });
    expect(formatRun(await publish())).toBe(`0 Note updated: ${NOTE}5002`);
    expect(gitlab.writes()).toEqual([PUT(5002), PUT(5103)]);
    const bodies = gitlab
      .notes(1)
      .map((note) => note.body.replace(gitlab.apiUrl.replace('/api/v4', ''), 'http://gitlab'));
    expect(bodies.filter((text) => text !== 'Words')).toEqual([
      ...[old, expect.stringContaining('### promptsync plan')],
      `This report is outdated. Current report: ${NOTE}5002`,
    ]);
    await publish();
    expect(gitlab.writes()).toHaveLength(2);
  });

  test('promptsync comment maintains a separate note for each folder and configuration file', async () => {
    const { gitlab, publish } = await makeJob();
    for (let again = 0; again < 2; again++) {
      for (const folder of ['', 'team-a', 'team-b']) await publish(PLAN, { in: folder });
      await publish(PLAN, { words: ['--config', 'other.yaml'] });
    }
    expect(new Set(gitlab.notes(1).map(({ body }) => body.split('\n')[0])).size).toBe(4);
    expect(gitlab.writes()).toEqual([POST, POST, POST, POST]);
  });

  test('For a merge request from a fork, promptsync comment posts the note in the target project', async () => {
    const { gitlab, publish } = await makeJob();
    await publish(PLAN, { environment: gitlab.mergeRequestVariables(1, FORK) });
    expect(gitlab.writes()).toEqual([POST]);
  });
});

const COMMIT = 'c'.repeat(40);
const merged = (iid: number, parts: Partial<GitLabMergeRequest> = {}): GitLabMergeRequest => {
  return { iid, state: 'merged', commits: [COMMIT], ...parts };
};
const opened = (iid: number, parts: Partial<GitLabMergeRequest> = {}) => merged(iid, { state: 'opened', ...parts });
const byMerge = merged(3, { merge_commit_sha: COMMIT, commits: ['a'] });
const closed = Array.from({ length: 100 }, (_, at) => merged(9 + at, { state: 'closed' }));
test.each<[string, readonly GitLabMergeRequest[], number | null]>([
  ['In a branch pipeline, promptsync comment finds no merge request if there is none', [], null],
  [
    'In a branch pipeline, promptsync comment finds a merge request by its merge commit',
    [merged(2, { commits: [], merge_commit_sha: COMMIT })],
    2,
  ],
  [
    'In a branch pipeline, promptsync comment finds a merge request by its squash commit',
    [merged(2, { commits: [], squash_commit_sha: COMMIT })],
    2,
  ],
  ['In a branch pipeline, promptsync comment finds a merge request that was merged by fast-forward', [merged(2)], 2],
  [
    'In a branch pipeline, promptsync comment finds no merge request into another branch',
    [merged(2, { target_branch: 'next' })],
    null,
  ],
  ['In a branch pipeline, promptsync comment finds no closed merge request', [merged(2, { state: 'closed' })], null],
  ['In a branch pipeline, promptsync comment finds an open merge request that contains the commit', [opened(2)], 2],
  [
    'In a branch pipeline, promptsync comment finds the one with the commit as its merge commit',
    [merged(2), byMerge, merged(4, { commits: [COMMIT, 'b'] })],
    3,
  ],
  [
    'In a branch pipeline, promptsync comment finds a merged merge request before an open one',
    [opened(3), merged(2), opened(4)],
    2,
  ],
  [
    'In a branch pipeline, promptsync comment finds the open one from the branch',
    [opened(3), opened(2, { source_branch: 'main' }), opened(4)],
    2,
  ],
  ['In a branch pipeline, promptsync comment finds a merge request on the second page', [merged(2), ...closed], 2],
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
    ['applied', apply(applied, promptOf()), ''],
    ['applied', apply(promptOf()), ''],
    ['applied and overtaken', { ...apply(applied), problems: [newer] }, ''],
    ['applied in part (failed)', apply(applied, failed), 'failed'],
    ['applied in part (refused)', apply(applied, blocked('guard/max-changes')), 'refused'],
    ['superseded', apply(blocked('guard/superseded'), promptOf()), 'superseded'],
  ])('makeOutcomeTitle returns the title "%s" for an apply', (title, report, reason) => {
    expect(makeOutcomeTitle(report, reason, NOW)).toBe(`${title}, ${TIME}`);
  });

  const PART = apply(applied, failed);
  const [DONE, IDLE, LATE] = [apply(applied), apply(promptOf()), apply(blocked('guard/superseded'))];
  test.each<[string, readonly Report[], title: string | null]>([
    ['promptsync comment shows no note for a sync without changes', [IDLE], null],
    ['promptsync comment shows no note for a sync that was refused because of a newer commit', [LATE], null],
    ['promptsync comment shows a note for a sync with changes', [DONE], 'applied'],
    ['promptsync comment shows the completed apply after a later refused sync', [PLAN, DONE, LATE], 'applied'],
    [
      'promptsync comment shows the partial apply after a later sync without changes',
      [PLAN, PART, IDLE],
      'applied in part (failed)',
    ],
    ['promptsync comment shows the completed apply after a repeated plan', [PLAN, DONE, PLAN], 'applied'],
    ['promptsync comment shows the successful sync after a failed one', [PLAN, apply(failed), DONE], 'applied'],
    ['promptsync comment shows a sync without changes after a refused one', [PLAN, LATE, IDLE], 'applied'],
  ])('%s', async (_, reports, title) => {
    const { publish, titles } = await makeJob();
    for (const report of reports) expect((await publish(report)).exitCode).toBe(0);
    expect(titles()).toEqual(title === null ? [] : [`${title}, ${TIME}`]);
  });
});
