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

/** Reads the history of commits and files. Paths are relative to the repository's root. */
export type CommitHistory = {
  /** Returns the commit that last touched a file as of another commit, or null if that commit has no such file. */
  readonly findLastCommit: (commit: string, path: string) => Promise<Provenance | null>;
  /**
   * Returns where a file was touched up to a commit, also under its earlier names, newest first. With `branch`, only
   * the commits of the branch itself count, and a merge counts as one change.
   */
  readonly followFile: (commit: string, path: string, by?: 'all' | 'branch') => Promise<readonly FileAtCommit[]>;
  /**
   * Returns the commits that changed a file under this name, up to and including another commit. All merged branches
   * are read. A merge commit counts if the file differs from all of its parents.
   */
  readonly findCommitsChanging: (commit: string, path: string) => Promise<readonly string[]>;
  /** Whether a commit is another one or an ancestor of it. Both are ids of commits that the clone has. */
  readonly isSameOrAncestor: (commit: string, other: string) => Promise<boolean>;
  /** Returns those of the commits that are not ancestors of another one of them. */
  readonly findIndependent: (commits: readonly string[]) => Promise<readonly string[]>;
  /** Returns the author, date and message of commits, by id. Ids that the clone does not have are left out. */
  readonly readCommits: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
  /**
   * Returns, for each commit that a merge brought into the branch of `commit`, the id of that merge. The branch's own
   * commits are not in the map.
   */
  readonly mapCommitsToMerges: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /** Returns the newest common ancestor of two commits, or null if there is none or the clone lacks one of the two. */
  readonly findMergeBase: (one: string, other: string) => Promise<string | null>;
  /** Returns a commit and the commits that were merged or pushed to its branch before it, newest first, at most `most`. */
  readonly listBranchCommits: (commit: string, most?: number) => Promise<readonly string[]>;
};

export function makeHistoryReader({ run, runWithInput }: Git, trees: BlobCache): CommitHistory {
  const sources = { run, runWithInput, trees };
  const last = batchCalls((places) => findLastOfAll(sources, places));
  const touched = batchCalls((paths, commit = '', ...which) => findTouched(sources, commit, which, paths));
  const changed = batchCalls((paths, commit = '') => findChangedPaths(run, commit, paths));
  const later = batchCalls((commits, other = '') => findLater(runWithInput, other, commits));
  const revList = async (...words: readonly string[]) => splitLines(await run('rev-list', ...words, '--'));
  return {
    findLastCommit: async (commit, path) =>
      (await last(makePlaceKey(commit, path))).get(makePlaceKey(commit, path)) ?? null,
    followFile: async (commit, path, by = 'all') => (await touched(path, commit, ...WHICH[by])).get(path) ?? [],
    findCommitsChanging: async (commit, path) => (await changed(path, commit)).get(path) ?? [],
    isSameOrAncestor: async (commit, other) => !(await later(commit, other)).has(commit),
    findIndependent: async (commits) => splitLines(await run('merge-base', '--independent', ...commits)),
    readCommits: (ids) => readCommitInfos(runWithInput, ids),
    mapCommitsToMerges: async (commit) => findMerges(await revList('--parents', `--max-count=${MAX_COMMITS}`, commit)),
    findMergeBase: async (one, other) => (await run('merge-base', '--', one, other).catch(() => '')).trim() || null,
    listBranchCommits: (commit, most = MAX_COMMITS) => revList('--first-parent', `--max-count=${most}`, commit),
  };
}

/** Returns the commits that another commit does not contain. Among them can be ancestors of the given commits. */
async function findLater(
  run: Git['runWithInput'],
  other: string,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  return new Set(splitLines(await run([...commits, `^${other}`], 'rev-list', '--stdin')));
}

type GitReaders = { readonly run: RunGit; readonly runWithInput: Git['runWithInput']; readonly trees: BlobCache };

/** So that nothing the user has configured for reading logs changes what is read here. */
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
 * Without `--full-history`, git skips one side of a merge if the other side has the same content. Then the answer for a
 * file would depend on the other files in the same query, and a branch whose changes a merge dropped would be missing.
 * With `combined`, a merge counts as a change of a file only if the file differs from all parents.
 */
