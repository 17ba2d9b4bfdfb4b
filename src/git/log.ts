import type { Provenance } from '../domain/plan.ts';
import { isCommitId, pathspecsOf, type Ask } from './driver.ts';
import { isRegular, type Trees } from './files-at.ts';

/** A path from the repository's root, as it was called at the commit. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

type Entry = {
  readonly commit: string;
  readonly subject: string;
  readonly changes: readonly Change[];
};

type Change = {
  readonly path: string;
  /** What a renamed file was called before; null for any other change. */
  readonly before: string | null;
  /** The id of what is there now; null where no regular file is. */
  readonly blob: string | null;
};

/** So many commits are read at first: most files were touched lately. */
const LATELY = 1000;
const ALL_OF_THEM = -1;

/** How far back renames and merges are looked for. */
export const MOST_COMMITS = 100_000;

/**
 * By path (from the root), the newest commit that has left there what is there as of a commit. For a path alone it is
 * what `git log -1` prints; the history is read once for all paths. None for a path where no regular file is.
 */
export async function findLastCommits(
  ask: Ask,
  { blobAt }: Pick<Trees, 'blobAt'>,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const blobs = await Promise.all(paths.map(async (path) => [path, await blobAt(asOf, path)] as const));
  const sought = new Map(blobs.filter(([, blob]) => blob !== null));
  const found = new Map<string, Provenance>();
  for (const most of [LATELY, ALL_OF_THEM]) {
    if (found.size === sought.size) break;
    // A merge touches what it has otherwise than all of its parents.
    const how = ['--no-renames', '--diff-merges=combined', `--max-count=${most}`];
    for (const { commit, subject, changes } of await readLog(ask, ...how, asOf, '--', ...pathspecsOf(paths))) {
      for (const { path, blob } of changes) {
        // A commit that left something else there was of a branch that another one has prevailed over.
        if (blob === null || sought.get(path) !== blob || found.has(path)) continue;
        found.set(path, { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) });
      }
    }
  }
  return found;
}

/** Which commits count, in words of `git log`: those of the branch itself, merges included, or all but merges. */
export const BRANCH = ['--first-parent', '--diff-merges=first-parent'] as const;
export const ALL = ['--diff-merges=off'] as const;

/**
 * By path (from the root), where the file was touched up to a commit, under earlier names as well, newest first. The
 * history is read once for all paths, and renames are those that git finds in each commit.
 */
export async function findTouched(
  ask: Ask,
  { note }: Pick<Trees, 'note'>,
  { commit: asOf, most, which }: { readonly commit: string; readonly most: number; readonly which: readonly string[] },
  paths: readonly string[],
): Promise<ReadonlyMap<string, readonly FileAtCommit[]>> {
  const places = new Map(paths.map((path): [string, FileAtCommit[]] => [path, []]));
  // By the name that a file has at the commit that is looked at, the files of now that it became.
  const followed = new Map(paths.map((path) => [path, [path]]));
  const how = ['--find-renames', '-l1000', `--max-count=${MOST_COMMITS}`];
  for (const { commit, changes } of await readLog(ask, ...which, ...how, asOf, '--')) {
    const touched = changes.filter(({ path }) => followed.has(path));
    for (const { path, blob } of touched) {
      note(commit, path, blob);
      for (const now of followed.get(path) ?? []) {
        const all = places.get(now);
        if (all !== undefined && all.length < most) all.push({ commit, path });
      }
    }
    followRenames(followed, touched);
  }
  return places;
}

/** From the commit before on, renamed files are looked for under the names that they had there. */
function followRenames(followed: Map<string, string[]>, touched: readonly Change[]): void {
  const renamed = touched.flatMap(({ path, before }) =>
    before === null ? [] : [{ path, before, files: followed.get(path) ?? [] }],
  );
  for (const { path } of renamed) followed.delete(path);
  for (const { before, files } of renamed) followed.set(before, [...(followed.get(before) ?? []), ...files]);
}

/** So that nothing the user has configured for reading logs changes what is read here. */
const PLAIN = [
  ...['--no-show-signature', '--encoding=UTF-8', '--no-color', '--no-notes', '--no-follow', '--no-relative'],
  ...['--root', '--raw', '-z', '--no-abbrev', '--format=tformat:%H%x00%s'],
] as const;

async function readLog(ask: Ask, ...which: readonly string[]): Promise<readonly Entry[]> {
  return parseLog(await ask('log', ...PLAIN, ...which));
}

/** Of a commit the id and the subject, and its changes; before those of a merge is an empty word. No field can hold NUL. */
function parseLog(listed: string): readonly Entry[] {
  const words = listed.split('\0');
  const entries: { commit: string; subject: string; changes: Change[] }[] = [];
  for (let index = 0; index < words.length;) {
    const { [index]: word = '', [index + 1]: first = '', [index + 2]: second = '' } = words;
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
function parseChange(line: string, first: string, second: string): readonly Change[] {
  const [, mode, id = '', isRename] = CHANGE.exec(line) ?? [];
  if (mode === undefined) return [];
  const blob = isRegular(mode) ? id : null;
  if (isRename === undefined) return [{ path: first, before: null, blob }];
  return [
    { path: first, before: null, blob: null },
    { path: second, before: first, blob },
  ];
}
