import type { BlobCache } from './file-reader.ts';
import type { RunGit } from './open-git.ts';
import { type FileStateChange, type LogEntry, MAX_COMMITS, readLog } from './read-log.ts';
import type { FileAtCommit } from './read-trees.ts';

/**
 * The commits that promptsync searches when it follows a file: all commits, or only the first-parent commits of the
 * branch.
 */
export type FollowScope = 'all' | 'branch';

/** What `followFiles` reads from, and where it stores what it learns. */
export type FollowReaders = {
  readonly run: RunGit;
  readonly blobCache: BlobCache;
  /** The committer dates of the commits that changed a followed file, in seconds since 1970. */
  readonly times: Map<string, number>;
};

/** The commits that changed each file, newest first, by scope and by the path that the file has at the first commit. */
type FollowedFiles = Readonly<Record<FollowScope, ReadonlyMap<string, readonly FileAtCommit[]>>>;

/**
 * Searches `asOf` and its ancestors for the commits that changed each file. Returns them newest first. Each entry has
 * the path that the file had at that commit. Reads the history once for all paths and both scopes. Compares a merge with
 * its first parent, so a merge counts as one change that contains everything it merged.
 * @param requests the scope and the path of each file, separated by NUL
 */
export async function followFiles(
  { run, blobCache, times }: FollowReaders,
  asOf: string,
  requests: readonly string[],
): Promise<FollowedFiles> {
  const parsed = requests.map((request) => request.split('\0'));
  const listPaths = (scope: FollowScope) => parsed.flatMap(([name, path = '']) => (name === scope ? [path] : []));
  const [all, branch] = [makeFileFollower(listPaths('all')), makeFileFollower(listPaths('branch'))];
  const scopeOptions = listPaths('all').length === 0 ? ['--first-parent'] : [];
  const options = ['--diff-merges=first-parent', '--find-renames', '-l1000', `--max-count=${MAX_COMMITS}`];
  // git prints a commit before its parents, so this is the next commit of the branch in the output.
  let nextOfBranch: string | null | undefined;
  for (const entry of await readLog(run, ...scopeOptions, ...options, asOf, '--')) {
    const { commit, firstParent, time } = entry;
    const isOnBranch = nextOfBranch === undefined || commit === nextOfBranch;
    if (isOnBranch) nextOfBranch = firstParent;
    const touches = [...all.follow(entry), ...(isOnBranch ? branch.follow(entry) : [])];
    if (touches.length > 0) times.set(commit, time);
    for (const { path, blob } of touches) blobCache.rememberBlobId(commit, path, blob);
  }
  return { all: all.touchesByPath, branch: branch.touchesByPath };
}

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
