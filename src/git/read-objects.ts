import { toGitError, type Git } from './open-git.ts';

/** An object in git's database. */
export type GitObject = { readonly id: string; readonly bytes: Buffer };

/** Reads objects by name. Names must not contain line breaks. Maps a name to null if git has no such object. */
export async function readObjects(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, GitObject | null>> {
  const output = await git.readBatch(names);
  const objects = new Map<string, GitObject | null>();
  let start = 0;
  for (const name of names) {
    const { object, end } = parseObject(output, start);
    objects.set(name, object);
    start = end;
  }
  return objects;
}

const LINE_FEED = 0x0a;

/**
 * Parses the next object in the output of `git cat-file --batch`. For an existing object, git prints a line with the
 * id, type and size, followed by the content and a line feed. For a missing object, git prints only one line.
 */
function parseObject(output: Buffer, start: number): { readonly object: GitObject | null; readonly end: number } {
  const first = output.indexOf(LINE_FEED, start) + 1;
  const header = output.toString('latin1', start, first);
  const [, id, size] = /^((?:[0-9a-f]{40}|[0-9a-f]{64})) [a-z]+ ([0-9]+)\n$/.exec(header) ?? [];
  const end = first + (size === undefined ? 0 : Number(size) + 1);
  if (first === 0 || end > output.length) throw toGitError(new Error('its output ended too early.'));
  if (id === undefined) return { object: null, end };
  return { object: { id, bytes: output.subarray(first, end - 1) }, end };
}

/**
 * Returns true if a mode such as `100644` denotes a regular file. Symbolic links, folders and submodules are not
 * regular files.
 */
export function isRegular(mode: string): boolean {
  return mode.startsWith('100');
}
