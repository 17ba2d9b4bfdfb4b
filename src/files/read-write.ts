import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getSystemCode } from '../problem.ts';

/** Of a prompt, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Since the file was found, a link or a pipe may stand in its place: none is followed, none waited for. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The bytes of a file, or what promptsync refuses to read. `size` is in bytes. */
export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large'; readonly size: number }
  | { readonly kind: 'not-regular' };

/** The reason that problems give for folders, pipes and devices. */
export const NOT_REGULAR = 'it is not a regular file';

/**
 * Reads a regular file of at most so many bytes. Throws the system's error if the file cannot be read. This blocks,
 * because handing the four steps of a small file to threads and back takes ten times as long as the steps.
 */
export function readBytes(path: string, limit = MAX_FILE_BYTES): FileRead {
  const descriptor = openSync(path, OPEN_FLAGS);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return { kind: 'not-regular' };
    if (stats.size > limit) return { kind: 'too-large', size: stats.size };
    return { kind: 'read', bytes: readFileSync(descriptor) };
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a new file, and the folders around it. Returns false and changes nothing if the path already exists, also as a
 * symbolic link. Readers never see half of the file, even if the process is killed. Throws the system's error.
 */
export async function createFile(path: string, content: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  return withTemporaryFile(path, async (temporary) => {
    await writeFile(temporary, content);
    return (await linkNewFile(temporary, path)) ?? renameToNewFile(temporary, path);
  });
}

/** Returns null if no link can be made. Some file systems, such as FAT, have none, and report that in different ways. */
async function linkNewFile(temporary: string, path: string): Promise<boolean | null> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    return getSystemCode(error) === 'EEXIST' ? false : null;
  }
}

/**
 * Moves a file to a path that must not exist, without a link. It reserves the path with an empty file first, because a
 * rename alone would overwrite a file. A process that is killed between the two steps leaves the empty file behind.
 */
export async function renameToNewFile(temporary: string, path: string): Promise<boolean> {
  try {
    await writeFile(path, '', { flag: 'wx' });
  } catch (error) {
    if (getSystemCode(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    await rename(temporary, path);
    return true;
  } catch (error) {
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
  await withTemporaryFile(target, async (temporary) => {
    await writeFile(temporary, content);
    if (before !== null) await chmod(temporary, before.mode);
    await rename(temporary, target);
  });
}

/**
 * Calls back with the path of a temporary file in the folder of another file, and removes it afterwards. It is in a
 * folder of its own: a repository may hold a symbolic link under any name that can be predicted. Neither its name nor
 * that of its folder matches a pattern for prompt files, so a file that a killed process leaves behind does no harm.
 */
async function withTemporaryFile<Result>(path: string, write: (temporary: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(dirname(path), '.promptsync-'));
  try {
    return await write(join(folder, 'new'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
