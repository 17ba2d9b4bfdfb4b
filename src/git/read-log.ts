import type { CommitInfo } from '../domain/version-history.ts';
import { isCommitId, NO_EXTERNAL_PROGRAMS, type Git, type RunGit } from './run-git.ts';
import { parseCommitMessage } from './parse-commit-message.ts';
import { isRegular } from './read-objects.ts';

/** A commit in the output of `git log`, with the changes that it made to files. */
export type LogEntry = {
  readonly commit: string;
  /** The committer date, in seconds since 1970. */
  readonly time: number;
  readonly changes: readonly FileStateChange[];
};

/** The change that a commit made to the file at one path. */
export type FileStateChange = {
  readonly path: string;
  /** The previous path if the change renamed the file. */
  readonly before: string | null;
  /** The blob id after the change. Null if the change leaves no regular file at the path. */
  readonly blob: string | null;
  /** The blob id of the file that the change deleted. Null if it deleted none, or if it renamed the file. */
  readonly deleted: string | null;
};

/** The maximum number of commits that promptsync reads to find renames, changes and merges, and to list a branch. */
export const MAX_COMMITS = 100_000;

/** The options override all user settings that would change the output. */
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
 * Keeps all sides of a merge. Without `--full-history`, git follows only one parent if the queried files are identical
 * there and in the merge. Then a result would depend on the other files in the query, and changes that a merge
 * discarded would be missing. With `combined`, a merge changes a file only if the file differs in every parent.
 */
export const FULL_HISTORY = ['--full-history', '--no-renames', '--diff-merges=combined'] as const;

/** Reads commits, newest first, with the changes that each of them made to files. */
export async function readLog(run: RunGit, ...args: readonly string[]): Promise<readonly LogEntry[]> {
  return parseLog(await run(...LOG, '--root', '--raw', '--no-abbrev', '--format=tformat:%H%x00%ct', ...args));
}

/**
 * Parses the output of `git log --raw -z`: for each commit the id, the committer date and the changes. Before the
 * changes of a merge, there is an empty field. No field contains a NUL.
 */
function parseLog(output: string): readonly LogEntry[] {
  const fields = output.split('\0');
  const entries: (LogEntry & { readonly changes: FileStateChange[] })[] = [];
  for (let index = 0; index < fields.length;) {
    const [field = '', next = '', afterNext = ''] = fields.slice(index, index + 3);
    if (isCommitId(field)) {
      entries.push({ commit: field, time: Number(next), changes: [] });
      index += HEADER_FIELDS;
    } else {
      const changes = parseChange(field, next, afterNext);
      entries.at(-1)?.changes.push(...changes);
      // Skip the change line and the paths that follow it. There is one path for each change.
      index += 1 + changes.length;
    }
  }
  return entries;
}

/** The number of fields that git prints for each commit before its changes. */
const HEADER_FIELDS = 2;

/**
 * Matches a change line of `git log --raw`: the modes before and after, the blob ids before and after, and the kind of
 * the change. For a merge, the modes and blob ids of all parents precede those of the result.
 */
const CHANGE = /^\n?:+(?:[0-9]{6} )+([0-9]{6}) (?:[0-9a-f]+ )*([0-9a-f]+) ([0-9a-f]+) (?:[A-Z]+|(R)[0-9]*)$/;

/**
 * Parses a change line of `git log --raw` and the paths after it. Returns one change per path: a rename removes the
 * file from the first path and adds it at the second. Returns an empty list if the line is not a change.
 */
function parseChange(line: string, firstName: string, secondName: string): readonly FileStateChange[] {
  const [, mode, blobBefore = '', id = '', isRename] = CHANGE.exec(line) ?? [];
  if (mode === undefined) return [];
  const blob = isRegular(mode) ? id : null;
  if (isRename === undefined)
    return [{ path: firstName, before: null, blob, deleted: blob === null ? blobBefore : null }];
  return [
    { path: firstName, before: null, blob: null, deleted: null },
    { path: secondName, before: firstName, blob, deleted: null },
  ];
}

/** The placeholders of `git log` for the id, author, author date, subject and body of a commit. */
const FIELDS = ['%H', '%an', '%aI', '%s', '%b'];

/** Omits commits that the clone does not have. */
export async function readCommitInfos(
  run: Git['runWithInput'],
  ids: readonly string[],
): Promise<ReadonlyMap<string, CommitInfo>> {
  // Pass no other id to git, because it may come from the service.
  const requestedIds = new Set([...ids].filter(isCommitId));
  if (requestedIds.size === 0) return new Map();
  const format = `--format=tformat:${FIELDS.join('%x00')}`;
  const options = [...LOG, '--no-walk=unsorted', '--ignore-missing', '-s', format, '--stdin'];
  const commits = parseCommits(await run([...requestedIds], ...options));
  // If the clone has none of the commits, git prints HEAD. For a tag's id, git prints the tagged commit. Drop both.
  const requested = commits.filter(({ commit }) => requestedIds.has(commit));
  return new Map(requested.map((info) => [info.commit, info]));
}

/** Parses the output of `git log -z` for the format `FIELDS`. No field contains a NUL. */
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
