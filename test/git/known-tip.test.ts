import { expect, test } from 'vitest';
import { commitAll, git, makeRepository } from '../support/folder.ts';
import { open } from './support.ts';

const has = (ref: string, commit = 'HEAD~1') => `update-ref refs/${ref} ${commit}`;
const tracks = (remote: string) => `config branch.main.remote ${remote}`;
const HEAD = 'symbolic-ref refs/remotes/origin/HEAD refs/remotes/origin/main';
const ORIGIN = ['remote add origin /nowhere', has('remotes/origin/main')];
const FORK = [...ORIGIN, has('remotes/origin/main', 'HEAD'), 'remote add up /nowhere', has('remotes/up/main')];

test.each<[string, readonly string[], string | null, string | null]>([
  ['without a remote is that of the branch here', [], 'main', 'HEAD'],
  ['without a remote is not known of a default branch', [], null, null],
  ['is that of origin, whatever the branch here is at', ORIGIN, 'main', 'HEAD~1'],
  ['is that of the only remote', ['remote add up /nowhere', has('remotes/up/main')], 'main', 'HEAD~1'],
  ['is that of the remote which the branch tracks', [...FORK, tracks('up')], 'main', 'HEAD~1'],
  ['is that of origin where the branch tracks one of here', [...ORIGIN, tracks('.')], 'main', 'HEAD~1'],
  ['is not known of a branch that was never fetched', ORIGIN, 'live', null],
  ['is not known where none of several remotes is the one', [...FORK, 'remote rename origin mine'], 'main', null],
  ['of the default branch is what the remote’s HEAD is known to be', [...ORIGIN, HEAD], null, 'HEAD~1'],
  ['of the default branch is that of the remote which it tracks', [...FORK, HEAD, tracks('up')], null, 'HEAD~1'],
  ['of the default branch is not known without that HEAD', ORIGIN, null, null],
  ['of what is no branch is not known', ORIGIN, 'main^{/x} --all', null],
])('the tip that a clone knows %s', async (_, setup, branch, expected) => {
  const folder = makeRepository({ 'a.md': '1' });
  commitAll(folder, 'Second');
  for (const words of setup) git(folder, ...words.split(' '));
  const { knownTip } = await open(folder);
  expect(await knownTip(branch)).toBe(expected && git(folder, 'rev-parse', expected));
});
