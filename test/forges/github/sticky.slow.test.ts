import { expect, test } from 'vitest';
import {
  closeIssues,
  upsertComment,
  upsertIssue,
  type StickyComment,
} from '../../../src/forges/github/update-comments-and-issues.ts';
import {
  startGitHub,
  type Failure,
  type GitHubDouble,
  type GitHubOptions,
  type Person,
} from '../../support/github-api.ts';
import { withShortWaits } from './run-step.ts';
import { ADA, connectTo } from './support.ts';

const OTHER_BOT: Person = { login: 'other[bot]', type: 'Bot' };
const ACME_BOT: Person = { login: 'acme-bot[bot]', type: 'Bot' };
const MARKER = '<!-- promptsync 0123456789abcdef -->';
const OTHER_MARKER = '<!-- promptsync fedcba9876543210 -->';
const PULL = 7;
const BODY = `${MARKER}\nThe plan`;
const OLD = `${MARKER}\nAn old plan`;
const COMMENT: StickyComment = { issue: PULL, marker: MARKER, makeBody: () => BODY, mustWrite: () => true };

/** What exists before the call, and which request fails during it. */
type Attempt = GitHubOptions & {
  readonly prepare?: (github: GitHubDouble) => void;
  readonly failure?: readonly [method: 'GET' | 'POST', Failure];
};

/** Returns `done` or `throws` with the status, then the write requests, then the lines that `describeState` returns. */
async function describeResult(
  { prepare, failure, ...options }: Attempt,
  perform: (github: GitHubDouble) => Promise<void>,
  describeState: (github: GitHubDouble) => readonly string[],
): Promise<readonly string[]> {
  const github = await startGitHub(options);
  prepare?.(github);
  if (failure !== undefined) github.fail({ method: failure[0], path: /\/(comments|issues)/ }, failure[1]);
  const end = await withShortWaits(() => perform(github)).then(
    () => 'done',
    (error: unknown) => `throws ${error instanceof Error && 'status' in error ? String(error.status) : String(error)}`,
  );
  const writes = github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  const sent = writes.map(({ method, path }) => `${method} ${path.replace('/repos/acme/prompts/', '')}`);
  return [end, ...sent, ...describeState(github).map((line) => line.replace(`${MARKER}\n`, ''))];
}

const addPullRequest = (github: GitHubDouble): void => github.addPull({ number: PULL, head: 'aaa', base: 'main' });

/** Returns an attempt with existing comments. A comment without a user belongs to the account of the token. */
const withComments = (...comments: readonly (readonly [body: string, user?: Person])[]): Attempt => ({
  prepare: (github) => {
    for (const [body, user] of comments) github.addComment(PULL, user === undefined ? { body } : { body, user });
  },
});

