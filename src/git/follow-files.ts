import type { BlobCache } from './file-reader.ts';
import type { RunGit } from './open-git.ts';
import { type FileStateChange, type LogEntry, MAX_COMMITS, readLog } from './read-log.ts';
import type { FileAtCommit } from './read-trees.ts';

/** What `followFiles` reads from, and where it stores what it learns. */
export type FollowReaders = {
  readonly run: RunGit;
  readonly blobCache: BlobCache;
  /** The committer dates of the commits that changed a followed file, in seconds since 1970. */
  readonly times: Map<string, number>;
  /** The files that the first-parent history of each followed commit deleted. Omits files that git recognizes as renamed. */
  readonly deletions: Map<string, readonly DeletedFile[]>;
};

/** A file that a commit deleted. */
export type DeletedFile = FileAtCommit & {
  /** The blob id of the file before the commit. */
  readonly blob: string;
};

/**
 * Searches the first-parent history of a commit for the commits that changed each file. Returns them newest first, by the
 * path that the file has at the first commit. Each entry has the path that the file had at that commit. Reads the history
 * once for all paths. Compares a merge with its first parent, so a merge counts as one change that contains everything
 * it merged.
 */
export async function followFiles(
  { run, blobCache, times, deletions }: FollowReaders,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly FileAtCommit[]>> {
  const { touchesByPath, follow } = makeFileFollower(paths);
  const entries = await readLog(run, ...BRANCH_HISTORY, `--max-count=${MAX_COMMITS}`, asOf, '--');
  deletions.set(asOf, entries.flatMap(listDeletedFiles));
  for (const entry of entries) {
    const touches = follow(entry);
    if (touches.length > 0) times.set(entry.commit, entry.time);
    for (const { path, blob } of touches) blobCache.rememberBlobId(entry.commit, path, blob);
  }
  return touchesByPath;
}

function listDeletedFiles({ commit, changes }: LogEntry): readonly DeletedFile[] {
  const renamedPaths = changes.map(({ before }) => before);
  return changes
    .filter(({ path, blob }) => blob === null && !renamedPaths.includes(path))
    .map(({ path, blobBefore }) => ({ commit, path, blob: blobBefore }));
}

/** The options of `git log` that list the first-parent history, each merge as one change, with renames. */
const BRANCH_HISTORY = ['--first-parent', '--diff-merges=first-parent', '--find-renames', '-l1000'] as const;

/** Follows files from a commit to its ancestors, across the renames that git detects. */
type FileFollower = {
  /** The commits that changed each file so far. */
  readonly touchesByPath: ReadonlyMap<string, readonly FileAtCommit[]>;
  /** Adds the next older commit. Returns its changes to the files. */
  readonly follow: (entry: LogEntry) => readonly FileStateChange[];
};

function makeFileFollower(paths: readonly string[]): FileFollower {
  const touchesByPath = new Map(paths.map((path): [string, FileAtCommit[]] => [path, []]));
  // Maps each path at the commit being processed to the requested paths of the same file at the first commit. For
  // example, if `a.md` was later renamed to `b.md`, the path `a.md` maps to `b.md`.
  const currentPaths = new Map(paths.map((path) => [path, [path]]));
  const follow = ({ commit, changes }: LogEntry): readonly FileStateChange[] => {
    const followedChanges = changes.filter(({ path }) => currentPaths.has(path));
    for (const { path } of followedChanges) {
      for (const currentPath of currentPaths.get(path) ?? []) touchesByPath.get(currentPath)?.push({ commit, path });
    }
    followRenames(currentPaths, followedChanges);
    return followedChanges;
  };
  return { touchesByPath, follow };
}

/** Replaces the new path of each renamed file with its previous path, because older commits use the previous path. */
function followRenames(currentPaths: Map<string, string[]>, changes: readonly FileStateChange[]): void {
  const renames = changes.flatMap(({ path, before }) =>
    before === null ? [] : [{ path, before, paths: currentPaths.get(path) ?? [] }],
  );
  for (const { path } of renames) currentPaths.delete(path);
  for (const { before, paths } of renames) currentPaths.set(before, [...(currentPaths.get(before) ?? []), ...paths]);
}
