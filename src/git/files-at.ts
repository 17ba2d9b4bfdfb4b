import type { Provenance } from '../domain/plan.ts';
import { namesIn, type AskWith } from './ask.ts';
import { gathered } from './gather.ts';
import type { KnownBlobs } from './known-blobs.ts';
import { findLastCommits } from './last-commits.ts';
import type { Objects } from './objects.ts';
import { unreadable } from './problem-of-git.ts';
import type { Trees } from './trees.ts';

/** What git knows of files at other commits. Paths from here are relative to the repository's root. */
export type FilesAt = {
  /** The commit that a ref names; null when it is not there. Each is looked up once. */
  readonly resolveRef: (ref: string) => Promise<string | null>;
  /** A file's bytes at a commit; null when it is not there. */
  readonly fileAt: (commit: string, pathFromRoot: string) => Promise<Buffer | null>;
  /** The files at a commit whose names end so (`.md`) and in which one of the texts occurs; a text is a line. */
  readonly filesHolding: (commit: string, texts: readonly string[], ending: string) => Promise<readonly string[]>;
  /** The commit that last touched a file as of another one. */
  readonly lastCommitAt: (commit: string, pathFromRoot: string) => Promise<Provenance | null>;
  readonly fromRoot: (path: string) => string;
};

/** What questions go through. */
export type Sources = {
  readonly askWith: AskWith;
  readonly objects: Objects;
  readonly trees: Trees;
  readonly known: KnownBlobs;
};

export function filesAt(sources: Sources, fromRoot: (path: string) => string): FilesAt {
  const { askWith, objects, trees } = sources;
  const resolved = new Map<string, Promise<string | null>>();
  const last = gathered((paths, commit = '') => findLastCommits(askWith, trees, commit, paths));
  return {
    fromRoot,
    resolveRef: (ref) => {
      const commit = resolved.get(ref) ?? resolveRef(objects, ref);
      resolved.set(ref, commit);
      return commit;
    },
    fileAt: (commit, path) => readFileAt(sources, commit, path),
    filesHolding: (commit, texts, ending) => findHolding(askWith, commit, texts, `:(top,glob)**/*${ending}`),
    lastCommitAt: async (commit, path) => (await last(path, commit)).get(path) ?? null,
  };
}

/** Of some refs that are not there git complains aloud, and a tree or a file is no commit: all of them are null. */
async function resolveRef(objects: Objects, ref: string): Promise<string | null> {
  const found = await objects.read(`${ref}^{commit}`).catch(() => null);
  return found?.kind === 'commit' ? found.id : null;
}

async function readFileAt({ objects, trees, known }: Sources, commit: string, path: string): Promise<Buffer | null> {
  const told = known.find(commit, path);
  const blob = told === undefined ? await findBlob(trees, commit, path) : told;
  if (blob === null) return null;
  const found = await objects.read(blob);
  if (found === null) throw unreadable(blob);
  return found.bytes;
}

/** Regular files alone: at a commit, too, a symbolic link is no prompt file. */
async function findBlob(trees: Trees, commit: string, path: string): Promise<string | null> {
  const entry = await trees.entryAt(commit, path);
  return entry !== null && /^100[0-9]{3}$/.test(entry.mode) ? entry.id : null;
}

async function findHolding(
  ask: AskWith,
  commit: string,
  texts: readonly string[],
  where: string,
): Promise<readonly string[]> {
  const plain = ['--no-color', '--fixed-strings', '--full-name', '-l', '-z'];
  const found = await ask(texts, 'grep', ...plain, '-f', '-', commit, '--', where);
  return namesIn(found).map((name) => name.slice(commit.length + 1));
}