const POST = 'POST issues/7/comments';
const patch = (number: number) => `PATCH issues/comments/200000000${number}`;
const OURS = 'github-actions[bot]: The plan';
/** The body of a duplicate comment after promptsync has replaced the report with a link. */
const LINK = 'This report is outdated. Current report: https://github.com/acme/prompts/pull/1#issuecomment-2000000001';
const CREATED = ['done', POST, OURS] as const;
const RETRIED = ['done', POST, POST, OURS] as const;
const QUOTES = [`github-actions[bot]: > ${MARKER}`, `github-actions[bot]: ${OTHER_MARKER}\nAnother`] as const;
const RATE: Failure = { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' } };
const rateLimitFor = (seconds: number): Failure => ({
  ...{ status: 403, headers: { 'retry-after': String(seconds) } },
  body: { message: 'You have exceeded a secondary rate limit.' },
});

test.each<[string, Attempt, readonly string[]]>([
  ['upsertComment leaves an identical comment unchanged', withComments([BODY]), ['done', OURS]],
  [
    'upsertComment replaces a duplicate of an up-to-date comment with a link',
    withComments([BODY], [OLD]),
    ['done', patch(2), OURS, `github-actions[bot]: ${LINK}`],
  ],
  [
    'upsertComment updates only the comment by the account of its token',
    { ...withComments([OLD, ADA], [OLD], [OLD, OTHER_BOT]), as: ACME_BOT },
    ['done', patch(2), 'ada: An old plan', 'acme-bot[bot]: The plan', 'other[bot]: An old plan'],
  ],
  [
    'upsertComment ignores comments that do not begin with the marker',
    withComments([`> ${MARKER}`], [`${OTHER_MARKER}\nAnother`]),
    ['done', POST, ...QUOTES, OURS],
  ],
  ['upsertComment creates one comment if the response is lost', { failure: ['POST', 'lost-answer'] }, CREATED],
  ['upsertComment retries the creation after status 502', { failure: ['POST', { status: 502 }] }, RETRIED],
  ['upsertComment throws if it may not create comments', { failure: ['POST', { status: 403 }] }, ['throws 403', POST]],
  ['upsertComment retries a failed read request', { failure: ['GET', { status: 500 }] }, CREATED],
  ['upsertComment retries a read request after a rate limit', { failure: ['GET', RATE] }, CREATED],
  ['upsertComment waits out a rate limit of one second', { failure: ['POST', rateLimitFor(1)] }, RETRIED],
  ['upsertComment throws at a rate limit of one hour', { failure: ['POST', rateLimitFor(3600)] }, ['throws 403', POST]],
])('%s', async (_, { prepare, ...attempt }, expected) => {
  const withPull: Attempt['prepare'] = (github) => {
    addPullRequest(github);
    prepare?.(github);
  };
  const result = await describeResult(
    { ...attempt, prepare: withPull },
    async (github) => void (await upsertComment(connectTo(github), COMMENT)),
    (github) => github.comments(PULL).map(({ user, body }) => `${user.login}: ${body}`),
  );
  expect(result).toEqual(expected);
});

test('upsertComment replaces a duplicate comment on the third page of comments', async () => {
  const others = Array.from({ length: 250 }, (_, index) => `Comment ${index}`);
  const github = await startGitHub();
  addPullRequest(github);
  for (const body of [OLD, ...others.with(240, OLD)]) github.addComment(PULL, { body });
  await withShortWaits(() => upsertComment(connectTo(github), COMMENT));
  expect(github.comments(PULL).map(({ body }) => body)).toEqual([BODY, ...others.with(240, LINK)]);
});

const title = 'Drift';
const [NEW_ISSUE, PATCH] = ['POST issues', 'PATCH issues/1'];
const [OPENED, CLOSED] = ['open Drift: The plan', 'closed (completed) Drift: Done'];
const CREATED_ISSUE = ['done', NEW_ISSUE, OPENED];

const hasIssue = (issue: object = {}, pulls: readonly number[] = []): Attempt => ({
  prepare: (github) => {
    github.addIssue({ title, body: OLD, ...issue });
    for (const number of pulls) github.addPull({ number, head: 'aaa', base: 'main' });
  },
});
const hasTwo: Attempt = {
  prepare: (github) => [1, 2].forEach((number) => github.addIssue({ title, body: OLD, number })),
};
const hundred = Array.from({ length: 100 }, (_, index) => 100 + index);

const describeIssues = (github: GitHubDouble) =>
  github.issues().map(({ state, state_reason: reason, ...shown }) => {
    return `${state}${reason === null ? '' : ` (${reason})`} ${shown.title}: ${shown.body}`;
  });

test.each<[string, Attempt, readonly string[]]>([
  ['upsertIssue updates an outdated title', hasIssue({ title: 'Old', body: BODY }), ['done', PATCH, OPENED]],
  ['upsertIssue leaves an identical issue unchanged', hasIssue({ body: BODY }), ['done', OPENED]],
  [
    'upsertIssue opens a new issue if the previous one was closed',
    hasIssue({ state: 'closed', state_reason: 'completed' }),
    ['done', NEW_ISSUE, 'closed (completed) Drift: An old plan', OPENED],
  ],
  [
    'upsertIssue ignores an issue by another user',
    hasIssue({ user: ADA }),
    ['done', NEW_ISSUE, 'open Drift: An old plan', OPENED],
  ],
  [
    'upsertIssue ignores an issue that only quotes the marker',
    hasIssue({ body: `> ${MARKER}` }),
    ['done', NEW_ISSUE, `open Drift: > ${MARKER}`, OPENED],
  ],
  ['upsertIssue ignores a pull request with the marker', hasIssue({ number: 1 }, [1]), CREATED_ISSUE],
  ['upsertIssue finds its issue among a hundred pull requests', hasIssue({}, hundred), ['done', PATCH, OPENED]],
  [
    'upsertIssue updates the newest of two open issues and closes the older one',
    hasTwo,
    [
      ...['done', 'PATCH issues/2', PATCH],
      ...['closed (not_planned) Drift: This report is outdated. Current report: #2', OPENED],
    ],
  ],
  ['upsertIssue opens one issue if the response is lost', { failure: ['POST', 'lost-answer'] }, CREATED_ISSUE],
])('%s', async (_, attempt, expected) => {
  const keep = (github: GitHubDouble) => upsertIssue(connectTo(github), { marker: MARKER, title, body: BODY });
  expect(await describeResult(attempt, keep, describeIssues)).toEqual(expected);
});

test('closeIssues closes all open issues of promptsync', async () => {
  const close = (github: GitHubDouble) => closeIssues(connectTo(github), { marker: MARKER, body: `${MARKER}\nDone` });
  const closed = await describeResult(hasTwo, close, describeIssues);
  expect(closed).toEqual(['done', 'PATCH issues/2', PATCH, CLOSED, CLOSED]);
});
