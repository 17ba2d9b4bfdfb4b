import { posix } from 'node:path';
import { literally, type Ask } from './ask.ts';

/** What git knows of the history between commits. */
export type History = {
  /** All files at a commit, their paths relative to the configuration's folder. */
  readonly pathsAt: (commit: string) => Promise<readonly string[]>;
  /** Those files that differ between a commit and the work tree, or are in one of the two alone; untracked ones are not. */
  readonly changedSince: (commit: string) => Promise<ReadonlySet<string>>;
  /** The commits that any of the commits contains, themselves included. */
  readonly ancestorsOf: (commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The commits up to this one that touched a path, newest first, and no more than so many. */
  readonly commitsTouching: (commit: string, path: string, most: number) => Promise<readonly string[]>;
  readonly isShallow: () => Promise<boolean>;
};

export function historyOf(ask: Ask, prefix: string): History {
  const toFolder = (path: string): string => posix.relative(prefix === '' ? '.' : prefix, path);
  const paths = (listed: string) => listed.split('\0').flatMap((path) => (path === '' ? [] : [toFolder(path)]));
  const lines = (listed: string) => listed.split('\n').filter((line) => line !== '');
  const plain = ['--name-only', '-z', '--no-ext-diff', '--no-renames', '--no-relative'];
  return {
    pathsAt: async (commit) => paths(await ask('ls-tree', '-r', '-z', '--name-only', '--full-tree', commit)),
    changedSince: async (commit) => new Set(paths(await ask('diff', ...plain, commit, '--', ':(top)'))),
    ancestorsOf: async (commits) => new Set(lines(await ask('rev-list', ...commits, '--'))),
    commitsTouching: async (commit, path, most) => {
      const where = literally(posix.normalize(prefix + path));
      return lines(await ask('rev-list', `--max-count=${most}`, commit, '--', where));
    },
    isShallow: async () => (await ask('rev-parse', '--is-shallow-repository')).trim() === 'true',
  };
}
