import { expect, test } from 'vitest';
import { makeCheckId, publishCheck, readReview, type ReviewCheck } from '../../../src/forges/github/review-check.ts';
import { renderApproval } from '../../../src/forges/approval.ts';
import { type CheckRun, startGitHub } from '../../support/github-api.ts';
import { connectTo } from './support.ts';

const HEAD = 'c'.repeat(40);
const PATH = 'promptsync.yaml';
const source = { configPath: PATH, branch: 'main' };

/** Returns a check that approves a plan whose digest consists of one repeated hexadecimal digit. */
function checkOf(number: number, digit: string, into = 'main'): ReviewCheck {
  const plan = { digest: `sha256:${digit.repeat(64)}`, prompts: [] };
  const text = renderApproval(plan, { number, into }, 65_000);
  const output = { title: 'Plan', summary: 'Plan', text };
  return { name: 'promptsync', external_id: makeCheckId(PATH, number), head: HEAD, conclusion: 'success', output };
}

/** The check for pull request 7 as a check run, as if another run or app had created it. */
const { head: _, ...rest } = checkOf(7, 'f');
const other = { ...rest, head_sha: HEAD };

const approvesPlan = (digit: string, pull = 7) => ({
  ...{ pull, shown: { plan: `sha256:${digit.repeat(64)}`, changes: new Set() }, otherCheck: null },
});
const approvesNothing = { pull: 7, shown: null, otherCheck: null };

test('publishCheck creates separate check runs for two pull requests with the same head commit', async () => {
  const github = await startGitHub();
  const client = connectTo(github);
  await publishCheck(client, checkOf(7, 'a'));
  await publishCheck(client, checkOf(8, 'b'));
  await publishCheck(client, checkOf(7, 'c'));
  const ids = github.checks(HEAD).map(({ external_id: id }) => id);
  expect(ids).toEqual([`promptsync #7 ${PATH}`, `promptsync #8 ${PATH}`]);
  expect(await readReview(client, { number: 7, head: HEAD }, source)).toEqual(approvesPlan('c'));
  expect(await readReview(client, { number: 8, head: HEAD }, source)).toEqual(approvesPlan('b', 8));
});

test('readReview finds the check and publishCheck updates it despite 150 newer check runs with the same name', async () => {
  const github = await startGitHub();
  github.addCheck({ ...checkOf(7, 'a'), head_sha: HEAD });
  for (let index = 0; index < 150; index++) github.addCheck({ ...other, external_id: `job ${index}` });
  expect(await readReview(connectTo(github), { number: 7, head: HEAD }, source)).toEqual(approvesPlan('a'));
  await publishCheck(connectTo(github), checkOf(7, 'b'));
  expect(github.checks(HEAD)).toHaveLength(151);
});

test.each<[string, Partial<CheckRun>]>([
  ['readReview ignores a check run on another commit', { head_sha: 'd'.repeat(40) }],
  ['readReview ignores a check run for another pull request', { external_id: makeCheckId(PATH, 17) }],
  ['readReview ignores a check run for another configuration', { external_id: makeCheckId(`b/${PATH}`, 7) }],
  ['readReview ignores a check run for a merge queue', { external_id: makeCheckId(PATH, null) }],
  ['readReview ignores a check run without an external id', { external_id: null }],
  ['readReview ignores a check run without output text', { output: { title: null, summary: null, text: null } }],
  ['readReview ignores a check run with the text of another pull request', { output: checkOf(8, 'f').output }],
  ['readReview ignores a check run for another base branch', { output: checkOf(7, 'f', 'release').output }],
])('%s', async (_, parts) => {
  const github = await startGitHub();
  github.addCheck({ ...other, ...parts });
  expect(await readReview(connectTo(github), { number: 7, head: HEAD }, source)).toEqual(approvesNothing);
});

test.each<[string, string | null]>([
  ['readReview names another app whose check run has the id of the check, unless it finds its own', other.external_id],
  ['readReview names another app whose check run has the name of the check, unless it finds its own', null],
])('%s', async (_, id) => {
  const github = await startGitHub();
  github.addCheck({ ...other, external_id: id, app: { slug: 'other' } });
  const otherCheck = { app: 'other', ownApp: 'github-actions' };
  const read = () => readReview(connectTo(github), { number: 7, head: HEAD }, source);
  expect(await read()).toEqual({ ...approvesNothing, otherCheck });
  github.addCheck({ ...checkOf(7, 'a'), head_sha: HEAD });
  expect(await read()).toEqual(approvesPlan('a'));
});
