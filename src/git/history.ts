import { posix } from 'node:path';
import type { CommitInfo } from '../domain/history.ts';
import { type Ask, EVERYWHERE, gathered, type Git, isCommitId, namesIn } from './driver.ts';
import type { Trees } from './files-at.ts';
import { ALL, BRANCH, type FileAtCommit, findTouched, MOST_COMMITS } from './log.ts';

/** What git knows of the history between commits. */
export type History = {
  /** All files at a commit, their paths relative to the configuration's folder. */
  readonly pathsAt: (commit: string) => Promise<readonly string[]>;
  /**
   * Those files that differ between one of the commits and the work tree, or are in one of the two alone, or whose edits
   * git ignores (`update-index --assume-unchanged`); untracked ones are not.
   */
  readonly changedSince: (...commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** The commits that any of the commits contains, themselves included. */
  readonly ancestorsOf: (commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Where a file (from the repository's root) was touched up to a commit, under earlier names as well; newest first. */
  readonly whereTouched: (commit: string, pathFromRoot: string, most: number) => Promise<readonly FileAtCommit[]>;
  /** Where the branch of a commit itself changed a file, merges included; under earlier names as well, newest first. */
  readonly whereMerged: (commit: string, pathFromRoot: string, most: number) => Promise<readonly FileAtCommit[]>;
  /** Who made commits, when and why; those that are not there are left out, whatever their ids hold. */
  readonly commitsOf: (ids: Iterable<string>) => Promise<ReadonlyMap<string, CommitInfo>>;
  /** By commit: the merge that brought it into the branch of another one; of that branch's own commits there is none. */
  readonly mergesOf: (commit: string) => Promise<ReadonlyMap<string, string>>;
  readonly isShallow: () => Promise<boolean>;
  /** The parents of a commit; none of the first one, nor of one at the edge of a shallow clone. */
  readonly parentsOf: (commit: string) => Promise<readonly string[]>;
  /** The newest commit that two have in common; null where there is none, or one of the two is not there. */
  readonly mergeBase: (one: string, other: string) => Promise<string | null>;
  /** A commit and what was merged or pushed to its branch before it, newest first. */
  readonly mergesBefore: (commit: string, most: number) => Promise<readonly string[]>;
  /** Those of the commits that come after another one and contain it; ids that are not there are none of them. */
  readonly descendantsOf: (commit: string, candidates: readonly string[]) => Promise<readonly string[]>;
};

type Place = { readonly prefix: string; readonly shallow: boolean };

export function historyOf({ ask, askWith }: Git, trees: Trees, { prefix, shallow }: Place): History {
  const touchedIn = (which: readonly string[]) =>
    gathered((paths, commit = '', most = '') => findTouched(ask, trees, { commit, most: Number(most), which }, paths));
  const [touched, merged] = [touchedIn(ALL), touchedIn(BRANCH)];
  const toFolder = (path: string): string => posix.relative(prefix === '' ? '.' : prefix, path);
  const revList = async (...words: readonly string[]) => linesIn(await ask('rev-list', ...words, '--'));
  return {
    pathsAt: async (commit) => (await trees.pathsAt(commit)).map(toFolder),
    changedSince: async (...commits) => {
      const differences = [...new Set(commits)].map((commit) => changedFiles(ask, [EVERYWHERE], commit));
      const paths = await Promise.all([...differences, unwatchedFiles(ask)]);
      return new Set(paths.flatMap((some) => [...some]).map(toFolder));
    },
    ancestorsOf: async (commits) => new Set(await revList(...commits)),
    whereTouched: async (commit, path, most) => (await touched(path, commit, String(most))).get(path) ?? [],
    whereMerged: async (commit, path, most) => (await merged(path, commit, String(most))).get(path) ?? [],
    commitsOf: (ids) => readCommits(askWith, ids),
    mergesOf: async (commit) => findMerges(await revList('--parents', `--max-count=${MOST_COMMITS}`, commit)),
    parentsOf: async (commit) => (await revList('--parents', '--max-count=1', commit))[0]?.split(' ').slice(1) ?? [],
    mergeBase: async (one, other) => (await ask('merge-base', '--', one, other).catch(() => '')).trim() || null,
    mergesBefore: (commit, most) => revList('--first-parent', `--max-count=${most}`, commit),
    descendantsOf: (commit, candidates) => findDescendants(askWith, commit, candidates),
    isShallow: async () => shallow,
  };
}

function linesIn(listed: string): readonly string[] {
  return listed.split('\n').filter((line) => line !== '');
}

/** Names alone, whatever the user has configured. */
const NAMES = ['--name-only', '-z', '--no-renames', '--no-relative'];

/**
 * The files, by their paths from the root, that differ between a commit and the work tree; with `--cached` between it
 * and what is staged.
 */
export async function changedFiles(
  ask: Ask,
  pathspecs: readonly string[],
  commit: string,
  ...how: readonly '--cached'[]
): Promise<ReadonlySet<string>> {
  return new Set(namesIn(await ask('diff', ...NAMES, ...how, commit, '--', ...pathspecs)));
}

/** Each path after a letter: `H` where git watches it, another where it ignores edits, or where a merge is not done. */
export const LIST_FILES = ['ls-files', '-v', '-z', '--full-name', '--'] as const;

/** The files whose edits git ignores, or of which a merge is not done. */
async function unwatchedFiles(ask: Ask): Promise<readonly string[]> {
  const listed = namesIn(await ask(...LIST_FILES, EVERYWHERE));
  return listed.filter((entry) => !entry.startsWith('H ')).map((entry) => entry.slice(2));
}

const FIELDS = ['%H', '%an', '%aI', '%s', '%b'];

/** Ids may come from the service: only what can be a commit's id is handed to git. */
async function readCommits(ask: Git['askWith'], ids: Iterable<string>): Promise<ReadonlyMap<string, CommitInfo>> {
  const wanted = new Set([...ids].filter(isCommitId));
  if (wanted.size === 0) return new Map();
  // What the user has configured for reading logs must not change what is read here.
  const plain = ['--no-show-signature', '--encoding=UTF-8', '--no-color', '--no-notes', '-s', '-z'];
  const format = `--format=tformat:${FIELDS.join('%x00')}`;
  const listed = await ask([...wanted], 'log', '--no-walk=unsorted', '--ignore-missing', ...plain, format, '--stdin');
  // Where no id is there, git prints HEAD instead, and for a tag its commit.
  return new Map(parseCommits(listed).flatMap((info) => (wanted.has(info.commit) ? [[info.commit, info]] : [])));
}

/** No field can hold the NUL that ends it. */
function parseCommits(listed: string): readonly CommitInfo[] {
  const words = listed.split('\0');
  const starts = words.slice(0, -1).flatMap((_, index) => (index % FIELDS.length === 0 ? [index] : []));
  return starts.map((start): CommitInfo => {
    const [commit = '', author = '', date = '', title = '', body = ''] = words.slice(start, start + FIELDS.length);
    const { pullRequest, subject } = readMessage(title, body);
    return { commit, author, date, subject, ...(pullRequest === null ? {} : { pullRequest }) };
  });
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

/** Candidates may come from the service: only what can be a commit's id is handed to git. */
async function findDescendants(
  ask: Git['askWith'],
  commit: string,
  candidates: readonly string[],
): Promise<readonly string[]> {
  const ids = [...new Set(candidates)].filter(isCommitId);
  if (ids.length === 0) return [];
  const listed = await ask([...ids, `^${commit}`], 'rev-list', '--ignore-missing', '--ancestry-path', '--stdin');
  const after = new Set(listed.split('\n'));
  return ids.filter((id) => after.has(id));
}

/** A commit's message as a history shows it: in one line, and with the pull request that it names. */
export type CommitMessage = { readonly subject: string; readonly pullRequest: string | null };

/**
 * Reads the pull request out of a commit's message, as GitHub and GitLab write it there: `#12`, or `!12` of GitLab. A
 * merge commit's own subject names branches alone; what was merged is called in its body.
 */
export function readMessage(subject: string, body: string): CommitMessage {
  const merged = /^Merge pull request #(\d{1,9})\b/.exec(subject)?.[1];
  if (merged !== undefined) return { subject: titleIn(body) ?? subject, pullRequest: `#${merged}` };
  const squashed = /\(#(\d{1,9})\)\s*$/.exec(subject)?.[1];
  if (squashed !== undefined) return { subject, pullRequest: `#${squashed}` };
  const request = body.match(MERGE_REQUEST)?.at(-1)?.split('!').at(-1);
  if (request === undefined) return { subject, pullRequest: null };
  const branches = subject.startsWith('Merge branch ');
  return { subject: (branches ? titleIn(body) : null) ?? subject, pullRequest: `!${request}` };
}

const MERGE_REQUEST = /^See merge request [^\s!]*!\d{1,9}(?=\r?$)/gm;

function titleIn(body: string): string | null {
  const first = body.split('\n', 1)[0]?.trim() ?? '';
  return first === '' || first.startsWith('See merge request ') ? null : first;
}
