import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Of a prompt, in bytes. */
export const LARGEST_FILE = 16 * 1024 * 1024;

/** Since the file was found, a link or a pipe may stand in its place: none is followed, none waited for. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type NotRead = { readonly tooLarge: number } | { readonly reason: string };

/**
 * Reads a regular file of at most so many bytes. Throws what the system says of one that cannot be read. It blocks,
 * because handing the four steps of a small file to threads and back takes ten times as long as they do.
 */
export function readBytes(path: string, limit = LARGEST_FILE): Uint8Array | NotRead {
  const descriptor = openSync(path, FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { reason: 'it is not a regular file' };
    return stats.size > limit ? { tooLarge: stats.size } : readFileSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a file that is not there yet, and the folders around it. One that is there stays as it is: then it returns
 * false. Half a file is taken away again. Throws the system's error.
 */
export async function createFile(path: string, content: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(path, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    await rm(path, { force: true });
    throw error;
  }
}

/**
 * Writes a file so that whoever reads it never sees half of it. What it links to is replaced, and it keeps its
 * permissions. A device such as /dev/null is written to instead. Throws the system's error.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) return writeFile(path, content);
  const target = await realpath(path).catch(() => path);
  // A folder of its own: under a name that can be foretold, a repository may hold a link to somewhere else.
  const folder = await mkdtemp(join(dirname(target), '.promptsync-'));
  const temporary = join(folder, 'new');
  try {
    await writeFile(temporary, content);
    if (before !== null) await chmod(temporary, before.mode);
    await rename(temporary, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
