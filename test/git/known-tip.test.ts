import { expect, test } from 'vitest';
import { commitAll, configure, git, makeRepository } from '../support/folder.ts';
import { open } from './support.ts';

type Refs = Readonly<Record<string, 'first' | 'second'>>;
type Clone = {
  readonly remotes?: readonly string[];
  readonly refs?: Refs;
  /** What a remote's HEAD is known to be. */
  readonly heads?: Readonly<Record<string, string>>;
  /** The remote that each branch tracks. */
  readonly tracks?: Readonly<Record<string, string>>;
};

/** A clone whose main is at its second commit, and what it knows. */
function makeClone({ remotes = [], refs = {}, heads = {}, tracks = {} }: Clone): Record<'folder' | 'first', string> {
  const folder = makeRepository({ 'a.md': '1' });
  const first = git(folder, 'rev-parse', 'HEAD');
  const second = commitAll(folder, 'Second');
  const entries = Object.entries(tracks).map(([branch, remote]) => [`branch.${branch}.remote`, remote]);
  configure(folder, Object.fromEntries(entries));
  for (const remote of remotes) git(folder, 'remote', 'add', remote, '/nowhere');
  for (const [ref, which] of Object.entries(refs)) git(folder, 'update-ref', `refs/${ref}`, { first, second }[which]);
  for (const [remote, to] of Object.entries(heads)) {
    git(folder, 'symbolic-ref', `refs/remotes/${remote}/HEAD`, `refs/remotes/${remote}/${to}`);
  }
  return { folder, first };
}

const ORIGIN = { remotes: ['origin'], refs: { 'remotes/origin/main': 'first' } } as const;
const FORK = {
  remotes: ['origin', 'up'],
  refs: { 'remotes/origin/main': 'second', 'remotes/up/main': 'first' },
} as const;

test.each<[string, Clone, string | null, 'first' | 'HEAD' | null]>([
  ['without a remote is that of the branch here', {}, 'main', 'HEAD'],
  ['without a remote is not known of a default branch', {}, null, null],
  ['is that of origin, whatever the branch here is at', ORIGIN, 'main', 'first'],
  ['is that of the only remote', { remotes: ['up'], refs: { 'remotes/up/main': 'first' } }, 'main', 'first'],
  ['is that of the remote which the branch tracks', { ...FORK, tracks: { main: 'up' } }, 'main', 'first'],
  ['is that of origin where the branch tracks one of here', { ...ORIGIN, tracks: { main: '.' } }, 'main', 'first'],
  ['is not known of a branch that was never fetched', ORIGIN, 'live', null],
  ['is not known where none of several remotes is the one', { remotes: ['a', 'b'] }, 'main', null],
  [
    'of the default branch is what the remote’s HEAD is known to be',
    { ...ORIGIN, heads: { origin: 'main' } },
    null,
    'first',
  ],
  [
    'of the default branch is that of the remote which it tracks',
    { ...FORK, heads: { origin: 'main' }, tracks: { main: 'up' } },
    null,
    'first',
  ],
  ['of the default branch is not known without that HEAD', ORIGIN, null, null],
  ['of what is no branch is not known', ORIGIN, 'main^{/x} --all', null],
])('the tip that a clone knows %s', async (_, clone, branch, expected) => {
  const { folder, first } = makeClone(clone);
  const { knownTip, head } = await open(folder);
  expect(await knownTip(branch)).toBe(expected === 'first' ? first : expected === 'HEAD' ? head : null);
});
