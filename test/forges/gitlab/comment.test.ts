import { describe, expect, test } from 'vitest';
import type { Report } from '../../../src/report/schema/report-schema.ts';
import { makeProblem, type ProblemCode } from '../../../src/problem.ts';
import { promptOf, reportOf } from '../../report/support.ts';
import { ADA, FORK, PROJECT, type GitLabMergeRequest } from '../../support/gitlab-api.ts';
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
    ['promptsync comment posts nothing outside GitLab CI', without('GITLAB_CI'), 'this is not a GitLab CI job'],
    [
      'promptsync comment posts nothing if GITLAB_TOKEN is unset, as in a fork pipeline',
      without('GITLAB_TOKEN'),
      'the variable `GITLAB_TOKEN` is not set',
    ],
    [
      'promptsync comment posts nothing if GITLAB_TOKEN is blank',
      { GITLAB_TOKEN: ' \n' },
      'the variable `GITLAB_TOKEN` is not set',
    ],
    ['promptsync comment posts nothing in a tag pipeline', without(...REQUEST), 'this commit has no merge request'],
    [
      'promptsync comment posts nothing if CI_MERGE_REQUEST_IID contains a path instead of a number',
      { CI_MERGE_REQUEST_IID: '../1' },
      'this commit has no merge request',
    ],
  ])('%s', async (_, variables, why) => {
    const { gitlab, publish } = await makeJob();
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), ...variables } });
    expect(formatRun(ran)).toBe(`0 No note published: ${why}.`);
    expect(gitlab.requests).toEqual([]);
  });

  test('promptsync comment succeeds outside GitLab CI even if the configuration file is missing', async () => {
    const { publish } = await makeJob();
    expect((await publish(PLAN, { environment: {}, words: ['--config', 'none.yaml'] })).exitCode).toBe(0);
  });
});

