import type { CommitInfo, FileHistory, FormerPin, FormerPinsByEnvironment } from '../domain/history.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPin, formatPin, type Pin, type PromptFile } from '../domain/prompt-file.ts';
import type { Content } from '../domain/content.ts';
import { isCommitId } from '../git/open-git.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import type { PromptRepository } from '../history/read-at-commit.ts';
import { findFileAtCommit, type PromptLocation, parseFileAtCommit } from '../history/read-at-commit.ts';

/**
 * The maximum number of states that promptsync reads for one file, starting with the newest. It ignores older states.
 */
export const MAX_HISTORY_STATES = 100;

/**
 * A state of a prompt file, with the commit that created this state. The path of the file is relative to the repository
 * root.
 */
export type FormerFile = { readonly commit: string; readonly file: PromptFile };

/** Reads the newest states of a prompt file up to a commit, newest first. Follows the file through renames. */
export async function readFormerFiles(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<readonly FormerFile[]> {
  const places = await repository.followFile(commit, repository.toRootPath(prompt.path));
  return parseStates(prompt, places.slice(0, MAX_HISTORY_STATES), repository);
}

/**
 * Returns the location of a prompt's file at a commit. Returns the given location if the commit has no file of the
 * prompt. The paths in both locations are relative to the folder.
 */
export async function locateAtCommit(
  { id, type, path }: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<PromptLocation> {
  const result = await findFileAtCommit({ id, type, path: repository.toRootPath(path) }, commit, repository);
  return { id, type, path: result.kind === 'missing' ? path : repository.toFolderPath(result.path) };
}

/**
 * The maximum number of states that promptsync reads for one file on a branch. Users wait for the result, and reading
 * 500 states takes two seconds.
 */
const MAX_BRANCH_STATES = 500;

/**
 * Reads the states that a prompt file had on a branch, up to the given commit. Leaves out states that existed only on
 * other, merged branches. Such states were not in effect on this branch before the merge, and states from parallel
 * branches do not form a sequence.
 */
export async function readFileHistory(
  location: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<FileHistory> {
  return readPinsOfStates(await readBranchStates(location, commit, repository), repository);
}

/**
 * Reads the same history as `readFileHistory`, but a moved file keeps its history, even if git treats it as a new file.
 * The promotion guard and rollbacks must not lose a pin because somebody moved the file.
 */
export async function readHistoryThroughMoves(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<FileHistory> {
  return readPinsOfStates(await readStatesThroughMoves(prompt, commit, repository), repository);
}

/** Reads the states that a prompt file had on a branch, also before moves after which git treats it as a new file. */
export async function readStatesThroughMoves(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<BranchStates> {
  return addStatesBeforeMoves(await readBranchStates(prompt, commit, repository), prompt, commit, repository);
}

/**
 * Adds the older states of a moved prompt file that git treats as a new file. Finds the file that had the prompt's id
 * one commit before the oldest known state, and continues with the states of that file.
 * @param newest the states that git finds when it follows the file back from `commit`
 */
export async function addStatesBeforeMoves(
  newest: BranchStates,
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<BranchStates> {
  const files = [...newest.files];
  let states = newest;
  let next: FileAtCommit | null = { commit, path: prompt.path };
  while (states.isComplete) {
    next = await findEarlierFile(prompt, next, states.files.at(-1)?.commit, repository);
    if (next === null) break;
    states = await readBranchStates({ ...prompt, path: next.path }, next.commit, repository);
    files.push(...states.files);
  }
  return { files, isComplete: states.isComplete };
}

/**
 * Finds the file that had the prompt's id one commit before the oldest known state. If no states are known, looks for
 * the file at the commit of `start` instead. Returns null if there is no such file, or if its states have already been
 * read.
 * @param start the file and the commit from which the known states were read
 * @param oldest the commit of the oldest known state. Undefined if no states are known
 */
async function findEarlierFile(
  { id, type }: PromptLocation,
  start: FileAtCommit,
  oldest: string | undefined,
  repository: PromptRepository,
): Promise<FileAtCommit | null> {
  const commit = oldest === undefined ? start.commit : await repository.resolveRef(`${oldest}^`);
  if (commit === null) return null;
  const result = await findFileAtCommit({ id, type, path: repository.toRootPath(start.path) }, commit, repository);
  if (result.kind === 'missing') return null;
  const path = repository.toFolderPath(result.path);
  return oldest === undefined && path === start.path ? null : { commit, path };
}

/** The states of a prompt file on a branch, newest first. `isComplete` is false if older states may exist. */
export type BranchStates = { readonly files: readonly FormerFile[]; readonly isComplete: boolean };

/** Reads the states that a prompt file had on a branch, up to the given commit. */
export async function readBranchStates(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<BranchStates> {
  return readStatesAt(prompt, await findBranchPlaces(prompt, commit, repository), repository);
}

/**
 * The commits that changed a prompt file on a branch, newest first, each with the path of the file at that commit.
 * `isComplete` is false if there may be older such commits.
 */
export type BranchPlaces = { readonly places: readonly FileAtCommit[]; readonly isComplete: boolean };

/** Finds the commits that changed a prompt file on a branch, up to the given commit. */
export async function findBranchPlaces(
  prompt: PromptLocation,
  commit: string,
  repository: PromptRepository,
): Promise<BranchPlaces> {
  const allPlaces = await repository.followFile(commit, repository.toRootPath(prompt.path));
  const places = allPlaces.slice(0, MAX_BRANCH_STATES);
  const isCut = places.length === MAX_BRANCH_STATES || (await isAtShallowEdge(places.at(-1)?.commit, repository));
  return { places, isComplete: !isCut };
}

/** Reads the states of a prompt file at the newest `count` places. */
export async function readStatesAt(
  prompt: PromptLocation,
  { places, isComplete }: BranchPlaces,
  repository: PromptRepository,
  count = places.length,
): Promise<BranchStates> {
  const files = await parseStates(prompt, places.slice(0, count), repository);
  return { files, isComplete: isComplete && count >= places.length };
}

/** Reads the pins of the states of a prompt file. */
export async function readPinsOfStates(
  { files, isComplete }: BranchStates,
  repository: PromptRepository,
): Promise<FileHistory> {
  return {
    commits: files.map((file) => file.commit),
    pins: await collectFormerPins(files, repository),
    isComplete,
  };
}

/**
 * Returns true if the clone is shallow and lacks the parent of this commit. git reports every file in such a commit as
 * new.
 */
async function isAtShallowEdge(commit: string | undefined, repository: PromptRepository): Promise<boolean> {
  return commit !== undefined && repository.isShallow && (await repository.resolveRef(`${commit}^`)) === null;
}

/**
 * Returns true if promptsync created a version of the prompt from a commit before the oldest known state of the file.
 * The prompt then had earlier states: somebody deleted the file, or moved it in a way that git does not follow. The
 * clone may lack the commit from which a version was created:
 * - In a shallow clone, a missing commit counts as older.
 * - In a full clone, a missing commit does not count, because it belongs to a different repository.
 */
export async function wasSyncedBefore(
  { commits }: FileHistory,
  { known }: Pick<ObservedPrompt, 'known'>,
  repository: PromptRepository,
): Promise<boolean> {
  const oldest = commits.at(-1);
  const parent = oldest === undefined ? null : await repository.resolveRef(`${oldest}^`);
  if (parent === null) return false;
  const sources = new Set(known.flatMap(({ isManaged, source }) => (isManaged === true ? (source?.commit ?? []) : [])));
  const areEarlier = [...sources].filter(isCommitId).map(async (commit) => {
    const isInClone = (await repository.resolveRef(commit)) === commit;
    return isInClone ? repository.isSameOrAncestor(commit, parent) : repository.isShallow;
  });
  return (await Promise.all(areEarlier)).includes(true);
}

/**
 * Returns the environments whose pins have never changed since the file's first state. Returns none if older states may
 * be missing from the history.
 */
export function findEnvironmentsPinnedFromStart(
  { pins }: PromptFile,
  { commits, pins: former, isComplete }: FileHistory,
): ReadonlySet<string> {
  if (!isComplete || commits.length === 0) return new Set();
  const unchangedPins = pins.filter(({ environment, pin }) => {
    const states = former.get(environment) ?? [];
    return states.length === commits.length && states.every((state) => formatPin(state.pin) === formatPin(pin));
  });
  return new Set(unchangedPins.map(({ environment }) => environment));
}

/**
 * Parses the prompt file at each commit and path. Leaves out invalid files, files of other prompts, and files that have
 * the prompt's id but another type.
 */
export async function parseStates(
  { id, type }: PromptLocation,
  places: readonly FileAtCommit[],
  repository: PromptRepository,
): Promise<readonly FormerFile[]> {
  const parsed = await Promise.all(
    places.map(async ({ commit, path }): Promise<readonly FormerFile[]> => {
      const file = (await parseFileAtCommit(repository, { commit, path }))?.file ?? null;
      return file?.id === id && file.type === type ? [{ commit, file }] : [];
    }),
  );
  return parsed.flat();
}

/**
 * Collects the pins of former states by environment. Adds the content that each pin refers to, if git has that content.
 * @param states the former states, newest first; for several histories, one history after the other
 */
export async function collectFormerPins(
  states: readonly FormerFile[],
  repository: PromptRepository,
): Promise<FormerPinsByEnvironment> {
  const pins = await Promise.all(
    states.flatMap(({ commit, file }, age) =>
      file.pins.map(async ({ environment, pin }) => {
        const content = await readPinnedContent(pin, file, repository);
        const isFixed = await isFixedPin(pin, repository);
        const former: FormerPin = { commit, age, pin, content, isFixed };
        return { environment, former };
      }),
    ),
  );
  const byEnvironment = Map.groupBy(pins, ({ environment }) => environment);
  return new Map([...byEnvironment].map(([environment, list]) => [environment, list.map(({ former }) => former)]));
}

/** Returns true if a pin always refers to the same version or content because its ref, if any, cannot move. */
export async function isFixedPin(pin: Pin, repository: PromptRepository): Promise<boolean> {
  if (pin.kind !== 'git') return true;
  const pinned = await repository.resolvePinnedRef(pin.ref, repository.branch);
  return pinned.kind === 'found' && !pinned.isMoving;
}

/**
 * Reads the content that a former pin refers to. Returns null for version numbers and ids. Also returns null if git has
 * no valid file of the prompt at the pinned ref.
 */
export async function readPinnedContent(
  pin: Pin,
  file: PromptFile,
  repository: PromptRepository,
): Promise<Content | null> {
  if (pin.kind === 'latest') return file.content;
  if (pin.kind !== 'git') return null;
  const pinned = await repository.resolvePinnedRef(pin.ref, repository.branch);
  if (pinned.kind !== 'found') return null;
  const result = await findFileAtCommit(file, pinned.commit, repository);
  return result.kind === 'found' ? result.file.content : null;
}

/**
 * Returns the former pins without those of the newest state if HEAD created that state and the file still has them. If
 * HEAD did not change the file, or if the file pins an environment that it did not pin at HEAD, returns all former
 * pins.
 */
export function omitHeadPins(
  former: FormerPinsByEnvironment,
  { pins, content }: PromptFile,
  head: string | null,
): FormerPinsByEnvironment {
  const pinnedAtHead = new Set([...former].flatMap(([name, [newest]]) => (newest?.commit === head ? [name] : [])));
  if (!pins.every(({ environment }) => pinnedAtHead.has(environment))) return former;
  const isCurrent = (environment: string, { commit, pin, content: formerContent }: FormerPin): boolean => {
    const currentPin = findPin(pins, environment)?.pin;
    if (commit !== head || currentPin === undefined || formatPin(currentPin) !== formatPin(pin)) return false;
    return pin.kind !== 'latest' || formerContent?.digest === content.digest;
  };
  return new Map(
    [...former].map(([environment, list]) => {
      return [environment, list.filter((one, index) => index > 0 || !isCurrent(environment, one))];
    }),
  );
}

/** The git history of prompt files, with details of the commits in it. */
export type GitHistory = {
  /** The history of each prompt file up to HEAD, by prompt id. States are sorted newest first. */
  readonly byPrompt: ReadonlyMap<string, FileHistory>;
  /** Details of the commits that versions and file states refer to, by commit id. */
  readonly commits: ReadonlyMap<string, CommitInfo>;
  /** The committer dates of the commits of the file states, as seconds since 1970, by commit id. */
  readonly commitTimes: ReadonlyMap<string, number>;
  readonly isShallow: boolean;
};

const NO_GIT_HISTORY: GitHistory = {
  byPrompt: new Map(),
  commits: new Map(),
  commitTimes: new Map(),
  isShallow: false,
};

/**
 * Reads the git history of the selected prompts that promptsync has observed. Returns an empty history outside a
 * repository.
 */
export async function readGitHistory(
  selected: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  repository: PromptRepository | null,
): Promise<GitHistory> {
  if (repository === null || repository.head === null) return NO_GIT_HISTORY;
  const { head } = repository;
  const files = selected.filter(({ id }) => observed.has(id));
  const histories = files.map(async (file) => [file.id, await readFileHistory(file, head, repository)] as const);
  const byPrompt = new Map(await Promise.all(histories));
  const stateCommits = [...byPrompt.values()].flatMap(({ commits }) => commits);
  const versions = files.flatMap(({ id }) => observed.get(id)?.known ?? []);
  const versionCommits = versions.flatMap(({ isManaged, source }) =>
    isManaged === false ? [] : (source?.commit ?? []),
  );
  const commits = await readCommitsOfHistory([...versionCommits, ...stateCommits], head, repository);
  const commitTimes = await repository.readCommitTimes(stateCommits);
  return { byPrompt, commits, commitTimes, isShallow: repository.isShallow };
}

/**
 * Reads the details of commits, by commit id. If a commit's message mentions no pull request, uses the pull request of
 * the merge that brought the commit into the branch.
 */
async function readCommitsOfHistory(
  ids: readonly string[],
  head: string,
  repository: PromptRepository,
): Promise<ReadonlyMap<string, CommitInfo>> {
  const commits = await repository.readCommits(ids);
  const withoutPullRequest = [...commits.values()].filter(({ pullRequest }) => pullRequest === undefined);
  if (withoutPullRequest.length === 0) return commits;
  const mergeIds = await repository.mapCommitsToMerges(head);
  const merges = await repository.readCommits(withoutPullRequest.flatMap(({ commit }) => mergeIds.get(commit) ?? []));
  const completed = withoutPullRequest.flatMap((info): [string, CommitInfo][] => {
    const merge = merges.get(mergeIds.get(info.commit) ?? '');
    const pullRequest = merge?.pullRequest;
    return pullRequest === undefined ? [] : [[info.commit, { ...info, pullRequest }]];
  });
  return new Map([...commits, ...completed]);
}
