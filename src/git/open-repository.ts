import { realpathSync } from 'node:fs';
import { posix, relative, sep } from 'node:path';
import { splitNames, NO_EXTERNAL_PROGRAMS, openGit, makePathspecs, type RunGit, type GitSettings } from './open-git.ts';
import { type CommittedFiles, makeFileReader, makeBlobCache } from './file-reader.ts';
import { type CommitHistory, makeHistoryReader } from './history-reader.ts';
import { readKnownTip } from './open-remote.ts';

/**
 * The git repository that contains the folder of the configuration. Every function throws a `ProblemError` if git fails.
 * Paths are relative to the root of the repository unless a comment says that they are relative to the folder.
 */
export type Repository = CommittedFiles &
  CommitHistory & {
    /** The commit that is checked out; null before the first one. */
    readonly head: string | null;
    /** Whether the clone is shallow, so that older commits may be missing. */
    readonly isShallow: boolean;
    /** Makes a path that is relative to the folder relative to the root. */
    readonly toRootPath: (path: string) => string;
    /** Makes a path that is relative to the root relative to the folder. */
    readonly toFolderPath: (path: string) => string;
    /** Returns those of the paths (from the folder) that differ from HEAD: edited, staged, untracked or ignored. */
    readonly findUncommitted: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Returns those of the paths (from the folder) whose staged content differs from HEAD. */
    readonly findStaged: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Compares the files at a commit with the work tree. */
    readonly compareWithWorkTree: (commit: string) => Promise<WorkTreeComparison>;
    /**
     * Returns the commit that a branch of the remote is at, as the clone knows it, or null if the clone does not know
     * it. Nothing is fetched. The branch null is the remote's default branch.
     */
    readonly findKnownTip: (branch: string | null) => Promise<string | null>;
  };

/** The files that a commit has, by their paths from the folder. */
export type WorkTreeComparison = {
  /** The files that the work tree still has as the commit has them. */
  readonly same: ReadonlySet<string>;
  /** The files that the work tree has changed or deleted. */
  readonly changed: readonly string[];
};

/**
 * Opens the repository that a folder is in. promptsync writes nothing there except git's own cache of file times. Paths
 * and refs never stand where git would take them for options.
 */
export async function openRepository(start: GitSettings, folder: string): Promise<Repository> {
  const git = openGit(start);
  const { run } = git;
  const prefix = makeFolderPrefix(start, folder);
  const place = await run('rev-parse', '--is-shallow-repository', '--revs-only', 'HEAD');
  const [shallow, head = null] = place.trim().split('\n');
  const fromRoot = (path: string): string => posix.normalize(prefix + path);
  const toFolder = (path: string): string => posix.relative(prefix, path);
  const trees = makeBlobCache(git);
  const files = makeFileReader(git, trees);
  return {
    head,
    isShallow: shallow === 'true',
    toRootPath: fromRoot,
    toFolderPath: toFolder,
    findUncommitted: async (paths) => {
      // Compares with the commit that HEAD was at first: HEAD may have moved since.
      const isAsIn = head === null ? () => false : await makeComparison(run, head, makePathspecs(paths.map(fromRoot)));
      return new Set(paths.filter((path) => !isAsIn(fromRoot(path))));
    },
    findStaged: async (paths) => {
      const different = new Set(splitNames(await run(...DIFFERENCES, '--cached', '--', EVERYWHERE)));
      return new Set(paths.filter((path) => different.has(fromRoot(path))));
    },
    compareWithWorkTree: async (commit) => {
      const [there, isAsIn] = await Promise.all([trees.listPathsAt(commit), makeComparison(run, commit, [EVERYWHERE])]);
      const { same = [], changed = [] } = Object.groupBy(there, (path) => (isAsIn(path) ? 'same' : 'changed'));
      return { same: new Set(same.map(toFolder)), changed: changed.map(toFolder) };
    },
    findKnownTip: async (branch) => {
      const ref = await readKnownTip(run, branch);
      return ref === null ? null : files.resolveRef(ref);
    },
    ...files,
    ...makeHistoryReader(git, trees),
  };
}

/** From the root to the folder, with a slash at its end; empty at the root. Git follows no link inside a repository. */
function makeFolderPrefix({ root }: GitSettings, folder: string): string {
  const way = relative(realpathSync(root), realpathSync(folder));
  return way === '' ? '' : `${way.split(sep).join('/')}/`;
}

const EVERYWHERE = ':(top)';

/** Names alone, whatever the user has configured. */
const DIFFERENCES = ['diff', ...NO_EXTERNAL_PROGRAMS, '--name-only', '-z', '--no-renames', '--no-relative'] as const;

/**
 * Returns a function that tells whether the work tree has a file as a commit has it. A file counts as changed if its
 * merge is unfinished, or if git was told to ignore its edits (`update-index --assume-unchanged`).
 */
async function makeComparison(
  run: RunGit,
  commit: string,
  pathspecs: readonly string[],
): Promise<(path: string) => boolean> {
  const [listed, changed] = await Promise.all([
    run('ls-files', '-v', '-z', '--full-name', '--', ...pathspecs),
    run(...DIFFERENCES, commit, '--', ...pathspecs),
  ]);
  const different = new Set(splitNames(changed));
  // Each path after a letter: `H` where git watches it.
  const watched = new Set(splitNames(listed).flatMap((entry) => (entry.startsWith('H ') ? [entry.slice(2)] : [])));
  return (path) => watched.has(path) && !different.has(path);
}
