import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { makeFailure, makeSuccess, type Result } from '../../domain/result.ts';
import type { System } from '../../domain/system.ts';
import { describeSystemError, getErrorMessage, makeProblem } from '../../problem.ts';

export type PromptIdSources = {
  /** The ids of the prompts to import, or patterns for their names. `-` reads more ids from standard input. */
  readonly ids: readonly string[];
  /** The path of a file with more ids, relative to the working directory. */
  readonly from?: string | undefined;
  readonly input: () => Readable;
};

/** Returns distinct ids from the arguments, `--from` and standard input. Fails if there are none. */
export async function readPromptIds(
  { ids, from, input }: PromptIdSources,
  { workingDirectory, stopSignal }: Pick<System, 'workingDirectory' | 'stopSignal'>,
): Promise<Result<readonly string[]>> {
  const joinedIds = ids.find(looksLikeSeveralIds);
  if (joinedIds !== undefined) {
    const reason = `Separate ids with spaces, not commas: "${joinedIds}". If the comma is part of the id, write the id to a file and pass the file with \`--from\`.`;
    return makeFailure(makeProblem('usage/invalid', { reason }));
  }
  const standardInput = ids.includes('-') ? [{ name: 'standard input', stream: input() }] : [];
  const file =
    from === undefined ? [] : [{ name: `\`${from}\``, stream: createReadStream(resolve(workingDirectory, from)) }];
  const sources = [...standardInput, ...file];
  try {
    const idsOfSources = await Promise.all(sources.map((source) => readIdLines(source, stopSignal)));
    const allIds = [...ids.filter((id) => id !== '-'), ...idsOfSources.flat()];
    if (allIds.length > 0) return makeSuccess([...new Set(allIds)]);
    const reason =
      'No prompt ids were specified. Specify ids, use `-` to read ids from standard input, or use `--from` to read ids from a file.';
    return makeFailure(makeProblem('usage/invalid', { reason }));
  } catch (error) {
    if (stopSignal.aborted) return makeFailure(makeProblem('apply/interrupted'));
    return makeFailure(makeProblem('usage/invalid', { reason: getErrorMessage(error) }));
  }
}

/**
 * This is a guess, because an id can contain a comma. So promptsync checks only arguments, not the lines of a file. A
 * comma before a space or in the brackets of a pattern is probably intentional.
 */
function looksLikeSeveralIds(argument: string): boolean {
  return /^[^{[]*,(?! )/.test(argument);
}

const MAX_ID_LIST_BYTES = 1024 * 1024;

type IdSource = { readonly name: string; readonly stream: Readable };

/** Reads a list of prompt ids. Throws an error that names the source if the list cannot be read. */
async function readIdLines({ name, stream }: IdSource, stopSignal: AbortSignal): Promise<readonly string[]> {
  try {
    return await parseIdLines(addAbortSignal(stopSignal, stream));
  } catch (error) {
    // The raw message of a failed file operation contains the name of the system call and the full path.
    const cause = error instanceof Error && 'syscall' in error ? describeSystemError(error) : getErrorMessage(error);
    throw new Error(`promptsync could not read the prompt ids from ${name} (${cause}).`, { cause: error });
  }
}

/** Skips blank lines and lines that begin with `#`. Throws if the list exceeds 1 MiB or is not valid UTF-8. */
async function parseIdLines(stream: AsyncIterable<Uint8Array>): Promise<readonly string[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_ID_LIST_BYTES) throw new Error('the list is larger than 1 MiB');
    chunks.push(chunk);
  }
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)).split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
