import { unreadable } from './problem-of-git.ts';
import type { Objects } from './objects.ts';

/** What a folder has under a name: the mode as trees have it (`100644`, `40000`, `120000`) and the object's id. */
export type Entry = { readonly mode: string; readonly id: string };

/** The folders of commits. */
export type Trees = {
  /** What a commit has at a path from the root; null where it has nothing. Throws a `ProblemError`. */
  readonly entryAt: (commit: string, pathFromRoot: string) => Promise<Entry | null>;
};

type Tree = ReadonlyMap<string, Entry>;

const FOLDER = '40000';

/** Paths are compared byte by byte, and no path is ever part of a question. */
export function treesOf(objects: Objects): Trees {
  const treeAt = kept((name) => readTree(objects, name));
  return {
    entryAt: async (commit, path) => {
      const names = Buffer.from(path).toString('latin1').split('/');
      let tree = await treeAt(`${commit}^{tree}`);
      for (const name of names.slice(0, -1)) {
        const folder = tree.get(name);
        if (folder?.mode !== FOLDER) return null;
        tree = await treeAt(folder.id);
      }
      return tree.get(names.at(-1) ?? '') ?? null;
    },
  };
}

/** Of so many entries the trees are kept: of a large folder several times over, and no more than some megabytes. */
const MOST_ENTRIES = 100_000;

/** Keeps the trees that were read last. */
function kept(read: (name: string) => Promise<Tree>): (name: string) => Promise<Tree> {
  const trees = new Map<string, Promise<Tree>>();
  const sizes = new Map<string, number>();
  let all = 0;
  const count = (name: string, size: number): void => {
    sizes.set(name, size);
    all += size;
    for (const [oldest, entries] of sizes) {
      if (all <= MOST_ENTRIES || oldest === name) break;
      trees.delete(oldest);
      sizes.delete(oldest);
      all -= entries;
    }
  };
  return (name) => {
    const known = trees.get(name);
    if (known !== undefined) return known;
    const tree = read(name);
    trees.set(name, tree);
    // Whoever has asked is told of a failure; who asks again may have better luck.
    tree.then(
      ({ size }) => count(name, size + 1),
      () => trees.delete(name),
    );
    return tree;
  };
}

async function readTree(objects: Objects, name: string): Promise<Tree> {
  const found = await objects.read(name);
  if (found?.kind !== 'tree') throw unreadable(name);
  return parseTree(found.bytes, found.id.length / 2);
}

/** Of each entry the mode, a blank, the name, NUL and the bytes of the id. */
function parseTree(bytes: Buffer, idLength: number): Tree {
  const tree = new Map<string, Entry>();
  for (let start = 0; start < bytes.length;) {
    const blank = bytes.indexOf(0x20, start);
    const end = bytes.indexOf(0, blank);
    const next = end + 1 + idLength;
    const id = bytes.toString('hex', end + 1, next);
    tree.set(bytes.toString('latin1', blank + 1, end), { mode: bytes.toString('latin1', start, blank), id });
    start = next;
  }
  return tree;
}
