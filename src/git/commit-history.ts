import type { CommitInfo } from '../domain/version-history.ts';
import { type DeletedFile, type FollowedHistory, followFiles, type FollowReaders } from './follow-files.ts';
import { batchCalls, splitLines, makePathspecs, type RunGit, type Git } from './run-git.ts';
import type { BlobCache } from './committed-files.ts';
import { FULL_HISTORY, MAX_COMMITS, readCommitInfos, readCommitTimes, readLog } from './read-log.ts';
import { type FileAtCommit, makeFileKey } from './read-trees.ts';

/** Functions that read the history of commits and files. Paths are relative to the repository root. */
export type CommitHistory = {
  /**
   * Searches the first-parent history of a commit for the commits that changed a file, so each merge counts as one change.
   * Returns them newest first. Follows renames, so each entry has the path that the file had at that commit.
   */
  readonly followFile: (commit: string, path: string) => Promise<readonly FileAtCommit[]>;
  /**
   * Returns all files that were deleted in the first-parent history of the commit, latest deletion first. Omits renamed
   * files.
   */
  readonly listDeletedFiles: (commit: string, path: string) => Promise<readonly DeletedFile[]>;
  /**
   * Searches `commit` and its ancestors for the commits that changed the file at this path. Includes the commits of
   * merged branches. A merge commit counts only if it differs from each of its parents in this file. Does not follow
   * renames.
   */
  readonly findCommitsChanging: (commit: string, path: string) => Promise<readonly string[]>;
  /** Returns true if `commit` equals `other` or is an ancestor of it. The clone must contain both commits. */
  readonly isSameOrAncestor: (commit: string, other: string) => Promise<boolean>;
  /**
   * Returns true if no branch, no tag and not HEAD contains the commit. A clone has such commits after it has fetched only
   * objects. The clone must contain the commit.
   */
  readonly isUnreferenced: (commit: string) => Promise<boolean>;
  /** Returns the author, date and message of each commit, by id. Omits commits that the clone does not have. */
  readonly readCommits: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
  /**
   * Returns the subject of a commit, or the title of the pull request that it merged. Empty if the commit has no message, or
   * if the clone does not have the commit.
   */
  readonly readSubject: (commit: string) => Promise<string>;
  /** Returns the committer date of each commit, in seconds since 1970. Omits commits that the clone does not have. */
  readonly readCommitTimes: (ids: Iterable<string>) => Promise<ReadonlyMap<string, number>>;
  /**
   * Maps each commit that entered a branch through a merge to the id of the merge commit. `commit` is the tip of the
   * branch. First-parent commits of the branch have no entry.
   */
  readonly mapCommitsToMerges: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Returns the merge base of two commits. Returns null if they have no common ancestor, or if the clone lacks one of
   * them.
   */
  readonly findMergeBase: (one: string, other: string) => Promise<string | null>;
  /**
   * Returns the first-parent history of a commit, newest first. It begins with the commit itself and has at most
   * `maxCount` commits.
   */
  readonly listBranchCommits: (commit: string, maxCount?: number) => Promise<readonly string[]>;
};

