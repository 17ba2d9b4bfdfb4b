import { posix } from 'node:path';
import type { CommitInfo } from '../domain/prompt-history.ts';
import {
  changedFiles,
  isCommitId,
  literally,
  namesIn,
  touchedFiles,
  type Ask,
  type AskWith,
  unwatchedFiles,
} from './ask.ts';
import { commitsOf } from './commits.ts';
import type { Sources } from './files-at.ts';
import { gathered } from './gather.ts';
import type { KnownBlobs } from './known-blobs.ts';
import { findMerged } from './lineages.ts';
import { mergesOf } from './merges.ts';

/** What git knows of the history between commits. */
export type History = {
  /** All files at a commit, their paths relative to the configuration's folder. */
  readonly pathsAt: (commit: string) => Promise<readonly string[]>;
  /**
   * Those files that differ between one of the commits and the work tree, or are in one of the two alone, or whose edits git was
   * told to overlook; untracked ones are not.
   */
  readonly changedSince: (...commits: readonly string[]) => Promise<ReadonlySet<string>>;
  /**
   * The files that differ between a commit and a later one, or are in one of the two alone, or were touched on the way
   * from the one to the other: what was changed and changed back may have been synced in between.
   */
  readonly changedBetween: (earlier: string, later: string) => Promise<ReadonlySet<string>>;
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

/** A path from the repository's root, as it was called at the commit. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

type Place = { readonly prefix: string; readonly shallow: boolean };

export function historyOf(sources: Sources & { readonly ask: Ask }, { prefix, shallow }: Place): History {
  const { ask, askWith, known } = sources;
  const merged = gathered((paths, commit = '', most = '') => findMerged(sources, commit, paths, Number(most)));
  const toFolder = (path: string): string => posix.relative(prefix === '' ? '.' : prefix, path);
  const lines = (listed: string) => listed.split('\n').filter((line) => line !== '');
  return {
    pathsAt: async (commit) =>
      namesIn(await ask('ls-tree', '-r', '-z', '--name-only', '--full-tree', commit)).map(toFolder),
    changedSince: async (...commits) => {
      const differences = [...new Set(commits)].map((commit) => changedFiles(ask, commit));
      const paths = await Promise.all([...differences, unwatchedFiles(ask)]);
      return new Set(paths.flatMap((some) => [...some]).map(toFolder));
    },
    changedBetween: async (earlier, later) => {
      const range = `${earlier}..${later}`;
      const [changed, touched] = await Promise.all([changedFiles(ask, range), touchedFiles(ask, range)]);
      return new Set([...changed, ...touched].map(toFolder));
    },
    ancestorsOf: async (commits) => new Set(lines(await ask('rev-list', ...commits, '--'))),
    whereTouched: (commit, path, most) =>
      findTouched(ask, known, [`--max-count=${most}`, commit, '--', literally(path)]),
    whereMerged: async (commit, path, most) => (await merged(path, commit, String(most))).get(path) ?? [],
    commitsOf: (ids) => commitsOf(askWith, ids),
    mergesOf: (commit) => mergesOf(ask, commit),
    parentsOf: async (commit) =>
      (await ask('rev-list', '--parents', '--max-count=1', commit, '--')).trim().split(' ').slice(1),
    mergeBase: async (one, other) => (await ask('merge-base', '--', one, other).catch(() => '')).trim() || null,
    mergesBefore: async (commit, most) =>
      lines(await ask('rev-list', '--first-parent', `--max-count=${most}`, commit, '--')),
    descendantsOf: (commit, candidates) => findDescendants(askWith, commit, candidates),
    isShallow: async () => shallow,
  };
}

/** Candidates may come from the service: only what can be a commit's id is handed to git. */
async function findDescendants(
  ask: AskWith,
  commit: string,
  candidates: readonly string[],
): Promise<readonly string[]> {
  const ids = [...new Set(candidates)].filter(isCommitId);
  if (ids.length === 0) return [];
  const listed = await ask([...ids, `^${commit}`], 'rev-list', '--ignore-missing', '--ancestry-path', '--stdin');
  const after = new Set(listed.split('\n'));
  return ids.filter((id) => after.has(id));
}

/** What git tells of the contents is kept: each of these files is read next, and asking again takes a process. */
async function findTouched(ask: Ask, known: KnownBlobs, which: readonly string[]): Promise<readonly FileAtCommit[]> {
  const how = [
    '--follow',
    '--root',
    '--no-show-signature',
    '--raw',
    '--no-abbrev',
    '-z',
    '--no-relative',
    '--format=%H',
  ];
  const touched = parseTouched(await ask('log', ...how, ...which));
  for (const { commit, path, blob } of touched) if (blob !== undefined) known.note(commit, path, blob);
  return touched.map(({ commit, path }) => ({ commit, path }));
}

type Touched = FileAtCommit & { readonly blob: string | null | undefined };

/** Each commit is followed by a line that begins with a line feed, and by the names of the file; a merge may have none. */
function parseTouched(listed: string): readonly Touched[] {
  const words = listed.split('\0');
  const touched: Touched[] = [];
  for (let index = 1; index < words.length; index += 1) {
    const { [index - 1]: commit = '', [index]: line = '' } = words;
    if (!line.startsWith('\n')) continue;
    const names = / [RC][0-9]*$/.test(line) ? 2 : 1;
    touched.push({ commit, path: words[index + names] ?? '', blob: blobIn(line) });
    index += names + 1;
  }
  return touched;
}

/** Null where the commit has no regular file; undefined where the line is none of a commit with one parent. */
function blobIn(line: string): string | null | undefined {
  const [, mode, blob] = /^\n:[0-9]{6} ([0-9]{6}) [0-9a-f]+ ([0-9a-f]+) /.exec(line) ?? [];
  if (mode === undefined || blob === undefined) return undefined;
  return mode.startsWith('100') ? blob : null;
}
