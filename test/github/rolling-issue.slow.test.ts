import { expect, test } from 'vitest';
import { closeIssue, keepIssue } from '../../src/github/rolling-issue.ts';
import type { GitHub } from '../../src/github/client.ts';
import { startGitHub, type Failure, type GitHubDouble, type GitHubOptions } from '../support/github-api.ts';
import { ACME_BOT, ADA, connectTo, endOf, MARKER, OTHER_BOT, trySideBySide, writesOf, type Row } from './support.ts';

const TITLE = 'Prompts have drifted';
const BODY = `${MARKER}\nNew`;
const OLD = `${MARKER}\nOld`;
const DONE = `${MARKER}\nNo drift`;
const POST = 'POST issues';
const OPENED = `open Prompts have drifted: New`;
const CLOSED = `closed (completed) Prompts have drifted: No drift`;

type Attempt = GitHubOptions & {
  readonly before?: (github: GitHubDouble) => void;
  readonly steps?: readonly ('keep' | 'close')[];
};

const steps = {
  keep: (github: GitHub) => keepIssue(github, { marker: MARKER, title: TITLE, body: BODY }),
  close: (github: GitHub) => closeIssue(github, { marker: MARKER, body: DONE }),
} as const;

/** How each step ended, what was sent, and the issues that are there then. */
async function tell({ before, steps: wanted = ['keep'], ...options }: Attempt): Promise<readonly string[]> {
  const github = await startGitHub(options);
  before?.(github);
  const client = connectTo(github);
  const ends: string[] = [];
  for (const step of wanted) ends.push(await endOf(steps[step](client)));
  const issues = github.issues().map(({ state, state_reason: reason, title, body }) => {
    const told = reason === null ? state : `${state} (${reason})`;
    return `${told} ${title}: ${body.replace(`${MARKER}\n`, '')}`;
  });
  return [...ends, ...writesOf(github), ...issues];
}

const holds = (issue: object): Attempt => ({
  before: (github) => github.addIssue({ title: TITLE, body: OLD, ...issue }),
});

const fails = (method: string, failure: Failure): Attempt => ({
  before: (github) => github.fail({ method, path: /\/issues/ }, failure),
});

const kept: readonly Row<Attempt>[] = [
  ['none is open: it is opened', {}, ['done', POST, OPENED]],
  ['an open one is updated in place', holds({}), ['done', 'PATCH issues/1', OPENED]],
  ['another title is put right', holds({ title: 'Old', body: BODY }), ['done', 'PATCH issues/1', OPENED]],
  ['an equal one is left as it is', holds({ body: BODY }), ['done', OPENED]],
  [
    'one that was closed stays so, and another is opened',
    holds({ state: 'closed', state_reason: 'completed' }),
    ['done', POST, 'closed (completed) Prompts have drifted: Old', OPENED],
  ],
  [
    'a stranger’s with the marker is left alone',
    holds({ user: ADA }),
    ['done', POST, 'open Prompts have drifted: Old', OPENED],
  ],
  ['another bot’s too', holds({ user: OTHER_BOT }), ['done', POST, 'open Prompts have drifted: Old', OPENED]],
  [
    'one that only quotes the marker is not it',
    holds({ body: `> ${MARKER}` }),
    ['done', POST, `open Prompts have drifted: > ${MARKER}`, OPENED],
  ],
  ['one without a text is not it', holds({ body: '' }), ['done', POST, 'open Prompts have drifted: ', OPENED]],
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
  ['an app has one of its own', { ...holds({}), as: ACME_BOT }, ['done', 'PATCH issues/1', OPENED]],
  ['a token that nothing is told about', { ...holds({}), identity: 'none' }, ['done', 'PATCH issues/1', OPENED]],
  [
    'it is found behind a hundred others',
    {
      before: (github) => {
        github.addIssue({ title: TITLE, body: OLD });
        for (let n = 0; n < 100; n++) github.addPull({ number: 100 + n, head: 'aaa', base: 'main' });
        for (let n = 0; n < 100; n++) github.addIssue({ number: 300 + n, title: 'x', state: 'closed' });
      },
    },
    ['done', 'PATCH issues/1', OPENED, ...Array.from({ length: 100 }, () => 'closed x: ')],
  ],
];

const closed: readonly Row<Attempt>[] = [
  ['an open one is closed as completed', { ...holds({}), steps: ['close'] }, ['done', 'PATCH issues/1', CLOSED]],
  ['nothing is open: nothing is sent', { steps: ['close'] }, ['done']],
  [
    'a stranger’s is not closed',
    { ...holds({ user: ADA }), steps: ['close'] },
    ['done', 'open Prompts have drifted: Old'],
  ],
  [
    'twice: nothing is sent the second time',
    { ...holds({}), steps: ['close', 'close'] },
    ['done', 'done', 'PATCH issues/1', CLOSED],
  ],
  [
    'after it was closed another is opened',
    { ...holds({}), steps: ['close', 'keep'] },
    ['done', 'done', 'PATCH issues/1', POST, CLOSED, OPENED],
  ],
];

const failures: readonly Row<Attempt>[] = [
  ['the answer to opening it is lost', fails('POST', 'lost-answer'), ['done', POST, OPENED]],
  ['opening it fails before it is done', fails('POST', { status: 502 }), ['done', POST, POST, OPENED]],
  ['the repository has no issues', fails('POST', { status: 410 }), ['throws 410', POST]],
  ['the token may not', fails('POST', { status: 403 }), ['throws 403', POST]],
  ['the token is refused', fails('GET', { status: 401 }), ['throws 401']],
];

test.each<[string, readonly Row<Attempt>[]]>([
  ['the one open issue', kept],
  ['closing it, and what fails on the way', [...closed, ...failures]],
])('%s', async (_, rows) => {
  const { came, wanted } = await trySideBySide(rows, tell);
  expect(came).toEqual(wanted);
});
