import { posix } from 'node:path';
import { changedFiles, literally, type Ask } from './ask.ts';

/** What git knows of the history between commits. */
export type History = {
  /** All files at a commit, their paths relative to the configuration's folder. */
  readonly pathsAt: (commit: string) => Promise<readonly string[]>;
  /** Those files that differ between a commit and the work tree, or are in one of the two alone; untracked ones are not. */
  readonly changedSince: (commit: string) => Promise<ReadonlySet<string>>;
  /** The commits that any of the commits contains, themselves included. */
  readonly ancestorsOf: (commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Where a file (from the repository's root) was touched up to a commit, under earlier names as well; newest first. */
  readonly whereTouched: (commit: string, pathFromRoot: string, most: number) => Promise<readonly FileAtCommit[]>;
  readonly isShallow: () => Promise<boolean>;
};

/** A path from the repository's root, as it was called at the commit. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

export function historyOf(ask: Ask, prefix: string): History {
  const toFolder = (path: string): string => posix.relative(prefix === '' ? '.' : prefix, path);
  const paths = (listed: string) => listed.split('\0').flatMap((path) => (path === '' ? [] : [toFolder(path)]));
  const lines = (listed: string) => listed.split('\n').filter((line) => line !== '');
  return {
    pathsAt: async (commit) => paths(await ask('ls-tree', '-r', '-z', '--name-only', '--full-tree', commit)),
    changedSince: async (commit) => new Set(paths(await changedFiles(ask, commit))),
    ancestorsOf: async (commits) => new Set(lines(await ask('rev-list', ...commits, '--'))),
    whereTouched: async (commit, path, most) => {
      const how = ['--follow', '--no-show-signature', '--name-only', '-z', '--no-relative', '--format=%H'];
      return parseTouched(await ask('log', ...how, `--max-count=${most}`, commit, '--', literally(path)));
    },
    isShallow: async () => (await ask('rev-parse', '--is-shallow-repository')).trim() === 'true',
  };
}

/** Each commit is followed by the name that the file had, which begins with a line feed; a merge may have none. */
function parseTouched(listed: string): readonly FileAtCommit[] {
  const words = listed.split('\0');
  return words.flatMap((word, index) => {
    const commit = words[index - 1];
    return word.startsWith('\n') && commit !== undefined ? [{ commit, path: word.slice(1) }] : [];
  });
}
