import { splitLines, type Git } from './run-git.ts';
import { type GitObject, isRegular, readObjects } from './read-objects.ts';

/** A file at a commit. The path is relative to the repository root. `commit` may also be the id of a root tree. */
export type FileAtCommit = { readonly commit: string; readonly path: string };

/** `batchCalls` and maps need a string to identify a file at a commit. */
export function makeFileKey(commit: string, path: string): string {
  return `${commit}\0${path}`;
}

export function parseFileKey(key: string): FileAtCommit {
  const [commit = '', path = ''] = key.split('\0');
  return { commit, path };
}

type BlobAtCommit = FileAtCommit & {
  /** Null if the commit has no regular file at this path. */
  readonly blob: string | null;
};

/** The state of the search for one file. */
type TreePath = {
  readonly file: FileAtCommit;
  /** The tree to search next: its id, or the expression `<commit>^{tree}`. */
  readonly tree: string;
  /** The rest of the path below this tree. */
  readonly names: readonly string[];
};

/** Reads the trees of all commits together, level by level, so that many commits do not need many processes. */
export async function readBlobIds(git: Git, files: readonly FileAtCommit[]): Promise<readonly BlobAtCommit[]> {
  const blobs: BlobAtCommit[] = [];
  let paths: readonly TreePath[] = files.map((file) => {
    return { file, tree: nameRootTree(file.commit), names: file.path.split('/') };
  });
  while (paths.length > 0) {
    const entries = await readTreeEntries(git, paths);
    const next: TreePath[] = [];
    for (const { file, tree, names } of paths) {
      const [name = '', ...rest] = names;
      const entry = entries.get(tree)?.get(name);
      if (rest.length > 0 && entry?.mode === FOLDER_MODE) {
        next.push({ file, tree: entry.id, names: rest });
      } else {
        const isRegularFile = rest.length === 0 && entry !== undefined && isRegular(entry.mode);
        blobs.push({ ...file, blob: isRegularFile ? entry.id : null });
      }
    }
    paths = next;
  }
  return blobs;
}

const FOLDER_MODE = '40000';

/** The files and folders in a tree, by name. */
type TreeEntries = ReadonlyMap<string, TreeEntry>;
type TreeEntry = { readonly mode: string; readonly id: string };

/** Looks up the first name of each path in its tree. Maps each tree to the entries found in it. */
async function readTreeEntries(git: Git, paths: readonly TreePath[]): Promise<ReadonlyMap<string, TreeEntries>> {
  const headers = await readTreeHeaders(git, [...new Set(paths.map(({ tree }) => tree))]);
  const byTreeId = Map.groupBy(paths, ({ tree }) => headers.get(tree)?.id);
  const sizes = new Map([...headers.values()].map(({ id, size }) => [id, size]));
  const entries = new Map<string, TreeEntries>();
  for (const ids of splitBySize(sizes)) {
    for (const [id, object] of await readObjects(git, ids)) {
      const pathsInTree = byTreeId.get(id) ?? [];
      const names = new Set(pathsInTree.map((path) => path.names[0] ?? ''));
      const entriesOfTree = object === null ? new Map<string, TreeEntry>() : parseTreeEntries(object, names);
      for (const { tree } of pathsInTree) entries.set(tree, entriesOfTree);
    }
  }
  return entries;
}

/** The maximum size of the trees that one process reads. promptsync keeps the output of a process in memory. */
const MAX_BYTES_PER_PROCESS = 32 * 1024 * 1024;

/** Forms groups of tree ids, each for one process. A single tree may exceed `MAX_BYTES_PER_PROCESS`. */
function splitBySize(sizes: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  const parts: string[][] = [];
  let remainingBytes = 0;
  for (const [id, size] of sizes) {
    if (parts.length === 0 || size > remainingBytes) {
      parts.push([]);
      remainingBytes = MAX_BYTES_PER_PROCESS;
    }
    parts.at(-1)?.push(id);
    remainingBytes -= size;
  }
  return parts;
}

type TreeHeader = {
  readonly id: string;
  /** The size of the tree object, in bytes. */
  readonly size: number;
};

/** Each name is a tree id or has the form `<commit>^{tree}`. Omits names that git cannot resolve to a tree. */
async function readTreeHeaders(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, TreeHeader>> {
  const lines = splitLines(await git.runWithInput(names, 'cat-file', '--batch-check'));
  const headers = new Map<string, TreeHeader>();
  for (const [index, name] of names.entries()) {
    const [, id, size] = /^([0-9a-f]+) tree ([0-9]+)$/.exec(lines[index] ?? '') ?? [];
    if (id !== undefined) headers.set(name, { id, size: Number(size) });
  }
  return headers;
}

/** Reads the id of each commit's root tree. Omits commits whose tree git cannot read. */
export async function readRootTrees(git: Git, commits: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const headers = await readTreeHeaders(git, commits.map(nameRootTree));
  const trees = new Map<string, string>();
  for (const commit of commits) {
    const header = headers.get(nameRootTree(commit));
    if (header !== undefined) trees.set(commit, header.id);
  }
  return trees;
}

function nameRootTree(commit: string): string {
  return `${commit}^{tree}`;
}

const SPACE = 0x20;
const NUL = 0;

/** Finds the entries with these names. Each entry is the mode, a space, the name, a NUL and the binary id. */
function parseTreeEntries({ id, bytes }: GitObject, names: ReadonlySet<string>): TreeEntries {
  const idLength = id.length / 2;
  const entries = new Map<string, TreeEntry>();
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
