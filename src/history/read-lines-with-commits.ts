import type { CommitInfo } from '../domain/version-history.ts';
import type { Observation } from '../domain/observed-prompt.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Line } from './line-of-states.ts';
import type { PromptRepository } from './read-at-commit.ts';
import { readPromptLine } from './read-line-of-states.ts';

export type GitHistory = {
  /** The line of each prompt up to HEAD, by prompt id. */
  readonly lines: ReadonlyMap<string, Line>;
  /** Details of the commits that versions and file states refer to, by commit id. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  readonly isShallow: boolean;
};

const NO_GIT_HISTORY: GitHistory = { lines: new Map(), commits: new Map(), isShallow: false };

/** Reads the history of the prompts that promptsync has observed. Empty outside a repository. */
export async function readGitHistory(
  selected: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  repository: PromptRepository | null,
): Promise<GitHistory> {
  if (repository === null || repository.head === null) return NO_GIT_HISTORY;
  const { head } = repository;
  const files = selected.filter(({ id }) => observed.has(id));
  const lines = new Map(
    await Promise.all(files.map(async (file) => [file.id, await readPromptLine(file, head, repository)] as const)),
  );
  const stateCommits = [...lines.values()].flatMap(({ states }) => states.flatMap(({ commit }) => commit ?? []));
  const versions = files.flatMap(({ id }) => observed.get(id)?.known ?? []);
  const versionCommits = versions.flatMap(({ isManaged, source }) =>
    isManaged === false ? [] : (source?.commit ?? []),
  );
  const commits = await repository.readCommits([...versionCommits, ...stateCommits]);
  return { lines, commits, isShallow: repository.isShallow };
}
