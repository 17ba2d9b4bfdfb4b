import type { Git } from './driver.ts';
import { type GitObject, isRegular, readObjects } from './objects.ts';

/** A path from the repository's root, as it was called at the commit. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

type BlobAtCommit = FileAtCommit & {
  /** Null if the commit has no regular file there. */
  readonly blob: string | null;
};

/** The way to a file: the tree that was reached, by a name that git knows, and the names that are left. */
type Way = { readonly file: FileAtCommit; readonly tree: string; readonly names: readonly string[] };

/**
 * Finds the blobs of files at many commits. It reads the tree objects, one level of folders at a time, and so needs a
 * few processes however many commits there are.
 */
export async function readBlobIds(git: Git, files: readonly FileAtCommit[]): Promise<readonly BlobAtCommit[]> {
  const found: BlobAtCommit[] = [];
  let ways: readonly Way[] = files.map((file) => {
    return { file, tree: `${file.commit}^{tree}`, names: file.path.split('/') };
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

/** Large folders have large trees, and the output of a process is held in memory. */
const TREES_AT_ONCE = 500;

type Entries = ReadonlyMap<string, Entry>;
type Entry = { readonly mode: string; readonly id: string };

/** By tree and name, the entries that the ways lead to next. */
async function readEntries(git: Git, ways: readonly Way[]): Promise<ReadonlyMap<string, Entries>> {
  const wanted = Map.groupBy(ways, ({ tree }) => tree);
  const trees = [...wanted.keys()];
  const entries = new Map<string, Entries>();
  for (let start = 0; start < trees.length; start += TREES_AT_ONCE) {
    for (const [tree, object] of await readObjects(git, trees.slice(start, start + TREES_AT_ONCE))) {
      const names = new Set(wanted.get(tree)?.map((way) => way.names[0] ?? ''));
      entries.set(tree, object === null ? new Map() : entriesIn(object, names));
    }
  }
  return entries;
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
