import { describe, expect, test } from 'vitest';
import { closeIssue, keepComment, keepIssue } from '../../src/github/sticky.ts';
import {
  startGitHub,
  type Failure,
  type GitHubDouble,
  type GitHubOptions,
  type Person,
} from '../support/github-api.ts';
import { ADA, connectTo, holdDeadlines } from './support.ts';

const OTHER_BOT: Person = { login: 'other[bot]', type: 'Bot' };
const ACME_BOT: Person = { login: 'acme-bot[bot]', type: 'Bot' };
const MARKER = '<!-- promptsync 0123456789abcdef -->';
const OTHER_MARKER = '<!-- promptsync fedcba9876543210 -->';
const PULL = 7;
const BODY = `${MARKER}\nThe plan`;
const OLD = `${MARKER}\nAn old plan`;

/** What is there before, and what fails then. */
type Attempt = GitHubOptions & {
  readonly before?: (github: GitHubDouble) => void;
  readonly fails?: readonly [method: 'GET' | 'POST' | 'PATCH', Failure];
};
/** One row: what is tried, and the lines that say how it ended. */
type Row<Try> = readonly [sentence: string, attempt: Try, ...ending: readonly string[]];

/** How it ended (`done`, or `throws` and the status), what was sent to change something, and what `show` shows then. */
async function endOf(
  { before, fails, ...options }: Attempt,
  perform: (github: GitHubDouble) => Promise<void>,
  show: (github: GitHubDouble) => readonly string[],
): Promise<readonly string[]> {
  const github = await startGitHub(options);
  before?.(github);
  if (fails !== undefined) github.fail({ method: fails[0], path: /\/(comments|issues)/ }, fails[1]);
  const end = await perform(github).then(
    () => 'done',
    (error: unknown) => `throws ${error instanceof Error && 'status' in error ? String(error.status) : String(error)}`,
  );
  const writes = github.requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  const sent = writes.map(({ method, path }) => `${method} ${path.replace('/repos/acme/prompts/', '')}`);
  return [end, ...sent, ...show(github).map((line) => line.replace(`${MARKER}\n`, ''))];
}

/** Tries all rows at the same time, because the client waits for a second or three between its writes. */
async function tryAll<Try>(rows: readonly Row<Try>[], perform: (attempt: Try) => Promise<readonly string[]>) {
  const came = await Promise.all(rows.map(async ([sentence, attempt]) => [sentence, ...(await perform(attempt))]));
  return { came, wanted: rows.map(([sentence, , ...ending]) => [sentence, ...ending]) };
}

const isThere = (github: GitHubDouble): void => github.addPull({ number: PULL, head: 'aaa', base: 'main' });

const keep = ({ before, ...attempt }: Attempt): Promise<readonly string[]> =>
  endOf(
    { ...attempt, before: (github) => [isThere, before].forEach((prepare) => prepare?.(github)) },
    async (github) => void (await keepComment(connectTo(github), { issue: PULL, marker: MARKER, body: BODY })),
    (github) => github.comments(PULL).map(({ user, body }) => `${user.login}: ${body}`),
  );

type Written = readonly [body: string, user?: Person];

/** Comments that are there before: ours, but for those of somebody else. */
const has = (...comments: readonly Written[]): Attempt => ({
  before: (github) => {
    for (const [body, user] of comments) github.addComment(PULL, user === undefined ? { body } : { body, user });
  },
});

const POST = 'POST issues/7/comments';
const FIRST = 'PATCH issues/comments/2000000001';
const OURS = 'github-actions[bot]: The plan';
const MADE = ['done', POST, OURS] as const;
const UPDATED = ['done', FIRST, OURS] as const;

const found: readonly Row<Attempt>[] = [
  ['none is there: it is made', {}, ...MADE],
  ['an old one is updated in place', has([OLD]), ...UPDATED],
  ['an equal one is left as it is', has([BODY]), 'done', OURS],
  ['of two the first is updated', has([OLD], [OLD]), ...UPDATED, 'github-actions[bot]: An old plan'],
  ['a stranger’s with the very marker is left alone', has([OLD, ADA]), 'done', POST, 'ada: An old plan', OURS],
  ['another bot’s too', has([OLD, OTHER_BOT]), 'done', POST, 'other[bot]: An old plan', OURS],
  [
    'a stranger’s does not hide ours after it',
    has([OLD, ADA], [OLD]),
    ...['done', 'PATCH issues/comments/2000000002', 'ada: An old plan', OURS],
  ],
  ...[`> ${MARKER}`, `${OTHER_MARKER}\nAnother`].map((body): Row<Attempt> => {
    return [
      `one that begins otherwise is not it: ${body}`,
      has([body]),
      'done',
      POST,
      `github-actions[bot]: ${body}`,
      OURS,
    ];
  }),
];

