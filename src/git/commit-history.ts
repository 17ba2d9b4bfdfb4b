import type { CommitInfo } from '../domain/version-history.ts';
import { type DeletedFile, type FollowedHistory, followFiles, type FollowReaders } from './follow-files.ts';
import { batchCalls, splitLines, makePathspecs, type RunGit, type Git } from './run-git.ts';
import type { BlobCache } from './committed-files.ts';
import { FULL_HISTORY, MAX_COMMITS, readCommitInfos, readCommitTimes, readLog } from './read-log.ts';
import { type FileAtCommit, makeFileKey } from './read-trees.ts';

/** Reads the history of commits and files. Paths are relative to the repository root. */
export type CommitHistory = {
  /**
   * Finds the commits in the first-parent history that changed a file, newest first. Each merge counts as one change.
   * Follows renames, so each entry has the path that the file had at that commit.
   */
  readonly followFile: (commit: string, path: string) => Promise<readonly FileAtCommit[]>;
  /** Returns the files that the first-parent history deleted, latest deletion first. Omits renamed files. */
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
  /** Returns the subject, or the title of the merged pull request. Empty if the clone does not have the commit. */
  readonly readSubject: (commit: string) => Promise<string>;
  /** Returns the committer dates, in seconds since 1970. Omits commits that the clone does not have. */
  readonly readCommitTimes: (ids: Iterable<string>) => Promise<ReadonlyMap<string, number>>;
  /** Maps each commit that entered the branch with the tip `commit` through a merge to the id of that merge. */
  readonly mapCommitsToMerges: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /** Returns null if the commits have no common ancestor, or if the clone lacks one of them. */
  readonly findMergeBase: (one: string, other: string) => Promise<string | null>;
  /** Returns the first-parent history, newest first, beginning with the commit itself. */
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

/** Caches the history of each file, because promptsync may need more of its states later. */
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

/** Returns none if git fails, because the result only improves a message. */
async function findUnreferencedCommits(run: RunGit, commits: readonly string[]): Promise<readonly string[]> {
  if (commits.length === 0) return [];
  const output = await run('rev-list', ...commits, '--not', '--all', '--').catch(() => '');
  const unreferenced = new Set(splitLines(output));
  return commits.filter((commit) => unreferenced.has(commit));
}

/** Simultaneous calls share one process. Commits that `followFiles` has read need no process. */
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

/** Returns the pairs whose first commit is the second commit or an ancestor of it, as keys from `makePairKey`. */
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

/** Returns the pairs whose first commit is `other` or its ancestor. The second commit of all pairs must be `other`. */
function pickAncestors(
  pairs: readonly CommitPair[],
  other: string,
  { positions, parents }: CommitGraph,
): readonly CommitPair[] {
  const getPosition = (commit: string): number => positions.get(commit) ?? -1;
  const start = getPosition(other);
  // Ancestors come after their descendants in the graph, so the search can end at the last commit of the pairs.
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

type HistoryReaders = FollowReaders & Pick<Git, 'runWithInput'>;

/**
 * Maps each commit that entered the branch through a merge to the id of that merge.
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

/** For more histories than this, one process reads all of them instead of one process each. */
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
