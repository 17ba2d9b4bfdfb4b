import type { Content, PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import { parseAt } from './parse-at.ts';

/** What a prompt file held at a commit; null where git has no valid one there. */
export async function contentInGit(
  repository: Repository | null,
  commit: string,
  path: string,
): Promise<Content | null> {
  return (await fileInGit(repository, commit, path))?.content ?? null;
}

/**
 * A prompt file as it was at a commit; null where git has no valid one there. Commit and path (from the repository's
 * root) may come from the service: whatever git makes of them, this does not throw.
 */
export async function fileInGit(
  repository: Repository | null,
  commit: string,
  path: string,
): Promise<PromptFile | null> {
  if (repository === null) return null;
  try {
    const resolved = await repository.resolveRef(commit);
    return resolved === null ? null : ((await parseAt(repository, resolved, path))?.file ?? null);
  } catch {
    return null;
  }
}
