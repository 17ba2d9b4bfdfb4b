import { describe, expect, test } from 'vitest';
import type { GitHub } from '../../src/github/client.ts';
import { closeIssue, findComment, keepComment, keepIssue } from '../../src/github/sticky.ts';
import {
  startGitHub,
  type Failure,
  type GitHubDouble,
  type GitHubOptions,
  type Person,
} from '../support/github-api.ts';
import { ADA, connectTo } from './support.ts';

const OTHER_BOT: Person = { login: 'other[bot]', type: 'Bot' };
const ACME_BOT: Person = { login: 'acme-bot[bot]', type: 'Bot' };
const MARKER = '<!-- promptsync 0123456789abcdef -->';

/** What was sent to change something, such as `POST issues/7/comments`. */
function writesOf({ requests }: GitHubDouble): readonly string[] {
  const writes = requests.filter(({ method, path }) => method !== 'GET' && path !== '/graphql');
  return writes.map(({ method, path }) => `${method} ${path.replace('/repos/acme/prompts/', '')}`);
}

/** What became of a call: `done`, or `throws` and the status. */
function endOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'done',
    (error: unknown) => `throws ${error instanceof Error && 'status' in error ? String(error.status) : String(error)}`,
  );
}

/** One row: what is tried, and the lines that say how it ended. */
type Row<Try> = readonly [sentence: string, attempt: Try, ending: readonly string[]];

/**
 * Tries all rows at the same time, because the client waits for a second or three between its writes. Returns both
 * tables, by sentence: what came about, and what should.
 */
async function trySideBySide<Try>(
  rows: readonly Row<Try>[],
  perform: (attempt: Try) => Promise<readonly string[]>,
): Promise<{ readonly came: object; readonly wanted: object }> {
  const came = await Promise.all(rows.map(async ([sentence, attempt]) => [sentence, await perform(attempt)] as const));
  return {
    came: Object.fromEntries(came),
    wanted: Object.fromEntries(rows.map(([sentence, , ending]) => [sentence, ending])),
  };
}

const PULL = 7;
const BODY = `${MARKER}\nThe plan`;
const OLD = `${MARKER}\nAn old plan`;
const OTHER_MARKER = '<!-- promptsync fedcba9876543210 -->';
const POST = 'POST issues/7/comments';
const FIRST = 'PATCH issues/comments/2000000001';
const MADE = ['done', POST, 'github-actions[bot]: The plan'];
const UPDATED = ['done', FIRST, 'github-actions[bot]: The plan'];

type Attempt = GitHubOptions & { readonly before?: (github: GitHubDouble) => void };

async function startPull({ before, ...options }: Attempt): Promise<GitHubDouble> {
  const github = await startGitHub(options);
  github.addPull({ number: PULL, head: 'aaa', base: 'main' });
  before?.(github);
  return github;
}

/** How it ended, what was sent, and the comments that are there then. */
async function keep(attempt: Attempt): Promise<readonly string[]> {
  const github = await startPull(attempt);
  const end = await endOf(keepComment(connectTo(github), { issue: PULL, marker: MARKER, body: BODY }));
  const comments = github.comments(PULL).map(({ user, body }) => `${user.login}: ${body.replace(`${MARKER}\n`, '')}`);
  return [end, ...writesOf(github), ...comments];
}

const holds = (...bodies: readonly string[]): Attempt => ({
  before: (github) => bodies.forEach((body) => github.addComment(PULL, { body })),
});

const fails = (method: string, failure: Failure, times = 1): Attempt => ({
  before: (github) => github.fail({ method, path: /\/comments/ }, failure, times),
});

const RATE = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
const TOO_FAST = { message: 'You have exceeded a secondary rate limit.' };

