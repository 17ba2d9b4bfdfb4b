import { existsSync, realpathSync } from 'node:fs';
import { join, posix, relative, sep } from 'node:path';
import {
  splitNames,
  NO_EXTERNAL_PROGRAMS,
  openGit,
  makePathspecs,
  type Git,
  type RunGit,
  type GitSettings,
} from './run-git.ts';
import { type BlobCache, type CommittedFiles, makeFileReader, makeBlobCache } from './committed-files.ts';
import { type CommitHistory, makeHistoryReader } from './commit-history.ts';
import { type CloneSettings, findKnownTipRef, findRemoteName, readCloneSettings } from './open-remote.ts';
import { makePinnedRefResolver, type PinnedRef } from './resolve-refs.ts';

/**
 * The git repository that contains a folder, usually the folder of the configuration. Each function throws a
 * `ProblemError` if git fails. Paths are relative to the repository root unless a comment names the folder.
 */
export type Repository = CommittedFiles &
  CommitHistory & {
    /** The id of the checked-out commit. Null before the first commit. */
    readonly head: string | null;
    /** Whether older commits are missing from the clone. */
    readonly isShallow: boolean;
    /** Converts a path relative to the folder to a path relative to the repository root. The root itself is empty. */
    readonly toRootPath: (path: string) => string;
    readonly toFolderPath: (path: string) => string;
    /** Returns the edited, staged, untracked and ignored files in the list. Paths are relative to the folder. */
    readonly findUncommitted: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /**
     * Also returns all tracked files below `folders` that were changed or deleted since HEAD. All `paths` must be below
     * `folders`. Paths are relative to the folder.
     */
    readonly compareWithHead: (paths: readonly string[], folders: readonly string[]) => Promise<HeadComparison>;
    /** Returns the submodule or other nested repository that contains a file. Paths are relative to the folder. */
    readonly findSubmodule: (path: string) => string | null;
    /** Returns the files in the list whose staged content differs from HEAD. Paths are relative to the folder. */
    readonly findStaged: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
    /** Omits files that are absent because of a sparse checkout. */
    readonly compareWithWorkTree: (commit: string) => Promise<WorkTreeComparison>;
    /** Lists the tracked files that are absent because of a sparse checkout. Paths are relative to the folder. */
    readonly listSparsePaths: () => Promise<readonly string[]>;
    /**
     * Returns the last known tip of the live branch, without contacting the remote. In a clone without remotes, uses
     * the local branch.
     */
    readonly findKnownTip: () => Promise<KnownTip | null>;
    /** Resolves the ref of a `git:` pin. Prefers the branch of the remote that `findKnownTip` would choose. */
    readonly resolvePinnedRef: (ref: string) => Promise<PinnedRef>;
    /** Whether the clone fetches missing objects only when git needs them (`git clone --filter`). */
    readonly isPartial: () => Promise<boolean>;
  };

/** The files of the work tree, compared with HEAD. Paths are relative to the folder. */
export type HeadComparison = { readonly uncommitted: ReadonlySet<string>; readonly changed: readonly string[] };

export type KnownTip = { readonly branch: string; readonly commit: string };

/** The files of a commit, compared with the work tree. Paths are relative to the folder. */
export type WorkTreeComparison = {
  readonly same: ReadonlySet<string>;
  /** The files that were changed or deleted in the work tree. */
  readonly changed: readonly string[];
};

/**
 * Writes only git's cache of file times. git cannot interpret the paths and refs that it gets as options.
 * @param liveBranch the branch whose commits go live; null means the default branch of the remote
 */
