import type { CommitInfo } from '../domain/version-history.ts';
import { type DeletedFile, type FileTouch, type FollowedHistory, followFiles } from './follow-files.ts';
import { batchCalls, splitLines, makePathspecs, type RunGit, type Git } from './run-git.ts';
import type { BlobCache } from './committed-files.ts';
import { FULL_HISTORY, MAX_COMMITS, readCommitInfos, readLog } from './read-log.ts';
import { makeFileKey } from './read-trees.ts';

/** Reads the history of commits and files. Paths are relative to the repository root. */
export type CommitHistory = {
  /**
   * Finds the commits in the first-parent history that changed a file, newest first. Each merge counts as one change.
   * Follows renames, so each entry has the path that the file had at that commit.
   */
  readonly followFile: (commit: string, path: string) => Promise<readonly FileTouch[]>;
  /**
   * Returns all files that the first-parent history deleted, latest deletion first. Omits renamed files. The result
   * does not depend on `path`, but git has already read the history if `followFile` was called with the same arguments.
   */
  readonly listDeletedFiles: (commit: string, path: string) => Promise<readonly DeletedFile[]>;
  /**
   * Finds the commits that changed the file at this path, among `commit` and all its ancestors. A merge commit counts
   * only if the file differs from each of its parents. Does not follow renames.
   */
  readonly findCommitsChanging: (commit: string, path: string) => Promise<readonly string[]>;
  /** The clone must contain both commits. */
  readonly isSameOrAncestor: (commit: string, other: string) => Promise<boolean>;
  /**
   * Returns true if neither HEAD nor a ref contains the commit, as after a fetch of only objects. The clone must
   * contain the commit.
   */
  readonly isUnreferenced: (commit: string) => Promise<boolean>;
  /** Returns the commits by id. Omits commits that the clone does not have. */
  readonly readCommits: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
  /** Maps each commit that entered the branch with the tip `commit` through a merge to the id of that merge. */
  readonly mapCommitsToMerges: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /** Returns null if the commits have no common ancestor, or if the clone lacks one of them. */
  readonly findMergeBase: (one: string, other: string) => Promise<string | null>;
  /** Returns the first-parent history, newest first, beginning with the commit itself. */
  readonly listBranchCommits: (commit: string, maxCount?: number) => Promise<readonly string[]>;
};

export function makeHistoryReader({ run, runWithInput }: Git, blobCache: BlobCache): CommitHistory {
  const readInfosTogether = batchCalls((ids) => readCommitInfos(runWithInput, ids));
  const findChangingTogether = batchCalls((paths, commit = '') => findCommitsChangingPaths(run, commit, paths));
  const listBeyondTogether = batchCalls((commits, other = '') => listCommitsBeyond(runWithInput, commits, other));
  const findUnreferencedTogether = batchCalls((commits) => findUnreferencedCommits(run, commits));
  const runRevList = async (...args: readonly string[]) => splitLines(await run('rev-list', ...args, '--'));
  return {
    ...makeFileFollowers(run, blobCache),
    findCommitsChanging: async (commit, path) => (await findChangingTogether(path, commit)).get(path) ?? [],
    isSameOrAncestor: async (commit, other) => !(await listBeyondTogether(commit, other)).has(commit),
    isUnreferenced: async (commit) => (await findUnreferencedTogether(commit)).has(commit),
    readCommits: async (ids) => {
      const infos = await Promise.all([...ids].map(async (id) => (await readInfosTogether(id)).get(id)));
      return new Map(infos.flatMap((info) => (info === undefined ? [] : [[info.commit, info] as const])));
    },
    mapCommitsToMerges: async (commit) => {
      return mapCommitsToMerges(await runRevList('--parents', `--max-count=${MAX_COMMITS}`, commit));
    },
    findMergeBase: async (one, other) => {
      const output = await run('merge-base', '--', one, other).catch(() => '');
      return output.trim() || null;
    },
    listBranchCommits: (commit, maxCount = MAX_COMMITS) => {
      return runRevList('--first-parent', `--max-count=${maxCount}`, commit);
    },
  };
}

/** Caches the history of each file, because promptsync may need more of its states later. */
function makeFileFollowers(run: RunGit, blobCache: BlobCache): Pick<CommitHistory, 'followFile' | 'listDeletedFiles'> {
  const followTogether = batchCalls((paths, commit = '') => followFiles(run, commit, paths, blobCache));
  const histories = new Map<string, Promise<FollowedHistory>>();
  const follow = (commit: string, path: string): Promise<FollowedHistory> => {
    const key = makeFileKey(commit, path);
    const history = histories.get(key) ?? followTogether(path, commit);
    histories.set(key, history);
    return history;
  };
  return {
    followFile: async (commit, path) => (await follow(commit, path)).touchesByPath.get(path) ?? [],
    listDeletedFiles: async (commit, path) => (await follow(commit, path)).deletedFiles,
  };
}

/** Also returns ancestors of the commits. Returns none if git fails, because the result only improves a message. */
async function findUnreferencedCommits(run: RunGit, commits: readonly string[]): Promise<ReadonlySet<string>> {
  return new Set(splitLines(await run('rev-list', ...commits, '--not', '--all', '--').catch(() => '')));
}

/** Returns the listed commits, and their ancestors, that are neither `other` nor an ancestor of it. */
async function listCommitsBeyond(
  run: Git['runWithInput'],
  commits: readonly string[],
  other: string,
): Promise<ReadonlySet<string>> {
  return new Set(splitLines(await run([...commits, `^${other}`], 'rev-list', '--stdin')));
}

/**
 * Maps each commit that entered the branch through a merge to the id of that merge. First-parent commits of the branch
 * have no entry.
 * @param lines each line is a commit id and its parents' ids; newest first, starting with the tip of the branch
 */
export function mapCommitsToMerges(lines: readonly string[]): ReadonlyMap<string, string> {
  const parents = new Map(lines.map((line) => [line.split(' ')[0], line.split(' ').slice(1)]));
  const branch: string[] = [];
  for (let commit = lines[0]?.split(' ')[0]; commit !== undefined; commit = parents.get(commit)?.[0]) {
    branch.push(commit);
  }
  const visited = new Set(branch);
  const merges = new Map<string, string>();
  // Process the oldest merge first, because a commit belongs to the first merge that brought it into the branch.
  for (const merge of branch.toReversed()) {
    const pending = (parents.get(merge) ?? []).slice(1);
    for (let commit = pending.pop(); commit !== undefined; commit = pending.pop()) {
      if (visited.has(commit)) continue;
      visited.add(commit);
      merges.set(commit, merge);
      pending.push(...(parents.get(commit) ?? []));
    }
  }
  return merges;
}

async function findCommitsChangingPaths(
  run: RunGit,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const commits = new Map(paths.map((path): [string, string[]] => [path, []]));
  const options = [...FULL_HISTORY, `--max-count=${MAX_COMMITS}`];
  for (const { commit, changes } of await readLog(run, ...options, asOf, '--', ...makePathspecs(paths))) {
    for (const { path } of changes) commits.get(path)?.push(commit);
  }
  return commits;
}