const found: readonly Row<Attempt>[] = [
  ['none is there: it is made', {}, MADE],
  ['an old one is updated in place', holds(OLD), UPDATED],
  ['an equal one is left as it is', holds(BODY), ['done', 'github-actions[bot]: The plan']],
  ['of two the first is updated', holds(OLD, OLD), [...UPDATED, 'github-actions[bot]: An old plan']],
  [
    'a stranger’s with the very same marker is left alone',
    { before: (github) => github.addComment(PULL, { body: OLD, user: ADA }) },
    ['done', POST, 'ada: An old plan', 'github-actions[bot]: The plan'],
  ],
  [
    'another bot’s too',
    { before: (github) => github.addComment(PULL, { body: OLD, user: OTHER_BOT }) },
    ['done', POST, 'other[bot]: An old plan', 'github-actions[bot]: The plan'],
  ],
  [
    'a stranger’s does not hide ours after it',
    { before: (github) => [ADA, undefined].forEach((user) => addBy(github, user)) },
    ['done', 'PATCH issues/comments/2000000002', 'ada: An old plan', 'github-actions[bot]: The plan'],
  ],
  [
    'one that only quotes the marker is not it',
    holds(`> ${MARKER}`),
    ['done', POST, `github-actions[bot]: > ${MARKER}`, 'github-actions[bot]: The plan'],
  ],
  [
    'nor is one with another marker',
    holds(`${OTHER_MARKER}\nAnother`),
    ['done', POST, `github-actions[bot]: ${OTHER_MARKER}\nAnother`, 'github-actions[bot]: The plan'],
  ],
];

function addBy(github: GitHubDouble, user: typeof ADA | undefined): void {
  github.addComment(PULL, user === undefined ? { body: OLD } : { body: OLD, user });
}

const identities: readonly Row<Attempt>[] = [
  ['a workflow’s own token', { ...holds(OLD), identity: 'graphql' }, UPDATED],
  ['one that says nothing of itself is taken for that', { ...holds(OLD), identity: 'none' }, UPDATED],
  ['a person’s', { ...holds(OLD), identity: 'user', as: ADA }, ['done', FIRST, 'ada: The plan']],
  ['an app’s', { ...holds(OLD), as: ACME_BOT }, ['done', FIRST, 'acme-bot[bot]: The plan']],
  [
    'an app’s that GraphQL calls by half of its name',
    {
      as: ACME_BOT,
      before: (github) => {
        addBy(github, undefined);
        github.fail({ path: /graphql/ }, { status: 200, body: { data: { viewer: { login: 'acme-bot' } } } });
      },
    },
    ['done', FIRST, 'acme-bot[bot]: The plan'],
  ],
];

const failures: readonly Row<Attempt>[] = [
  ['the answer to making it is lost', fails('POST', 'lost-answer'), MADE],
  ['making it fails before it is done', fails('POST', { status: 502 }), ['done', POST, ...MADE.slice(1)]],
  ['the connection ends before it is done', fails('POST', 'reset'), ['done', POST, ...MADE.slice(1)]],
  ['the token may not', fails('POST', { status: 403 }), ['throws 403', POST]],
  [
    'changing it is not allowed',
    {
      before: (github) => {
        addBy(github, undefined);
        github.fail({ method: 'PATCH', path: /./ }, { status: 403 });
      },
    },
    ['throws 403', FIRST, 'github-actions[bot]: An old plan'],
  ],
  ['reading fails once', fails('GET', { status: 500 }), MADE],
  ['reading meets a rate limit that is over', fails('GET', { status: 403, headers: RATE }), MADE],
  ['reading meets 429', fails('GET', { status: 429, headers: RATE }), MADE],
  [
    'making it meets a limit of a second',
    fails('POST', { status: 403, headers: { 'retry-after': '1' }, body: TOO_FAST }),
    ['done', POST, ...MADE.slice(1)],
  ],
  [
    'making it meets a limit of an hour',
    fails('POST', { status: 403, headers: { 'retry-after': '3600' }, body: TOO_FAST }),
    ['throws 403', POST],
  ],
  ['the token is refused', fails('GET', { status: 401 }), ['throws 401']],
  ['the pull request is not there', fails('GET', { status: 404 }), ['throws 404']],
];

test.each<[string, readonly Row<Attempt>[]]>([
  ['the one comment', found],
  ['it is ours by the account of the token', identities],
  ['what fails on the way', failures],
])('%s', async (_, rows) => {
  const { came, wanted } = await trySideBySide(rows, keep);
  expect(came).toEqual(wanted);
});

describe('among 250 comments', () => {
  const fill = (github: GitHubDouble, count: number): void => {
    for (let n = 1; n <= count; n++) github.addComment(PULL, { body: `Comment ${n}`, user: ADA });
  };

  test('the one on the third page is found', async () => {
    const github = await startPull({ before: (double) => (fill(double, 240), addBy(double, undefined)) });
    fill(github, 9);
    expect(await findComment(connectTo(github), { issue: PULL, marker: MARKER })).toMatchObject({ body: OLD });
    expect(github.requests.filter(({ method }) => method === 'GET')).toHaveLength(3);
  });

  test('there may be none, and nobody is asked who we are', async () => {
    const github = await startPull({ before: (double) => fill(double, 250) });
    expect(await findComment(connectTo(github), { issue: PULL, marker: MARKER })).toBeNull();
    expect(github.requests.every(({ method }) => method === 'GET')).toBe(true);
  });
});