export async function openRepository(
  settings: GitSettings,
  folder: string,
  liveBranch: string | null = null,
): Promise<Repository> {
  const git = openGit(settings);
  const { run } = git;
  const prefix = makeFolderPrefix(settings, folder);
  const output = await run('rev-parse', '--is-shallow-repository', '--revs-only', 'HEAD');
  const [isShallow, head = null] = output.trim().split('\n');
  const toRootPath = (path: string): string => normalizeRootPath(prefix + path);
  const toFolderPath = (path: string): string => posix.relative(prefix, path);
  const blobCache = makeBlobCache(git);
  const files = makeFileReader(git, blobCache);
  const readSettings = makeSettingsReader(run);
  const compareWithHead = makeHeadComparer(run, head, { toRootPath, toFolderPath });
  return {
    head,
    isShallow: isShallow === 'true',
    toRootPath,
    toFolderPath,
    findUncommitted: async (paths) => {
      return (await compareWithHead(paths, makePathspecs(paths.map(toRootPath)))).uncommitted;
    },
    compareWithHead: (paths, folders) => compareWithHead(paths, makePathspecs(folders.map(toRootPath))),
    findSubmodule: makeSubmoduleFinder(settings, { toRootPath, toFolderPath }),
    findStaged: async (paths) => {
      const stagedNames = await listStagedNames(run);
      return new Set(paths.filter((path) => stagedNames.has(toRootPath(path))));
    },
    ...makeWorkTreeComparer(git, settings, { listPathsAt: blobCache.listPathsAt, toFolderPath }),
    findKnownTip: makeKnownTipFinder(run, readSettings, liveBranch, files),
    resolvePinnedRef: makePinnedRefResolver(git, files, async () => {
      return findRemoteName(run, await readSettings(), liveBranch);
    }),
    isPartial: async () => (await readSettings()).isPartial,
    ...files,
    ...makeHistoryReader(git, blobCache),
  };
}

/** Creates the function that finds the outermost repository below the root that contains a file. */
function makeSubmoduleFinder(
  { root }: GitSettings,
  { toRootPath, toFolderPath }: Pick<Repository, 'toRootPath' | 'toFolderPath'>,
): Repository['findSubmodule'] {
  return (path) => {
    const names = toRootPath(path).split('/').slice(0, -1);
    const folders = names.map((_, index) => names.slice(0, index + 1).join('/'));
    const submodule = folders.find((folder) => existsSync(join(root, folder, '.git')));
    return submodule === undefined ? null : toFolderPath(submodule);
  };
}

/** Returns an empty string for the root, because git finds no file for the pathspec `:(top,literal).`. */
function normalizeRootPath(path: string): string {
  const normalizedPath = posix.normalize(path);
  return normalizedPath === '.' ? '' : normalizedPath;
}

function makeHeadComparer(
  run: RunGit,
  head: string | null,
  { toRootPath, toFolderPath }: Pick<Repository, 'toRootPath' | 'toFolderPath'>,
): (paths: readonly string[], pathspecs: readonly string[]) => Promise<HeadComparison> {
  return async (paths, pathspecs) => {
    if (head === null) return { uncommitted: new Set(paths), changed: [] };
    // Compare with the commit that was HEAD when promptsync opened the repository. HEAD may have moved since then.
    const { isUnchanged, changed } = await makeComparison(run, head, pathspecs);
    const uncommitted = new Set(paths.filter((path) => !isUnchanged(toRootPath(path))));
    return { uncommitted, changed: changed.map(toFolderPath) };
  };
}

function makeWorkTreeComparer(
  { run }: Git,
  settings: GitSettings,
  { listPathsAt, toFolderPath }: Pick<BlobCache, 'listPathsAt'> & Pick<Repository, 'toFolderPath'>,
): Pick<Repository, 'compareWithWorkTree' | 'listSparsePaths'> {
  return {
    compareWithWorkTree: async (commit) => {
      const [paths, { isUnchanged, flagged }] = await Promise.all([
        listPathsAt(commit),
        makeComparison(run, commit, [ALL_FILES]),
      ]);
      const sparsePaths = new Set(keepAbsentPaths(flagged, settings));
      const presentPaths = paths.filter((path) => !sparsePaths.has(path));
      const { same = [], changed = [] } = Object.groupBy(presentPaths, (path) =>
        isUnchanged(path) ? 'same' : 'changed',
      );
      return { same: new Set(same.map(toFolderPath)), changed: changed.map(toFolderPath) };
    },
    listSparsePaths: async () => {
      const { flagged } = parseIndex(await run(...LIST_INDEX, ALL_FILES));
      return keepAbsentPaths(flagged, settings).map(toFolderPath);
    },
  };
}

