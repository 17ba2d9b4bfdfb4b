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
import type { KnownTip } from '../git/open-repository.ts';
import type { PromptRepository } from './open-workspace.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import { readFormerStates } from './read-former-states.ts';
import {
  addStatesBeforeMoves,
  type BranchPlaces,
  type BranchStates,
  locateAtCommit,
  readBranchStates,
  readFileHistory,
  readPinsOfStates,
  readStatesAt,
} from './read-history.ts';
import { countNewest, findIntroducingAge, findPinWant } from './read-wanted-since.ts';

/** A prompt at the base, with the data that promptsync compares it with. */
type PromptAtBase = {
  /** The prompt file at the base. */
  readonly file: PromptFile;
  /** The commit of the base. */
  readonly base: string;
  readonly observed: ObservedPrompt;
  readonly contentsAtRefs: ContentsAtRefs;
  /** The commits that changed the file, among the base, HEAD, the tip of the live branch, and all their ancestors. */
  readonly formerPlaces: readonly FileAtCommit[];
  /** The commits on the base's branch that changed the file. */
  readonly branch: BranchPlaces;
};

/** A prompt at the base, and the states that its file had on the branch of the base. */
type BasePrompt = PromptAtBase & {
  readonly states: BranchStates;
  /** The pins of these states. */
  readonly history: FileHistory;
  /** All commits on the branch that changed the file, newest first. `states` may not include all of these commits. */
  readonly branchCommits: readonly string[];
};

/** The repository, and the live branch. */
type LiveRepository = {
  readonly repository: PromptRepository;
  /** The tip of the live branch. Null if the clone does not know it. */
  readonly tip: KnownTip | null;
};

/**
 * The number of states that promptsync reads first for each file. This is enough for most changes. Reading one state
 * takes about a millisecond.
 */
export const FIRST_STATES = 2;

/**
 * Finds the states that the base requests but the service does not have. Adds to each state the first-parent commit
 * that introduced it. Omits environments in which no version is active, and pins to a ref that can move. Also omits a
 * state if the clone does not have the commit that introduced it.
 */
export async function readUnmetWants(compared: PromptAtBase, live: LiveRepository): Promise<UnmetWants> {
  const { file, base, branch } = compared;
  const { repository } = live;
  const branchCommits = branch.places.map(({ commit }) => commit);
  const addStates = async (states: BranchStates): Promise<BasePrompt> => {
    return { ...compared, states, branchCommits, history: await readPinsOfStates(states, repository) };
  };
  const newest = await addStates(await readStatesAt(file, branch, repository, FIRST_STATES));
  const prompt = isSettled(newest) ? newest : await addStates(await readStatesAt(file, branch, repository));
  const wants = await readWantsOfStates(prompt, live);
  if (![...wants.environments.values(), ...wants.fields.values()].some(({ isFirst }) => isFirst)) return wants;
  // git may treat a moved file as a new file. Its first state is then not the first state of the prompt.
  const allStates = await addStatesBeforeMoves(prompt.states, file, base, repository);
  if (allStates.files.length === prompt.states.files.length) return wants;
  const commits = allStates.files.map(({ commit }) => commit);
  return readWantsOfStates({ ...(await addStates(allStates)), branchCommits: commits }, live);
}

/**
 * Returns true if promptsync does not need older states of the file. In that case, older states cannot change which
 * commit introduced a requested state. They also cannot change whether that state is the first.
 */
function isSettled({ file, states: { files }, history, observed, contentsAtRefs }: BasePrompt): boolean {
  const arePinsSettled = file.pins.every((pin) => {
    if (findPinTarget(pin, file, observed, contentsAtRefs).kind === 'in-sync') return true;
    const want = findPinWant(pin, file, observed, contentsAtRefs);
    const age = want === null ? null : findIntroducingAge(pin.environment, want, history);
    return age !== null && (history.pins.get(pin.environment) ?? []).some((state) => state.age > age);
  });
  const areFieldsSettled = Object.keys(compareFields(file, observed.fields)).every((name) => {
    const field = FIELDS.find((one) => one === name);
    return field !== undefined && files.some((state) => isDifferentValue(state.file[field], file[field]));
  });
  return arePinsSettled && areFieldsSettled;
}

/** Returns true if an earlier state of the file manages a field but has a different value for it. */
function isDifferentValue(earlier: string | undefined, present: string | undefined): boolean {
  return earlier !== undefined && earlier !== present;
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
  const { file, history, observed, contentsAtRefs } = prompt;
  const pinWant = findPinWant(pin, file, observed, contentsAtRefs);
  const age = pinWant === null ? null : findIntroducingAge(environment, pinWant, history);
  const commit = age === null ? undefined : history.commits[age];
  if (age === null || commit === undefined) return null;
  const earlierPins = (history.pins.get(environment) ?? []).filter((state) => state.age > age);
  const others = await readStatesBeside(commit, prompt, live.repository);
  const otherPins = others.pins.get(environment) ?? [];
  const rivals = otherPins.filter((state) => meansVersion(state, served)).map((state) => state.commit);
  const findTipCommit = async (tip: KnownTip): Promise<string | null> => {
    const location = await locateAtCommit(file, tip.commit, live.repository);
    const tipHistory = await readFileHistory(location, tip.commit, live.repository);
    const states = tipHistory.pins.get(environment) ?? [];
    const count = countNewest(states, (state, index) => state.age === index && meansVersion(state, served));
    return states[count - 1]?.commit ?? null;
  };
  const snapshots = observed.snapshots.filter(({ versionIds }) => showsWantedVersion(versionIds, pin, prompt));
  return {
    ...(await readOrigin(commit, prompt, live)),
    isFirst: history.isComplete && earlierPins.length === 0,
    wasCurrentWanted: earlierPins.some((state) => meansVersion(state, served)),
    isRecorded: snapshots.length > 0,
    wasLive: await isContainedInAny(commit, snapshots, live.repository),
    rival: await findRival(rivals, findTipCommit, live),
  };
}

