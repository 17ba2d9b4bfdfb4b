import { realpathSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import type { Provenance } from '../domain/plan.ts';
import { askingIn, changedFiles, EVERYWHERE, literally, trackedFiles, type Ask } from './ask.ts';
import type { GitStart } from './environment.ts';
import { filesAt, type FilesAt, type Sources } from './files-at.ts';
import { historyOf, type History } from './history.ts';
import { makeKnownBlobs } from './known-blobs.ts';
import { findLastCommits } from './last-commits.ts';
import { openObjects } from './objects.ts';
import { placeOf } from './place.ts';
import { treesOf } from './trees.ts';

/** What git knows of the folder that holds the configuration. Paths are relative to it, as in prompt files. */
export type Repository = FilesAt &
  History & {
    /** The commit that is checked out; null before the first one. */
    readonly head: string | null;
    /** The absolute path of the folder that git keeps its own in, the same one for all work trees. */
    readonly commonDir: string;
    /** Those of the paths that differ from HEAD: edited, staged, untracked or ignored. */
    readonly uncommitted: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Those of the paths of which something else is staged than HEAD has, whatever is in the folder. */
    readonly staged: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** The commit that last touched each path, with the path from the repository's root. */
    readonly lastCommits: (paths: readonly string[]) => Promise<ReadonlyMap<string, Provenance>>;
  };

/**
 * Opens the repository that a folder is in. Every function throws a `ProblemError` when git cannot answer. Nothing is
 * written but git's own notes of file times, and paths and refs never stand where git would take them for options.
 */
export async function openRepository(start: GitStart, folder: string): Promise<Repository> {
  const { ask, askWith } = askingIn(start);
  const prefix = prefixOf(start, folder);
  const { commonDir, shallow, head } = await placeOf(ask);
  const fromRoot = (path: string): string => (CLEAN.test(path) ? prefix + path : posix.normalize(prefix + path));
  const objects = openObjects(start);
  const sources = { askWith, objects, trees: treesOf(objects), known: makeKnownBlobs() };
  return {
    head,
    commonDir,
    uncommitted: (paths) => findUncommitted(paths, { ask, head, fromRoot }),
    staged: (paths) => findStaged(paths, { ask, head, fromRoot }),
    lastCommits: (paths) => lastCommitsOf(paths, { ...sources, head, fromRoot }),
    ...filesAt(sources, fromRoot),
    ...historyOf({ ...sources, ask }, { prefix, shallow }),
  };
}

/** From the root to the folder, with a slash at its end; empty at the root. Git follows no link inside a repository. */
function prefixOf({ root }: GitStart, folder: string): string {
  const way = relative(realpathSync(root), realpathSync(folder));
  return way === '' ? '' : `${way.split(sep).join('/')}/`;
}

/** No part of it is empty or begins with a dot: what is asked for thousands of paths need not take them apart. */
const CLEAN = /^(?:[^./][^/]*\/)*[^./][^/]*$/;

/** So many paths fit on every command line; for more of them git tells of all files. */
const FEW = 50;

/** Where paths are, and what they are compared with. */
type At = Pick<Repository, 'head' | 'fromRoot'>;

async function findUncommitted(
  paths: readonly string[],
  { ask, head, fromRoot }: At & { readonly ask: Ask },
): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const wanted = paths.length > FEW ? EVERYWHERE : paths.map((path) => literally(fromRoot(path)));
  const [listed, different] = await Promise.all([
    trackedFiles(ask, wanted),
    // Not HEAD, which may have moved since.
    changedFiles(ask, head, wanted),
  ]);
  const known = new Set(listed.flatMap(({ watched, path }) => (watched ? [path] : [])));
  return new Set(
    paths.filter((path) => {
      const full = fromRoot(path);
      return !known.has(full) || different.has(full);
    }),
  );
}

async function findStaged(
  paths: readonly string[],
  { ask, head, fromRoot }: At & { readonly ask: Ask },
): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const different = await changedFiles(ask, 'HEAD', EVERYWHERE, '--cached');
  return new Set(paths.filter((path) => different.has(fromRoot(path))));
}

async function lastCommitsOf(
  paths: readonly string[],
  { askWith, trees, head, fromRoot }: At & Sources,
): Promise<ReadonlyMap<string, Provenance>> {
  if (head === null) return new Map();
  const found = await findLastCommits(askWith, trees, head, paths.map(fromRoot));
  return new Map(
    paths.flatMap((path): [string, Provenance][] => {
      const last = found.get(fromRoot(path));
      return last === undefined ? [] : [[path, last]];
    }),
  );
}
