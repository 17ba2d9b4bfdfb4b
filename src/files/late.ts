import { join } from 'node:path';
import type { Content, PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { parsePromptFile } from './parse.ts';
import { readBytes } from './read-write.ts';
import { placeOfFile } from './source.ts';

/** What of a file is not held: most runs need the texts of a few of thousands, and some only check them all. */
export type Late = 'text' | 'content';

/**
 * The same file without its text, or without all of its content. Whoever asks for it has the file read again, which has
 * to be valid still and hold the text that was checked: otherwise asking throws a `ProblemError`.
 */
export function withLate(late: Late, { content, ...file }: PromptFile, folder: string): PromptFile {
  if (late === 'content') {
    return {
      ...file,
      get content() {
        return contentOf(file.path, folder);
      },
    };
  }
  const { text: _, ...known } = content;
  return {
    ...file,
    content: {
      ...known,
      get text() {
        const { text, digest } = contentOf(file.path, folder);
        if (digest !== known.digest) throw changed(file.path);
        return text;
      },
    },
  };
}

function contentOf(path: string, folder: string): Content {
  const bytes = bytesOf(join(folder, path));
  const file = bytes === null ? null : parsePromptFile(bytes, path).file;
  if (file === null) throw changed(path);
  return file.content;
}

/** Null where there is no file any more that can be read. */
function bytesOf(path: string): Uint8Array | null {
  try {
    const bytes = readBytes(path);
    return bytes instanceof Uint8Array ? bytes : null;
  } catch {
    return null;
  }
}

function changed(path: string): ProblemError {
  return new ProblemError(makeProblem('prompt/changed-meanwhile', {}, placeOfFile(path)));
}
