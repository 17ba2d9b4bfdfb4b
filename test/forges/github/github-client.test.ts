import { describe, expect, test } from 'vitest';
import {
  connectGitHub,
  listMergedPulls,
  readOpenHead,
  readBranchTip,
  readOwnLogin,
} from '../../../src/forges/github/github-client.ts';
import { startGitHub, type Failure, type GitHubDouble } from '../../support/github-api.ts';
import { ADA, connectTo, holdDeadlines } from './support.ts';

const COMMIT = 'c'.repeat(40);
const OTHER = 'd'.repeat(40);

type Pull = Parameters<GitHubDouble['addPull']>[0];
const merged = (number: number, parts: Partial<Pull> = {}): Pull => ({
  ...{ number, head: OTHER, base: 'main', merged: true, mergeCommit: COMMIT },
  ...parts,
});

describe('listMergedPulls', () => {
  const ofHead = (number: number) => merged(number, { head: COMMIT, mergeCommit: OTHER });
  test.each<[string, readonly Pull[], readonly number[]]>([
    ['listMergedPulls finds a pull request by its head commit after a rebase merge', [ofHead(7)], [7]],
    ['listMergedPulls ignores an open pull request', [merged(7, { merged: false })], []],
    ['listMergedPulls ignores a pull request into another branch', [merged(7, { base: 'main-2' })], []],
    ['listMergedPulls prefers a matching merge commit to a matching head commit', [ofHead(7), merged(8)], [8]],
  ])('%s', async (_, pulls, expected) => {
    const github = await startGitHub();
    pulls.forEach(github.addPull);
    const found = await listMergedPulls(connectTo(github), COMMIT, 'main');
    expect(found.map(({ number }) => number)).toEqual(expected);
  });

  test('listMergedPulls reads all pages and returns each pull request with the merge commit', async () => {
    const github = await startGitHub();
    for (let number = 1; number <= 99; number++) github.addPull(merged(number, { merged: false }));
    [merged(101), merged(102, { mergeCommit: OTHER, commits: [COMMIT] }), merged(103)].forEach(github.addPull);
    const found = await listMergedPulls(connectTo(github), COMMIT, 'main');
    expect(found.map(({ number }) => number)).toEqual([101, 103]);
  });
});

test('readOpenHead returns the current head of an open pull request, or null after the merge', async () => {
  const github = await startGitHub();
  github.addPull(merged(7, { merged: false, head: OTHER }));
  const client = connectTo(github);
  expect(await readOpenHead(client, 7)).toBe(OTHER);
  github.addPull(merged(7, { merged: false, head: COMMIT }));
  expect(await readOpenHead(client, 7)).toBe(COMMIT);
  github.addPull(merged(7));
  expect(await readOpenHead(client, 7)).toBeNull();
  await expect(readOpenHead(client, 8)).rejects.toThrow('Not Found');
});

test('readBranchTip finds the tip of any branch, and throws an error for the first part of a branch name', async () => {
  const github = await startGitHub();
  github.setBranch('other', OTHER);
  for (const name of ['main', 'release/1', 'a/b/c', 'größe', '50%', 'a#b', 'a?b']) {
    github.setBranch(name, COMMIT);
    expect(await readBranchTip(connectTo(github), name)).toBe(COMMIT);
  }
  await expect(readBranchTip(connectTo(github), 'release')).rejects.toThrow('Not Found');
});

test.each<[string, Failure]>([
  ['The GitHub client sends no more requests after two requests time out without a response', 'hang'],
  ['The GitHub client sends no more requests after two requests time out in the middle of a response', 'half-answer'],
])('%s', async (_, failure) => {
  const github = await startGitHub();
  github.addPull(merged(7, { merged: false }));
  github.fail({ path: /pulls/ }, failure, Infinity);
  const time = holdDeadlines();
  const client = connectTo(github, time.now);
  const noAnswer = expect.objectContaining({ message: 'GitHub did not respond in time', status: 500 });
  for (const count of [1, 2]) {
    const head = readOpenHead(client, 7).catch((error: unknown) => error);
    await expect.poll(() => github.requests.length).toBe(count);
    time.pass();
    expect(await head).toEqual(noAnswer);
  }
  await expect(readOpenHead(client, 7)).rejects.toEqual(noAnswer);
  expect(github.requests).toHaveLength(2);
  expect(time.now()).toBeLessThan(25_000);
});

test('readOwnLogin returns github-actions[bot] for a token that cannot read its own account', async () => {
  const errors = [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }];
  for (const failure of [{ status: 404 }, { status: 200, body: { data: null, errors } }]) {
    const github = await startGitHub({ as: ADA });
    github.fail({ path: /graphql/ }, failure);
    expect(await readOwnLogin(connectTo(github))).toBe('github-actions[bot]');
  }
});

test('readOwnLogin retries a failed request, and throws an error if all retries fail', async () => {
  const github = await startGitHub({ as: { login: 'acme[bot]', type: 'Bot' } });
  github.fail({ path: /graphql/ }, { status: 502 });
  expect(await readOwnLogin(connectTo(github))).toBe('acme[bot]');
  github.fail({ path: /graphql/ }, { status: 502 }, Infinity);
  await expect(readOwnLogin(connectTo(github))).rejects.toMatchObject({ status: 502 });
});

// On Linux and macOS, 0.0.0.0 leads to this machine but is not a loopback address.
test.skipIf(process.platform === 'win32')(
  'connectGitHub sends requests to a server in a CIDR range of NO_PROXY without the proxy',
  async () => {
    const { apiUrl, token } = await startGitHub();
    const environment = {
      GITHUB_API_URL: apiUrl.replace('127.0.0.1', '0.0.0.0'),
      GITHUB_REPOSITORY: 'acme/prompts',
      HTTP_PROXY: 'http://127.0.0.1:1',
      NO_PROXY: '0.0.0.0/8',
    };
    expect(await listMergedPulls(connectGitHub(token, { now: Date.now, environment }), COMMIT, 'main')).toEqual([]);
  },
);
