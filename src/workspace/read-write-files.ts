import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, type Stats } from 'node:fs';
import { access, chmod, link, mkdir, mkdtemp, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeSystemError, findSystemCode, getSystemCode } from '../problem.ts';

/** The maximum size of a prompt file, in bytes. */
export const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** Prevents following a link or waiting for a pipe, which may have replaced the file since promptsync found it. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The bytes of a file, or the reason why promptsync refuses to read it. `size` is in bytes. */
export type FileRead =
  | { readonly kind: 'read'; readonly bytes: Uint8Array }
  | { readonly kind: 'too-large'; readonly size: number }
  | { readonly kind: 'not-regular' };

/** The reason in a problem about a path that leads to a folder, a pipe or a device. */
export const NOT_REGULAR = 'it is not a regular file';

/**
 * Reads a regular file of at most `limit` bytes. Throws system errors. Reads synchronously, because the four system
 * calls for a small file take ten times as long on a thread pool.
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
 * Writes a new file and creates its parent folders. Returns false if the path exists, even as a symbolic link. Throws
 * all other system errors. Readers never see a partly written file, even if the process is killed. On a file system
 * without hard links, they may see an empty file first.
 */
export async function createFile(path: string, content: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  return withTemporaryFile(path, async (temporary) => {
    await writeFile(temporary, content);
    return (await linkNewFile(temporary, path)) ?? renameToNewFile(temporary, path);
  });
}

/** Returns false if the path exists, and null for other errors. They vary on file systems without hard links. */
async function linkNewFile(temporary: string, path: string): Promise<boolean | null> {
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    return getSystemCode(error) === 'EEXIST' ? false : null;
  }
}

/**
 * Moves a file to a new path without hard links. Returns false if the path exists. Creates an empty file there first,
 * because a rename would overwrite an existing file. If the process is killed in between, the empty file remains.
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
 * Writes a file atomically. Keeps the permissions of an existing file. Replaces the file that a symbolic link leads to.
 * Writes directly to devices such as /dev/null. Throws system errors.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) return writeFile(path, content);
  await replaceRegularFile(path, content, before, () => true);
}

/**
 * Replaces a regular file as `replaceFile` does. Returns false and writes nothing if the file no longer contains the
 * bytes `before`. Nothing else in this process runs between the comparison and the replacement.
 */
export async function replaceUnchangedFile(path: string, before: Uint8Array, after: Uint8Array): Promise<boolean> {
  return replaceRegularFile(path, after, await stat(path), () => {
    const file = readBytes(path);
    return file.kind === 'read' && Buffer.compare(file.bytes, before) === 0;
  });
}

/**
 * Writes a temporary file, and moves it to the path if `mayReplace` then returns true. Returns whether it did.
 * @param stats null if the file does not exist yet
 */
async function replaceRegularFile(
  path: string,
  content: string | Uint8Array,
  stats: Stats | null,
  mayReplace: () => boolean,
): Promise<boolean> {
  const target = await realpath(path).catch(() => path);
  return withTemporaryFile(target, async (temporary) => {
    await writeFile(temporary, content);
    if (stats !== null) await chmod(temporary, stats.mode);
    if (!mayReplace()) return false;
    renameSync(temporary, target);
    return true;
  });
}

/** Explains why `replaceFile` would fail. Creates a temporary file, because permissions do not show every reason. */
export async function findReplaceObstacle(path: string): Promise<string | null> {
  try {
    const existing = await stat(path).catch((error: unknown) => {
      if (findSystemCode(error) === 'ENOENT') return null;
      throw error;
    });
    if (existing?.isDirectory() === true) return 'it is a folder';
    if (existing?.isSocket() === true) return 'it is a socket';
    if (existing !== null && !existing.isFile()) {
      await access(path, constants.W_OK);
      return null;
    }
    const target = await realpath(path).catch(() => path);
    // Such paths in `/dev` and `/proc` lead to open files, which must not be replaced. With `2>>log`,
    // `/dev/stderr` leads to the log, and replacing the log would lose its previous lines.
    if (/^\/(dev|proc)\//.test(path) && target !== path) {
      return `it links to a regular file; to replace that file, specify its actual path: \`${target}\``;
    }
    await withTemporaryFile(target, (temporary) => writeFile(temporary, ''));
    return null;
  } catch (error) {
    return describeSystemError(error);
  }
}

/**
 * Calls `write` with the path of a temporary file beside the target, and removes the file afterwards. Its folder has a
 * random name, because a repository may contain a symbolic link at any predictable path. A killed process may leave the
 * file behind, which does no harm, because patterns for prompt files match neither of the names.
 */
async function withTemporaryFile<Value>(path: string, write: (temporary: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(dirname(path), '.promptsync-'));
  try {
    return await write(join(folder, 'new'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
