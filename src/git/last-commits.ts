import type { Provenance } from '../domain/plan.ts';
import { literally, type AskWith } from './ask.ts';
import { LOG_ENTRIES, parseLog, type LogEntry } from './log-entries.ts';
import type { Entry, Trees } from './trees.ts';

/** How many commits are read at first, then, and ever after that: most files were touched lately. */
const WINDOWS = [100, 2000, 20_000] as const;

/** By commit, the paths that are still looked for there. */
type Sought = Map<string, Set<string>>;

/**
 * By path (from the root), the commit that last touched it as of a commit; none where none did. It is the one that
 * `git log -1` tells for the path alone: from each commit the search goes on to its first parent that has the same there.
 * The history is read once for all paths, as far back as it takes.
 */
export async function findLastCommits(
  ask: AskWith,
  trees: Trees,
  asOf: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Provenance>> {
  const found = new Map<string, Provenance>();
  const sought: Sought = new Map(paths.length === 0 ? [] : [[asOf, new Set(paths)]]);
  const where = whereAll(paths);
  for (let turn = 0; sought.size > 0; turn += 1) {
    const most = WINDOWS[turn] ?? Math.max(...WINDOWS);
    const words = [...LOG_ENTRIES, `--max-count=${most}`, '--full-history', '--sparse', '--stdin', '--', ...where];
    const entries = parseLog(await ask([...sought.keys()], ...words));
    // Nothing tells of a commit that is not there.
    if (!entries.some(({ commit }) => sought.has(commit))) break;
    await searchAll(entries, sought, trees, found);
  }
  return found;
}

/** Changes elsewhere need not be told. With a path or none, `--sparse` still tells of every commit. */
function whereAll(paths: readonly string[]): readonly string[] {
  const [first = [], ...rest] = paths.map((path) => path.split('/'));
  const end = first.findIndex((name, index) => rest.some((names) => names[index] !== name));
  const common = (end === -1 ? first : first.slice(0, end)).join('/');
  return common === '' ? [] : [literally(common)];
}

/** Commits are told newest first. Where a clock was wrong one may come before its child: then it is looked at again. */
async function searchAll(
  entries: readonly LogEntry[],
  sought: Sought,
  trees: Trees,
  found: Map<string, Provenance>,
): Promise<void> {
  while (entries.some(({ commit }) => sought.has(commit))) {
    for (const entry of entries) {
      const paths = sought.get(entry.commit);
      if (paths === undefined) continue;
      sought.delete(entry.commit);
      await searchAt(entry, paths, sought, trees, found);
    }
  }
}

async function searchAt(
  { commit, parents, subject, changes }: LogEntry,
  paths: Set<string>,
  sought: Sought,
  trees: Trees,
  found: Map<string, Provenance>,
): Promise<void> {
  const [first, ...merged] = parents;
  const changed = [...changes].filter(([path]) => paths.has(path));
  for (const [path, { now }] of changed) {
    paths.delete(path);
    const same = await findSame(merged, async (parent) => isSame(await trees.entryAt(parent, path), now));
    if (same !== undefined) seek(sought, same, new Set([path]));
    else found.set(path, { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) });
  }
  if (first !== undefined && paths.size > 0) seek(sought, first, paths);
}

async function findSame(
  parents: readonly string[],
  isIt: (parent: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const parent of parents) if (await isIt(parent)) return parent;
  return undefined;
}

function isSame(one: Entry | null, other: Entry | null): boolean {
  // A log fills the mode of a folder up with a zero, a tree does not.
  return one?.id === other?.id && one?.mode.replace(/^0/, '') === other?.mode.replace(/^0/, '');
}

function seek(sought: Sought, commit: string, paths: Set<string>): void {
  const there = sought.get(commit);
  if (there === undefined) sought.set(commit, paths);
  else for (const path of paths) there.add(path);
}