describe('the one open issue', () => {
  const TITLE = 'Prompts have drifted';
  const BODY = `${MARKER}\nNew`;
  const OLD = `${MARKER}\nOld`;
  const POST = 'POST issues';
  const PATCH = 'PATCH issues/1';
  const OPENED = 'open Prompts have drifted: New';
  const CLOSED = 'closed (completed) Prompts have drifted: Done';
  const FOREIGN = ['done', POST, 'open Prompts have drifted: Old', OPENED];

  type IssueAttempt = Attempt & { readonly steps?: readonly ('keep' | 'close')[] };
  const steps = {
    keep: (github: GitHub) => keepIssue(github, { marker: MARKER, title: TITLE, body: BODY }),
    close: (github: GitHub) => closeIssue(github, { marker: MARKER, body: `${MARKER}\nDone` }),
  } as const;

  /** How each step ended, what was sent, and the issues that are there then. */
  async function keep({ before, steps: wanted = ['keep'], ...options }: IssueAttempt): Promise<readonly string[]> {
    const github = await startGitHub(options);
    before?.(github);
    const client = connectTo(github);
    const ends: string[] = [];
    for (const step of wanted) ends.push(await endOf(steps[step](client)));
    const issues = github.issues().map(({ state, state_reason: reason, title, body }) => {
      const shown = reason === null ? state : `${state} (${reason})`;
      return `${shown} ${title}: ${body.replace(`${MARKER}\n`, '')}`;
    });
    return [...ends, ...writesOf(github), ...issues];
  }

  const has = (issue: object): Attempt => ({
    before: (github) => github.addIssue({ title: TITLE, body: OLD, ...issue }),
  });
  const refuses = (failure: Failure): Attempt => ({
    before: (github) => github.fail({ method: 'POST', path: /\/issues/ }, failure),
  });

  const rows: readonly Row<IssueAttempt>[] = [
    ['none is open: it is opened', {}, ['done', POST, OPENED]],
    ['an open one is updated in place', has({}), ['done', PATCH, OPENED]],
    ['another title is put right', has({ title: 'Old', body: BODY }), ['done', PATCH, OPENED]],
    ['an equal one is left as it is', has({ body: BODY }), ['done', OPENED]],
    [
      'one that was closed stays so, and another is opened',
      has({ state: 'closed', state_reason: 'completed' }),
      ['done', POST, 'closed (completed) Prompts have drifted: Old', OPENED],
    ],
    ['a stranger’s with the marker is left alone', has({ user: ADA }), FOREIGN],
    [
      'one that only quotes the marker is not it',
      has({ body: `> ${MARKER}` }),
      ['done', POST, `open Prompts have drifted: > ${MARKER}`, OPENED],
    ],
    [
      'nor is a pull request with the marker',
      {
        before: (github) => {
          github.addIssue({ number: 1, title: TITLE, body: OLD });
          github.addPull({ number: 1, head: 'aaa', base: 'main' });
        },
      },
      ['done', POST, OPENED],
    ],
    [
      'it is found behind a hundred others',
      {
        before: (github) => {
          github.addIssue({ title: TITLE, body: OLD });
          for (let n = 0; n < 100; n++) github.addPull({ number: 100 + n, head: 'aaa', base: 'main' });
        },
      },
      ['done', PATCH, OPENED],
    ],
    ['an open one is closed as completed', { ...has({}), steps: ['close'] }, ['done', PATCH, CLOSED]],
    ['nothing is open: nothing is closed', { steps: ['close'] }, ['done']],
    [
      'a stranger’s is not closed',
      { ...has({ user: ADA }), steps: ['close'] },
      ['done', 'open Prompts have drifted: Old'],
    ],
    [
      'after it was closed another is opened',
      { ...has({}), steps: ['close', 'keep'] },
      ['done', 'done', PATCH, POST, CLOSED, OPENED],
    ],
    ['the answer to opening it is lost', refuses('lost-answer'), ['done', POST, OPENED]],
    ['the repository has no issues', refuses({ status: 410 }), ['throws 410', POST]],
  ];

  test('is kept up to date, and closed', async () => {
    const { came, wanted } = await trySideBySide(rows, keep);
    expect(came).toEqual(wanted);
  });
});
