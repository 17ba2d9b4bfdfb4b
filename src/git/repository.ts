import { realpathSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { namesIn, NO_PROGRAMS, openGit, pathspecsOf, type Ask, type GitStart } from './driver.ts';
import { filesAt, openTrees } from './files-at.ts';
import { historyOf } from './history.ts';
import { knownTip } from './remote.ts';

/** What git knows of the folder that holds the configuration. Paths are from the root where they are not said to be from it. */
export type Repository = Awaited<ReturnType<typeof openRepository>>;

/**
 * Opens the repository that a folder is in. Every function throws a `ProblemError` when git cannot answer. Nothing is
 * written but git's own notes of file times, and paths and refs never stand where git would take them for options.
 */
export async function openRepository(start: GitStart, folder: string) {
  const git = openGit(start);
  const { ask } = git;
  const prefix = prefixOf(start, folder);
  const place = await ask('rev-parse', '--is-shallow-repository', '--revs-only', 'HEAD');
  const [shallow, head = null] = place.trim().split('\n');
  const fromRoot = (path: string): string => posix.normalize(prefix + path);
  const toFolder = (path: string): string => posix.relative(prefix, path);
  const trees = openTrees(git);
  const files = filesAt(git, trees);
  return {
    /** The commit that is checked out; null before the first one. */
    head,
    /** Whether older commits may be missing. */
    shallow: shallow === 'true',
    /** From a path that is relative to the folder. */
    fromRoot,
    /** To a path that is relative to the folder. */
    toFolder,
    /** Those of the paths (from the folder) that differ from HEAD: edited, staged, untracked or ignored. */
    uncommitted: async (paths: readonly string[]): Promise<ReadonlySet<string>> => {
      // Not HEAD, which may have moved since.
      const isAsIn = head === null ? () => false : await comparedWith(ask, head, pathspecsOf(paths.map(fromRoot)));
      return new Set(paths.filter((path) => !isAsIn(fromRoot(path))));
    },
    /** Those of the paths (from the folder) of which something else is staged than HEAD has, whatever is in the folder. */
    staged: async (paths: readonly string[]): Promise<ReadonlySet<string>> => {
      const different = new Set(namesIn(await ask(...DIFFERENCES, '--cached', '--', EVERYWHERE)));
      return new Set(paths.filter((path) => different.has(fromRoot(path))));
    },
    /** The files at a commit, by their paths from the folder: those that the work tree has as they were, and the others. */
    changedSince: async (commit: string) => {
      const [there, isAsIn] = await Promise.all([trees.pathsAt(commit), comparedWith(ask, commit, [EVERYWHERE])]);
      const { same = [], changed = [] } = Object.groupBy(there, (path) => (isAsIn(path) ? 'same' : 'changed'));
      return { same: new Set(same.map(toFolder)), changed: changed.map(toFolder) };
    },
    /** The commit that a branch of the remote (null: its default one) is at, as the clone knows it: nothing is fetched. */
    knownTip: async (branch: string | null): Promise<string | null> => {
      const ref = await knownTip(ask, branch);
      return ref === null ? null : files.resolveRef(ref);
    },
    ...files,
    ...historyOf(git, trees),
  };
}

/** From the root to the folder, with a slash at its end; empty at the root. Git follows no link inside a repository. */
function prefixOf({ root }: GitStart, folder: string): string {
  const way = relative(realpathSync(root), realpathSync(folder));
  return way === '' ? '' : `${way.split(sep).join('/')}/`;
}

const EVERYWHERE = ':(top)';

/** Names alone, whatever the user has configured. */
const DIFFERENCES = ['diff', ...NO_PROGRAMS, '--name-only', '-z', '--no-renames', '--no-relative'] as const;

/**
 * Whether the work tree has a file as a commit has it. Where git was told to ignore its edits
 * (`update-index --assume-unchanged`), or a merge of it is not done, it counts as another one.
 */
async function comparedWith(ask: Ask, commit: string, pathspecs: readonly string[]) {
  const [listed, changed] = await Promise.all([
    ask('ls-files', '-v', '-z', '--full-name', '--', ...pathspecs),
    ask(...DIFFERENCES, commit, '--', ...pathspecs),
  ]);
  const different = new Set(namesIn(changed));
  // Each path after a letter: `H` where git watches it.
  const watched = new Set(namesIn(listed).flatMap((entry) => (entry.startsWith('H ') ? [entry.slice(2)] : [])));
  return (path: string): boolean => watched.has(path) && !different.has(path);
}
