import { describe, expect, test } from 'vitest';
import { checkId, publishCheck, readApproval, type Check } from '../../src/github/check.ts';
import { renderApproval } from '../../src/review/approval.ts';
import { type CheckRun, startGitHub } from '../support/github-api.ts';
import { connectTo } from './support.ts';

const HEAD = 'c'.repeat(40);
const PATH = 'promptsync.yaml';
const source = { configPath: PATH, branch: 'main' };

/** A check that approves a plan whose digest has only this hexadecimal digit. */
function checkOf(number: number, digit: string): Check {
  const plan = { digest: `sha256:${digit.repeat(64)}`, prompts: [] };
  const text = renderApproval(plan, { number, into: 'main' }, 65_000);
  const output = { title: 'Plan', summary: 'Plan', text };
  return { name: 'promptsync', external_id: checkId(PATH, number), head: HEAD, conclusion: 'success', output };
}

/** The same as a check run that another run or app has made. */
const { head: _, ...rest } = checkOf(7, 'f');
const other = { ...rest, head_sha: HEAD };

const approvesPlan = (digit: string) => ({ plan: `sha256:${digit.repeat(64)}`, changes: new Set() });

describe('The check of a pull request', () => {
  test('Two pull requests with the same head commit have a check run each', async () => {
    const github = await startGitHub();
    const client = connectTo(github);
    await publishCheck(client, checkOf(7, 'a'));
    await publishCheck(client, checkOf(8, 'b'));
    await publishCheck(client, checkOf(7, 'c'));
    const ids = github.checks(HEAD).map(({ external_id: id }) => id);
    expect(ids).toEqual([`promptsync #7 ${PATH}`, `promptsync #8 ${PATH}`]);
    expect(await readApproval(client, { number: 7, head: HEAD }, source)).toEqual(approvesPlan('c'));
    expect(await readApproval(client, { number: 8, head: HEAD }, source)).toEqual(approvesPlan('b'));
  });

  test('The check is found on a later page, behind newer check runs of the same name', async () => {
    const github = await startGitHub();
    await publishCheck(connectTo(github), checkOf(7, 'a'));
    for (let index = 0; index < 250; index++) github.addCheck({ ...other, external_id: `job ${index}` });
    expect(await readApproval(connectTo(github), { number: 7, head: HEAD }, source)).toEqual(approvesPlan('a'));
    await publishCheck(connectTo(github), checkOf(7, 'b'));
    expect(github.checks(HEAD)).toHaveLength(251);
  });

  test.each<[string, Partial<CheckRun>]>([
    ['has another commit', { head_sha: 'd'.repeat(40) }],
    ['is by another app', { app: { slug: 'other' } }],
    ['is for another pull request', { external_id: checkId(PATH, 17) }],
    ['is for another configuration', { external_id: checkId(`b/${PATH}`, 7) }],
    ['is for a merge queue', { external_id: checkId(PATH, null) }],
    ['has no id', { external_id: null }],
    ['has no text', { output: { title: null, summary: null, text: null } }],
    ['has the text for another pull request', { output: checkOf(8, 'f').output }],
  ])('A check run that %s approves nothing', async (_, parts) => {
    const github = await startGitHub();
    github.addCheck({ ...other, ...parts });
    expect(await readApproval(connectTo(github), { number: 7, head: HEAD }, source)).toBeNull();
  });

  test('The check approves nothing for another base branch than that of its review', async () => {
    const github = await startGitHub();
    github.addCheck(other);
    const read = (branch: string) => readApproval(connectTo(github), { number: 7, head: HEAD }, { ...source, branch });
    expect(await read('main')).toEqual(approvesPlan('f'));
    expect(await read('release')).toBeNull();
  });
});
