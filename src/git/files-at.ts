import { gathered, gitProblem, isCommitId, namesIn, pathspecsOf, type Git } from './driver.ts';

/** What git knows of files at other commits. Paths are relative to the repository's root. */
export function filesAt(git: Git, { blobAt }: Pick<Trees, 'blobAt'>) {
  const resolved = new Map<string, Promise<string | null>>();
  const objects = gathered((names) => readObjects(git, names));
  const read = async (name: string) => (await objects(name)).get(name) ?? null;
  return {
    /** The commit that a ref names; null when it is not there. Each is looked up once. */
    resolveRef: (ref: string): Promise<string | null> => {
      const commit = resolved.get(ref) ?? resolveRef(git, read, ref);
      resolved.set(ref, commit);
      return commit;
    },
    /** A file's bytes at a commit; null when it is not there. */
    fileAt: async (commit: string, path: string): Promise<Buffer | null> => {
      const blob = await blobAt(commit, path);
      if (blob === null) return null;
      const found = await read(blob);
      if (found === null) throw gitProblem(new Error(`the object ${blob} is missing or damaged.`));
      return found.bytes;
    },
    /** All that is at a commit, by path: mode, kind and id, as `git ls-tree` prints them. */
    treeAt: async (commit: string) => parseTree(await git.ask('ls-tree', '-r', '-z', '--full-tree', commit)),
    /** The files at a commit whose names end so (`.md`) and in which one of the texts occurs; a text is a line. */
    filesHolding: async (commit: string, texts: readonly string[], ending: string): Promise<readonly string[]> => {
      const plain = ['--no-color', '--fixed-strings', '--full-name', '-l', '-z'];
      const where = `:(top,glob)**/*${ending}`;
      const found = await git.askWith(texts, 'grep', ...plain, '-f', '-', commit, '--', where);
      return namesIn(found).map((name) => name.slice(commit.length + 1));
    },
  };
}

type GitObject = { readonly id: string; readonly kind: string; readonly bytes: Buffer };

type ReadObject = (name: string) => Promise<GitObject | null>;

/** Of some refs that are not there git complains aloud, and a tree or a file is no commit: all of them are null. */
async function resolveRef({ ask }: Git, read: ReadObject, ref: string): Promise<string | null> {
  try {
    // Thousands of prompts name thousands of commits: an id needs no process of its own.
    if (isCommitId(ref)) return (await read(`${ref}^{commit}`))?.id ?? null;
    const commit = (await ask('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)).trim();
    return isCommitId(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The objects by these names, of one line each; null where there is none. */
async function readObjects(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, GitObject | null>> {
  const printed = await git.catFiles(names);
  const objects = new Map<string, GitObject | null>();
  let start = 0;
  for (const name of names) {
    const { found, end } = parseObject(printed, start);
    objects.set(name, found);
    start = end;
  }
  return objects;
}

const LINE_FEED = 0x0a;

/** For an object `cat-file --batch` prints a line with id, kind and size, and its bytes in a line; else a line alone. */
function parseObject(printed: Buffer, start: number): { readonly found: GitObject | null; readonly end: number } {
  const first = printed.indexOf(LINE_FEED, start) + 1;
  const header = printed.toString('latin1', start, first);
  const [, id, kind, size] = /^((?:[0-9a-f]{40}|[0-9a-f]{64})) ([a-z]+) ([0-9]+)\n$/.exec(header) ?? [];
  const end = first + (size === undefined ? 0 : Number(size) + 1);
  if (first === 0 || end > printed.length) throw gitProblem(new Error('its output ended too early.'));
  if (id === undefined || kind === undefined) return { found: null, end };
  return { found: { id, kind, bytes: printed.subarray(first, end - 1) }, end };
}

/** What commits have at paths from the root. */
export type Trees = ReturnType<typeof openTrees>;

export function openTrees({ ask }: Git) {
  const known = new Map<string, string | null>();
  /** Keeps what another command of git has printed. A commit never changes: what is known once stays. */
  const note = (commit: string, path: string, blob: string | null) => void known.set(`${commit}\0${path}`, blob);
  const list = async (commit: string, ...pathspecs: readonly string[]): Promise<readonly string[]> => {
    const entries = parseTree(await ask('ls-tree', '-r', '-z', '--full-tree', commit, '--', ...pathspecs));
    for (const [path, entry] of entries) {
      const [mode = '', , id = ''] = entry.split(' ');
      note(commit, path, isRegular(mode) ? id : null);
    }
    return [...entries.keys()];
  };
  const listed = gathered((paths, commit = '') => list(commit, ...pathspecsOf(paths)));
  return {
    note,
    pathsAt: (commit: string) => list(commit),
    /** The id of a regular file's content; null where there is none. At a commit, too, a symbolic link is no prompt file. */
    blobAt: async (commit: string, path: string): Promise<string | null> => {
      const key = `${commit}\0${path}`;
      if (!known.has(key) && canBeListed(path)) await listed(path, commit);
      return known.get(key) ?? null;
    },
  };
}

/** Longer than a system lets a path be. */
const LONGEST_PATH = 4096;

/** Paths may come from the service: git would refuse what leads out of the root, and with it what is asked beside it. */
function canBeListed(path: string): boolean {
  const names = path.split('/');
  return path.length <= LONGEST_PATH && !path.includes('\0') && !names.some((name) => ['', '.', '..'].includes(name));
}

/** By path the mode, the kind and the id, which stand before it and a tab. */
function parseTree(listed: string): ReadonlyMap<string, string> {
  return new Map(
    namesIn(listed).map((line) => {
      const tab = line.indexOf('\t');
      return [line.slice(tab + 1), line.slice(0, tab)];
    }),
  );
}

/** Whether a mode is that of a file that is neither a link nor a repository of its own. */
export function isRegular(mode: string): boolean {
  return mode.startsWith('100');
}
