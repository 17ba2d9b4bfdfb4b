import { realpathSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import type { Provenance } from '../domain/plan.ts';
import { EVERYWHERE, gathered, namesIn, openGit, pathspecsOf, type Ask, type GitStart } from './driver.ts';
import { filesAt, openTrees, type FilesAt } from './files-at.ts';
import { changedFiles, findLastCommits, historyOf, LIST_FILES, type History } from './history.ts';

/** What git knows of the folder that holds the configuration. Paths are relative to it, as in prompt files. */
export type Repository = FilesAt &
  History & {
    /** The commit that is checked out; null before the first one. */
    readonly head: string | null;
    readonly fromRoot: (path: string) => string;
    /** Those of the paths that differ from HEAD: edited, staged, untracked or ignored. */
    readonly uncommitted: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Those of the paths of which something else is staged than HEAD has, whatever is in the folder. */
    readonly staged: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** The commit that last touched each path, with the path from the repository's root. */
    readonly lastCommits: (paths: readonly string[]) => Promise<ReadonlyMap<string, Provenance>>;
    /** The commit that last touched a file (from the repository's root) as of another commit. */
    readonly lastCommitAt: (commit: string, pathFromRoot: string) => Promise<Provenance | null>;
  };

/**
 * Opens the repository that a folder is in. Every function throws a `ProblemError` when git cannot answer. Nothing is
 * written but git's own notes of file times, and paths and refs never stand where git would take them for options.
 */
export async function openRepository(start: GitStart, folder: string): Promise<Repository> {
  const git = openGit(start);
  const { ask } = git;
  const prefix = prefixOf(start, folder);
  const { shallow, head } = await placeOf(ask);
  const fromRoot = (path: string): string => posix.normalize(prefix + path);
  const trees = openTrees(git);
  const lastAt = gathered((paths, commit = '') => findLastCommits(ask, trees, commit, paths));
  const whole = { ask, head, fromRoot };
  return {
    head,
    fromRoot,
    uncommitted: (paths) => findUncommitted(paths, whole),
    staged: (paths) => findStaged(paths, whole),
    lastCommits: async (paths) => {
      if (head === null || paths.length === 0) return new Map();
      const found = await findLastCommits(ask, trees, head, paths.map(fromRoot));
      const last = paths.map((path) => [path, found.get(fromRoot(path))] as const);
      return new Map(last.flatMap(([path, commit]) => (commit === undefined ? [] : [[path, commit]])));
    },
    lastCommitAt: async (commit, path) => (await lastAt(path, commit)).get(path) ?? null,
    ...filesAt(git, trees),
    ...historyOf(git, trees, { prefix, shallow }),
  };
}

/** From the root to the folder, with a slash at its end; empty at the root. Git follows no link inside a repository. */
function prefixOf({ root }: GitStart, folder: string): string {
  const way = relative(realpathSync(root), realpathSync(folder));
  return way === '' ? '' : `${way.split(sep).join('/')}/`;
}

/** Throws a `ProblemError` outside of a repository. */
async function placeOf(ask: Ask) {
  const [shallow, head] = (await ask('rev-parse', '--is-shallow-repository', '--revs-only', 'HEAD')).trim().split('\n');
  return { shallow: shallow === 'true', head: head ?? null };
}

/** Where paths are, and what they are compared with. */
type Whole = Pick<Repository, 'head' | 'fromRoot'> & { readonly ask: Ask };

async function findUncommitted(paths: readonly string[], { ask, head, fromRoot }: Whole): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const wanted = pathspecsOf(paths.map(fromRoot));
  const [listed, different] = await Promise.all([
    ask(...LIST_FILES, ...wanted),
    // Not HEAD, which may have moved since.
    changedFiles(ask, wanted, head),
  ]);
  const watched = new Set(namesIn(listed).flatMap((entry) => (entry.startsWith('H ') ? [entry.slice(2)] : [])));
  return new Set(
    paths.filter((path) => {
      const full = fromRoot(path);
      return !watched.has(full) || different.has(full);
    }),
  );
}

async function findStaged(paths: readonly string[], { ask, head, fromRoot }: Whole): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const different = await changedFiles(ask, [EVERYWHERE], 'HEAD', '--cached');
  return new Set(paths.filter((path) => different.has(fromRoot(path))));
}
