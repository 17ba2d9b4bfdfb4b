import { posix, resolve } from 'node:path';
import { simpleGit } from 'simple-git';
import type { Provenance } from '../domain/plan.ts';
import { asker, changedFiles, WHOLE_OUTPUT, lastCommit, type Ask } from './ask.ts';
import { filesAt, type FilesAt } from './files-at.ts';
import { historyOf, type History } from './history.ts';
import { makeKnownBlobs } from './known-blobs.ts';

/** What git knows of the folder that holds the configuration. Paths are relative to it, as in prompt files. */
export type Repository = FilesAt &
  History & {
    /** The commit that is checked out; null before the first one. */
    readonly head: string | null;
    /** Absolute path of git's own folder, that of all work trees. */
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
export async function openRepository(folder: string): Promise<Repository> {
  const git = simpleGit({ baseDir: folder, maxConcurrentProcesses: 4, completion: WHOLE_OUTPUT });
  const ask = asker(git);
  const prefix = (await ask('rev-parse', '--show-prefix')).replace(/\n$/, '');
  const head = (await ask('rev-parse', '--verify', '--quiet', 'HEAD')).trim() || null;
  const fromRoot = (path: string): string => posix.normalize(prefix + path);
  const known = makeKnownBlobs();
  const commonDir = resolve(folder, (await ask('rev-parse', '--git-common-dir')).replace(/\n$/, ''));
  return {
    head,
    commonDir,
    uncommitted: (paths) => findUncommitted(ask, head, paths, fromRoot),
    staged: (paths) => findStaged(ask, head, paths, fromRoot),
    lastCommits: (paths) => findLastCommits(ask, head, paths, fromRoot),
    ...filesAt(git, ask, fromRoot, known),
    ...historyOf(ask, prefix, known),
  };
}

async function findUncommitted(
  ask: Ask,
  head: string | null,
  paths: readonly string[],
  fromRoot: (path: string) => string,
): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const [listed, different] = await Promise.all([
    ask('ls-files', '-v', '-z', '--full-name', '--', ':(top)'),
    changedFiles(ask, 'HEAD'),
  ]);
  const known = new Set(listed.split('\0').flatMap(trackedPath));
  return new Set(paths.filter((path) => !known.has(fromRoot(path)) || different.has(fromRoot(path))));
}

async function findStaged(
  ask: Ask,
  head: string | null,
  paths: readonly string[],
  fromRoot: (path: string) => string,
): Promise<ReadonlySet<string>> {
  if (head === null) return new Set(paths);
  const different = await changedFiles(ask, 'HEAD', '--cached');
  return new Set(paths.filter((path) => different.has(fromRoot(path))));
}

/** `H` and the path; other letters mark files whose edits git was told to overlook, or a merge that is not done. */
function trackedPath(entry: string): readonly string[] {
  return entry.startsWith('H ') ? [entry.slice(2)] : [];
}

async function findLastCommits(
  ask: Ask,
  head: string | null,
  paths: readonly string[],
  fromRoot: (path: string) => string,
): Promise<ReadonlyMap<string, Provenance>> {
  if (head === null) return new Map();
  const entries = await Promise.all(
    paths.map(async (path): Promise<[string, Provenance][]> => {
      const provenance = await lastCommit(ask, head, fromRoot(path));
      return provenance === null ? [] : [[path, provenance]];
    }),
  );
  return new Map(entries.flat());
}
