import { namesIn, type Ask } from './ask.ts';
import type { FileAtCommit } from './history.ts';
import type { KnownBlobs } from './known-blobs.ts';
import { LOG_ENTRIES, parseLog, type LogEntry } from './log-entries.ts';

/** How many commits are read at first, then, and ever after that. */
const WINDOWS = [500, 5000, 20_000] as const;

/** What a file was, newest first. */
type Lineage = FileAtCommit[];

/** By the name of now that is, at the commit that is looked at. */
type Followed = Map<string, readonly Lineage[]>;

/**
 * By path (from the root), where the branch of a commit itself changed the file, merges included; under earlier names
 * as well, newest first. The history is read once for all paths. It is what `git log --first-parent --follow` tells for
 * each alone, but where files compete for one earlier name: git looks for the best there is for one file, this for the
 * best for all, so that two files never come from one. In a commit with more than a thousand files moved and edited at
 * once, those whose names changed as well are taken for new ones.
 */
export async function findMerged(
  { ask, known }: { readonly ask: Ask; readonly known: KnownBlobs },
  commit: string,
  paths: readonly string[],
  most: number,
): Promise<ReadonlyMap<string, readonly FileAtCommit[]>> {
  const lineages = new Map(paths.map((path): [string, Lineage] => [path, []]));
  const followed: Followed = new Map([...lineages].map(([path, lineage]) => [path, [lineage]]));
  let next: string | undefined = commit;
  for (let turn = 0; next !== undefined && followed.size > 0; turn += 1) {
    const window = WINDOWS[turn] ?? Math.max(...WINDOWS);
    const entries = parseLog(await ask(...LOG_ENTRIES, '--first-parent', `--max-count=${window}`, next, '--'));
    for (const entry of entries) await followTo(entry, { followed, most, ask, known });
    next = entries.at(-1)?.parents[0];
  }
  return lineages;
}

type Following = {
  readonly followed: Followed;
  readonly most: number;
  readonly ask: Ask;
  readonly known: KnownBlobs;
};

async function followTo(entry: LogEntry, { followed, most, ask, known }: Following): Promise<void> {
  const { commit, changes } = entry;
  const touched = [...changes].filter(([path]) => followed.has(path));
  for (const [path, { now }] of touched) {
    const lineages = followed.get(path) ?? [];
    for (const lineage of lineages) lineage.push({ commit, path });
    known.note(commit, path, now !== null && now.mode.startsWith('100') ? now.id : null);
    keep(
      followed,
      path,
      lineages.filter(({ length }) => length < most),
    );
  }
  const added = touched.flatMap(([path, { isNew }]) => (isNew && followed.has(path) ? [path] : []));
  const renames = added.length === 0 ? NO_RENAMES : await renamesIn(entry, ask);
  const moved = added.map((path) => ({ path, before: renames.get(path), lineages: followed.get(path) ?? [] }));
  for (const { path, before } of moved) if (before !== undefined) followed.delete(path);
  for (const { before, lineages } of moved)
    if (before !== undefined) keep(followed, before, [...(followed.get(before) ?? []), ...lineages]);
}

function keep(followed: Followed, path: string, lineages: readonly Lineage[]): void {
  if (lineages.length === 0) followed.delete(path);
  else followed.set(path, lineages);
}

const NO_RENAMES: ReadonlyMap<string, string> = new Map();

/** By new name the earlier one. Where nothing is gone, nothing was renamed, which is so in most commits. */
async function renamesIn({ commit, parents, changes }: LogEntry, ask: Ask): Promise<ReadonlyMap<string, string>> {
  const [parent] = parents;
  const isGone = [...changes.values()].some(({ now }) => now === null);
  if (parent === undefined || !isGone) return NO_RENAMES;
  const how = ['-r', '-z', '--find-renames', '-l1000', '--diff-filter=R', '--name-status', '--no-relative'];
  const words = namesIn(await ask('diff-tree', ...how, parent, commit, '--'));
  const renames = words.flatMap((_, index): [string, string][] =>
    index % 3 === 0 ? [[words[index + 2] ?? '', words[index + 1] ?? '']] : [],
  );
  return new Map(renames);
}
