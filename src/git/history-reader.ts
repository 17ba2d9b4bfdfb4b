import { extname } from 'node:path';
import type { Provenance } from '../domain/plan.ts';
import type { CommitInfo } from '../domain/history.ts';
import { type DeletedFile, followFiles, type FollowReaders } from './follow-files.ts';
import { batchCalls, splitLines, makePathspecs, type RunGit, type Git } from './open-git.ts';
import type { BlobCache } from './file-reader.ts';
import { FULL_HISTORY, MAX_COMMITS, type LogEntry, readCommitInfos, readCommitTimes, readLog } from './read-log.ts';
import { type FileAtCommit, makeFileKey, parseFileKey } from './read-trees.ts';

/** Functions that read the history of commits and files. Paths are relative to the repository root. */
export type CommitHistory = {
  /**
   * Searches `commit` and its ancestors for the newest commit that changed a file. Returns null if promptsync cannot
   * determine it, for example because the file does not exist at `commit`.
   */
  readonly findLastCommit: (commit: string, path: string) => Promise<Provenance | null>;
  /**
   * Searches the first-parent history of a commit for the commits that changed a file, so each merge counts as one change.
   * Returns them newest first. Follows renames, so each entry has the path that the file had at that commit.
   */
  readonly followFile: (commit: string, path: string) => Promise<readonly FileAtCommit[]>;
  /**
   * Returns the files that the first-parent history of a commit deleted, if their names have the same extension as
   * `path`. Omits renamed files.
   */
  readonly listDeletions: (commit: string, path: string) => Promise<readonly DeletedFile[]>;
  /**
   * Searches `commit` and its ancestors for the commits that changed the file at this path. Includes the commits of
   * merged branches. A merge commit counts only if it differs from each of its parents in this file. Does not follow
   * renames.
   */
  readonly findCommitsChanging: (commit: string, path: string) => Promise<readonly string[]>;
  /** Returns true if `commit` equals `other` or is an ancestor of it. The clone must contain both commits. */
  readonly isSameOrAncestor: (commit: string, other: string) => Promise<boolean>;
  /**
   * Returns the commits in the list that no branch, no tag and not HEAD contains. A clone has such commits after it has
   * fetched only objects. The clone must contain all commits in the list.
   */
  readonly findUnreferenced: (commits: readonly string[]) => Promise<readonly string[]>;
  /** Returns the author, date and message of each commit, by id. Omits commits that the clone does not have. */
  readonly readCommits: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
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
  const readers: HistoryReaders = { run, runWithInput, blobCache, times: new Map(), deletions: new Map() };
  const findLastTogether = batchCalls((fileKeys) => findLastCommits(readers, fileKeys));
  const findChangingTogether = batchCalls((paths, commit = '') => findCommitsChangingPaths(run, commit, paths));
  const findAncestorsTogether = batchCalls((pairKeys) => findAncestorPairs(runWithInput, pairKeys));
  const findUnreferencedTogether = batchCalls((commits) => findUnreferencedCommits(run, commits));
  const runRevList = async (...args: readonly string[]) => splitLines(await run('rev-list', ...args, '--'));
  return {
    findLastCommit: async (commit, path) => {
      const fileKey = makeFileKey(commit, path);
      return (await findLastTogether(fileKey)).get(fileKey) ?? null;
    },
    ...makeBranchFollower(readers),
    findCommitsChanging: async (commit, path) => (await findChangingTogether(path, commit)).get(path) ?? [],
    isSameOrAncestor: async (commit, other) => {
      const pairKey = makePairKey({ commit, other });
      return (await findAncestorsTogether(pairKey)).has(pairKey);
    },
    findUnreferenced: async (commits) => {
      const unreferenced = await Promise.all(commits.map((commit) => findUnreferencedTogether(commit)));
      return commits.filter((commit, index) => unreferenced[index]?.includes(commit));
    },
    readCommits: (ids) => readCommitInfos(runWithInput, ids),
    readCommitTimes: makeTimeReader(readers),
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

/** Creates the functions that follow files on a branch. They cache what they read, because a commit never changes. */
function makeBranchFollower(readers: HistoryReaders): Pick<CommitHistory, 'followFile' | 'listDeletions'> {
  const followTogether = batchCalls((paths, commit = '') => followFiles(readers, commit, paths));
  /** The followed files, by commit and path. promptsync asks again if it needs more states of a file. */
  const followed = new Map<string, Promise<ReadonlyMap<string, readonly FileAtCommit[]>>>();
  const followFile = async (commit: string, path: string): Promise<readonly FileAtCommit[]> => {
    const key = makeFileKey(commit, path);
    const touches = followed.get(key) ?? followTogether(path, commit);
    followed.set(key, touches);
    return (await touches).get(path) ?? [];
  };
  return {
    followFile,
    listDeletions: async (commit, path) => {
      await followFile(commit, path);
      const ending = extname(path);
      return (readers.deletions.get(commit) ?? []).filter((deleted) => extname(deleted.path) === ending);
    },
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
function makeTimeReader({ runWithInput, times: knownTimes }: HistoryReaders): CommitHistory['readCommitTimes'] {
  const readTogether = batchCalls((ids) => readCommitTimes(runWithInput, ids));
  return async (ids) => {
    const times = [...ids].map(async (id): Promise<readonly [string, number][]> => {
      const time = knownTimes.get(id) ?? (await readTogether(id)).get(id);
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
 * The number of newest commits that promptsync searches first. It searches the whole history only if that is not
 * enough. Most files changed recently, and reading a history of 20,000 commits takes four seconds.
 */
const RECENT_COMMITS = 1000;

/** The value of `--max-count` that makes `git log` print all commits. */
const ALL_COMMITS = -1;

/**
 * The maximum number of commits whose histories promptsync reads in separate processes. For more commits, a single
 * process reads all histories.
 */
const MAX_SEPARATE_HISTORIES = 4;

/**
 * The maximum number of commits whose histories promptsync reads one by one, for files whose last commit
 * `searchTogether` cannot determine. Beyond this limit, the last commits of the remaining files stay unknown.
 */
const MAX_UNCLEAR_COMMITS = 100;

/** Finds the last commit that changed each file. Both the input and the result use the keys from `makeFileKey`. */
async function findLastCommits(
  readers: HistoryReaders,
  fileKeys: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const files = fileKeys.map(parseFileKey);
  const { size } = new Set(files.map(({ commit }) => commit));
  const { certain, unclear } =
    size > MAX_SEPARATE_HISTORIES ? await searchTogether(readers, files) : { certain: [], unclear: files };
  const byCommit = [...Map.groupBy(unclear, ({ commit }) => commit)].slice(0, MAX_UNCLEAR_COMMITS);
  const separate = await Promise.all(
    byCommit.map(async ([commit, filesOfCommit]) => {
      const paths = filesOfCommit.map(({ path }) => path);
      const byPath = await findLastCommitsAsOf(readers, commit, paths);
      return [...byPath].map(([path, last]): [string, Provenance] => [makeFileKey(commit, path), last]);
    }),
  );
  return new Map([...certain, ...separate.flat()]);
}

/**
 * For each file, finds the newest commit that introduced the content of the file at `asOf`. Searches for all paths
 * together. Omits paths without a regular file at `asOf`.
 */
async function findLastCommitsAsOf(
  { run, blobCache }: HistoryReaders,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const blobs = await Promise.all(paths.map(async (path) => [path, await blobCache.findBlobId(asOf, path)] as const));
  const existing = new Map(blobs.filter(([, blob]) => blob !== null));
  const lastCommits = new Map<string, Provenance>();
  for (const maxCount of [RECENT_COMMITS, ALL_COMMITS]) {
    if (lastCommits.size === existing.size) break;
    const options = [...FULL_HISTORY, `--max-count=${maxCount}`];
    for (const { commit, subject, changes } of await readLog(run, ...options, asOf, '--', ...makePathspecs(paths))) {
      for (const { path, blob } of changes) {
        // Skip older changes, and changes that a later merge discarded. The content of a discarded change differs from
        // the content at `asOf`.
        if (blob === null || existing.get(path) !== blob || lastCommits.has(path)) continue;
        lastCommits.set(path, makeProvenance({ commit, subject }, path));
      }
    }
  }
  return lastCommits;
}

type LastCommitSearch = {
  /** The files whose last commit is certain. Each entry consists of the key of the file and its last commit. */
  readonly certain: readonly (readonly [fileKey: string, last: Provenance])[];
  /**
   * The files for which the search found several possible last commits. Only the history of the file's own `commit`
   * shows which of them is the last one.
   */
  readonly unclear: readonly FileAtCommit[];
};

/**
 * Searches the histories of many commits in one process for the commits that gave each file its content. If there is
 * one such commit for a file, it is the last commit. If there are several, the file's own `commit` is the last commit
 * if it is one of them. Otherwise the file is unclear. Omits files without such a commit.
 */
async function searchTogether(
  { runWithInput, blobCache }: HistoryReaders,
  files: readonly FileAtCommit[],
): Promise<LastCommitSearch> {
  const paths = [...new Set(files.map(({ path }) => path))];
  const commits = [...new Set(files.map(({ commit }) => commit))];
  const runLog = (...args: readonly string[]) => runWithInput(commits, ...args);
  const entries = await readLog(runLog, ...FULL_HISTORY, '--stdin', '--', ...makePathspecs(paths));
  const changes = entries.flatMap(({ commit, subject, changes: changesOfCommit }) => {
    return changesOfCommit.map(({ path, blob }) => ({ commit, subject, path, blob }));
  });
  const changesByContent = Map.groupBy(changes, ({ path, blob }) => `${blob}\0${path}`);
  const certain: [string, Provenance][] = [];
  const unclear: FileAtCommit[] = [];
  for (const { commit, path } of files) {
    const blob = await blobCache.findBlobId(commit, path);
    const candidates = blob === null ? [] : (changesByContent.get(`${blob}\0${path}`) ?? []);
    const last = candidates.length === 1 ? candidates[0] : candidates.find((change) => change.commit === commit);
    if (last !== undefined) certain.push([makeFileKey(commit, path), makeProvenance(last, path)]);
    else if (candidates.length > 1) unclear.push({ commit, path });
  }
  return { certain, unclear };
}

function makeProvenance({ commit, subject }: Pick<LogEntry, 'commit' | 'subject'>, path: string): Provenance {
  return { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) };
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
