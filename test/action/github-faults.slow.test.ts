import { expect, test } from 'vitest';
import type { Failure, FailureMatch } from '../support/github-api.ts';
import { promptText } from '../support/prompts.ts';
import { makeTeam } from './team.ts';

type Fault = { readonly match: FailureMatch; readonly failure: Failure; readonly times: number };
const all = /./;
const REFUSED = { status: 403, body: { message: 'Resource not accessible by integration' } };
const LIMITED = {
  status: 403,
  headers: { 'x-ratelimit-remaining': '0', 'retry-after': '1' },
  body: { message: 'limit' },
};

/** Whatever GitHub does, the plan was made: it stands in the summary, and the run does not fail for a comment. */
test.each<[string, Fault, number]>([
  ['may not read the comments', { match: { method: 'GET', path: /comments/ }, failure: REFUSED, times: Infinity }, 0],
  ['may not write one', { match: { method: 'POST', path: /comments/ }, failure: REFUSED, times: Infinity }, 0],
  ['is told that it is no valid one', { match: { method: 'POST', path: all }, failure: { status: 422 }, times: 9 }, 0],
  ['has no valid token', { match: { path: all }, failure: { status: 401, body: {} }, times: Infinity }, 0],
  ['gets no JSON', { match: { path: all }, failure: { status: 200, body: '<html>' }, times: Infinity }, 0],
  ['gets another shape', { match: { path: /comments/ }, failure: { status: 200, body: [{ id: 'x' }] }, times: 9 }, 0],
  ['loses the answer to its comment', { match: { method: 'POST', path: all }, failure: 'lost-answer', times: 1 }, 1],
  ['meets a gateway that fails once', { match: { method: 'POST', path: all }, failure: { status: 502 }, times: 1 }, 1],
  ['has to wait for its limit', { match: { method: 'GET', path: /comments/ }, failure: LIMITED, times: 1 }, 1],
])('A run that %s', async (_, { match, failure, times }, comments) => {
  const { github, push, openPull, runPull } = await makeTeam({ greeting: {} });
  push('change', { 'prompts/greeting.md': promptText('greeting', { text: 'Other' }) });
  github.fail(match, failure, times);
  const ran = await runPull(openPull('change'));
  expect(ran).toMatchObject({ exitCode: 0, outputs: { changes: 'true', 'failure-reason': '' } });
  expect(ran.summary).toContain('`staging: none → new version`');
  expect(github.comments(1)).toHaveLength(comments);
  expect(/^::notice .*Writing the comment failed/m.test(ran.stdout)).toBe(comments === 0);
});
