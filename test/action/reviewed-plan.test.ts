import { expect, test } from 'vitest';
import { markerOf, planLine } from '../../src/action/marker.ts';
import { reviewedPlan } from '../../src/action/reviewed-plan.ts';
import { connectGitHub } from '../../src/github/client.ts';
import { parseEvent } from '../../src/github/event.ts';
import { startGitHub, type GitHubDouble, type Person } from '../support/github-api.ts';
import { makeWorld } from '../support/world.ts';
import { pushEvent } from './events.ts';
import { inputsOf } from './support.ts';

const COMMIT = 'c'.repeat(40);
const DIGEST = `sha256:${'0a'.repeat(32)}`;
const ADA: Person = { login: 'ada', type: 'User' };
const inputs = inputsOf();
const BODY = `${markerOf(inputs)}\n${planLine(DIGEST)}The plan`;
const NO_PLAN = '#7 has no comment of promptsync with a whole plan';

async function tell(prepare: (github: GitHubDouble) => void, withToken = true): Promise<string> {
  const github = await startGitHub();
  prepare(github);
  const access = { token: github.token, apiUrl: github.apiUrl, repository: 'acme/prompts', environment: {} };
  const context = {
    ...{ inputs, event: parseEvent('push', 'refs/heads/main', pushEvent(COMMIT)), world: makeWorld('/'), folder: '/' },
    ...{ github: withToken ? () => Promise.resolve(connectGitHub(access)) : null, runUrl: null },
  };
  const found = await reviewedPlan(context, COMMIT);
  return typeof found === 'string' ? found : `${found.code}: ${found.message}`;
}

function merge(github: GitHubDouble, comment?: string, user?: Person): void {
  github.addPull({ number: 7, head: 'd'.repeat(40), base: 'main', merged: true, mergeCommit: COMMIT });
  if (comment !== undefined) github.addComment(7, user === undefined ? { body: comment } : { body: comment, user });
}

test.each<[string, (github: GitHubDouble) => void, string]>([
  ['is that of the comment', (github) => merge(github, BODY), DIGEST],
  ['also as GitHub gives it back, with CRLF', (github) => merge(github, BODY.replaceAll('\n', '\r\n')), DIGEST],
  ['is unknown without a merged pull request', () => {}, 'no merged pull request brought it'],
  ['is unknown without a comment', (github) => merge(github), NO_PLAN],
  ['is not a stranger’s', (github) => merge(github, BODY, ADA), NO_PLAN],
  ['is not one further down', (github) => merge(github, BODY.replace('\n', '\n\n')), NO_PLAN],
  ['is not one that was not whole', (github) => merge(github, `${markerOf(inputs)}\nThe plan`), NO_PLAN],
  [
    'is not that of another configuration',
    (github) => merge(github, BODY.replace(markerOf(inputs), markerOf(inputsOf({ config: 'other.yaml' })))),
    NO_PLAN,
  ],
  [
    'is unknown where GitHub refuses',
    (github) => github.fail({ path: /\/pulls/ }, { status: 403, body: { message: 'Resource not accessible' } }),
    'GitHub could not be asked: Resource not accessible',
  ],
  [
    'is unknown where GitHub answers nonsense',
    (github) => github.fail({ path: /\/pulls/ }, { status: 200, body: [{ number: 'seven' }] }),
    'GitHub could not be asked: ',
  ],
])('the reviewed plan %s', async (_, prepare, expected) => {
  const told = await tell(prepare);
  expect(told).toContain(expected);
  expect(told === DIGEST || told.startsWith('guard/not-reviewed: ')).toBe(true);
});

test('the reviewed plan is unknown without a token', async () => {
  expect(await tell((github) => merge(github, BODY), false)).toContain('there is no `github-token`');
});
