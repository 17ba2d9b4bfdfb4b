import { type Content, isEqualContent } from '../domain/content.ts';
import type { LiveBranch } from './open-workspace.ts';
import type { PromptLocation } from './read-at-commit.ts';
import { addStatesBeforeMoves, findBranchPlaces, locateAtCommit, readStatesAt } from './read-history.ts';
import { countNewest } from './read-wanted-since.ts';

/** Content that an environment should serve. */
export type WantedContent = {
  /** Returns true if a file with the given content is in sync with the wanted content. */
  readonly isWanted: (content: Content) => boolean;
  /**
   * Returns true if the given content is exactly the wanted content. For a version with metadata, several contents
   * count as wanted, because a file that does not manage metadata is in sync with any metadata.
   */
  readonly isExact: (content: Content) => boolean;
};

/** The full id of a commit, and the content of a prompt file at that commit. */
type ContentCommit = { readonly commit: string; readonly content: Content };

/**
 * Finds the commit that introduced the wanted content of a prompt file on the live branch: the oldest commit of the
 * newest unbroken series of first-parent commits whose files have equal content. Prefers exact content. If the clone
 * does not know the tip of the live branch, searches the history of HEAD.
 *
 * Returns null if no commit of the live branch has the content. Also returns null if the commit may be missing, because
 * the clone is shallow and its oldest commit already has the content.
 */
export async function findContentCommit(
  file: PromptLocation,
  { isWanted, isExact }: WantedContent,
  { repository, branch }: LiveBranch,
): Promise<ContentCommit | null> {
  const tip = (await repository.findKnownTip(branch))?.commit ?? repository.head;
  if (tip === null) return null;
  const location = await locateAtCommit(file, tip, repository);
  const { places, isComplete } = await findBranchPlaces(location, tip, repository);
  const newest = await readStatesAt(location, { places, isComplete }, repository);
  const { files, isComplete: reachesStart } = await addStatesBeforeMoves(newest, location, tip, repository);
  const contents = new Map(files.map((state) => [state.commit, state.file.content]));
  // The history of a path can begin with another file that had this path before. Skip the commits that are older than
  // the first state of this prompt.
  const oldest = places.findIndex(({ commit }) => commit === newest.files.at(-1)?.commit);
  // Include the commits that removed the file or made it invalid. They have no content for it, so they end a series of
  // equal contents.
  const commits = [...new Set([...places.slice(0, oldest + 1), ...files].map(({ commit }) => commit))];
  const wanted = files.map(({ file: { content } }) => content).filter(isWanted);
  const content = wanted.find(isExact) ?? wanted[0];
  if (content === undefined) return null;
  const hasContent = (commit: string): boolean => {
    const other = contents.get(commit);
    return other !== undefined && isEqualContent(other, content);
  };
  const series = commits.slice(commits.findIndex(hasContent));
  const length = countNewest(series, hasContent);
  const commit = series[length - 1];
  const isCutOff = repository.isShallow && !reachesStart && length === series.length;
  return commit === undefined || isCutOff ? null : { commit, content };
}
