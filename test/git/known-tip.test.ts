import { expect, test } from 'vitest';
import { commitAll, git, makeRepository } from '../support/folder.ts';
import { open } from './support.ts';

const setRef = (ref: string, commit = 'HEAD~1') => `update-ref refs/${ref} ${commit}`;
const trackRemote = (remote: string) => `config branch.main.remote ${remote}`;
const SET_REMOTE_HEAD = 'symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main';
const ORIGIN = ['remote add origin /nowhere', setRef('remotes/origin/main')];
const ORIGIN_AND_UPSTREAM = [
  ...ORIGIN,
  setRef('remotes/origin/main', 'HEAD'),
  'remote add up /nowhere',
  setRef('remotes/up/main'),
];

test.each<[string, readonly string[], string | null, string | null]>([
  ['findKnownTip returns the tip of the local branch in a repository without a remote', [], 'main', 'HEAD'],
  ['findKnownTip uses the local branch main as the default branch in a repository without a remote', [], null, 'HEAD'],
  [
    'findKnownTip returns null for the default branch if the repository has no remote and neither a main nor a master branch',
    ['branch --move topic'],
    null,
    null,
  ],
  ['findKnownTip returns the tip of the branch on origin, not that of the local branch', ORIGIN, 'main', 'HEAD~1'],
  [
    'findKnownTip reads the tip from the only remote even if that remote is not named origin',
    ['remote add up /nowhere', setRef('remotes/up/main')],
    'main',
    'HEAD~1',
  ],
  [
    'findKnownTip reads the tip from the remote that the branch tracks',
    [...ORIGIN_AND_UPSTREAM, trackRemote('up')],
    'main',
    'HEAD~1',
  ],
  [
    'findKnownTip reads the tip from origin if the branch tracks a local branch',
    [...ORIGIN, trackRemote('.')],
    'main',
    'HEAD~1',
  ],
  ['findKnownTip returns null for a branch that was never fetched', ORIGIN, 'live', null],
  [
    'findKnownTip returns null if it cannot choose among several remotes',
    [...ORIGIN_AND_UPSTREAM, 'remote rename origin mine'],
    'main',
    null,
  ],
  ['findKnownTip uses the HEAD of the remote to find the default branch', [...ORIGIN, SET_REMOTE_HEAD], null, 'HEAD~1'],
  [
    'findKnownTip reads the tip of the default branch from the remote that the branch tracks',
    [...ORIGIN_AND_UPSTREAM, SET_REMOTE_HEAD, trackRemote('up')],
    null,
    'HEAD~1',
  ],
  [
    'findKnownTip uses main as the default branch if the HEAD of the remote is unknown and the remote has no master',
    ORIGIN,
    null,
    'HEAD~1',
  ],
  [
    'findKnownTip returns null for the default branch if the remote has both main and master but no known HEAD',
    [...ORIGIN, setRef('remotes/origin/master')],
    null,
    null,
  ],
  [
    'findKnownTip does not mistake a branch such as main/old for the default branch',
    ['remote add origin /nowhere', setRef('remotes/origin/main/old')],
    null,
    null,
  ],
  ['findKnownTip returns null for an invalid branch name', ORIGIN, 'main^{/x} --all', null],
])('%s', async (_, setup, branch, expected) => {
  const folder = makeRepository({ 'a.md': '1' });
  commitAll(folder, 'Second');
  for (const words of setup) git(folder, ...words.split(' '));
  const { findKnownTip: knownTip } = await open(folder);
  expect((await knownTip(branch))?.commit ?? null).toBe(expected && git(folder, 'rev-parse', expected));
});
