import type { Content } from '../domain/content.ts';
import type { LiveBranch } from './open-workspace.ts';
import type { PromptLocation } from './read-at-commit.ts';
import { addStatesBeforeMoves, findBranchPlaces, locateAtCommit, readStatesAt } from './read-history.ts';
import { countNewest } from './read-wanted-since.ts';

/**
 * Finds the commit that introduced the wanted content of a prompt file on the live branch: the oldest commit of the
 * newest unbroken series of first-parent commits whose file has the content. Returns the full id of the commit. Returns
 * null if no commit of the live branch has the content. If the clone does not know the tip of the live branch, searches
 * the history of HEAD.
 * @param isWanted returns true for the content to find
 */
export async function findContentCommit(
  file: PromptLocation,
  isWanted: (content: Content) => boolean,
  { repository, branch }: LiveBranch,
): Promise<string | null> {
  const tip = (await repository.findKnownTip(branch))?.commit ?? repository.head;
  if (tip === null) return null;
  const location = await locateAtCommit(file, tip, repository);
  const { places, isComplete } = await findBranchPlaces(location, tip, repository);
  const newest = await readStatesAt(location, { places, isComplete }, repository);
  const { files } = await addStatesBeforeMoves(newest, location, tip, repository);
  const contents = new Map(files.map((state) => [state.commit, state.file.content]));
  const isWantedAt = (commit: string): boolean => {
    const content = contents.get(commit);
    return content !== undefined && isWanted(content);
  };
  // A commit that removed the file or made it invalid has no content, so it breaks a series.
  const commits = [...new Set([...places, ...files].map(({ commit }) => commit))];
  const start = commits.findIndex(isWantedAt);
  if (start === -1) return null;
  const series = commits.slice(start);
  return series[countNewest(series, isWantedAt) - 1] ?? null;
}
