import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

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