const half = { status: 200, body: { data: { viewer: { login: 'acme-bot' } } } };
const identities: readonly Row<Attempt>[] = [
  ['a workflow’s own token', { ...has([OLD]), identity: 'graphql' }, ...UPDATED],
  ['one that says nothing of itself is taken for that', { ...has([OLD]), identity: 'none' }, ...UPDATED],
  ['a person’s', { ...has([OLD]), identity: 'graphql', as: ADA }, 'done', FIRST, 'ada: The plan'],
  ['an app’s', { ...has([OLD]), as: ACME_BOT }, 'done', FIRST, 'acme-bot[bot]: The plan'],
  [
    'an app’s that GraphQL calls by half of its name',
    {
      as: ACME_BOT,
      before: (github) => {
        github.addComment(PULL, { body: OLD });
        github.fail({ path: /graphql/ }, half);
      },
    },
    ...['done', FIRST, 'acme-bot[bot]: The plan'],
  ],
];

const RATE = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
const limit = (seconds: number): Failure => ({
  status: 403,
  headers: { 'retry-after': String(seconds) },
  body: { message: 'You have exceeded a secondary rate limit.' },
});
const failures: readonly Row<Attempt>[] = [
  ['the answer to making it is lost', { fails: ['POST', 'lost-answer'] }, ...MADE],
  ['making it fails before it is done', { fails: ['POST', { status: 502 }] }, 'done', POST, POST, OURS],
  ['the connection ends before it is done', { fails: ['POST', 'reset'] }, 'done', POST, POST, OURS],
  ['the token may not', { fails: ['POST', { status: 403 }] }, 'throws 403', POST],
  [
    'changing it is not allowed',
    { ...has([OLD]), fails: ['PATCH', { status: 403 }] },
    ...['throws 403', FIRST, 'github-actions[bot]: An old plan'],
  ],
  ['reading fails once', { fails: ['GET', { status: 500 }] }, ...MADE],
  ['reading meets a rate limit that is over', { fails: ['GET', { status: 403, headers: RATE }] }, ...MADE],
  ['reading meets 429', { fails: ['GET', { status: 429, headers: RATE }] }, ...MADE],
  ['making it meets a limit of a second', { fails: ['POST', limit(1)] }, 'done', POST, POST, OURS],
  ['making it meets a limit of an hour', { fails: ['POST', limit(3600)] }, 'throws 403', POST],
  ['the token is refused', { fails: ['GET', { status: 401 }] }, 'throws 401'],
  ['the pull request is not there', { fails: ['GET', { status: 404 }] }, 'throws 404'],
];

test.each<[string, readonly Row<Attempt>[]]>([
  ['the one comment', found],
  ['it is ours by the account of the token', identities],
  ['what fails on the way', failures],
])('%s', async (_, rows) => {
  const { came, wanted } = await tryAll(rows, keep);
  expect(came).toEqual(wanted);
});

test.each<[Failure, number]>([
  ['hang', 2],
  ['half-answer', 1],
])('making it comes to %s: it is looked for before it is sent again', async (failure, sent) => {
  const github = await startGitHub();
  isThere(github);
  github.fail({ method: 'POST', path: /comments/ }, failure);
  const time = holdDeadlines();
  const kept = keepComment(connectTo(github, time.now), { issue: PULL, marker: MARKER, body: BODY });
  const posts = () => github.requests.filter(({ method, path }) => method === 'POST' && path !== '/graphql');
  await expect.poll(() => posts().length).toBe(1);
  time.pass();
  await kept;
  expect(posts()).toHaveLength(sent);
  expect(github.comments(PULL).map(({ body }) => body)).toEqual([BODY]);
});

