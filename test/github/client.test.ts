import { describe, expect, test } from 'vitest';
import { mergedPullOf, mergedPullsOf, openHeadOf, tipOfBranch } from '../../src/github/client.ts';
import { startGitHub, type Failure, type GitHubDouble } from '../support/github-api.ts';
import { connectTo, holdDeadlines } from './support.ts';

const COMMIT = 'c'.repeat(40);
const OTHER = 'd'.repeat(40);

type Pull = Parameters<GitHubDouble['addPull']>[0];
const merged = (number: number, parts: Partial<Pull> = {}): Pull => ({
  ...{ number, head: OTHER, base: 'main', merged: true, mergeCommit: COMMIT },
  ...parts,
});

describe('the pull request that a commit was merged with', () => {
  test.each<[string, readonly Pull[], number | null]>([
    ['none', [], null],
    ['one', [merged(7)], 7],
    ['one that was rebased: the commit is its head', [merged(7, { head: COMMIT, mergeCommit: OTHER })], 7],
    ['one whose merge commit is not known', [merged(7, { head: COMMIT, mergeCommit: null })], 7],
    ['one that is open', [merged(7, { merged: false })], null],
    ['one that was merged into another branch', [merged(7, { base: 'release/1' })], null],
    ['one into a branch whose name begins like it', [merged(7, { base: 'main-2' })], null],
    ['of another commit', [merged(7, { mergeCommit: OTHER })], null],
    ['two: the one that made the commit', [merged(7, { head: COMMIT, mergeCommit: OTHER }), merged(8)], 8],
    ['two: the other way round', [merged(7), merged(8, { head: COMMIT, mergeCommit: OTHER })], 7],
    ['two: the one into the branch', [merged(7, { base: 'next' }), merged(8)], 8],
  ])('%s', async (_, pulls, expected) => {
    const github = await startGitHub();
    pulls.forEach(github.addPull);
    const found = await mergedPullOf(connectTo(github), COMMIT, 'main');
    expect(found?.number ?? null).toBe(expected);
  });

  test('are two if GitHub marked a copy of it as merged by the same commit', async () => {
    const github = await startGitHub();
    [merged(7), merged(8), merged(9, { mergeCommit: OTHER, commits: [COMMIT] })].forEach(github.addPull);
    const found = await mergedPullsOf(connectTo(github), COMMIT, 'main');
    expect(found.map(({ number }) => number)).toEqual([7, 8]);
  });

  test('is found on the second page', async () => {
    const github = await startGitHub();
    for (let number = 1; number <= 100; number++) github.addPull(merged(number, { merged: false }));
    github.addPull(merged(101));
    expect(await mergedPullOf(connectTo(github), COMMIT, 'main')).toMatchObject({ number: 101, head: OTHER });
  });

  test('a commit that GitHub does not know is an error, and none is made up', async () => {
    const github = await startGitHub();
    github.fail({ path: /\/pulls/ }, { status: 422, body: { message: `No commit found for SHA: ${COMMIT}` } });
    await expect(mergedPullOf(connectTo(github), COMMIT, 'main')).rejects.toThrow('No commit found');
  });
});

test('the head of a pull request is the one of now, and none once it is closed', async () => {
  const github = await startGitHub();
  github.addPull(merged(7, { merged: false, head: OTHER }));
  const client = connectTo(github);
  expect(await openHeadOf(client, 7)).toBe(OTHER);
  github.addPull(merged(7, { merged: false, head: COMMIT }));
  expect(await openHeadOf(client, 7)).toBe(COMMIT);
  github.addPull(merged(7));
  expect(await openHeadOf(client, 7)).toBeNull();
  await expect(openHeadOf(client, 8)).rejects.toThrow('Not Found');
});

describe('the tip of a branch', () => {
  test.each(['main', 'release/1', 'a/b/c', 'größe', '50%', 'a#b', 'a?b'])('%s', async (name) => {
    const github = await startGitHub();
    github.setBranch('other', OTHER);
    github.setBranch(name, COMMIT);
    expect(await tipOfBranch(connectTo(github), name)).toBe(COMMIT);
  });

  test('of none is an error', async () => {
    const github = await startGitHub();
    github.setBranch('release/1', COMMIT);
    await expect(tipOfBranch(connectTo(github), 'release')).rejects.toThrow('Not Found');
  });
});

test.each<Failure>(['hang', 'half-answer'])(
  '%s: no request is repeated, and a run waits for two of them',
  async (failure) => {
    const github = await startGitHub();
    github.addPull(merged(7, { merged: false }));
    github.fail({ path: /pulls/ }, failure, Infinity);
    const time = holdDeadlines();
    const client = connectTo(github, time.now);
    const noAnswer = expect.objectContaining({ message: 'GitHub takes too long', status: 500 });
    for (const count of [1, 2]) {
      const head = openHeadOf(client, 7).catch((error: unknown) => error);
      await expect.poll(() => github.requests.length).toBe(count);
      time.pass();
      expect(await head).toEqual(noAnswer);
    }
    await expect(openHeadOf(client, 7)).rejects.toEqual(noAnswer);
    expect(github.requests).toHaveLength(2);
    expect(time.now()).toBeLessThan(25_000);
  },
);
