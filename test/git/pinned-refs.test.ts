import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
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
  return (await open(folder, branch)).resolvePinnedRef(ref);
}

test('resolvePinnedRef treats tags as fixed, and branches, relative refs and searches as moving', async () => {
  const setup = ['tag v1 HEAD~1', 'tag -m x annotated HEAD~1', 'tag v2', 'branch side', 'tag side HEAD~1'];
  const { folder, first, second } = makeHistory(setup);
  const fixed = { v1: first, annotated: first, 'refs/tags/v2': second, 'tags/v2': second, side: first };
  const moving = {
    ...{ main: second, 'refs/heads/main': second, HEAD: second, '@': second, 'HEAD~1': first, 'main^': first },
    ...{ 'main@{1}': first, '@{1}': first, 'main^{/First}': first, 'v2~1': first, [`${second}~1`]: first },
  };
  const { resolvePinnedRef } = await open(folder);
  for (const [refs, isMoving] of [
    [fixed, false],
    [moving, true],
  ] as const) {
    for (const [ref, commit] of Object.entries(refs)) {
      expect([ref, await resolvePinnedRef(ref)]).toEqual([ref, { kind: 'found', commit, isMoving }]);
    }
  }
  git(folder, 'tag', 'refs/heads/main', 'HEAD~1');
  expect(await resolve(folder, 'refs/heads/main')).toEqual({ kind: 'found', commit: second, isMoving: true });
});

test('resolvePinnedRef treats at least 12 digits of a commit id as fixed, even if a tag and a branch have that name', async () => {
  const { folder, first } = makeHistory();
  const ids = [first, first.toUpperCase(), first.slice(0, 12)];
  for (const id of ids) {
    git(folder, 'tag', id);
    git(folder, 'update-ref', `refs/heads/${id}`, 'HEAD');
  }
  const { resolvePinnedRef } = await open(folder);
  for (const id of ids) {
    expect(await resolvePinnedRef(id)).toEqual({ kind: 'found', commit: first, isMoving: false });
  }
});

test('resolvePinnedRef cannot resolve a ref that names no commit, or whose short name only looks like a tag', async () => {
  const { folder } = makeHistory(['tag v1', 'tag deadbeef0123', 'tag refs/tags/gone']);
  const { resolvePinnedRef } = await open(folder);
  for (const ref of ['deadbeef0123', 'refs/tags/gone', 'gone', 'gone~1', 'refs/heads/v1', 'main~9', 'a-gHEAD']) {
    expect([ref, await resolvePinnedRef(ref)]).toEqual([ref, { kind: 'unknown' }]);
  }
});

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

test('resolvePinnedRef resolves a tag with a hexadecimal name if it is short or if the pin contains its full name', async () => {
  const { folder, second } = makeHistory(['tag 20261201', 'tag 202612011200']);
  const { resolvePinnedRef } = await open(folder);
  const found = { kind: 'found', commit: second, isMoving: false };
  expect(await resolvePinnedRef('20261201')).toEqual(found);
  expect(await resolvePinnedRef('202612011200')).toEqual({ kind: 'unknown' });
  expect(await resolvePinnedRef('refs/tags/202612011200')).toEqual(found);
});

test('resolvePinnedRef prefers tags, then the branch on the remote that the live branch tracks or on origin, then the local branch', async () => {
  const setup = ['branch release', 'remote add origin /nowhere', 'update-ref refs/remotes/origin/release HEAD~1'];
  const { folder, first, second } = makeHistory([...setup, 'update-ref refs/remotes/origin/remote-only HEAD~1']);
  const commitOf = async (ref: string, branch: string | null = null) => {
    const pinned = await resolve(folder, ref, branch);
    return pinned.kind === 'found' ? pinned.commit : pinned.kind;
  };
  expect(await commitOf('release')).toBe(first);
  expect(await commitOf('remote-only')).toBe(first);
  expect(await commitOf('main')).toBe(second);
  expect(await commitOf('refs/heads/release')).toBe(second);
  expect(await commitOf('release~0')).toBe(first);
  git(folder, 'remote', 'add', 'up', '/nowhere');
  git(folder, 'update-ref', 'refs/remotes/up/release', 'HEAD');
  expect(await commitOf('release')).toBe(first);
  expect(await commitOf('up/release')).toBe(second);
  git(folder, 'config', 'branch.main.remote', 'up');
  expect(await commitOf('release', 'main')).toBe(second);
  git(folder, 'tag', 'release', 'HEAD~1');
  expect(await commitOf('release', 'main')).toBe(first);
});