async function readFieldWant(
  field: FieldName,
  current: string,
  prompt: BasePrompt,
  live: LiveRepository,
): Promise<UnmetWant | null> {
  const { file } = prompt;
  const { files, isComplete } = prompt.states;
  const count = countNewest(files, (state) => state.file[field] === file[field]);
  const commit = files[count - 1]?.commit;
  if (commit === undefined || (count === files.length && !isComplete)) return null;
  const wantsCurrent = (fields: Partial<FormerFields>): boolean => (fields[field] ?? '') === current;
  const others = await readStatesBeside(commit, prompt, live.repository);
  const rivals = others.fields.filter(wantsCurrent).map((fields) => fields.commit);
  const findTipCommit = async (tip: KnownTip): Promise<string | null> => {
    const location = await locateAtCommit(file, tip.commit, live.repository);
    const states = (await readBranchStates(location, tip.commit, live.repository)).files;
    return states[countNewest(states, (state) => wantsCurrent(state.file)) - 1]?.commit ?? null;
  };
  const earlierFiles = files.slice(count).map((state) => state.file);
  return {
    ...(await readOrigin(commit, prompt, live)),
    isFirst: isComplete && earlierFiles.every((earlier) => earlier[field] === undefined),
    wasCurrentWanted: earlierFiles.some(wantsCurrent),
    isRecorded: false,
    wasLive: false,
    rival: await findRival(rivals, findTipCommit, live),
  };
}

/** Reads the date of a commit, and whether it is merged into the live branch. */
async function readOrigin(
  commit: string,
  { base }: Pick<PromptAtBase, 'base'>,
  { repository, tip }: LiveRepository,
): Promise<Pick<UnmetWant, 'commit' | 'time' | 'isMerged'>> {
  const times = await repository.readCommitTimes([commit]);
  // The commit is an ancestor of the base.
  const isMerged = tip !== null && (base === tip.commit || (await repository.isSameOrAncestor(commit, tip.commit)));
  return { commit, time: times.get(commit) ?? 0, isMerged };
}

/**
 * Reads the states of the file at commits that are not ancestors of the commit that introduced a requested state. Such
 * commits exist only on other branches, or if HEAD is behind the live branch.
 */
async function readStatesBeside(
  introduced: string,
  { file, formerPlaces, branchCommits }: BasePrompt,
  repository: PromptRepository,
): Promise<FormerStates> {
  // All older commits on the branch are known to be ancestors of the commit. Do not start a git process for them.
  const ancestors = new Set(branchCommits.slice(branchCommits.indexOf(introduced)));
  const places = formerPlaces.filter(({ commit }) => !ancestors.has(commit));
  const areAncestors = await Promise.all(places.map(({ commit }) => repository.isSameOrAncestor(commit, introduced)));
  return readFormerStates(
    file,
    places.filter((_, index) => areAncestors[index] === false),
    repository,
  );
}

/**
 * Chooses a commit that requests the current state although the base requests another state. If the tip of the live
 * branch requests the current state, prefers the commit since which the tip has requested that state.
 * @param rivals the commits that request the current state but are not ancestors of the commit that introduced the
 * state that the base requests, newest first
 * @param findTipCommit finds the commit since which the tip requests the current state; null if the tip requests
 * another state
 */
async function findRival(
  rivals: readonly string[],
  findTipCommit: (tip: KnownTip) => Promise<string | null>,
  { tip }: LiveRepository,
): Promise<RivalWant | null> {
  const [newest] = rivals;
  if (newest === undefined) return null;
  const commitOfTip = tip === null ? null : await findTipCommit(tip);
  return tip !== null && commitOfTip !== null && rivals.includes(commitOfTip)
    ? { commit: commitOfTip, branch: tip.branch }
    : { commit: newest, branch: null };
}

/** Returns true if a version record shows that the pinned version was active in the environment of the pin. */
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

/** Returns true if one of the version records names the given commit or one of its descendants. */
async function isContainedInAny(
  commit: string,
  snapshots: readonly ActiveSnapshot[],
  repository: PromptRepository,
): Promise<boolean> {
  const recorded = snapshots.flatMap(({ commit: source }) => source ?? []).filter(isCommitId);
  const results = recorded.map(async (source) => {
    const isInClone = (await repository.resolveRef(source)) === source;
    return isInClone && repository.isSameOrAncestor(commit, source);
  });
  return (await Promise.all(results)).includes(true);
}
