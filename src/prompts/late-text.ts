import { join } from 'node:path';
import { contentDigest } from '../domain/digest.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import { splitFrontMatter } from './front-matter.ts';
import { textOf } from './parse.ts';
import type { ByteReader } from './read-bytes.ts';
import { decodeSource, placeOfFile } from './source.ts';

/**
 * The same file without its text in memory: most runs need the texts of a few of thousands. Whoever asks for it has the
 * file read again, and it has to hold what was checked: otherwise asking throws a `ProblemError`.
 */
export function withLateText(file: PromptFile, folder: string, read: ByteReader): PromptFile {
  const { text: _, ...content } = file.content;
  const { path } = file;
  const readAgain = (): string => {
    const text = textIn(join(folder, path), read);
    if (text !== null && contentDigest(text) === content.digest) return text;
    throw new ProblemError(makeProblem('prompt/changed-meanwhile', {}, placeOfFile(path)));
  };
  return {
    ...file,
    content: {
      ...content,
      get text() {
        return readAgain();
      },
    },
  };
}

/** Null where the file is no longer one that can be read. */
function textIn(path: string, read: ByteReader): string | null {
  try {
    const bytes = read(path);
    const source = bytes instanceof Uint8Array ? decodeSource(bytes) : null;
    const parts = source === null ? null : splitFrontMatter(source, path).parts;
    return parts === null ? null : textOf(parts.body);
  } catch {
    return null;
  }
}
