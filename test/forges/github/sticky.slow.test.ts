import { describe, expect, test } from 'vitest';
import { closeIssues, upsertComment, upsertIssue } from '../../../src/forges/github/update-comments-and-issues.ts';
import {
  startGitHub,
  type Failure,
  type GitHubDouble,
  type GitHubOptions,
  type Person,
} from '../../support/github-api.ts';
import { ADA, connectTo, holdDeadlines } from './support.ts';

const OTHER_BOT: Person = { login: 'other[bot]', type: 'Bot' };
const ACME_BOT: Person = { login: 'acme-bot[bot]', type: 'Bot' };
const MARKER = '<!-- promptsync 0123456789abcdef -->';
const OTHER_MARKER = '<!-- promptsync fedcba9876543210 -->';
const PULL = 7;
const BODY = `${MARKER}\nThe plan`;
const OLD = `${MARKER}\nAn old plan`;

/** What exists before the call, and which request fails during it. */
type Attempt = GitHubOptions & {
  readonly prepare?: (github: GitHubDouble) => void;
  readonly failure?: readonly [method: 'GET' | 'POST' | 'PATCH', Failure];
};
/** One row: the sentence, the attempt, and the lines that describe its expected result. */
type Row<Try> = readonly [sentence: string, attempt: Try, ...result: readonly string[]];

/** Returns `done` or `throws` with the status, then the write requests, then the lines that `describeState` returns. */
async function describeResult(
  { prepare, failure, ...options }: Attempt,
  perform: (github: GitHubDouble) => Promise<void>,
  describeState: (github: GitHubDouble) => readonly string[],
): Promise<readonly string[]> {
  const github = await startGitHub(options);
  prepare?.(github);
  if (failure !== undefined) github.fail({ method: failure[0], path: /\/(comments|issues)/ }, failure[1]);
  const end = await perform(github).then(
    () => 'done',
    (error: unknown) => `throws ${error instanceof Error && 'status' in error ? String(error.status) : String(error)}`,
  );
  const writes = github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  const sent = writes.map(({ method, path }) => `${method} ${path.replace('/repos/acme/prompts/', '')}`);
  return [end, ...sent, ...describeState(github).map((line) => line.replace(`${MARKER}\n`, ''))];
}

/** Tries all rows at the same time, because the client waits for a second or three between its writes. */
async function tryAll<Try>(rows: readonly Row<Try>[], perform: (attempt: Try) => Promise<readonly string[]>) {
  const actual = await Promise.all(rows.map(async ([sentence, attempt]) => [sentence, ...(await perform(attempt))]));
  return { actual, expected: rows.map(([sentence, , ...result]) => [sentence, ...result]) };
}

const addPullRequest = (github: GitHubDouble): void => github.addPull({ number: PULL, head: 'aaa', base: 'main' });

const tryToKeepComment = ({ prepare, ...attempt }: Attempt): Promise<readonly string[]> =>
  describeResult(
    {
      ...attempt,
      prepare: (github) => {
        addPullRequest(github);
        prepare?.(github);
      },
    },
    async (github) =>
      void (await upsertComment(connectTo(github), {
        issue: PULL,
        marker: MARKER,
        makeBody: () => BODY,
        mustWrite: () => true,
      })),
    (github) => github.comments(PULL).map(({ user, body }) => `${user.login}: ${body}`),
  );

type ExistingComment = readonly [body: string, user?: Person];

/** Returns an attempt with existing comments. A comment without a user belongs to the account of the token. */
const withComments = (...comments: readonly ExistingComment[]): Attempt => ({
  prepare: (github) => {
    for (const [body, user] of comments) github.addComment(PULL, user === undefined ? { body } : { body, user });
  },
});

const POST = 'POST issues/7/comments';
const FIRST = 'PATCH issues/comments/2000000001';
const SECOND = 'PATCH issues/comments/2000000002';
const OURS = 'github-actions[bot]: The plan';
/** The body of a duplicate comment after promptsync has replaced the report with a link. */
const LINK = 'This report is outdated. Current report: https://github.com/acme/prompts/pull/1#issuecomment-2000000001';
const RETIRED = `github-actions[bot]: ${LINK}`;
const CREATED = ['done', POST, OURS] as const;
const UPDATED = ['done', FIRST, OURS] as const;

