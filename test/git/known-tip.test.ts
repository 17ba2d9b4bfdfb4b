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
  ['in a repository without a remote, the known tip is that of the local branch', [], 'main', 'HEAD'],
  ['in a repository without a remote, the tip of the default branch is unknown', [], null, null],
  ['the known tip is that of origin, not that of the local branch', ORIGIN, 'main', 'HEAD~1'],
  ['the known tip is that of the only remote', ['remote add up /nowhere', setRef('remotes/up/main')], 'main', 'HEAD~1'],
  [
    'the known tip is that of the remote that the branch tracks',
    [...ORIGIN_AND_UPSTREAM, trackRemote('up')],
    'main',
    'HEAD~1',
  ],
  [
    'the known tip is that of origin if the branch tracks a local branch',
    [...ORIGIN, trackRemote('.')],
    'main',
    'HEAD~1',
  ],
  ['the tip of a branch that was never fetched is unknown', ORIGIN, 'live', null],
  [
    'the tip is unknown if promptsync cannot choose among several remotes',
    [...ORIGIN_AND_UPSTREAM, 'remote rename origin mine'],
    'main',
    null,
  ],
  ["the known tip of the default branch comes from the remote's HEAD", [...ORIGIN, SET_REMOTE_HEAD], null, 'HEAD~1'],
  [
    'the known tip of the default branch comes from the remote that the branch tracks',
    [...ORIGIN_AND_UPSTREAM, SET_REMOTE_HEAD, trackRemote('up')],
    null,
    'HEAD~1',
  ],
  ["the tip of the default branch is unknown without the remote's HEAD", ORIGIN, null, null],
  ['the tip is unknown for a name that is not a branch', ORIGIN, 'main^{/x} --all', null],
])('%s', async (_, setup, branch, expected) => {
  const folder = makeRepository({ 'a.md': '1' });
  commitAll(folder, 'Second');
  for (const words of setup) git(folder, ...words.split(' '));
  const { findKnownTip: knownTip } = await open(folder);
  expect(await knownTip(branch)).toBe(expected && git(folder, 'rev-parse', expected));
});
