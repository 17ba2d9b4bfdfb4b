import { gathered, gitProblem, namesIn, pathspecsOf, type Git } from './driver.ts';
import { isRegular, readObjects } from './objects.ts';
import { makeRefResolver } from './refs.ts';
import { type FileAtCommit, readBlobIds, readRootTrees } from './trees.ts';

/** What git knows of files at other commits. Paths are relative to the repository's root. */
export function filesAt(git: Git, { blobAt }: Pick<Trees, 'blobAt'>) {
  const objects = gathered((names) => readObjects(git, names));
  /** Returns the content of a blob, given its id. */
  const readBlob = async (blob: string): Promise<Buffer> => {
    const found = (await objects(blob)).get(blob) ?? null;
    if (found === null) throw gitProblem(new Error(`the object ${blob} is missing or damaged.`));
    return found.bytes;
  };
  const rootTrees = gathered((commits) => readRootTrees(git, commits));
  return {
    resolveRef: makeRefResolver(git),
    /** Returns the id of a commit's root tree. Commits with the same files have the same one. */
    rootTreeAt: async (commit: string): Promise<string> => {
      const tree = (await rootTrees(commit)).get(commit);
      if (tree === undefined) throw gitProblem(new Error(`the tree of ${commit} is missing or damaged.`));
      return tree;
    },
    blobAt,
    readBlob,
    /** A file's bytes at a commit; null when it is not there. */
    fileAt: async (commit: string, path: string): Promise<Buffer | null> => {
      const blob = await blobAt(commit, path);
      return blob === null ? null : readBlob(blob);
    },
    /** All that is at a commit, by path: mode, kind and id, as `git ls-tree` prints them. */
    treeAt: async (commit: string) => parseTree(await git.ask('ls-tree', '-r', '-z', '--full-tree', commit)),
    /**
     * Finds the files at commits whose names end with `ending` and that contain one of the texts. Each text is one line.
     * A commit may be given by its root tree.
     */
    filesHolding: async (commits: readonly string[], texts: readonly string[], ending: string) => {
      const found: FileAtCommit[] = [];
      for (let start = 0; start < commits.length; start += COMMITS_AT_ONCE) {
        const some = commits.slice(start, start + COMMITS_AT_ONCE);
        found.push(...(await findFilesHolding(git, some, texts, ending)));
      }
      return found;
    },
  };
}

/** The ids of so many commits fit on a command line. */
const COMMITS_AT_ONCE = 200;

async function findFilesHolding(git: Git, commits: readonly string[], texts: readonly string[], ending: string) {
  const plain = ['--no-color', '--fixed-strings', '--full-name', '-l', '-z'];
  const where = `:(top,glob)**/*${ending}`;
  const found = await git.askWith(texts, 'grep', ...plain, '-f', '-', ...commits, '--', where);
  return namesIn(found).map((name): FileAtCommit => {
    const colon = name.indexOf(':');
    return { commit: name.slice(0, colon), path: name.slice(colon + 1) };
  });
}

/** What commits have at paths from the root. */
export type Trees = ReturnType<typeof openTrees>;

export function openTrees(git: Git) {
  const known = new Map<string, string | null>();
  /** Keeps what another command of git has printed. A commit never changes: what is known once stays. */
  const note = (commit: string, path: string, blob: string | null) => void known.set(`${commit}\0${path}`, blob);
  const list = async (commit: string, ...pathspecs: readonly string[]): Promise<readonly string[]> => {
    const entries = parseTree(await git.ask('ls-tree', '-r', '-z', '--full-tree', commit, '--', ...pathspecs));
    for (const [path, entry] of entries) {
      const [mode = '', , id = ''] = entry.split(' ');
      note(commit, path, isRegular(mode) ? id : null);
    }
    return [...entries.keys()];
  };
  /** Notes the blobs at these places, each a commit and a path with a NUL between. */
  const noteAll = async (places: readonly string[]): Promise<void> => {
    const wanted = places.map((place) => {
      const [commit = '', path = ''] = place.split('\0');
      return { commit, path };
    });
    const byCommit = Map.groupBy(wanted, ({ commit }) => commit);
    if (byCommit.size > FEW_COMMITS) {
      for (const { commit, path, blob } of await readBlobIds(git, wanted)) note(commit, path, blob);
      return;
    }
    const paths = [...byCommit].map(([commit, all]) => [commit, all.map(({ path }) => path)] as const);
    await Promise.all(paths.map(([commit, all]) => list(commit, ...pathspecsOf(all))));
  };
  const noted = gathered(noteAll);
  return {
    note,
    pathsAt: (commit: string) => list(commit),
    /** The id of a regular file's content; null where there is none. At a commit, too, a symbolic link is no prompt file. */
    blobAt: async (commit: string, path: string): Promise<string | null> => {
      const key = `${commit}\0${path}`;
      if (!known.has(key) && canBeListed(path)) await noted(key);
      return known.get(key) ?? null;
    },
  };
}

/** For up to this many commits, promptsync starts one `ls-tree` each. For more it reads the tree objects. */
const FEW_COMMITS = 4;

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
