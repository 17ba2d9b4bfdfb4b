import { gitProblem, type Git } from './driver.ts';

export type GitObject = { readonly id: string; readonly kind: string; readonly bytes: Buffer };

/** The objects by these names, of one line each; null where there is none. */
export async function readObjects(git: Git, names: readonly string[]): Promise<ReadonlyMap<string, GitObject | null>> {
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

/** Whether a mode is that of a file that is neither a link nor a repository of its own. */
export function isRegular(mode: string): boolean {
  return mode.startsWith('100');
}
