import { isInSync, toStoredContent } from '../domain/content.ts';
import type { FormerFields, FormerStates, UnmetWants } from '../domain/desired-state.ts';
import { type FileHistory, meansVersion } from '../domain/history.ts';
import type { ActiveSnapshot, ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPinnedContent, findPinTarget } from '../domain/pin-target.ts';
import { compareFields, type ContentsAtRefs, type FieldName, FIELDS } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import { findPinnedVersion, type KnownVersion } from '../domain/versions.ts';
import type { RivalWant, UnmetWant } from '../domain/wanted-since.ts';
import { isCommitId } from '../git/open-git.ts';
import type { KnownTip, Repository } from '../git/open-repository.ts';
import {
  addStatesBeforeMoves,
  type BranchStates,
  locateAtCommit,
  readBranchStates,
  readFileHistory,
  readPinsOfStates,
} from './read-history.ts';
import { findIntroducingAge, findPinWant } from './read-wanted-since.ts';

/** A prompt file at the base, and the states that it had on the branch of the base. */
export type BaseFileHistory = {
  readonly file: PromptFile;
  /** The commit of the base. */
  readonly base: string;
  readonly states: BranchStates;
  /** The pins of these states. */
  readonly history: FileHistory;
};

/** Reads the states that a prompt file of the base had on the branch of the base. */
export async function readBaseFileHistory(
  file: PromptFile,
  base: string,
  repository: Repository,
): Promise<BaseFileHistory> {
  const states = await readBranchStates(file, base, repository);
  return { file, base, states, history: await readPinsOfStates(states, repository) };
}

/** A prompt at the base, and everything that promptsync compares it with. */
type BasePrompt = BaseFileHistory & {
  readonly observed: ObservedPrompt;
  readonly contentsAtRefs: ContentsAtRefs;
  /** The states of the file at the base, at HEAD, at the tip of the live branch, and at all ancestors of these. */
  readonly former: FormerStates;
};

/** The repository, and the live branch. */
type LiveRepository = {
  readonly repository: Repository;
  /** The tip of the live branch. Null if the clone does not know it. */
  readonly tip: KnownTip | null;
};

/**
 * Finds what the base wants and the service does not have, with the first-parent commit that introduced each want. Omits
 * an environment in which no version is active, a pin to a ref that can move, and a want whose commit the clone lacks.
 */
export async function readUnmetWants(prompt: BasePrompt, live: LiveRepository): Promise<UnmetWants> {
  const { file, states, base } = prompt;
  const { repository } = live;
  const wants = await readWantsOfStates(prompt, live);
  if (![...wants.environments.values(), ...wants.fields.values()].some(({ isFirst }) => isFirst)) return wants;
  // git may treat a moved file as a new file. Its first state is then not the first state of the prompt.
  const allStates = await addStatesBeforeMoves(states, file, base, repository);
  if (allStates.files.length === states.files.length) return wants;
  const history = await readPinsOfStates(allStates, repository);
  return readWantsOfStates({ ...prompt, states: allStates, history }, live);
}

async function readWantsOfStates(prompt: BasePrompt, live: LiveRepository): Promise<UnmetWants> {
  const { file, observed, contentsAtRefs } = prompt;
  const environments = file.pins.map(async (pin): Promise<readonly [string, UnmetWant][]> => {
    const served = observed.active.get(pin.environment) ?? null;
    if (served === null || findPinTarget(pin, file, observed, contentsAtRefs).kind === 'in-sync') return [];
    const want = await readEnvironmentWant(pin, served, prompt, live);
    return want === null ? [] : [[pin.environment, want]];
  });
  const changedFields = compareFields(file, observed.fields);
  const fields = FIELDS.map(async (field): Promise<readonly [FieldName, UnmetWant][]> => {
    const current = changedFields[field]?.before;
    const want = current === undefined ? null : await readFieldWant(field, current, prompt, live);
    return want === null ? [] : [[field, want]];
  });
  return {
    environments: new Map((await Promise.all(environments)).flat()),
    fields: new Map((await Promise.all(fields)).flat()),
  };
}

async function readEnvironmentWant(
  pin: EnvironmentPin,
  served: KnownVersion,
  prompt: BasePrompt,
  live: LiveRepository,
): Promise<UnmetWant | null> {
  const { environment } = pin;
  const { file, history, observed, contentsAtRefs, former } = prompt;
  const pinWant = findPinWant(pin, file, observed, contentsAtRefs);
  const age = pinWant === null ? null : findIntroducingAge(environment, pinWant, history);
  const commit = age === null ? undefined : history.commits[age];
  if (age === null || commit === undefined) return null;
  const earlierPins = (history.pins.get(environment) ?? []).filter((state) => state.age > age);
  const formerPins = former.pins.get(environment) ?? [];
  const commitsWantingServed = formerPins.filter((state) => meansVersion(state, served)).map((state) => state.commit);
  const findTipCommit = async (tip: KnownTip): Promise<string | null> => {
    const location = await locateAtCommit(file, tip.commit, live.repository);
    const tipHistory = await readFileHistory(location, tip.commit, live.repository);
    const states = tipHistory.pins.get(environment) ?? [];
    const end = states.findIndex((state, index) => state.age !== index || !meansVersion(state, served));
    return states[(end === -1 ? states.length : end) - 1]?.commit ?? null;
  };
  const snapshots = observed.snapshots.filter(({ versionIds }) => showsWantedVersion(versionIds, pin, prompt));
  return {
    ...(await readOrigin(commit, live)),
    isFirst: history.isComplete && earlierPins.length === 0,
    wasCurrentWanted: earlierPins.some((state) => meansVersion(state, served)),
    isRecorded: snapshots.length > 0,
    wasLive: await isContainedInAny(commit, snapshots, live.repository),
    rival: await findRival(history.commits.slice(age), commitsWantingServed, findTipCommit, live),
  };
}