const FULL_HISTORY = ['--full-history', '--no-renames', '--diff-merges=combined'] as const;

const FIELDS = ['%H', '%an', '%aI', '%s', '%b'];

/** Ids may come from the service: only what can be a commit's id is handed to git. */
async function readCommitInfos(
  run: Git['runWithInput'],
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, CommitInfo>> {
  const wanted = new Set([...ids].filter(isCommitId));
  if (wanted.size === 0) return new Map();
  const format = `--format=tformat:${FIELDS.join('%x00')}`;
  const listed = await run([...wanted], ...LOG, '--no-walk=unsorted', '--ignore-missing', '-s', format, '--stdin');
  // Where no id is there, git prints HEAD instead, and for a tag its commit.
  return new Map(parseCommits(listed).flatMap((info) => (wanted.has(info.commit) ? [[info.commit, info]] : [])));
}

/** No field can hold the NUL that ends it. */
function parseCommits(listed: string): readonly CommitInfo[] {
  const words = listed.split('\0');
  const commits: CommitInfo[] = [];
  for (let start = 0; start < words.length - 1; start += FIELDS.length) {
    const [commit = '', author = '', date = '', title = '', body = ''] = words.slice(start, start + FIELDS.length);
    const { pullRequest, subject } = parseCommitMessage(title, body);
    commits.push({ commit, author, date, subject, ...(pullRequest === null ? {} : { pullRequest }) });
  }
  return commits;
}

/**
 * By commit, the merge that brought it into the branch; of its own commits there is none.
 * @param listed commits with their parents, newest first, beginning with the branch's tip
 */
export function findMerges(listed: readonly string[]): ReadonlyMap<string, string> {
  const parents = new Map(listed.map((line) => [line.split(' ')[0], line.split(' ').slice(1)]));
  const branch: string[] = [];
  for (let commit = listed[0]?.split(' ')[0]; commit !== undefined; commit = parents.get(commit)?.[0]) {
    branch.push(commit);
  }
  const known = new Set(branch);
  const merges = new Map<string, string>();
  // From the oldest on: what an earlier merge has brought, a later one has not.
  for (const merge of branch.toReversed()) {
    const left = (parents.get(merge) ?? []).slice(1);
    for (let commit = left.pop(); commit !== undefined; commit = left.pop()) {
      if (known.has(commit)) continue;
      known.add(commit);
      merges.set(commit, merge);
      left.push(...(parents.get(commit) ?? []));
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
  /** What a renamed file was called before; null for any other change. */
  readonly before: string | null;
  /** The id of what is there now; null where no regular file is. */
  readonly blob: string | null;
};

/** So many commits are read at first: most files were touched lately, and all of 20,000 commits take four seconds. */
const RECENT_COMMITS = 1000;
const ALL_COMMITS = -1;

/** How far back renames and merges are looked for. */
const MAX_COMMITS = 100_000;

function makePlaceKey(commit: string, path: string): string {
  return `${commit}\0${path}`;
}

/** The history of so many commits is read for each of them. The histories of more commits are read together. */
const MAX_COMMITS_TO_LIST = 4;

/** Of more commits it stays unknown where several commits may be the last one: each takes a process. */
const MAX_UNCLEAR_COMMITS = 100;

/** Finds the last commit of each place. A place is a commit and a path with a NUL between. */
async function findLastOfAll(sources: GitReaders, places: readonly string[]): Promise<ReadonlyMap<string, Provenance>> {
  const wanted = places.map((place) => {
    const [commit = '', path = ''] = place.split('\0');
    return { commit, path };
  });
  const { size } = new Set(wanted.map(({ commit }) => commit));
  const { found, unclear } =
    size > MAX_COMMITS_TO_LIST ? await findOnlyCommits(sources, wanted) : { found: [], unclear: wanted };
  const byCommit = [...Map.groupBy(unclear, ({ commit }) => commit)].slice(0, MAX_UNCLEAR_COMMITS);
  const rest = byCommit.map(async ([commit, files]) => {
    const last = await findLastCommits(
      sources,
      commit,
      files.map(({ path }) => path),
    );
    return [...last].map(([path, one]): [string, Provenance] => [makePlaceKey(commit, path), one]);
  });
  return new Map([...found, ...(await Promise.all(rest)).flat()]);
}

/**
 * By path (from the root), the newest commit that has left there what is there as of a commit. For a path alone it is
 * what `git log -1` prints; the history is read once for all paths. None for a path where no regular file is.
 */
async function findLastCommits(
  { run, trees }: GitReaders,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const blobs = await Promise.all(paths.map(async (path) => [path, await trees.findBlobId(asOf, path)] as const));
  const sought = new Map(blobs.filter(([, blob]) => blob !== null));
  const found = new Map<string, Provenance>();
  for (const most of [RECENT_COMMITS, ALL_COMMITS]) {
    if (found.size === sought.size) break;
    const options = [...FULL_HISTORY, `--max-count=${most}`];
    for (const { commit, subject, changes } of await readLog(run, ...options, asOf, '--', ...makePathspecs(paths))) {
      for (const { path, blob } of changes) {
        // A commit that left something else there was of a branch that another one has prevailed over.
        if (blob === null || sought.get(path) !== blob || found.has(path)) continue;
        found.set(path, makeProvenance({ commit, subject }, path));
      }
    }
  }
  return found;
}

type OnlyCommits = {
  /** The last commits that are certain, each with its place. */
  readonly found: readonly (readonly [place: string, last: Provenance])[];
  /** The files whose last commit only the history of their own commit can tell. */
  readonly unclear: readonly FileAtCommit[];
};

/**
 * Reads the histories of many commits in one process. If only one commit of them has left a content in a file, that is
 * the last commit of every place with this content. Of several, the history of each place decides.
 */
async function findOnlyCommits(
  { runWithInput, trees }: GitReaders,
  wanted: readonly FileAtCommit[],
): Promise<OnlyCommits> {
  const paths = [...new Set(wanted.map(({ path }) => path))];
  const commits = [...new Set(wanted.map(({ commit }) => commit))];
  const log = (...words: readonly string[]) => runWithInput(commits, ...words);
  const options = [...FULL_HISTORY, '--stdin', '--', ...makePathspecs(paths)];
  const left = Map.groupBy(
    (await readLog(log, ...options)).flatMap(({ changes, ...entry }) => changes.map((change) => ({ ...entry, ...change }))),
    ({ path, blob }) => `${blob}\0${path}`,
  );
  const found: [string, Provenance][] = [];
  const unclear: FileAtCommit[] = [];
  for (const { commit, path } of wanted) {
    const blob = await trees.findBlobId(commit, path);
    const all = blob === null ? [] : (left.get(`${blob}\0${path}`) ?? []);
    const last = all.length === 1 ? all[0] : all.find((one) => one.commit === commit);
    if (last !== undefined) found.push([makePlaceKey(commit, path), makeProvenance(last, path)]);
    else if (all.length > 1) unclear.push({ commit, path });
  }
  return { found, unclear };
}

function makeProvenance({ commit, subject }: Pick<LogEntry, 'commit' | 'subject'>, path: string): Provenance {
  return { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) };
}

/** Which commits count, in words of `git log`; all that a merge has brought is its change as well. */
const WHICH = {
  all: ['--diff-merges=first-parent'],
  branch: ['--first-parent', '--diff-merges=first-parent'],
} as const;

/**
 * By path (from the root), where the file was touched up to a commit, under earlier names as well, newest first. The
 * history is read once for all paths, and renames are those that git finds in each commit.
 */
async function findTouched(
  { run, trees }: GitReaders,
  asOf: string,
  which: readonly string[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly FileAtCommit[]>> {
  const places = new Map(paths.map((path): [string, FileAtCommit[]] => [path, []]));
  // By the name that a file has at the commit that is looked at, the files of now that it became.
  const followed = new Map(paths.map((path) => [path, [path]]));
  const how = ['--find-renames', '-l1000', `--max-count=${MAX_COMMITS}`];
  for (const { commit, changes } of await readLog(run, ...which, ...how, asOf, '--')) {
    const touched = changes.filter(({ path }) => followed.has(path));
    for (const { path, blob } of touched) {
      trees.rememberBlobId(commit, path, blob);
      for (const now of followed.get(path) ?? []) places.get(now)?.push({ commit, path });
    }
    followRenames(followed, touched);
  }
  return places;
}

async function findChangedPaths(
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

/** From the commit before on, renamed files are looked for under the names that they had there. */
function followRenames(followed: Map<string, string[]>, touched: readonly FileStateChange[]): void {
  const renamed = touched.flatMap(({ path, before }) =>
    before === null ? [] : [{ path, before, files: followed.get(path) ?? [] }],
  );
  for (const { path } of renamed) followed.delete(path);
  for (const { before, files } of renamed) followed.set(before, [...(followed.get(before) ?? []), ...files]);
}

async function readLog(run: RunGit, ...which: readonly string[]): Promise<readonly LogEntry[]> {
  return parseLog(await run(...LOG, '--root', '--raw', '--no-abbrev', '--format=tformat:%H%x00%s', ...which));
}

/** Of a commit the id and the subject, and its changes; before those of a merge is an empty word. No field can hold NUL. */
function parseLog(listed: string): readonly LogEntry[] {
  const words = listed.split('\0');
  const entries: { commit: string; subject: string; changes: FileStateChange[] }[] = [];
  for (let index = 0; index < words.length;) {
    const [word = '', first = '', second = ''] = words.slice(index, index + 3);
    const changes = parseChange(word, first, second);
    if (isCommitId(word)) entries.push({ commit: word, subject: first, changes: [] });
    else entries.at(-1)?.changes.push(...changes);
    index += isCommitId(word) ? 2 : 1 + changes.length;
  }
  return entries;
}

/** The modes before and now, the ids before and now, and the kind; of a merge, modes and ids of each parent before. */
const CHANGE = /^\n?:+(?:[0-9]{6} )+([0-9]{6}) (?:[0-9a-f]+ )+([0-9a-f]+) (?:[A-Z]+|(R)[0-9]*)$/;

/** One for each name: a renamed file has two, and is gone from the first one. None where the line is none of a change. */
function parseChange(line: string, first: string, second: string): readonly FileStateChange[] {
  const [, mode, id = '', isRename] = CHANGE.exec(line) ?? [];
  if (mode === undefined) return [];
  const blob = isRegular(mode) ? id : null;
  if (isRename === undefined) return [{ path: first, before: null, blob }];
  return [
    { path: first, before: null, blob: null },
    { path: second, before: first, blob },
  ];
}

/** What a commit's message says about its change. */
export type CommitMessage = {
  /** The subject of the change. For a merge commit, this is the title of what was merged, if its body tells that. */
  readonly subject: string;
  /** `#12`, or `!12` of GitLab; null if the message names none. */
  readonly pullRequest: string | null;
};

/** Reads a commit's message as GitHub and GitLab write it. The subject of a merge commit only names branches. */
export function parseCommitMessage(subject: string, body: string): CommitMessage {
  const merged = /^Merge pull request #(\d{1,9})\b/.exec(subject)?.[1];
  if (merged !== undefined) return { subject: findTitle(body) ?? subject, pullRequest: `#${merged}` };
  const squashed = /\(#(\d{1,9})\)\s*$/.exec(subject)?.[1];
  if (squashed !== undefined) return { subject, pullRequest: `#${squashed}` };
  const request = body.match(MERGE_REQUEST)?.at(-1)?.split('!').at(-1);
  if (request === undefined) return { subject, pullRequest: null };
  const branches = subject.startsWith('Merge branch ');
  return { subject: (branches ? findTitle(body) : null) ?? subject, pullRequest: `!${request}` };
}

const MERGE_REQUEST = /^See merge request [^\s!]*!\d{1,9}(?=\r?$)/gm;

function findTitle(body: string): string | null {
  const first = body.split('\n', 1)[0]?.trim() ?? '';
  return first === '' || first.startsWith('See merge request ') ? null : first;
}
