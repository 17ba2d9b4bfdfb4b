import { join } from 'node:path';
import type { Content, PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { parsePromptFile } from './parse.ts';
import type { ByteReader } from './read-write.ts';
import { placeOfFile } from './source.ts';

/** What of a file is not held: most runs need the texts of a few of thousands, and some only check them all. */
export type Late = 'text' | 'content';

/** How a file is read again. */
type Again = { readonly folder: string; readonly read: ByteReader };

/**
 * The same file without its text, or without all of its content. Whoever asks for it has the file read again, which has
 * to be valid still and hold the text that was checked: otherwise asking throws a `ProblemError`.
 */
export function withLate(late: Late, { content, ...file }: PromptFile, again: Again): PromptFile {
  if (late === 'content') {
    return {
      ...file,
      get content() {
        return contentOf(file.path, again);
      },
    };
  }
  const { text: _, ...known } = content;
  return {
    ...file,
    content: {
      ...known,
      get text() {
        const { text, digest } = contentOf(file.path, again);
        if (digest !== known.digest) throw changed(file.path);
        return text;
      },
    },
  };
}

function contentOf(path: string, { folder, read }: Again): Content {
  const bytes = bytesOf(join(folder, path), read);
  const file = bytes === null ? null : parsePromptFile(bytes, path).file;
  if (file === null) throw changed(path);
  return file.content;
}

/** Null where there is no file any more that can be read. */
function bytesOf(path: string, read: ByteReader): Uint8Array | null {
  try {
    const bytes = read(path);
    return bytes instanceof Uint8Array ? bytes : null;
  } catch {
    return null;
  }
}

function changed(path: string): ProblemError {
  return new ProblemError(makeProblem('prompt/changed-meanwhile', {}, placeOfFile(path)));
}
