import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, open, realpath, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Why a file was not read. */
export type NotRead = { readonly tooLarge: number } | { readonly reason: string };

/** Reads a regular file; its bytes are good until it reads the next one. Throws what the system says of one that cannot be read. */
export type ByteReader = (path: string) => Uint8Array | NotRead;

/** Since the file was found, a link or a pipe may stand in its place: none is followed, none waited for. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const USUAL_SIZE = 64 * 1024;

/**
 * Makes a reader of regular files of at most so many bytes; it throws what the system says of one that cannot be read.
 * The bytes are good until it reads the next file: a buffer each for thousands of files is memory that comes back late.
 * It blocks, because handing the four steps of a small file to threads and back takes ten times as long as they do.
 */
export function makeByteReader(limit: number): ByteReader {
  const usual = Buffer.allocUnsafeSlow(USUAL_SIZE);
  return (path) => {
    const descriptor = openSync(path, FLAGS);
    try {
      const stats = fstatSync(descriptor);
      if (!stats.isFile()) return { reason: 'it is not a regular file' };
      if (stats.size > limit) return { tooLarge: stats.size };
      return readInto(stats.size > usual.length ? Buffer.allocUnsafeSlow(stats.size) : usual, stats.size, descriptor);
    } finally {
      closeSync(descriptor);
    }
  };
}

/** Less where the file has become shorter. */
function readInto(buffer: Buffer, size: number, descriptor: number): Uint8Array {
  let length = 0;
  while (length < size) {
    const count = readSync(descriptor, buffer, length, size - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/**
 * Writes a file that is not there yet, and the folders around it. One that is there stays as it is: then it returns
 * false. Half a file is taken away again. Throws the system's error.
 */
export async function createFile(path: string, content: string): Promise<boolean> {
  await mkdir(dirname(path), { recursive: true });
  const file = await openNew(path);
  if (file === null) return false;
  try {
    await file.writeFile(content);
    await file.close();
    return true;
  } catch (error) {
    await file.close().catch(() => {});
    await rm(path, { force: true });
    throw error;
  }
}

async function openNew(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'wx');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return null;
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