async function readFieldWant(
  field: FieldName,
  current: string,
  { file, states: { files, isComplete }, former }: BasePrompt,
  live: LiveRepository,
): Promise<UnmetWant | null> {
  const values = files.map((state) => state.file[field]);
  const end = values.findIndex((value) => value !== file[field]);
  const age = (end === -1 ? values.length : end) - 1;
  const commit = files[age]?.commit;
  if (commit === undefined || (end === -1 && !isComplete)) return null;
  const wantsCurrent = (fields: Partial<FormerFields>): boolean => (fields[field] ?? '') === current;
  const commitsUpToWant = files.slice(age).map((state) => state.commit);
  const commitsWantingCurrent = former.fields.filter(wantsCurrent).map((fields) => fields.commit);
  const findTipCommit = async (tip: KnownTip): Promise<string | null> => {
    const location = await locateAtCommit(file, tip.commit, live.repository);
    const states = (await readBranchStates(location, tip.commit, live.repository)).files;
    const tipEnd = states.findIndex((state) => !wantsCurrent(state.file));
    return states[(tipEnd === -1 ? states.length : tipEnd) - 1]?.commit ?? null;
  };
  const earlierFiles = files.slice(age + 1).map((state) => state.file);
  return {
    ...(await readOrigin(commit, live)),
    isFirst: isComplete && earlierFiles.every((earlier) => earlier[field] === undefined),
    wasCurrentWanted: earlierFiles.some(wantsCurrent),
    isRecorded: false,
    wasLive: false,
    rival: await findRival(commitsUpToWant, commitsWantingCurrent, findTipCommit, live),
  };
}

/** Reads the date of a commit, and whether it is merged into the live branch. */
async function readOrigin(
  commit: string,
  { repository, tip }: LiveRepository,
): Promise<Pick<UnmetWant, 'commit' | 'time' | 'isMerged'>> {
  const times = await repository.readCommitTimes([commit]);
  const isMerged = tip !== null && (await repository.isSameOrAncestor(commit, tip.commit));
  return { commit, time: times.get(commit) ?? 0, isMerged };
}

/**
 * Finds a commit that wants the current state and is not an ancestor of the commit that introduced the base's want. If
 * there is one, the service may be ahead of the base, or it may serve what another branch wants.
 * @param upToWant the commit that introduced the base's want, followed by earlier commits of the branch
 * @param candidates the commits whose files want the current state
 * @param findTipCommit finds the commit since which the tip wants the current state; null if it wants something else
 */
async function findRival(
  upToWant: readonly string[],
  candidates: readonly string[],
  findTipCommit: (tip: KnownTip) => Promise<string | null>,
  { repository, tip }: LiveRepository,
): Promise<RivalWant | null> {
  const [introduced] = upToWant;
  if (introduced === undefined) return null;
  // Most candidates are earlier commits of the same branch. Do not start a git process for these.
  const knownAncestors = new Set(upToWant);
  const isRival = async (commit: string): Promise<boolean> => {
    return !knownAncestors.has(commit) && !(await repository.isSameOrAncestor(commit, introduced));
  };
  const unique = [...new Set(candidates)];
  const areRivals = await Promise.all(unique.map(isRival));
  const newest = unique.find((_, index) => areRivals[index] === true);
  if (newest === undefined) return null;
  const commitOfTip = tip === null ? null : await findTipCommit(tip);
  if (tip !== null && commitOfTip !== null && (await isRival(commitOfTip))) {
    return { commit: commitOfTip, branch: tip.branch };
  }
  return { commit: newest, branch: null };
}

/** Returns true if a version record shows that the version that the pin wants was active in its environment. */
function showsWantedVersion(
  versionIds: ActiveSnapshot['versionIds'],
  { environment, pin }: EnvironmentPin,
  { file, observed, contentsAtRefs }: BasePrompt,
): boolean {
  const id = versionIds.get(environment);
  if (id === undefined) return false;
  const version = observed.known.find((one) => one.id === id);
  if (version === undefined) return pin.kind === 'version' && pin.id === id;
  const content = findPinnedContent(pin, file, contentsAtRefs);
  if (content === null) return findPinnedVersion([version], pin) !== undefined;
  return isInSync(version, toStoredContent(content, observed.metadata));
}

/** Returns true if one of the version records was made from a commit that contains the given commit. */
async function isContainedInAny(
  commit: string,
  snapshots: readonly ActiveSnapshot[],
  repository: Repository,
): Promise<boolean> {
  const recorded = snapshots.flatMap(({ commit: source }) => source ?? []).filter(isCommitId);
  const results = recorded.map(async (source) => {
    const isInClone = (await repository.resolveRef(source)) === source;
    return isInClone && repository.isSameOrAncestor(commit, source);
  });
  return (await Promise.all(results)).includes(true);
}
