import type { Provenance } from '../domain/plan.ts';
import type { CommitInfo } from '../domain/history.ts';
import {
  batchCalls,
  isCommitId,
  splitLines,
  NO_EXTERNAL_PROGRAMS,
  makePathspecs,
  type RunGit,
  type Git,
} from './open-git.ts';
import type { BlobCache } from './file-reader.ts';
import { isRegular } from './read-objects.ts';
import type { FileAtCommit } from './read-trees.ts';

/** The functions that read the history of commits and files. Paths are relative to the root of the repository. */
export type CommitHistory = {
  /**
   * Returns the newest commit in the history of `commit` that changed a file. Returns null if `commit` has no such
   * file.
   */
  readonly findLastCommit: (commit: string, path: string) => Promise<Provenance | null>;
  /**
   * Returns the commits up to `commit` that changed a file, newest first. Each has the name that the file had at that
   * commit, because files can be renamed. With the scope `branch`, the result has only the commits of the branch
   * itself, and a merge counts as one change. The default scope is `all`.
   */
  readonly followFile: (commit: string, path: string, scope?: FollowScope) => Promise<readonly FileAtCommit[]>;
  /**
   * Returns the commits up to and including `commit` that changed a file under this name. promptsync also reads all
   * merged branches. A merge commit counts only if the file differs from all of its parents.
   */
  readonly findCommitsChanging: (commit: string, path: string) => Promise<readonly string[]>;
  /** Whether `commit` is `other` or an ancestor of `other`. Both must be ids of commits that the clone has. */
  readonly isSameOrAncestor: (commit: string, other: string) => Promise<boolean>;
  /** Returns the commits of a list that are not ancestors of another commit in the list. */
  readonly findIndependent: (commits: readonly string[]) => Promise<readonly string[]>;
  /** Reads the author, date and message of commits. Returns them by commit id, without the ids that the clone lacks. */
  readonly readCommits: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
  /**
   * Maps each commit that a merge brought into the branch of `commit` to the id of that merge. The map omits the
   * commits of the branch itself.
   */
  readonly mapCommitsToMerges: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /** Returns the newest common ancestor of two commits. Null if there is none, or if the clone lacks one of the two. */
  readonly findMergeBase: (one: string, other: string) => Promise<string | null>;
  /**
   * Returns a commit and the commits that were merged or pushed to its branch before, newest first. The result has at
   * most `maxCount` commits.
   */
  readonly listBranchCommits: (commit: string, maxCount?: number) => Promise<readonly string[]>;
};

