import { isSameFileContent } from '../domain/compare-content.ts';
import type { Content } from '../domain/content.ts';
import { findStartOfSeries } from './line-of-states.ts';
import type { PromptLocation, PromptRepository } from './read-at-commit.ts';
import { readPromptLine } from './read-line-of-states.ts';

/** Content that an environment should serve. */
export type WantedContent = {
  /** Returns true if a file with the given content is in sync with the wanted content. */
  readonly isWanted: (content: Content) => boolean;
  /** Returns true for exactly this content. A file that does not manage metadata is in sync with any metadata. */
  readonly isExact: (content: Content) => boolean;
};

/** The full id of a commit, and the content of a prompt file at that commit. */
type ContentCommit = { readonly commit: string; readonly content: Content };

/**
 * Finds the commit that introduced the wanted content on the live branch: that of the oldest state in the newest
 * unbroken series of states with this content. Prefers exact content. If the clone does not know the tip of the live
 * branch, searches the line of HEAD. Null if no state has the content, or if older states may have it, because the line
 * is cut.
 */
export async function findContentCommit(
  file: PromptLocation,
  { isWanted, isExact }: WantedContent,
  repository: PromptRepository,
): Promise<ContentCommit | null> {
  const tip = (await repository.findKnownTip())?.commit ?? repository.head;
  if (tip === null) return null;
  const line = await readPromptLine(file, tip, repository);
  const wanted = line.states.map((state) => state.file.content).filter(isWanted);
  const content = wanted.find(isExact) ?? wanted[0];
  if (content === undefined) return null;
  const commit = findStartOfSeries(line, (state) => isSameFileContent(state.file.content, content))?.commit ?? null;
  return commit === null ? null : { commit, content };
}
