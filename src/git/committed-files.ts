import { batchCalls, toGitError, splitNames, makePathspecs, type Git } from './run-git.ts';
import { isRegular, readCheckedOutFiles, readObjects } from './read-objects.ts';
import { makeRefResolver } from './resolve-refs.ts';
import { type FileAtCommit, readBlobIds, readRootTrees, makeFileKey, parseFileKey } from './read-trees.ts';

/** Reads files at any commit. All paths are relative to the repository root. */
export type CommittedFiles = {
  /** Returns the commit id, or null if git does not know the ref. */
  readonly resolveRef: (ref: string) => Promise<string | null>;
  /** Returns the id of a commit's root tree. Commits with identical files have the same root tree. */
  readonly readRootTreeId: (commit: string) => Promise<string>;
  /** Returns null if the commit has no regular file at this path. */
  readonly findBlobId: (commit: string, path: string) => Promise<string | null>;
  readonly readBlob: (blob: string) => Promise<Buffer>;
  /** Returns the bytes that `git checkout` would write for a file with this blob at this path. */
  readonly readCheckedOutFile: (blob: string, path: string) => Promise<Buffer>;
  /**
   * Returns the bytes that git stores, or null if the commit has no regular file at this path. Use it for configuration
   * files: a pull request can change the git attributes that affect a checkout, but not these bytes.
   */
  readonly readFileAt: (commit: string, path: string) => Promise<Buffer | null>;
  /**
   * Returns the values of the git attributes that make a checked-out file differ from the bytes that git stores:
   * `filter`, `working-tree-encoding`, and `ident`. Omits attributes that are not set for the path.
   */
  readonly readAttributes: (path: string) => Promise<ReadonlyMap<string, string>>;
  /** Maps the path of each file to its mode, type and id, as `git ls-tree` prints them. */
  readonly listFilesAt: (commit: string) => Promise<ReadonlyMap<string, string>>;
  /**
   * Finds the files that contain at least one of `texts` and whose names end with `ending`. No text may contain a line
   * break. `commits` can also contain the ids of root trees.
   */
  readonly findFilesContaining: (
    commits: readonly string[],
    texts: readonly string[],
    ending: string,
  ) => Promise<readonly FileAtCommit[]>;
};

export function makeFileReader(git: Git, { findBlobId }: Pick<BlobCache, 'findBlobId'>): CommittedFiles {
  const readObjectsTogether = batchCalls((names) => readObjects(git, names));
  const readCheckedOutTogether = batchCalls((files) => readCheckedOutFiles(git, files));
  const readAttributesTogether = batchCalls((paths) => readAttributes(git, paths));
  const readBlob = async (blob: string): Promise<Buffer> => {
    return (await readObjectsTogether(blob)).get(blob)?.bytes ?? throwMissing(blob);
  };
  const readRootTreesTogether = batchCalls((commits) => readRootTrees(git, commits));
  return {
    resolveRef: makeRefResolver(git),
    readRootTreeId: async (commit) => {
      const tree = (await readRootTreesTogether(commit)).get(commit);
      if (tree === undefined) throw toGitError(new Error(`the tree of ${commit} is missing or damaged.`));
      return tree;
    },
    findBlobId,
    readBlob,
    readCheckedOutFile: async (blob, path) => {
      const file = `${blob} ${path}`;
      return (await readCheckedOutTogether(file)).get(file) ?? throwMissing(blob);
    },
    readFileAt: async (commit, path) => {
      const blob = await findBlobId(commit, path);
      return blob === null ? null : readBlob(blob);
    },
    readAttributes: async (path) => (await readAttributesTogether(path)).get(path) ?? new Map(),
    listFilesAt: (commit) => listTree(git, commit),
    findFilesContaining: async (commits, texts, ending) => {
      const files: FileAtCommit[] = [];
      for (let start = 0; start < commits.length; start += MAX_COMMITS_PER_GREP) {
        const batch = commits.slice(start, start + MAX_COMMITS_PER_GREP);
        files.push(...(await grepCommits(git, batch, texts, ending)));
      }
      return files;
    },
  };
}

function throwMissing(blob: string): never {
  throw toGitError(new Error(`the object ${blob} is missing or damaged.`));
}

