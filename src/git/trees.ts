import { linesIn, type Git } from './driver.ts';
import { type GitObject, isRegular, readObjects } from './objects.ts';

/** A path from the repository's root, as it was called at the commit. `commit` may be the id of the root tree. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

type BlobAtCommit = FileAtCommit & {
  /** Null if the commit has no regular file there. */
  readonly blob: string | null;
};

/** What is left of the path to a file: a tree, by a name that git knows, and the folders and the file below it. */
type Way = { readonly file: FileAtCommit; readonly tree: string; readonly names: readonly string[] };

/**
 * Finds the blobs of files at many commits. It reads the tree objects, one level of folders at a time, and so needs a
 * few processes however many commits there are.
 */
export async function readBlobIds(git: Git, files: readonly FileAtCommit[]): Promise<readonly BlobAtCommit[]> {
  const found: BlobAtCommit[] = [];
  let ways: readonly Way[] = files.map((file) => {
    return { file, tree: rootTreeOf(file.commit), names: file.path.split('/') };
  });
  while (ways.length > 0) {
    const entries = await readEntries(git, ways);
    const next: Way[] = [];
    for (const { file, tree, names } of ways) {
      const [name = '', ...left] = names;
      const entry = entries.get(tree)?.get(name);
      if (left.length > 0 && entry?.mode === FOLDER) next.push({ file, tree: entry.id, names: left });
      else found.push({ ...file, blob: left.length === 0 && entry && isRegular(entry.mode) ? entry.id : null });
    }
    ways = next;
  }
  return found;
}

const FOLDER = '40000';

type Entries = ReadonlyMap<string, Entry>;
type Entry = { readonly mode: string; readonly id: string };

/** Reads the next entry of each way, by tree and by the name of the entry. */
async function readEntries(git: Git, ways: readonly Way[]): Promise<ReadonlyMap<string, Entries>> {
  const headers = await readTreeHeaders(git, [...new Set(ways.map(({ tree }) => tree))]);
  const wanted = Map.groupBy(ways, ({ tree }) => headers.get(tree)?.id);
  const sizes = new Map([...headers.values()].map(({ id, size }) => [id, size]));
  const entries = new Map<string, Entries>();
  for (const ids of splitBySize(sizes)) {
    for (const [id, object] of await readObjects(git, ids)) {
      const all = wanted.get(id) ?? [];
      const names = new Set(all.map((way) => way.names[0] ?? ''));
      const found = object === null ? new Map<string, Entry>() : entriesIn(object, names);
      for (const { tree } of all) entries.set(tree, found);
    }
  }
  return entries;
}

/** Large folders have large trees, and the output of a process is held in memory. */
const MAX_BYTES_AT_ONCE = 32 * 1024 * 1024;

/** Splits trees, given their sizes in bytes, so that each part can be read in one process. */
function splitBySize(sizes: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let left = 0;
  for (const [id, size] of sizes) {
    if (parts.length === 0 || size > left) {
      parts.push([]);
      left = MAX_BYTES_AT_ONCE;
    }
    parts.at(-1)?.push(id);
    left -= size;
  }
  return parts;
}

type TreeHeader = {
  readonly id: string;
  /** In bytes. */
  readonly size: number;
};

/** Reads the ids and sizes of trees, given names of them. Names without a tree are not in the map. */
async function readTreeHeaders(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, TreeHeader>> {
  const lines = linesIn(await git.askWith(names, 'cat-file', '--batch-check'));
  const headers = new Map<string, TreeHeader>();
  for (const [index, name] of names.entries()) {
    const [, id, size] = /^([0-9a-f]+) tree ([0-9]+)$/.exec(lines[index] ?? '') ?? [];
    if (id !== undefined) headers.set(name, { id, size: Number(size) });
  }
  return headers;
}

/**
 * Reads the id of each commit's root tree. Commits with the same files have the same one. Commits without a readable
 * tree are not in the map.
 */
export async function readRootTrees(git: Git, commits: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const headers = await readTreeHeaders(git, commits.map(rootTreeOf));
  const trees = new Map<string, string>();
  for (const commit of commits) {
    const header = headers.get(rootTreeOf(commit));
    if (header !== undefined) trees.set(commit, header.id);
  }
  return trees;
}

/** Returns a name that git has for the root tree of a commit. */
function rootTreeOf(commit: string): string {
  return `${commit}^{tree}`;
}

const SPACE = 0x20;
const NUL = 0;

/** A tree object is a list of entries: the mode, a space, the name, a NUL, and the bytes of the id. */
function entriesIn({ id, bytes }: GitObject, names: ReadonlySet<string>): Entries {
  const idLength = id.length / 2;
  const entries = new Map<string, Entry>();
  for (let start = 0; start < bytes.length;) {
    const space = bytes.indexOf(SPACE, start);
    const nul = bytes.indexOf(NUL, space);
    const end = nul + 1 + idLength;
    const name = bytes.toString('utf8', space + 1, nul);
    if (names.has(name)) {
      entries.set(name, { mode: bytes.toString('latin1', start, space), id: bytes.toString('hex', nul + 1, end) });
    }
    start = end;
  }
  return entries;
}
