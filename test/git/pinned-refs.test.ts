import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { PinnedRef } from '../../src/git/resolve-refs.ts';
import { commitAll, git, makeRepository } from '../support/folder.ts';
import { open } from './support.ts';

/** Makes a repository with two commits on `main`. Runs the git commands of `setup` in it. */
function makeHistory(setup: readonly string[] = []) {
  const folder = makeRepository({ 'a.md': '1' });
  const first = git(folder, 'rev-parse', 'HEAD');
  const second = commitAll(folder, 'Second');
  for (const words of setup) git(folder, ...words.split(' '));
  return { folder, first, second };
}

/** Writes a commit without a parent. Returns its id. */
function writeCommit(folder: string, message: string): string {
  const tree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const person = 'A <a@example.com> 0 +0000';
  const input = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n\n${message}\n`;
  const words = ['hash-object', '-t', 'commit', '-w', '--stdin'];
  return execFileSync('git', words, { cwd: folder, input, encoding: 'utf8' }).trim();
}

async function resolve(folder: string, ref: string, branch: string | null = null): Promise<PinnedRef> {
  return (await open(folder)).resolvePinnedRef(ref, branch);
}

describe('resolvePinnedRef', () => {
  test.each<[string, string, 'HEAD' | 'HEAD~1', boolean, readonly string[]]>([
    ['resolvePinnedRef treats a tag as fixed', 'v1', 'HEAD~1', false, ['tag v1 HEAD~1']],
    ['resolvePinnedRef treats an annotated tag as fixed', 'v1', 'HEAD~1', false, ['tag -m x v1 HEAD~1']],
    ['resolvePinnedRef treats the full name of a tag as fixed', 'refs/tags/v1', 'HEAD', false, ['tag v1']],
    ['resolvePinnedRef treats tags/NAME as fixed', 'tags/v1', 'HEAD', false, ['tag v1']],
    [
      'resolvePinnedRef prefers a tag over a branch with the same name',
      'side',
      'HEAD~1',
      false,
      ['branch side', 'tag side HEAD~1'],
    ],
    ['resolvePinnedRef treats a branch as moving', 'main', 'HEAD', true, []],
    ['resolvePinnedRef treats the full name of a branch as moving', 'refs/heads/main', 'HEAD', true, []],
    ['resolvePinnedRef treats HEAD as moving', 'HEAD', 'HEAD', true, []],
    ['resolvePinnedRef treats @ as moving', '@', 'HEAD', true, []],
    ['resolvePinnedRef treats HEAD~1 as moving', 'HEAD~1', 'HEAD~1', true, []],
    ['resolvePinnedRef treats main^ as moving', 'main^', 'HEAD~1', true, []],
    ['resolvePinnedRef treats main@{1} as moving', 'main@{1}', 'HEAD~1', true, []],
    ['resolvePinnedRef treats @{1} as moving', '@{1}', 'HEAD~1', true, []],
    ['resolvePinnedRef treats a search for a commit message as moving', 'main^{/First}', 'HEAD~1', true, []],
    ['resolvePinnedRef treats a ref relative to a tag as moving', 'v1~1', 'HEAD~1', true, ['tag v1']],
    [
      'resolvePinnedRef resolves the full name of a branch to the branch, even if a tag has that name',
      'refs/heads/main',
      'HEAD',
      true,
      ['tag refs/heads/main HEAD~1'],
    ],
  ])('%s', async (_, ref, expected, isMoving, setup) => {
    const { folder } = makeHistory(setup);
    const commit = git(folder, 'rev-parse', expected);
    expect(await resolve(folder, ref)).toEqual({ kind: 'found', commit, isMoving });
  });

  test.each<[string, (id: string) => string]>([
    ['resolvePinnedRef treats a full commit id as fixed, even if a tag and a branch have that name', (id) => id],
    [
      'resolvePinnedRef treats an uppercase commit id as fixed, even if a tag and a branch have that name',
      (id) => id.toUpperCase(),
    ],
    [
      'resolvePinnedRef treats the first 12 digits of a commit id as fixed, even if a tag and a branch have that name',
      (id) => id.slice(0, 12),
    ],
  ])('%s', async (_, write) => {
    const { folder, first } = makeHistory();
    git(folder, 'tag', write(first));
    git(folder, 'update-ref', `refs/heads/${write(first)}`, 'HEAD');
    expect(await resolve(folder, write(first))).toEqual({ kind: 'found', commit: first, isMoving: false });
  });

  test('resolvePinnedRef treats a ref relative to a commit id as moving', async () => {
    const { folder, first, second } = makeHistory();
    expect(await resolve(folder, `${second}~1`)).toEqual({ kind: 'found', commit: first, isMoving: true });
  });

  test.each(['deadbeef0123', 'refs/tags/gone', 'gone', 'gone~1', 'refs/heads/v1', 'main~9', 'a-gHEAD'])(
    'resolvePinnedRef cannot resolve %s',
    async (ref) => {
      const { folder } = makeHistory(['tag v1', 'tag deadbeef0123', 'tag refs/tags/gone']);
      expect(await resolve(folder, ref)).toEqual({ kind: 'unknown' });
    },
  );

  test('resolvePinnedRef does not resolve the first 11 digits of a commit id, even if a tag has that name', async () => {
    const { folder, first } = makeHistory();
    const short = first.slice(0, 11);
    expect(await resolve(folder, short)).toEqual({ kind: 'short-id', commits: [first] });
    git(folder, 'tag', short);
    expect(await resolve(folder, short)).toEqual({ kind: 'short-id', commits: [first] });
  });

  test('resolvePinnedRef rejects 12 digits that are a prefix of two commit ids, even if a tag has that name', async () => {
    const { folder } = makeHistory();
    // These two commits were found by trying 30 million messages.
    const commits = ['002867020', '015634253'].map((message) => writeCommit(folder, message));
    expect(new Set(commits.map((commit) => commit.slice(0, 12)))).toEqual(new Set(['30cb7174cf3d']));
    git(folder, 'tag', '30cb7174cf3d', commits[0]!);
    const pinned = await resolve(folder, '30cb7174cf3d');
    expect(pinned).toEqual({ kind: 'ambiguous-id', commits: commits.toSorted() });
    expect(await resolve(folder, commits[0]!)).toMatchObject({ commit: commits[0] });
  });

  test('resolvePinnedRef resolves a tag with a short hexadecimal name if no commit id begins with that name', async () => {
    const { folder, second } = makeHistory(['tag 20261201']);
    expect(await resolve(folder, '20261201')).toEqual({ kind: 'found', commit: second, isMoving: false });
  });

  test('resolvePinnedRef resolves a tag that is named like a commit id only if the pin contains the full name of the tag', async () => {
    const { folder, second } = makeHistory(['tag 202612011200']);
    expect(await resolve(folder, '202612011200')).toEqual({ kind: 'unknown' });
    expect(await resolve(folder, 'refs/tags/202612011200')).toEqual({ kind: 'found', commit: second, isMoving: false });
  });
});

describe('resolvePinnedRef for remote branches', () => {
  const RELEASE = ['branch release', 'remote add origin /nowhere', 'update-ref refs/remotes/origin/release HEAD~1'];
  const UPSTREAM = ['remote add up /nowhere', 'update-ref refs/remotes/up/release HEAD'];

  test.each<[string, string, string | null, 'HEAD' | 'HEAD~1', readonly string[]]>([
    ['resolvePinnedRef prefers the remote branch over the local branch', 'release', null, 'HEAD~1', RELEASE],
    ['resolvePinnedRef finds a branch that exists only on the remote', 'release', null, 'HEAD~1', RELEASE.slice(1)],
    ['resolvePinnedRef uses the local branch if the remote does not have that branch', 'main', null, 'HEAD', RELEASE],
    ['resolvePinnedRef prefers origin over other remotes', 'release', null, 'HEAD~1', [...RELEASE, ...UPSTREAM]],
    [
      'resolvePinnedRef uses the remote that the configured branch tracks',
      'release',
      'main',
      'HEAD',
      [...RELEASE, ...UPSTREAM, 'config branch.main.remote up'],
    ],
    [
      "resolvePinnedRef finds a remote branch by a name that begins with the remote's name",
      'up/release',
      null,
      'HEAD',
      [...RELEASE, ...UPSTREAM],
    ],
    ['resolvePinnedRef finds a local branch by its full name', 'refs/heads/release', null, 'HEAD', RELEASE],
    ['resolvePinnedRef resolves relative refs against the remote branch', 'release~0', null, 'HEAD~1', RELEASE],
    [
      'resolvePinnedRef prefers a tag over a remote branch with the same name',
      'release',
      null,
      'HEAD',
      [...RELEASE, 'tag release'],
    ],
  ])('%s', async (_, ref, branch, expected, setup) => {
    const { folder } = makeHistory(setup);
    expect(await resolve(folder, ref, branch)).toMatchObject({ commit: git(folder, 'rev-parse', expected) });
  });
});