const existingComments: readonly Row<Attempt>[] = [
  ['upsertComment creates a comment if none exists', {}, ...CREATED],
  ['upsertComment updates an outdated comment in place', withComments([OLD]), ...UPDATED],
  ['upsertComment leaves an identical comment unchanged', withComments([BODY]), 'done', OURS],
  [
    'upsertComment updates the first of its three comments and replaces the other two with links to the first',
    withComments([OLD], [BODY], [OLD]),
    ...['done', FIRST, SECOND, 'PATCH issues/comments/2000000003', OURS, RETIRED, RETIRED],
  ],
  [
    'upsertComment replaces a duplicate comment even if the first comment is up to date',
    withComments([BODY], [OLD]),
    ...['done', SECOND, OURS, RETIRED],
  ],
  [
    'upsertComment leaves a duplicate comment unchanged if it has already replaced that comment with a link',
    withComments([BODY], [LINK]),
    ...['done', OURS, RETIRED],
  ],
  [
    'upsertComment does not replace a duplicate comment by another account',
    withComments([OLD], [OLD, ADA], [OLD, OTHER_BOT]),
    ...[...UPDATED, 'ada: An old plan', 'other[bot]: An old plan'],
  ],
  [
    'upsertComment ignores a comment by another user even if it contains the marker',
    withComments([OLD, ADA]),
    'done',
    POST,
    'ada: An old plan',
    OURS,
  ],
  [
    'upsertComment ignores a comment by another bot even if it contains the marker',
    withComments([OLD, OTHER_BOT]),
    'done',
    POST,
    'other[bot]: An old plan',
    OURS,
  ],
  [
    'upsertComment finds its own comment even if a comment by another user comes first',
    withComments([OLD, ADA], [OLD]),
    ...['done', SECOND, 'ada: An old plan', OURS],
  ],
  ...[`> ${MARKER}`, `${OTHER_MARKER}\nAnother`].map((body): Row<Attempt> => {
    return [
      `upsertComment ignores a comment that does not begin with the marker: ${body}`,
      withComments([body]),
      'done',
      POST,
      `github-actions[bot]: ${body}`,
      OURS,
    ];
  }),
];

const halfNamedViewer = { status: 200, body: { data: { viewer: { login: 'acme-bot' } } } };
const identities: readonly Row<Attempt>[] = [
  [
    'upsertComment recognizes its own comment when it uses a workflow token',
    { ...withComments([OLD]), identity: 'graphql' },
    ...UPDATED,
  ],
  [
    'upsertComment assumes a workflow token if it cannot determine the identity of the token',
    { ...withComments([OLD]), identity: 'none' },
    ...UPDATED,
  ],
  [
    'upsertComment recognizes its own comment when it uses a personal access token',
    { ...withComments([OLD]), identity: 'graphql', as: ADA },
    'done',
    FIRST,
    'ada: The plan',
  ],
  [
    'upsertComment recognizes its own comment when it uses an app token',
    { ...withComments([OLD]), as: ACME_BOT },
    'done',
    FIRST,
    'acme-bot[bot]: The plan',
  ],
  [
    'upsertComment recognizes its own comment if GraphQL returns the app name without the [bot] suffix',
    {
      as: ACME_BOT,
      prepare: (github) => {
        github.addComment(PULL, { body: OLD });
        github.fail({ path: /graphql/ }, halfNamedViewer);
      },
    },
    ...['done', FIRST, 'acme-bot[bot]: The plan'],
  ],
];

const RATE = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
const rateLimitFor = (seconds: number): Failure => ({
  status: 403,
  headers: { 'retry-after': String(seconds) },
  body: { message: 'You have exceeded a secondary rate limit.' },
});
const failingRequests: readonly Row<Attempt>[] = [
  [
    'upsertComment creates only one comment if the response to its create request is lost',
    { failure: ['POST', 'lost-answer'] },
    ...CREATED,
  ],
  [
    'upsertComment retries if creating the comment fails with status 502',
    { failure: ['POST', { status: 502 }] },
    'done',
    POST,
    POST,
    OURS,
  ],
  [
    'upsertComment retries if the connection breaks before the comment is created',
    { failure: ['POST', 'reset'] },
    'done',
    POST,
    POST,
    OURS,
  ],
  [
    'upsertComment throws an error if the token lacks permission to create comments',
    { failure: ['POST', { status: 403 }] },
    'throws 403',
    POST,
  ],
  [
    'upsertComment throws an error if the token lacks permission to update the comment',
    { ...withComments([OLD]), failure: ['PATCH', { status: 403 }] },
    ...['throws 403', FIRST, 'github-actions[bot]: An old plan'],
  ],
  ['upsertComment retries a failed read request', { failure: ['GET', { status: 500 }] }, ...CREATED],
  [
    'upsertComment retries a read request that hits a rate limit with status 403',
    { failure: ['GET', { status: 403, headers: RATE }] },
    ...CREATED,
  ],
  [
    'upsertComment retries a read request that hits a rate limit with status 429',
    { failure: ['GET', { status: 429, headers: RATE }] },
    ...CREATED,
  ],
  [
    'upsertComment waits out a one-second rate limit and retries',
    { failure: ['POST', rateLimitFor(1)] },
    'done',
    POST,
    POST,
    OURS,
  ],
  [
    'upsertComment throws an error instead of waiting out a one-hour rate limit',
    { failure: ['POST', rateLimitFor(3600)] },
    'throws 403',
    POST,
  ],
  ['upsertComment throws an error if GitHub rejects the token', { failure: ['GET', { status: 401 }] }, 'throws 401'],
  [
    'upsertComment throws an error if the pull request does not exist',
    { failure: ['GET', { status: 404 }] },
    'throws 404',
  ],
];

