import type { SimpleGit } from 'simple-git';
import type { Provenance } from '../domain/plan.ts';
import { gitProblem, lastCommit, type Ask } from './ask.ts';

/** What git knows of files at other commits. Paths from here are relative to the repository's root. */
export type FilesAt = {
  /** The commit that a ref names; null when it is not there. */
  readonly resolveRef: (ref: string) => Promise<string | null>;
  /** A file's bytes at a commit; null when it is not there. */
  readonly fileAt: (commit: string, pathFromRoot: string) => Promise<Buffer | null>;
  /** The Markdown files at a commit in which a text occurs. */
  readonly filesHolding: (commit: string, text: string) => Promise<readonly string[]>;
  /** The commit that last touched a file as of another one. */
  readonly lastCommitAt: (commit: string, pathFromRoot: string) => Promise<Provenance | null>;
  readonly fromRoot: (path: string) => string;
};

export function filesAt(git: SimpleGit, ask: Ask, fromRoot: (path: string) => string): FilesAt {
  return {
    fromRoot,
    resolveRef: async (ref) =>
      (await ask('rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`)).trim() || null,
    fileAt: (commit, path) => readBlob(git, ask, commit, path),
    filesHolding: (commit, text) => findHolding(ask, commit, text),
    lastCommitAt: (commit, path) => lastCommit(ask, commit, path),
  };
}

async function readBlob(git: SimpleGit, ask: Ask, commit: string, path: string): Promise<Buffer | null> {
  const listed = await ask('ls-tree', '-z', '--full-tree', commit, '--', path);
  const [, type, id] = /^[0-9]{6} (\w+) ([0-9a-f]+)\t/.exec(listed) ?? [];
  if (type !== 'blob' || id === undefined) return null;
  try {
    return await git.binaryCatFile(['blob', id]);
  } catch (error) {
    throw gitProblem(error);
  }
}

async function findHolding(ask: Ask, commit: string, text: string): Promise<readonly string[]> {
  const found = await ask('grep', '-l', '-z', '--fixed-strings', '--full-name', '-e', text, commit, '--', ':(top)*.md');
  return found.split('\0').flatMap((name) => (name === '' ? [] : [name.slice(commit.length + 1)]));
}
