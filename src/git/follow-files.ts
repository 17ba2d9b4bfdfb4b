import type { BlobCache } from './committed-files.ts';
import type { RunGit } from './run-git.ts';
import { type FileStateChange, type LogEntry, MAX_COMMITS, readLog } from './read-log.ts';
import type { FileAtCommit } from './read-trees.ts';

/** A commit that changed a followed file, and the path of the file at that commit. */
export type FileTouch = FileAtCommit & {
  /** The committer date, in seconds since 1970. */
  readonly time: number;
};

/** A file that a commit deleted. Renamed files do not count. */
export type DeletedFile = FileAtCommit & {
  /** The blob id of the file before the commit. */
  readonly blob: string;
};

/** The first-parent history of a commit, as far as it concerns the files that promptsync follows. */
export type FollowedHistory = {
  /**
   * The commits that changed each file, newest first. The key is the path at the commit where the history starts. Each
   * entry has the path at its own commit.
   */
  readonly touchesByPath: ReadonlyMap<string, readonly FileTouch[]>;
  /** Newest first. */
  readonly deletedFiles: readonly DeletedFile[];
};

/**
 * Finds the commits in the first-parent history that changed each file. A merge counts as one change. Caches the blob
 * ids that git prints.
 */
export async function followFiles(
  run: RunGit,
  asOf: string,
  paths: readonly string[],
  blobCache: Pick<BlobCache, 'rememberBlobId'>,
): Promise<FollowedHistory> {
  const { touchesByPath, follow } = makeFileFollower(paths);
  const options = ['--first-parent', '--diff-merges=first-parent', '--find-renames', '-l1000'];
  const entries = await readLog(run, ...options, `--max-count=${MAX_COMMITS}`, asOf, '--');
  for (const entry of entries) {
    for (const { path, blob } of follow(entry)) blobCache.rememberBlobId(entry.commit, path, blob);
  }
  const deletedFiles = entries.flatMap(({ commit, changes }) => {
    return changes.flatMap(({ path, deleted }) => (deleted === null ? [] : [{ commit, path, blob: deleted }]));
  });
  return { touchesByPath, deletedFiles };
}

/** Follows files from a commit to its ancestors, across the renames that git detects. */
type FileFollower = {
  /** The commits that changed each file so far. */
  readonly touchesByPath: ReadonlyMap<string, readonly FileTouch[]>;
  /** Adds the next older commit. Returns its changes to the files. */
  readonly follow: (entry: LogEntry) => readonly FileStateChange[];
};

function makeFileFollower(paths: readonly string[]): FileFollower {
  const touchesByPath = new Map(paths.map((path): [string, FileTouch[]] => [path, []]));
  // Maps each path at the commit being processed to the requested paths of the same file at the first commit. For
  // example, if `a.md` was later renamed to `b.md`, the path `a.md` maps to `b.md`.
  const currentPaths = new Map(paths.map((path) => [path, [path]]));
  const follow = ({ commit, time, changes }: LogEntry): readonly FileStateChange[] => {
    const followedChanges = changes.filter(({ path }) => currentPaths.has(path));
    for (const { path } of followedChanges) {
      for (const currentPath of currentPaths.get(path) ?? [])
        touchesByPath.get(currentPath)?.push({ commit, path, time });
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