test('promptsync comment rejects a report with an unsupported schema version', async () => {
  const { gitlab, publish } = await makeJob();
  const ran = await publish({ ...PLAN, schema_version: 2 } as never);
  expect(formatRun(ran)).toMatch(/^1 .*\[usage\/not-a-report\]/);
  expect(gitlab.writes()).toEqual([]);
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

  test.each<[string, (job: Job, body: string) => void, readonly string[]]>([
    [
      'promptsync comment ignores a note by another user even if it contains the marker',
      ({ gitlab }, body) => gitlab.addNote(1, { body, author: ADA }),
      [POST],
    ],
    [
      'promptsync comment ignores a note that only quotes the marker',
      ({ gitlab }, body) => gitlab.addNote(1, { body: `> ${body}` }),
      [POST],
    ],
    [
      'promptsync comment updates its existing note',
      ({ gitlab }, body) => gitlab.addNote(1, { body: `${body} of before` }),
      [PUT(5001)],
    ],
    [
      'promptsync comment finds its note even if earlier pages contain hidden notes',
      ({ gitlab }, body) => {
        // GitLab hides notes that the token may not see. Two pages are short, and one is empty.
        for (let number = 0; number < 300; number++)
          gitlab.addNote(1, { body: 'x', hidden: number % 9 > 0 || number > 200 });
        gitlab.addNote(1, { body: `${body} of before` });
      },
      [PUT(5301)],
    ],
  ])('%s', async (_, before, writes) => {
    const job = await makeJob();
    before(job, await firstNote(await makeJob()));
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

describe('comment in a branch pipeline', () => {
  const COMMIT = 'c'.repeat(40);
  const merged = (iid: number, parts: Partial<GitLabMergeRequest> = {}): GitLabMergeRequest => {
    return { iid, state: 'merged', commits: [COMMIT], ...parts };
  };
  const opened = (iid: number, parts: Partial<GitLabMergeRequest> = {}) => merged(iid, { state: 'opened', ...parts });
  test.each<[string, readonly GitLabMergeRequest[], number | null]>([
    ['In a branch pipeline, promptsync comment posts nothing if the commit has no merge request', [], null],
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
      'In a branch pipeline, promptsync comment ignores a merge request that targets a different branch',
      [merged(2, { target_branch: 'next' })],
      null,
    ],
    ['In a branch pipeline, promptsync comment ignores a closed merge request', [merged(2, { state: 'closed' })], null],
    [
      'In a branch pipeline, promptsync comment finds an open merge request that contains the commit of the pipeline',
      [opened(2)],
      2,
    ],
    [
      'In a branch pipeline, promptsync comment prefers the merge request whose merge commit is the commit of the pipeline',
      [merged(2), merged(3, { merge_commit_sha: COMMIT, commits: ['a'] }), merged(4, { commits: [COMMIT, 'b'] })],
      3,
    ],
    [
      'In a branch pipeline, promptsync comment prefers a merged merge request over an open one',
      [opened(3), merged(2), opened(4)],
      2,
    ],
    [
      'In a branch pipeline, promptsync comment prefers the open merge request whose source branch is the pipeline branch',
      [opened(3), opened(2, { source_branch: 'main' }), opened(4)],
      2,
    ],
    [
      'In a branch pipeline, promptsync comment finds a merge request on the second page of results',
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
    ['The post-merge note has the status applied if every change was applied', 'applied', apply(applied, promptOf())],
    [
      'The post-merge note has the status applied and overtaken if a newer commit was pushed during the apply',
      'applied and overtaken',
      { ...apply(applied), ...withProblem('guard/overtaken', 'warning') },
    ],
    [
      'The post-merge note reports a partial apply if one prompt was applied and another failed',
      'applied in part (failed)',
      apply(applied, failed, blocked('guard/drift')),
    ],
    [
      'The post-merge note reports a partial apply if one prompt was applied and another was blocked',
      'applied in part (refused)',
      apply(applied, blocked('guard/max-changes')),
    ],
    ['The post-merge note reports a failure if every prompt failed', 'failed', apply(failed)],
    [
      'The post-merge note reports a failure if promptsync did not attempt to apply any prompt',
      'failed',
      apply(promptOf({ status: 'not_attempted' })),
    ],
    [
      'The post-merge note has the status invalid if the configuration file is missing',
      'invalid',
      { ...apply(), ...withProblem('config/not-found') },
    ],
    [
      'The post-merge note has the status refused if promptsync refused the apply because of uncommitted files',
      'refused',
      { ...apply(), ...withProblem('guard/uncommitted') },
    ],
    [
      'The post-merge note has the status superseded if promptsync refused the apply because of a newer commit',
      'superseded',
      apply(blocked('guard/superseded'), promptOf()),
    ],
    [
      'The post-merge note has the status drift if drift is the only reason why a prompt was blocked',
      'drift',
      apply(blocked('guard/drift')),
    ],
    [
      'The post-merge note shows the status "refused" if a prompt is blocked by drift and also for another reason',
      'refused',
      apply(blocked('guard/drift', 'guard/not-merged')),
    ],
    ['The post-merge note has the status applied if every prompt was already in sync', 'applied', apply(promptOf())],
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
    ['promptsync comment creates no note for a sync that was refused because of a newer commit', [LATE], []],
    ['promptsync comment creates a note for a sync with changes', [DONE], [`applied, ${TIME}`]],
    [
      'A sync that is refused because of a newer commit does not overwrite the note about a completed apply',
      [PLAN, DONE, LATE],
      [`applied, ${TIME}`],
    ],
    [
      'A later sync without changes does not overwrite the note about a partial apply',
      [PLAN, apply(applied, failed), IDLE],
      [`applied in part (failed), ${TIME}`],
    ],
    [
      'A plan that runs again after an apply does not overwrite the note about the completed apply',
      [PLAN, DONE, PLAN],
      [`applied, ${TIME}`],
    ],
    ['A successful sync overwrites the note about a failed sync', [PLAN, apply(failed), DONE], [`applied, ${TIME}`]],
    [
      'A sync without changes overwrites the note about a sync that was refused because of a newer commit',
      [PLAN, LATE, IDLE],
      [`applied, ${TIME}`],
    ],
  ])('%s', async (_, reports, expected) => {
    const { publish, titles } = await makeJob();
    for (const report of reports) expect((await publish(report)).exitCode).toBe(0);
    expect(titles()).toEqual(expected);
  });
});