async function readAttributes(
  { runWithInput }: Git,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>>> {
  const names = ['filter', 'working-tree-encoding', 'ident'];
  const input = paths.map((path) => `${path}\0`).join('');
  const fields = (await runWithInput([input], 'check-attr', '-z', '--stdin', ...names)).split('\0');
  const attributes = new Map(paths.map((path) => [path, new Map<string, string>()]));
  for (let start = 0; start < fields.length; start += 3) {
    const [path = '', name = '', value = ''] = fields.slice(start, start + 3);
    if (value !== 'unspecified' && value !== 'unset') attributes.get(path)?.set(name, value);
  }
  return attributes;
}

/** The maximum number of commits that one `git grep` searches, so that their ids fit on the command line. */
const MAX_COMMITS_PER_GREP = 200;

async function grepCommits(
  git: Git,
  commits: readonly string[],
  texts: readonly string[],
  ending: string,
): Promise<readonly FileAtCommit[]> {
  const options = ['--no-color', '--fixed-strings', '--full-name', '-l', '-z'];
  const pathspec = `:(top,glob)**/*${ending}`;
  const output = await git.runWithInput(texts, 'grep', ...options, '-f', '-', ...commits, '--', pathspec);
  return splitNames(output).map((name): FileAtCommit => {
    const colon = name.indexOf(':');
    return { commit: name.slice(0, colon), path: name.slice(colon + 1) };
  });
}

/** Without pathspecs, lists all files. */
async function listTree(
  git: Git,
  commit: string,
  ...pathspecs: readonly string[]
): Promise<ReadonlyMap<string, string>> {
  return parseTree(await git.run('ls-tree', '-r', '-z', '--full-tree', commit, '--', ...pathspecs));
}

/** A cache that maps a commit and a path to a blob id. Paths are relative to the repository root. */
export type BlobCache = {
  /** Caches a blob id that another git command printed. Null means that the commit has no regular file there. */
  readonly rememberBlobId: (commit: string, path: string, blob: string | null) => void;
  /** Returns the paths of all files of a commit, and caches their blob ids. */
  readonly listPathsAt: (commit: string) => Promise<readonly string[]>;
  /** Returns null if the commit has no regular file there. promptsync does not follow links to prompt files. */
  readonly findBlobId: (commit: string, path: string) => Promise<string | null>;
};

/** Creates an empty cache. Entries never expire, because a commit never changes. */
export function makeBlobCache(git: Git): BlobCache {
  const blobIds = new Map<string, string | null>();
  const rememberBlobId = (commit: string, path: string, blob: string | null): void => {
    blobIds.set(makeFileKey(commit, path), blob);
  };
  const listFiles = async (commit: string, ...pathspecs: readonly string[]): Promise<readonly string[]> => {
    const entries = await listTree(git, commit, ...pathspecs);
    for (const [path, entry] of entries) {
      const [mode = '', , id = ''] = entry.split(' ');
      rememberBlobId(commit, path, isRegular(mode) ? id : null);
    }
    return [...entries.keys()];
  };
  const loadBlobIds = async (keys: readonly string[]): Promise<void> => {
    const files = keys.map(parseFileKey);
    const byCommit = Map.groupBy(files, ({ commit }) => commit);
    if (byCommit.size > MAX_COMMITS_TO_LIST) {
      for (const { commit, path, blob } of await readBlobIds(git, files)) rememberBlobId(commit, path, blob);
      return;
    }
    await Promise.all(
      [...byCommit].map(([commit, filesOfCommit]) => {
        return listFiles(commit, ...makePathspecs(filesOfCommit.map(({ path }) => path)));
      }),
    );
  };
  const loadTogether = batchCalls(loadBlobIds);
  return {
    rememberBlobId,
    listPathsAt: (commit) => listFiles(commit),
    findBlobId: async (commit, path) => {
      const key = makeFileKey(commit, path);
      if (!blobIds.has(key) && canBeListed(path)) await loadTogether(key);
      return blobIds.get(key) ?? null;
    },
  };
}

/**
 * For more commits than this, `readBlobIds` reads their trees together. It starts two processes for each level of
 * folders, so for a few commits it is faster to start one `git ls-tree` for each of them.
 */
const MAX_COMMITS_TO_LIST = 4;

/** The longest path that promptsync looks up, in characters. Many operating systems impose this limit. */
const MAX_LISTED_PATH_LENGTH = 4096;

/**
 * Returns true if git accepts the path on its command line. The path may come from the service. If it led out of the
 * repository, git would reject the whole command, and with it all other paths.
 */
function canBeListed(path: string): boolean {
  const names = path.split('/');
  return (
    path.length <= MAX_LISTED_PATH_LENGTH &&
    !path.includes('\0') &&
    !names.some((name) => ['', '.', '..'].includes(name))
  );
}

/** Parses the output of `git ls-tree -z`. Maps each path to the mode, type and id that git prints before it. */
function parseTree(output: string): ReadonlyMap<string, string> {
  return new Map(
    splitNames(output).map((line) => {
      const tab = line.indexOf('\t');
      return [line.slice(tab + 1), line.slice(0, tab)];
    }),
  );
}