export function makeHistoryReader({ run, runWithInput }: Git, blobCache: BlobCache): CommitHistory {
  const readers = { run, runWithInput, blobCache };
  const findLastTogether = batchCalls((fileKeys) => findLastCommits(readers, fileKeys));
  const followTogether = batchCalls((paths, commit = '', ...scopeOptions) => {
    return followFiles(readers, commit, scopeOptions, paths);
  });
  const findChangingTogether = batchCalls((paths, commit = '') => findCommitsChangingPaths(run, commit, paths));
  const listMissingTogether = batchCalls((commits, other = '') => listCommitsMissingFrom(runWithInput, other, commits));
  const runRevList = async (...args: readonly string[]) => splitLines(await run('rev-list', ...args, '--'));
  return {
    findLastCommit: async (commit, path) => {
      const fileKey = makeFileKey(commit, path);
      return (await findLastTogether(fileKey)).get(fileKey) ?? null;
    },
    followFile: async (commit, path, scope = 'all') => {
      const touches = await followTogether(path, commit, ...SCOPE_OPTIONS[scope]);
      return touches.get(path) ?? [];
    },
    findCommitsChanging: async (commit, path) => (await findChangingTogether(path, commit)).get(path) ?? [],
    isSameOrAncestor: async (commit, other) => !(await listMissingTogether(commit, other)).has(commit),
    findIndependent: async (commits) => splitLines(await run('merge-base', '--independent', ...commits)),
    readCommits: (ids) => readCommitInfos(runWithInput, ids),
    mapCommitsToMerges: async (commit) => {
      return findMerges(await runRevList('--parents', `--max-count=${MAX_COMMITS}`, commit));
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

/** Lists the given commits and their ancestors, except `other` and the ancestors of `other`. */
async function listCommitsMissingFrom(
  run: Git['runWithInput'],
  other: string,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(splitLines(await run([...commits, `^${other}`], 'rev-list', '--stdin')));
}

type HistoryReaders = {
  readonly run: RunGit;
  readonly runWithInput: Git['runWithInput'];
  readonly blobCache: BlobCache;
};

/** The `git log` command with options that override every setting of the user that would change its output. */
const LOG = [
  'log',
  ...NO_EXTERNAL_PROGRAMS,
  '--no-show-signature',
  '--encoding=UTF-8',
  '--no-color',
  '--no-notes',
  '--no-relative',
  '--no-follow',
  '-z',
] as const;

/**
 * The options of `git log` that keep all sides of a merge. Without `--full-history`, git skips one side of a merge if
 * the other side has the same content. Then the answer for a file would depend on the other files in the same query,
 * and a branch whose changes a merge dropped would be missing. With `combined`, a merge counts as a change of a file
 * only if the file differs from all parents.
 */
const FULL_HISTORY = ['--full-history', '--no-renames', '--diff-merges=combined'] as const;

/** The placeholders of `git log` for the id, author, author date, subject and body of a commit. */
const FIELDS = ['%H', '%an', '%aI', '%s', '%b'];

/**
 * Reads the author, date and message of commits. An id may come from the service, so promptsync passes only valid
 * commit ids to git.
 */
async function readCommitInfos(
  run: Git['runWithInput'],
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, CommitInfo>> {
  const requestedIds = new Set([...ids].filter(isCommitId));
  if (requestedIds.size === 0) return new Map();
  const format = `--format=tformat:${FIELDS.join('%x00')}`;
  const args = [...LOG, '--no-walk=unsorted', '--ignore-missing', '-s', format, '--stdin'];
  const commits = parseCommits(await run([...requestedIds], ...args));
  // If the clone has none of the ids, git prints HEAD instead. For the id of a tag, git prints the tagged commit.
  const requested = commits.filter(({ commit }) => requestedIds.has(commit));
  return new Map(requested.map((info) => [info.commit, info]));
}

/** Parses commits as `git log -z` prints their `FIELDS`: each field ends with a NUL, and no field contains a NUL. */
function parseCommits(output: string): readonly CommitInfo[] {
  const fields = output.split('\0');
  const commits: CommitInfo[] = [];
  for (let start = 0; start < fields.length - 1; start += FIELDS.length) {
    const [commit = '', author = '', date = '', title = '', body = ''] = fields.slice(start, start + FIELDS.length);
    const { pullRequest, subject } = parseCommitMessage(title, body);
    commits.push({ commit, author, date, subject, ...(pullRequest === null ? {} : { pullRequest }) });
  }
  return commits;
}

/**
 * Maps each commit that a merge brought into a branch to the id of that merge. The map omits the commits of the branch
 * itself.
 * @param lines commit ids, each followed by the ids of its parents, newest first; the first is the tip of the branch
 */
export function findMerges(lines: readonly string[]): ReadonlyMap<string, string> {
  const parents = new Map(lines.map((line) => [line.split(' ')[0], line.split(' ').slice(1)]));
  const branch: string[] = [];
  for (let commit = lines[0]?.split(' ')[0]; commit !== undefined; commit = parents.get(commit)?.[0]) {
    branch.push(commit);
  }
  const visited = new Set(branch);
  const merges = new Map<string, string>();
  // Starts with the oldest merge, because a commit belongs to the first merge that brought it into the branch.
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

type LogEntry = {
  readonly commit: string;
  readonly subject: string;
  readonly changes: readonly FileStateChange[];
};

type FileStateChange = {
  readonly path: string;
  /** The earlier name of a renamed file; null for any other change. */
  readonly before: string | null;
  /** The id of the blob after the change; null if the change leaves no regular file at the path. */
  readonly blob: string | null;
};

/**
 * The number of newest commits that promptsync reads first. Most files were changed recently, and reading all commits
 * of a repository with 20,000 commits takes four seconds.
 */
const RECENT_COMMITS = 1000;

/** The value of `--max-count` that makes `git log` print all commits. */
const ALL_COMMITS = -1;

/** The maximum number of commits that promptsync searches for renames, changes and merges. */
const MAX_COMMITS = 100_000;

/** Makes the key of a file at a commit: the commit id and the path, with a NUL between them. */
function makeFileKey(commit: string, path: string): string {
  return `${commit}\0${path}`;
}

/**
 * The maximum number of commits whose histories promptsync reads separately. For more commits, one process reads all
 * histories.
 */
const MAX_SEPARATE_HISTORIES = 4;

/**
 * The maximum number of commits whose histories promptsync reads separately if several commits may be the last change
 * of a file. Each history takes a process. Beyond this limit, the last commit of such a file stays unknown.
 */
const MAX_UNCLEAR_COMMITS = 100;

/** Finds the last commit of each file. The keys of the files come from `makeFileKey`. */
async function findLastCommits(
  readers: HistoryReaders,
  fileKeys: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const files = fileKeys.map((fileKey) => {
    const [commit = '', path = ''] = fileKey.split('\0');
    return { commit, path };
  });
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
 * Finds, for each path, the newest commit that gave the file the content that it has at `asOf`. For a single path, this
 * is the commit that `git log -1` prints. promptsync reads the history once for all paths. The result omits paths
 * without a regular file.
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
        // A commit that gave the file other content is from a branch whose change a later merge dropped.
        if (blob === null || existing.get(path) !== blob || lastCommits.has(path)) continue;
        lastCommits.set(path, makeProvenance({ commit, subject }, path));
      }
    }
  }
  return lastCommits;
}

type LastCommitSearch = {
  /** The last commits that are certain, each with the key of its file. */
  readonly certain: readonly (readonly [fileKey: string, last: Provenance])[];
  /** The files with several possible last commits. Only the history of the file's own commit decides between them. */
  readonly unclear: readonly FileAtCommit[];
};

/**
 * Reads the histories of many commits in one process. If only one commit in these histories gave a file some content,
 * that commit is the last commit of every file with this path and content. If several commits did, the file stays
 * unclear unless it is from one of these commits.
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

/** The commits in which promptsync follows a file: all of them, or only those of the branch itself. */
type FollowScope = 'all' | 'branch';

/** The options of `git log` for each scope. In both scopes, a merge counts as one change with everything it merged. */
const SCOPE_OPTIONS = {
  all: ['--diff-merges=first-parent'],
  branch: ['--first-parent', '--diff-merges=first-parent'],
} as const satisfies Record<FollowScope, readonly string[]>;

/**
 * Returns, for each path, the commits up to `asOf` that changed the file, newest first. Each has the name that the file
 * had at that commit. promptsync reads the history once for all paths, and follows the renames that git detects.
 */
async function followFiles(
  { run, blobCache }: HistoryReaders,
  asOf: string,
  scopeOptions: readonly string[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly FileAtCommit[]>> {
  const touchesByPath = new Map(paths.map((path): [string, FileAtCommit[]] => [path, []]));
  // Maps the name that a file had at the commit in the loop to the current paths of the files that it became.
  const currentPaths = new Map(paths.map((path) => [path, [path]]));
  const options = ['--find-renames', '-l1000', `--max-count=${MAX_COMMITS}`];
  for (const { commit, changes } of await readLog(run, ...scopeOptions, ...options, asOf, '--')) {
    const followedChanges = changes.filter(({ path }) => currentPaths.has(path));
    for (const { path, blob } of followedChanges) {
      blobCache.rememberBlobId(commit, path, blob);
      for (const currentPath of currentPaths.get(path) ?? []) touchesByPath.get(currentPath)?.push({ commit, path });
    }
    followRenames(currentPaths, followedChanges);
  }
  return touchesByPath;
}

/** Replaces the new name of each renamed file by its earlier name, because all older commits use the earlier name. */
function followRenames(currentPaths: Map<string, string[]>, changes: readonly FileStateChange[]): void {
  const renames = changes.flatMap(({ path, before }) =>
    before === null ? [] : [{ path, before, paths: currentPaths.get(path) ?? [] }],
  );
  for (const { path } of renames) currentPaths.delete(path);
  for (const { before, paths } of renames) currentPaths.set(before, [...(currentPaths.get(before) ?? []), ...paths]);
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

async function readLog(run: RunGit, ...args: readonly string[]): Promise<readonly LogEntry[]> {
  return parseLog(await run(...LOG, '--root', '--raw', '--no-abbrev', '--format=tformat:%H%x00%s', ...args));
}

/**
 * Parses the output of `git log --raw -z`: the id and the subject of each commit, followed by its changes. git prints
 * an empty field before the changes of a merge. No field contains a NUL.
 */
function parseLog(output: string): readonly LogEntry[] {
  const fields = output.split('\0');
  const entries: { commit: string; subject: string; changes: FileStateChange[] }[] = [];
  for (let index = 0; index < fields.length;) {
    const [field = '', next = '', afterNext = ''] = fields.slice(index, index + 3);
    if (isCommitId(field)) {
      entries.push({ commit: field, subject: next, changes: [] });
      index += 2;
    } else {
      const changes = parseChange(field, next, afterNext);
      entries.at(-1)?.changes.push(...changes);
      // In the output, the line is followed by one name for each change.
      index += 1 + changes.length;
    }
  }
  return entries;
}

/**
 * A line of `git log --raw`: the modes before and after the change, the blob ids before and after, and the kind of the
 * change. For a merge, the line has a mode and a blob id for each parent before those of the result.
 */
const CHANGE = /^\n?:+(?:[0-9]{6} )+([0-9]{6}) (?:[0-9a-f]+ )+([0-9a-f]+) (?:[A-Z]+|(R)[0-9]*)$/;

/**
 * Parses a line of `git log --raw` and the names after the line. Returns one change for each name. A renamed file has
 * two names, and disappears from the first. Returns an empty list if the line does not describe a change.
 */
function parseChange(line: string, firstName: string, secondName: string): readonly FileStateChange[] {
  const [, mode, id = '', isRename] = CHANGE.exec(line) ?? [];
  if (mode === undefined) return [];
  const blob = isRegular(mode) ? id : null;
  if (isRename === undefined) return [{ path: firstName, before: null, blob }];
  return [
    { path: firstName, before: null, blob: null },
    { path: secondName, before: firstName, blob },
  ];
}

/** The change that a commit message describes. */
export type CommitMessage = {
  /**
   * The subject of the change. For a merge commit, it is the title of the pull request if the body contains the title.
   */
  readonly subject: string;
  /** The number of the pull request, such as `#12`, or `!12` in GitLab; null if the message names none. */
  readonly pullRequest: string | null;
};

/**
 * Parses a commit message as GitHub and GitLab write it. The subject of a merge commit names only branches, so the
 * function takes the title from the body.
 */
export function parseCommitMessage(subject: string, body: string): CommitMessage {
  const mergedNumber = /^Merge pull request #(\d{1,9})\b/.exec(subject)?.[1];
  if (mergedNumber !== undefined) return { subject: findTitle(body) ?? subject, pullRequest: `#${mergedNumber}` };
  const squashedNumber = /\(#(\d{1,9})\)\s*$/.exec(subject)?.[1];
  if (squashedNumber !== undefined) return { subject, pullRequest: `#${squashedNumber}` };
  const mergeRequestNumber = body.match(MERGE_REQUEST)?.at(-1)?.split('!').at(-1);
  if (mergeRequestNumber === undefined) return { subject, pullRequest: null };
  const title = subject.startsWith('Merge branch ') ? findTitle(body) : null;
  return { subject: title ?? subject, pullRequest: `!${mergeRequestNumber}` };
}

/** The line that GitLab adds to a merge commit, such as `See merge request acme/prompts!12`. */
const MERGE_REQUEST = /^See merge request [^\s!]*!\d{1,9}(?=\r?$)/gm;

/** Returns the first line of the body of a merge commit. Null if the line is empty or GitLab's merge request line. */
function findTitle(body: string): string | null {
  const firstLine = body.split('\n', 1)[0]?.trim() ?? '';
  return firstLine === '' || firstLine.startsWith('See merge request ') ? null : firstLine;
}
