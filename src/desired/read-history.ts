import type { Observation, Observed } from '../domain/observed.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { CommitInfo, FileHistory, FileState } from '../domain/history.ts';
import type { Repository } from '../git/repository.ts';
import { pinsAt, readMergedFiles } from './former-files.ts';

/** What git knows of prompts. */
export type GitHistory = {
  /** By prompt id, as of HEAD, newest first. */
  readonly byPrompt: ReadonlyMap<string, FileHistory>;
  /** Those that the versions and the states name. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** Whether older commits may be missing. */
  readonly shallow: boolean;
};

const NOTHING: GitHistory = { byPrompt: new Map(), commits: new Map(), shallow: false };

/** Reads how the prompts were pinned before, and the commits that their versions come from. */
export async function readGitHistory(
  selected: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  repository: Repository | null,
): Promise<GitHistory> {
  if (repository === null || repository.head === null) return NOTHING;
  const { head } = repository;
  const files = selected.filter(({ id }) => observed.has(id));
  const byPrompt = new Map(
    await Promise.all(
      files.map(async (file): Promise<[string, FileHistory]> => [
        file.id,
        await readFileHistory(file, head, repository),
      ]),
    ),
  );
  const states = [...byPrompt.values()].flatMap(({ states }) => states);
  const named = [...[...observed.values()].flatMap(madeFrom), ...states.map(({ commit }) => commit)];
  return { byPrompt, commits: await readCommits(named, head, repository), shallow: repository.shallow };
}

/**
 * One after the other as the branch had them. A state that only a branch had was in force nowhere before its merge, and
 * those of two branches side by side are no sequence.
 */
async function readFileHistory(file: PromptFile, head: string, repository: Repository): Promise<FileHistory> {
  const { files, whole } = await readMergedFiles(file, head, repository);
  const states = await Promise.all(
    files.map(async (state, age): Promise<FileState> => {
      const pins = await pinsAt(state, age, repository);
      return { commit: state.commit, pins: new Map(pins.map(({ environment, former }) => [environment, former])) };
    }),
  );
  return { states, whole };
}

function madeFrom({ known }: Observed): readonly string[] {
  return known.flatMap(({ ours, source }) => (ours ? (source?.commit ?? []) : []));
}

/** With the pull request that a commit names itself, or else the merge that brought it. */
async function readCommits(ids: readonly string[], head: string, repository: Repository) {
  const commits = await repository.commitsOf(ids);
  const silent = [...commits.values()].filter(({ pullRequest }) => pullRequest === undefined);
  if (silent.length === 0) return commits;
  const mergeOf = await repository.mergesOf(head);
  const merges = await repository.commitsOf(silent.flatMap(({ commit }) => mergeOf.get(commit) ?? []));
  const found = silent.flatMap((info): [string, CommitInfo][] => {
    const pullRequest = merges.get(mergeOf.get(info.commit) ?? '')?.pullRequest;
    return pullRequest === undefined ? [] : [[info.commit, { ...info, pullRequest }]];
  });
  return new Map([...commits, ...found]);
}