test.each<[string, readonly Row<Attempt>[]]>([
  ['upsertComment updates its own comment or creates one, and leaves all other comments unchanged', existingComments],
  ['upsertComment recognizes its own comment by the account of its token', identities],
  ['upsertComment creates no duplicate comment when requests fail', failingRequests],
])('%s', async (_, rows) => {
  const { actual, expected } = await tryAll(rows, tryToKeepComment);
  expect(actual).toEqual(expected);
});

test.each<[string, Failure, number]>([
  ['upsertComment looks for its comment before retrying a create request that timed out', 'hang', 2],
  [
    'upsertComment sends no second create request if it finds its comment after an incomplete response',
    'half-answer',
    1,
  ],
])('%s', async (_, failure, sent) => {
  const github = await startGitHub();
  addPullRequest(github);
  github.fail({ method: 'POST', path: /comments/ }, failure);
  const time = holdDeadlines();
  const kept = upsertComment(connectTo(github, time.now), {
    issue: PULL,
    marker: MARKER,
    makeBody: () => BODY,
    mustWrite: () => true,
  });
  const posts = () => github.requests.filter(({ method, path }) => method === 'POST' && path !== '/graphql');
  await expect.poll(() => posts().length).toBe(1);
  time.pass();
  await kept;
  expect(posts()).toHaveLength(sent);
  expect(github.comments(PULL).map(({ body }) => body)).toEqual([BODY]);
});

describe('upsertComment with 250 comments', () => {
  const find = async (bodies: readonly string[]) => {
    const github = await startGitHub();
    addPullRequest(github);
    for (const body of bodies) github.addComment(PULL, body === OLD ? { body } : { body, user: ADA });
    let found: string | undefined;
    const wanted = (comment: { readonly body?: string } | null) => {
      found = comment?.body;
      return false;
    };
    await upsertComment(connectTo(github), { issue: PULL, marker: MARKER, makeBody: () => BODY, mustWrite: wanted });
    return { body: found, asked: github.requests.map(({ path }) => path.replace(/\?.*/, '')) };
  };
  const pages = Array.from({ length: 3 }, () => '/repos/acme/prompts/issues/7/comments');
  const others = Array.from({ length: 250 }, (_, index) => `Comment ${index}`);

  test('upsertComment finds its comment on the third page of comments', async () => {
    expect(await find(others.with(240, OLD))).toEqual({ body: OLD, asked: [...pages, '/graphql'] });
  });

  test('upsertComment replaces a duplicate comment on the third page of comments', async () => {
    const github = await startGitHub();
    addPullRequest(github);
    for (const body of [OLD, ...others.with(240, OLD)]) github.addComment(PULL, { body });
    await upsertComment(connectTo(github), {
      issue: PULL,
      marker: MARKER,
      makeBody: () => BODY,
      mustWrite: () => true,
    });
    expect(github.comments(PULL).map(({ body }) => body)).toEqual([BODY, ...others.with(240, LINK)]);
  });

  test('upsertComment does not look up the account of the token if no comment contains the marker', async () => {
    expect(await find(others)).toEqual({ body: undefined, asked: pages });
  });
});

