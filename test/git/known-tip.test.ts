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

test.each<[readonly string[], string | null, string | null]>([
  [[], 'main', 'HEAD'],
  [[], null, 'HEAD'],
  [['branch --move topic'], null, null],
  [ORIGIN, 'main', 'HEAD~1'],
  [['remote add up /nowhere', setRef('remotes/up/main')], 'main', 'HEAD~1'],
  [[...ORIGIN_AND_UPSTREAM, trackRemote('up')], 'main', 'HEAD~1'],
  [[...ORIGIN, trackRemote('.')], 'main', 'HEAD~1'],
  [ORIGIN, 'live', null],
  [[...ORIGIN_AND_UPSTREAM, 'remote rename origin mine'], 'main', null],
  [[...ORIGIN, SET_REMOTE_HEAD], null, 'HEAD~1'],
  [[...ORIGIN_AND_UPSTREAM, SET_REMOTE_HEAD, trackRemote('up')], null, 'HEAD~1'],
  [ORIGIN, null, 'HEAD~1'],
  [[...ORIGIN, setRef('remotes/origin/master')], null, null],
  [['remote add origin /nowhere', setRef('remotes/origin/main/old')], null, null],
  [ORIGIN, 'main^{/x} --all', null],
])(
  'After the git commands %j, findKnownTip returns for the branch %j the commit %j',
  async (setup, branch, expected) => {
    const folder = makeRepository({ 'a.md': '1' });
    commitAll(folder, 'Second');
    for (const words of setup) git(folder, ...words.split(' '));
    const { findKnownTip: knownTip } = await open(folder, branch);
    expect((await knownTip())?.commit ?? null).toBe(expected && git(folder, 'rev-parse', expected));
  },
);
