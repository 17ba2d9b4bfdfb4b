import { extname } from 'node:path';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import { isError } from '../../problem.ts';
import type { ParseResult } from '../../prompts/parse.ts';
import { parseAt } from './parse-at.ts';

/** A prompt's file at a commit, and its path there from the repository's root. */
export type Found = { readonly file: PromptFile; readonly path: string };

/**
 * A prompt as it was at a commit, found by its id: at the path (from the repository's root), or wherever the file was
 * then. A text says why it is not.
 */
export async function findAt(
  { id, path: own }: Pick<PromptFile, 'id' | 'path'>,
  commit: string,
  repository: Repository,
): Promise<Found | string> {
  const others = async () => (await repository.filesHolding(commit, id, extname(own))).filter((other) => other !== own);
  let reason = 'no file with its id';
  for (const candidates of [async () => [own], others]) {
    for (const candidate of await candidates()) {
      const parsed = await parseAt(repository, commit, candidate);
      if (parsed === null) continue;
      if (parsed.file?.id === id) return { file: parsed.file, path: candidate };
      reason = invalidity(parsed, candidate, id, candidate === own) ?? reason;
    }
  }
  return reason;
}

/** Why a file that is not readable stands in for the prompt: it has the prompt's id, or its place and no other id. */
function invalidity({ outline, problems }: ParseResult, path: string, id: string, inPlace: boolean): string | null {
  const invalid = problems.find(isError);
  const other = outline?.id?.value ?? (inPlace ? id : null);
  return invalid === undefined || other !== id ? null : `${path} is not valid: ${invalid.message}`;
}