describe('among 250 comments', () => {
  const find = async (bodies: readonly string[]) => {
    const github = await startGitHub();
    isThere(github);
    for (const body of bodies) github.addComment(PULL, body === OLD ? { body } : { body, user: ADA });
    let found: string | undefined;
    const wanted = (comment: { readonly body?: string } | null) => {
      found = comment?.body;
      return false;
    };
    await keepComment(connectTo(github), { issue: PULL, marker: MARKER, body: BODY, wanted });
    return { body: found, asked: github.requests.map(({ path }) => path.replace(/\?.*/, '')) };
  };
  const pages = Array.from({ length: 3 }, () => '/repos/acme/prompts/issues/7/comments');
  const others = Array.from({ length: 250 }, (_, index) => `Comment ${index}`);

  test('the one on the third page is found', async () => {
    expect(await find(others.with(240, OLD))).toEqual({ body: OLD, asked: [...pages, '/graphql'] });
  });

  test('there may be none, and nobody is asked who we are', async () => {
    expect(await find(others)).toEqual({ body: undefined, asked: pages });
  });
});

describe('the one open issue', () => {
  const title = 'Drift';
  const NEW_ISSUE = 'POST issues';
  const PATCH = 'PATCH issues/1';
  const OPENED = 'open Drift: The plan';
  const CLOSED = 'closed (completed) Drift: Done';

  type IssueAttempt = Attempt & { readonly steps?: readonly ('keep' | 'close')[] };

  const perform = ({ steps = ['keep'], ...attempt }: IssueAttempt): Promise<readonly string[]> =>
    endOf(
      attempt,
      async (double) => {
        const github = connectTo(double);
        for (const step of steps) {
          if (step === 'keep') await keepIssue(github, { marker: MARKER, title, body: BODY });
          else await closeIssue(github, { marker: MARKER, body: `${MARKER}\nDone` });
        }
      },
      (github) =>
        github.issues().map(({ state, state_reason: reason, ...shown }) => {
          return `${state}${reason === null ? '' : ` (${reason})`} ${shown.title}: ${shown.body}`;
        }),
    );

  const hasIssue = (issue: object = {}, pulls: readonly number[] = []): Attempt => ({
    before: (github) => {
      github.addIssue({ title, body: OLD, ...issue });
      for (const number of pulls) github.addPull({ number, head: 'aaa', base: 'main' });
    },
  });
  const hundred = Array.from({ length: 100 }, (_, index) => 100 + index);

  const rows: readonly Row<IssueAttempt>[] = [
    ['none is open: it is opened', {}, 'done', NEW_ISSUE, OPENED],
    ['an open one is updated in place', hasIssue(), 'done', PATCH, OPENED],
    ['another title is put right', hasIssue({ title: 'Old', body: BODY }), 'done', PATCH, OPENED],
    ['an equal one is left as it is', hasIssue({ body: BODY }), 'done', OPENED],
    [
      'one that was closed stays so, and another is opened',
      hasIssue({ state: 'closed', state_reason: 'completed' }),
      ...['done', NEW_ISSUE, 'closed (completed) Drift: An old plan', OPENED],
    ],
    ['a stranger’s is left alone', hasIssue({ user: ADA }), 'done', NEW_ISSUE, 'open Drift: An old plan', OPENED],
    [
      'one that only quotes it is not it',
      hasIssue({ body: `> ${MARKER}` }),
      'done',
      NEW_ISSUE,
      `open Drift: > ${MARKER}`,
      OPENED,
    ],
    ['nor is a pull request with the marker', hasIssue({ number: 1 }, [1]), 'done', NEW_ISSUE, OPENED],
    ['it is found behind a hundred others', hasIssue({}, hundred), 'done', PATCH, OPENED],
    ['an open one is closed as completed', { ...hasIssue(), steps: ['close'] }, 'done', PATCH, CLOSED],
    ['nothing is open: nothing is closed', { steps: ['close'] }, 'done'],
    ['a stranger’s is not closed', { ...hasIssue({ user: ADA }), steps: ['close'] }, 'done', 'open Drift: An old plan'],
    [
      'after it was closed another is opened',
      { ...hasIssue(), steps: ['close', 'keep'] },
      ...['done', PATCH, NEW_ISSUE, CLOSED, OPENED],
    ],
    ['the answer to opening it is lost', { fails: ['POST', 'lost-answer'] }, 'done', NEW_ISSUE, OPENED],
    ['the repository has no issues', { fails: ['POST', { status: 410 }] }, 'throws 410', NEW_ISSUE],
  ];

  test('is kept up to date, and closed', async () => {
    const { came, wanted } = await tryAll(rows, perform);
    expect(came).toEqual(wanted);
  });
});