export function makeHistoryReader({ run, runWithInput }: Git, blobCache: BlobCache): CommitHistory {
  const readers: HistoryReaders = { run, runWithInput, blobCache, commits: new Map() };
  const readInfosTogether = batchCalls((ids) => readCommitInfos(runWithInput, ids));
  const findChangingTogether = batchCalls((paths, commit = '') => findCommitsChangingPaths(run, commit, paths));
  const findAncestorsTogether = batchCalls((pairKeys) => findAncestorPairs(runWithInput, pairKeys));
  const findUnreferencedTogether = batchCalls((commits) => findUnreferencedCommits(run, commits));
  const runRevList = async (...args: readonly string[]) => splitLines(await run('rev-list', ...args, '--'));
  return {
    ...makeFileFollowers(readers),
    findCommitsChanging: async (commit, path) => (await findChangingTogether(path, commit)).get(path) ?? [],
    isSameOrAncestor: async (commit, other) => {
      const pairKey = makePairKey({ commit, other });
      return (await findAncestorsTogether(pairKey)).has(pairKey);
    },
    isUnreferenced: async (commit) => (await findUnreferencedTogether(commit)).includes(commit),
    readCommits: async (ids) => {
      const infos = await Promise.all([...ids].map(async (id) => (await readInfosTogether(id)).get(id)));
      return new Map(infos.flatMap((info) => (info === undefined ? [] : [[info.commit, info] as const])));
    },
    readCommitTimes: makeTimeReader(readers),
    readSubject: async (id) => {
      const known = readers.commits.get(id)?.subject;
      // The subject of a merge commit does not describe the change, so look for the title of the pull request.
      if (known !== undefined && !known.startsWith('Merge ')) return known;
      return (await readInfosTogether(id)).get(id)?.subject ?? '';
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

/**
 * Creates the functions that follow files through history. They cache the history of each file, because promptsync may
 * need more of its states later.
 */
function makeFileFollowers(readers: FollowReaders): Pick<CommitHistory, 'followFile' | 'listDeletedFiles'> {
  const followTogether = batchCalls((paths, commit = '') => followFiles(readers, commit, paths));
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

/** Returns the commits in the list that no ref contains. Returns none if git fails, because they only improve a message. */
async function findUnreferencedCommits(run: RunGit, commits: readonly string[]): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const output = await run('rev-list', ...commits, '--not', '--all', '--').catch(() => '');
  const unreferenced = new Set(splitLines(output));
  return commits.filter((commit) => unreferenced.has(commit));
}

/**
 * Creates the function that reads committer dates. Simultaneous calls share one process. The dates of commits that
 * promptsync has read to follow a file need no process.
 */
function makeTimeReader({ runWithInput, commits }: HistoryReaders): CommitHistory['readCommitTimes'] {
  const readTogether = batchCalls((ids) => readCommitTimes(runWithInput, ids));
  return async (ids) => {
    const times = [...ids].map(async (id): Promise<readonly [string, number][]> => {
      const time = commits.get(id)?.time ?? (await readTogether(id)).get(id);
      return time === undefined ? [] : [[id, time]];
    });
    return new Map((await Promise.all(times)).flat());
  };
}

/** Two commits, of which the first may be an ancestor of the second. */
type CommitPair = { readonly commit: string; readonly other: string };

function makePairKey({ commit, other }: CommitPair): string {
  return `${commit} ${other}`;
}

function parsePairKey(key: string): CommitPair {
  const [commit = '', other = ''] = key.split(' ');
  return { commit, other };
}

/**
 * Returns the pairs whose first commit is the second commit or an ancestor of it. Both the input and the result use the
 * keys from `makePairKey`.
 */
async function findAncestorPairs(run: Git['runWithInput'], pairKeys: readonly string[]): Promise<ReadonlySet<string>> {
  const pairs = pairKeys.map(parsePairKey);
  const byOther = [...Map.groupBy(pairs, ({ other }) => other)];
  if (byOther.length > MAX_SEPARATE_HISTORIES) {
    const others = byOther.map(([other]) => other);
    const graph = parseCommitGraph(await run(others, 'rev-list', '--parents', '--topo-order', '--stdin'));
    return new Set(byOther.flatMap(([other, group]) => pickAncestors(group, other, graph)).map(makePairKey));
  }
  const found = byOther.map(async ([other, group]) => {
    const commits = group.map(({ commit }) => commit);
    // git lists the commits and their ancestors, except `other` and its ancestors.
    const missing = new Set(splitLines(await run([...commits, `^${other}`], 'rev-list', '--stdin')));
    return group.filter(({ commit }) => !missing.has(commit)).map(makePairKey);
  });
  return new Set((await Promise.all(found)).flat());
}

/** Commits with their parents. Each commit comes before its parents. */
type CommitGraph = {
  /** The index of each commit in `parents`. */
  readonly positions: ReadonlyMap<string, number>;
  readonly parents: readonly (readonly string[])[];
};

/** Parses the output of `git rev-list --parents --topo-order`. */
function parseCommitGraph(output: string): CommitGraph {
  const ids = splitLines(output).map((line) => line.split(' '));
  return {
    positions: new Map(ids.map(([commit = ''], position) => [commit, position])),
    parents: ids.map(([, ...parents]) => parents),
  };
}

/** Returns the pairs whose first commit is `other` or its ancestor. All pairs must have `other` as their second commit. */
function pickAncestors(
  pairs: readonly CommitPair[],
  other: string,
  { positions, parents }: CommitGraph,
): readonly CommitPair[] {
  const getPosition = (commit: string): number => positions.get(commit) ?? -1;
  const start = getPosition(other);
  // In the graph, the ancestors of a commit come after the commit. So the search can end at the last commit of the
  // pairs.
  const end = Math.max(...pairs.map(({ commit }) => getPosition(commit)));
  const visited = new Set([start]);
  const pending = start < end ? [start] : [];
  for (let position = pending.pop(); position !== undefined; position = pending.pop()) {
    for (const parent of (parents[position] ?? []).map(getPosition)) {
      if (parent === -1 || parent > end || visited.has(parent)) continue;
      visited.add(parent);
      pending.push(parent);
    }
  }
  return pairs.filter(({ commit }) => commit === other || (positions.has(commit) && visited.has(getPosition(commit))));
}

/** What the functions below read from. */
type HistoryReaders = FollowReaders & Pick<Git, 'runWithInput'>;

/**
 * Maps each commit that entered a branch through a merge to the id of the merge commit. First-parent commits of the
 * branch have no entry.
 * @param lines one line per commit, newest first, starting with the tip of the branch; each line contains the id of the
 * commit and the ids of its parents
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

/**
 * The maximum number of commits whose histories promptsync reads in separate processes. For more commits, a single
 * process reads all histories.
 */
const MAX_SEPARATE_HISTORIES = 4;

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
