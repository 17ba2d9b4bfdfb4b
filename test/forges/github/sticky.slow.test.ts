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
  readonly failure?: readonly [method: 'GET' | 'POST' | 'PATCH', Failure];
};
/** One row: the sentence, the attempt, and the lines that describe its expected result. */
type Row<Try> = readonly [what: string, attempt: Try, ...result: readonly string[]];

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

/** Tries all rows at the same time, without the waits of the client between its writes. */
async function tryAll<Try>(rows: readonly Row<Try>[], perform: (attempt: Try) => Promise<readonly string[]>) {
  const actual = await withShortWaits(() =>
    Promise.all(rows.map(async ([sentence, attempt]) => [sentence, ...(await perform(attempt))])),
  );
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
    async (github) => void (await upsertComment(connectTo(github), COMMENT)),
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
const patch = (number: number) => `PATCH issues/comments/200000000${number}`;
const OURS = 'github-actions[bot]: The plan';
/** The body of a duplicate comment after promptsync has replaced the report with a link. */
const LINK = 'This report is outdated. Current report: https://github.com/acme/prompts/pull/1#issuecomment-2000000001';
const RETIRED = `github-actions[bot]: ${LINK}`;
const CREATED = ['done', POST, OURS] as const;
const RETRIED = ['done', POST, POST, OURS] as const;
const UPDATED = ['done', patch(1), OURS] as const;
const OLD_OF_OTHERS = ['ada: An old plan', 'other[bot]: An old plan'] as const;
const QUOTES = [`github-actions[bot]: > ${MARKER}`, `github-actions[bot]: ${OTHER_MARKER}\nAnother`] as const;

const existingComments: readonly Row<Attempt>[] = [
  ['creates a comment if none exists', {}, ...CREATED],
  ['updates an outdated comment in place', withComments([OLD]), ...UPDATED],
  ['leaves an identical comment unchanged', withComments([BODY]), 'done', OURS],
  [
    'updates the first of its three comments and replaces the other two with links to the first',
    withComments([OLD], [BODY], [OLD]),
    ...['done', patch(1), patch(2), patch(3), OURS, RETIRED, RETIRED],
  ],
  ['replaces a duplicate of an up-to-date comment', withComments([BODY], [OLD]), 'done', patch(2), OURS, RETIRED],
  ['leaves a replaced duplicate unchanged', withComments([BODY], [LINK]), 'done', OURS, RETIRED],
  [
    'finds its own comment between comments by other accounts, and does not replace those',
    withComments([OLD, ADA], [OLD], [OLD, OTHER_BOT]),
    ...['done', patch(2), 'ada: An old plan', OURS, 'other[bot]: An old plan'],
  ],
  [
    'ignores comments by other accounts even if they contain the marker',
    withComments([OLD, ADA], [OLD, OTHER_BOT]),
    ...['done', POST, ...OLD_OF_OTHERS, OURS],
  ],
  [
    'ignores comments that do not begin with the marker',
    withComments([`> ${MARKER}`], [`${OTHER_MARKER}\nAnother`]),
    ...['done', POST, ...QUOTES, OURS],
  ],
];

const identities: readonly Row<Attempt>[] = [
  [
    'uses the account of a workflow token if it cannot read it',
    { ...withComments([OLD]), identity: 'none' },
    ...UPDATED,
  ],
  ['knows the user of a personal token', { ...withComments([OLD]), as: ADA }, 'done', patch(1), 'ada: The plan'],
  [
    'knows the app of an app token',
    { ...withComments([OLD]), as: ACME_BOT },
    ...['done', patch(1), 'acme-bot[bot]: The plan'],
  ],
];

const RATE = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
const rateLimitFor = (seconds: number): Failure => ({
  ...{ status: 403, headers: { 'retry-after': String(seconds) } },
  body: { message: 'You have exceeded a secondary rate limit.' },
});
const failingRequests: readonly Row<Attempt>[] = [
  ['creates only one comment if the response is lost', { failure: ['POST', 'lost-answer'] }, ...CREATED],
  ['retries if creating the comment fails with status 502', { failure: ['POST', { status: 502 }] }, ...RETRIED],
  ['retries if the connection breaks before the comment is created', { failure: ['POST', 'reset'] }, ...RETRIED],
  ['throws if it may not create comments', { failure: ['POST', { status: 403 }] }, 'throws 403', POST],
  [
    'throws if it may not update the comment',
    { ...withComments([OLD]), failure: ['PATCH', { status: 403 }] },
    ...['throws 403', patch(1), 'github-actions[bot]: An old plan'],
  ],
  ['retries a failed read request', { failure: ['GET', { status: 500 }] }, ...CREATED],
  ['retries a read after a rate limit with 403', { failure: ['GET', { status: 403, headers: RATE }] }, ...CREATED],
  ['retries a read after a rate limit with 429', { failure: ['GET', { status: 429, headers: RATE }] }, ...CREATED],
  ['waits out a rate limit of one second and retries', { failure: ['POST', rateLimitFor(1)] }, ...RETRIED],
  ['throws at a rate limit of one hour', { failure: ['POST', rateLimitFor(3600)] }, 'throws 403', POST],
  ['throws if GitHub rejects the token', { failure: ['GET', { status: 401 }] }, 'throws 401'],
];

test.each<[string, readonly Row<Attempt>[]]>([
  ['upsertComment updates its own comment or creates one, and leaves all other comments unchanged', existingComments],
  ['upsertComment recognizes its own comment by the account of its token', identities],
  ['upsertComment creates no duplicate comment when requests fail', failingRequests],
])('%s', async (_, rows) => {
  const { actual, expected } = await tryAll(rows, tryToKeepComment);
  expect(actual).toEqual(expected);
});

test('upsertComment replaces a duplicate comment on the third page of comments', async () => {
  const others = Array.from({ length: 250 }, (_, index) => `Comment ${index}`);
  const github = await startGitHub();
  addPullRequest(github);
  for (const body of [OLD, ...others.with(240, OLD)]) github.addComment(PULL, { body });
  await withShortWaits(() => upsertComment(connectTo(github), COMMENT));
  expect(github.comments(PULL).map(({ body }) => body)).toEqual([BODY, ...others.with(240, LINK)]);
});

type IssueAttempt = Attempt & { readonly steps?: readonly ('keep' | 'close')[] };

test('upsertIssue and closeIssues manage a single issue and ignore issues by other users', async () => {
  const title = 'Drift';
  const [NEW_ISSUE, PATCH] = ['POST issues', 'PATCH issues/1'];
  const [OPENED, CLOSED] = ['open Drift: The plan', 'closed (completed) Drift: Done'];

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
  const hasTwo: Attempt = {
    prepare: (github) => [1, 2].forEach((number) => github.addIssue({ title, body: OLD, number })),
  };
  const hundred = Array.from({ length: 100 }, (_, index) => 100 + index);

  const rows: readonly Row<IssueAttempt>[] = [
    ['opens an issue if none is open', {}, 'done', NEW_ISSUE, OPENED],
    ['updates an open issue in place', hasIssue(), 'done', PATCH, OPENED],
    ['updates an outdated title', hasIssue({ title: 'Old', body: BODY }), 'done', PATCH, OPENED],
    ['leaves an identical issue unchanged', hasIssue({ body: BODY }), 'done', OPENED],
    [
      'opens a new issue if the previous one was closed',
      hasIssue({ state: 'closed', state_reason: 'completed' }),
      ...['done', NEW_ISSUE, 'closed (completed) Drift: An old plan', OPENED],
    ],
    [
      'ignores an issue by another user',
      hasIssue({ user: ADA }),
      ...['done', NEW_ISSUE, 'open Drift: An old plan', OPENED],
    ],
    [
      'ignores an issue that only quotes the marker',
      hasIssue({ body: `> ${MARKER}` }),
      ...['done', NEW_ISSUE, `open Drift: > ${MARKER}`, OPENED],
    ],
    ['ignores a pull request that contains the marker', hasIssue({ number: 1 }, [1]), 'done', NEW_ISSUE, OPENED],
    ['finds its issue among a hundred pull requests', hasIssue({}, hundred), 'done', PATCH, OPENED],
    [
      'updates the newest of two open issues and closes the older one',
      hasTwo,
      ...['done', 'PATCH issues/2', PATCH],
      ...['closed (not_planned) Drift: This report is outdated. Current report: #2', OPENED],
    ],
    ['closes two issues', { ...hasTwo, steps: ['close'] }, 'done', 'PATCH issues/2', PATCH, CLOSED, CLOSED],
    ['does nothing if there is no issue to close', { steps: ['close'] }, 'done'],
    ['opens only one issue if the response is lost', { failure: ['POST', 'lost-answer'] }, 'done', NEW_ISSUE, OPENED],
    ['throws if issues are disabled', { failure: ['POST', { status: 410 }] }, 'throws 410', NEW_ISSUE],
  ];
  const { actual, expected } = await tryAll(rows, perform);
  expect(actual).toEqual(expected);
});