/** Creates a function that reads the settings only once. */
function makeSettingsReader(run: RunGit): () => Promise<CloneSettings> {
  let settings: Promise<CloneSettings> | null = null;
  return () => (settings ??= readCloneSettings(run));
}

/** Creates a function that looks up the tip only once. */
function makeKnownTipFinder(
  run: RunGit,
  readSettings: () => Promise<CloneSettings>,
  liveBranch: string | null,
  { resolveRef }: Pick<CommittedFiles, 'resolveRef'>,
): Repository['findKnownTip'] {
  const readTip = async (): Promise<KnownTip | null> => {
    const known = await findKnownTipRef(run, await readSettings(), liveBranch);
    const commit = known === null ? null : await resolveRef(known.ref);
    return known === null || commit === null ? null : { branch: known.branch, commit };
  };
  let tip: Promise<KnownTip | null> | null = null;
  return () => (tip ??= readTip());
}

/**
 * Returns the path from the root to the folder with a trailing slash, or an empty string for the root. Resolves
 * symbolic links first, because git does not follow links inside a repository.
 */
function makeFolderPrefix({ root }: GitSettings, folder: string): string {
  const path = relative(realpathSync(root), realpathSync(folder));
  return path === '' ? '' : `${path.split(sep).join('/')}/`;
}

const ALL_FILES = ':(top)';

/** The command that lists the names of changed files, regardless of the user's configuration. */
const LIST_CHANGED_NAMES = [
  'diff',
  ...NO_EXTERNAL_PROGRAMS,
  '--name-only',
  '-z',
  '--no-renames',
  '--no-relative',
] as const;

async function listStagedNames(run: RunGit): Promise<ReadonlySet<string>> {
  return new Set(splitNames(await run(...LIST_CHANGED_NAMES, '--cached', '--', ALL_FILES)));
}

/** A comparison of the work tree with a commit. Paths are relative to the repository root. */
type RawComparison = {
  /** Returns false for an unfinished merge, and if `update-index --assume-unchanged` makes git ignore edits. */
  readonly isUnchanged: (path: string) => boolean;
  /** The tracked files that differ, including deleted files. */
  readonly changed: readonly string[];
  /** The tracked files with the `skip-worktree` flag, which a sparse checkout sets for the files that it leaves out. */
  readonly flagged: readonly string[];
};

/** The command that lists the tracked files with their flags. Pathspecs must follow. */
const LIST_INDEX = ['ls-files', '-v', '-z', '--full-name', '--'] as const;

/**
 * Parses the output of `LIST_INDEX`: a letter before each path. H marks a file that git checks for edits. S marks the
 * `skip-worktree` flag, or s if the file also has the `assume-unchanged` flag.
 */
function parseIndex(output: string): Readonly<Record<'watched' | 'flagged', readonly string[]>> {
  const entries = splitNames(output);
  const listPaths = (mark: RegExp) => entries.filter((entry) => mark.test(entry)).map((entry) => entry.slice(2));
  return { watched: listPaths(/^H /), flagged: listPaths(/^S /i) };
}

/** A path's `skip-worktree` flag does not prove that the file is absent, because users can set it for any file. */
function keepAbsentPaths(paths: readonly string[], { root }: GitSettings): readonly string[] {
  return paths.filter((path) => !existsSync(join(root, path)));
}

async function makeComparison(run: RunGit, commit: string, pathspecs: readonly string[]): Promise<RawComparison> {
  const [listedFiles, changedNames] = await Promise.all([
    run(...LIST_INDEX, ...pathspecs),
    run(...LIST_CHANGED_NAMES, commit, '--', ...pathspecs),
  ]);
  const changed = new Set(splitNames(changedNames));
  const { watched: watchedPaths, flagged } = parseIndex(listedFiles);
  const watched = new Set(watchedPaths);
  return { isUnchanged: (path) => watched.has(path) && !changed.has(path), changed: [...changed], flagged };
}