describe('upsertIssue and closeIssues', () => {
  const title = 'Drift';
  const NEW_ISSUE = 'POST issues';
  const PATCH = 'PATCH issues/1';
  const OPENED = 'open Drift: The plan';
  const CLOSED = 'closed (completed) Drift: Done';

  type IssueAttempt = Attempt & { readonly steps?: readonly ('keep' | 'close')[] };

  const perform = ({ steps = ['keep'], ...attempt }: IssueAttempt): Promise<readonly string[]> =>
    describeResult(
      attempt,
      async (double) => {
        const github = connectTo(double);
        for (const step of steps) {
          if (step === 'keep') await upsertIssue(github, { marker: MARKER, title, body: BODY });
          else await closeIssues(github, { marker: MARKER, body: `${MARKER}\nDone` });
        }
      },
      (github) =>
        github.issues().map(({ state, state_reason: reason, ...shown }) => {
          return `${state}${reason === null ? '' : ` (${reason})`} ${shown.title}: ${shown.body}`;
        }),
    );

  const hasIssue = (issue: object = {}, pulls: readonly number[] = []): Attempt => ({
    prepare: (github) => {
      github.addIssue({ title, body: OLD, ...issue });
      for (const number of pulls) github.addPull({ number, head: 'aaa', base: 'main' });
    },
  });
  const hundred = Array.from({ length: 100 }, (_, index) => 100 + index);

  const rows: readonly Row<IssueAttempt>[] = [
    ['upsertIssue opens an issue if none is open', {}, 'done', NEW_ISSUE, OPENED],
    ['upsertIssue updates an open issue in place', hasIssue(), 'done', PATCH, OPENED],
    ['upsertIssue updates an outdated issue title', hasIssue({ title: 'Old', body: BODY }), 'done', PATCH, OPENED],
    ['upsertIssue leaves an identical issue unchanged', hasIssue({ body: BODY }), 'done', OPENED],
    [
      'upsertIssue opens a new issue if the previous one was closed',
      hasIssue({ state: 'closed', state_reason: 'completed' }),
      ...['done', NEW_ISSUE, 'closed (completed) Drift: An old plan', OPENED],
    ],
    [
      'upsertIssue ignores an issue by another user even if it contains the marker',
      hasIssue({ user: ADA }),
      'done',
      NEW_ISSUE,
      'open Drift: An old plan',
      OPENED,
    ],
    [
      'upsertIssue ignores an issue that only quotes the marker',
      hasIssue({ body: `> ${MARKER}` }),
      'done',
      NEW_ISSUE,
      `open Drift: > ${MARKER}`,
      OPENED,
    ],
    [
      'upsertIssue ignores a pull request that contains the marker',
      hasIssue({ number: 1 }, [1]),
      'done',
      NEW_ISSUE,
      OPENED,
    ],
    ['upsertIssue finds its issue among a hundred pull requests', hasIssue({}, hundred), 'done', PATCH, OPENED],
    [
      'upsertIssue updates the newest of two open issues and closes the older one',
      {
        prepare: (github) => [1, 2].forEach((number) => github.addIssue({ title, body: OLD, number })),
      },
      ...['done', 'PATCH issues/2', PATCH],
      ...['closed (not_planned) Drift: This report is outdated. Current report: #2', OPENED],
    ],
    [
      'closeIssues closes both issues if two are open',
      {
        prepare: (github) => [1, 2].forEach((number) => github.addIssue({ title, body: OLD, number })),
        steps: ['close'],
      },
      ...['done', 'PATCH issues/2', PATCH, CLOSED, CLOSED],
    ],
    ['closeIssues closes an open issue as completed', { ...hasIssue(), steps: ['close'] }, 'done', PATCH, CLOSED],
    ['closeIssues does nothing if no issue is open', { steps: ['close'] }, 'done'],
    [
      'closeIssues does not close an issue by another user',
      { ...hasIssue({ user: ADA }), steps: ['close'] },
      'done',
      'open Drift: An old plan',
    ],
    [
      'upsertIssue opens a new issue after closeIssues has closed the previous one',
      { ...hasIssue(), steps: ['close', 'keep'] },
      ...['done', PATCH, NEW_ISSUE, CLOSED, OPENED],
    ],
    [
      'upsertIssue opens only one issue if the response to its create request is lost',
      { failure: ['POST', 'lost-answer'] },
      'done',
      NEW_ISSUE,
      OPENED,
    ],
    [
      'upsertIssue throws an error if issues are disabled in the repository',
      { failure: ['POST', { status: 410 }] },
      'throws 410',
      NEW_ISSUE,
    ],
  ];

  test('upsertIssue and closeIssues manage a single issue and ignore issues by other users', async () => {
    const { actual, expected } = await tryAll(rows, perform);
    expect(actual).toEqual(expected);
  });
});
