import type { Repository } from '../../git/repository.ts';
import { parsePromptFile, type ParseResult } from '../../files/parse.ts';

/** A prompt file (from the repository's root) as a commit has it; null where no regular file is there. */
export async function parseAt(
  repository: Repository,
  commit: string,
  pathFromRoot: string,
): Promise<ParseResult | null> {
  const bytes = await repository.fileAt(commit, pathFromRoot);
  return bytes === null ? null : parsePromptFile(bytes, pathFromRoot);
}
