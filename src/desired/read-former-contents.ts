import type { ContentAtRef } from '../domain/plan.ts';
import type { Repository } from '../git/open-repository.ts';
import { parseFileAtCommit } from './read-at-commit.ts';

/**
 * Returns every content that a prompt file (from the repository's root) had up to a commit or up to HEAD, each with the
 * commit that left it. Returns null if git may not have all of them: outside a repository, and in a shallow clone.
 */
export async function readFormerContents(
  repository: Repository | null,
  commit: string,
  path: string,
): Promise<readonly ContentAtRef[] | null> {
  if (repository === null || repository.isShallow) return null;
  const tips = new Set([commit, repository.head ?? commit]);
  const touched = await Promise.all([...tips].map((tip) => repository.followFile(tip, path)));
  const contents = touched.flat().map(async (place): Promise<readonly ContentAtRef[]> => {
    const [parsed, provenance] = await Promise.all([
      parseFileAtCommit(repository, place),
      repository.findLastCommit(place.commit, place.path),
    ]);
    const content = parsed?.file?.content;
    return content === undefined ? [] : [{ content, provenance: provenance ?? place }];
  });
  return (await Promise.all(contents)).flat();
}
