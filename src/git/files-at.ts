import type { SimpleGit } from 'simple-git';
import type { Provenance } from '../domain/plan.ts';
import { gitProblem, lastCommit, literally, namesIn, type Ask } from './ask.ts';
import type { KnownBlobs } from './known-blobs.ts';

/** What git knows of files at other commits. Paths from here are relative to the repository's root. */
export type FilesAt = {
  /** The commit that a ref names; null when it is not there. */
  readonly resolveRef: (ref: string) => Promise<string | null>;
  /** A file's bytes at a commit; null when it is not there. */
  readonly fileAt: (commit: string, pathFromRoot: string) => Promise<Buffer | null>;
  /** The files at a commit whose names end so (`.md`) and in which a text occurs. */
  readonly filesHolding: (commit: string, text: string, ending: string) => Promise<readonly string[]>;
  /** The commit that last touched a file as of another one. */
  readonly lastCommitAt: (commit: string, pathFromRoot: string) => Promise<Provenance | null>;
  readonly fromRoot: (path: string) => string;
};

export function filesAt(git: SimpleGit, ask: Ask, fromRoot: (path: string) => string, known: KnownBlobs): FilesAt {
  return {
    fromRoot,
    resolveRef: (ref) => resolveRef(ask, ref),
    fileAt: (commit, path) => readFileAt(git, ask, known, commit, path),
    filesHolding: (commit, text, ending) => findHolding(ask, commit, text, `:(top,glob)**/*${ending}`),
    lastCommitAt: (commit, path) => lastCommit(ask, commit, path),
  };
}

const COMMIT = /^[0-9a-f]{40,64}$/;

/** Of some refs that are not there git complains aloud, and a range or a negation is no commit: all of them are null. */
async function resolveRef(ask: Ask, ref: string): Promise<string | null> {
  const words = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const commit = await ask(...words).catch(() => '');
  return COMMIT.test(commit.trim()) ? commit.trim() : null;
}

async function readFileAt(
  git: SimpleGit,
  ask: Ask,
  known: KnownBlobs,
  commit: string,
  path: string,
): Promise<Buffer | null> {
  const told = known.find(commit, path);
  const blob = told === undefined ? await findBlob(ask, commit, path) : told;
  if (blob === null) return null;
  try {
    return await git.binaryCatFile(['blob', blob]);
  } catch (error) {
    throw gitProblem(error);
  }
}

/** Regular files alone: at a commit, too, a symbolic link is no prompt file. */
async function findBlob(ask: Ask, commit: string, path: string): Promise<string | null> {
  const listed = await ask('ls-tree', '-z', '--full-tree', commit, '--', literally(path));
  const [, blob, name] = /^100[0-9]{3} blob ([0-9a-f]+)\t([^\0]*)\0$/.exec(listed) ?? [];
  return blob === undefined || name !== path ? null : blob;
}

async function findHolding(ask: Ask, commit: string, text: string, where: string): Promise<readonly string[]> {
  const plain = ['--no-color', '--fixed-strings', '--full-name', '-l', '-z'];
  const found = await ask('grep', ...plain, '-e', text, commit, '--', where);
  return namesIn(found).map((name) => name.slice(commit.length + 1));
}
