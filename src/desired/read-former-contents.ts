import type { ContentAtRef } from '../domain/plan.ts';
import type { PromptRepository } from './open-workspace.ts';
import { parseFileAtCommit } from './read-at-commit.ts';

/**
 * Reads the content that a prompt file had after each commit that changed it, together with the source of that content
 * in git. Covers the given commit, HEAD, and the ancestors of both. The path is relative to the repository root.
 * Returns null outside a repository. Also returns null in a shallow clone, because its history may be incomplete.
 */
export async function readFormerContents(
  repository: PromptRepository | null,
  commit: string,
  path: string,
): Promise<readonly ContentAtRef[] | null> {
  if (repository === null || repository.isShallow) return null;
  const tips = new Set([commit, repository.head ?? commit]);
  const states = await Promise.all([...tips].map((tip) => repository.followFile(tip, path)));
  const contents = states.flat().map(async (state): Promise<readonly ContentAtRef[]> => {
    const [parsed, provenance] = await Promise.all([
      parseFileAtCommit(repository, state),
      repository.findLastCommit(state.commit, state.path),
    ]);
    const content = parsed?.file?.content;
    return content === undefined ? [] : [{ content, provenance: provenance ?? state }];
  });
  return (await Promise.all(contents)).flat();
}
