import { type Content, matchesDigest } from '../domain/content.ts';
import {
  type ContentsByEnvironment,
  getContentsAtRefs,
  type FormerStates,
  NO_UNMET_WANTS,
  type PlanningHistory,
  NO_PLANNING_HISTORY,
  type UnmetWants,
  type WantedSinceByEnvironment,
} from '../domain/desired-state.ts';
import { type FileHistory, meansVersion } from '../domain/history.ts';
import { type PinTarget, findPinTarget, findPinTargets } from '../domain/pin-target.ts';
import { type Observation, type ObservedPrompt, showsTimes } from '../domain/observed-prompt.ts';
import { compareFields, FIELDS } from '../domain/plan.ts';
import { isSameVersion, type KnownVersion } from '../domain/versions.ts';
import { type EnvironmentPin, findPin, type PromptFile } from '../domain/prompt-file.ts';
import { isCommitId } from '../git/open-git.ts';
import type { PromptRepository } from './open-workspace.ts';
import type { FileAtCommit } from '../git/read-trees.ts';
import { readSourceFile } from './read-at-commit.ts';
import { findFormerPlaces, readFormerStates } from './read-former-states.ts';
import {
  type BranchPlaces,
  findBranchPlaces,
  findEnvironmentsPinnedFromStart,
  readFormerFiles,
  readHistoryThroughMoves,
  wasSyncedBefore,
} from './read-history.ts';
import type { BaseFiles, DesiredWorkspace } from './read-desired-state.ts';
import { readMessageSources } from './read-message-sources.ts';
import { readOtherWants } from './read-other-wants.ts';
import { readChangeSummaries, readProvenance } from './read-provenance.ts';
import { FIRST_STATES, readUnmetWants } from './read-unmet-wants.ts';
import { readWantedSince } from './read-wanted-since.ts';

/** The parts of the desired state that promptsync needs to read the planning history. */
type PlanningSources = Pick<
  DesiredWorkspace,
  'config' | 'repository' | 'contentsAtRefs' | 'promotionSources' | 'otherPromotionSources' | 'uncommitted'
> & {
  /** The base that the user specified, or the default base. Null if there is none. */
  readonly base: Pick<BaseFiles, 'commit' | 'files'> | null;
};
type GitSources = PlanningSources & { readonly repository: PromptRepository };

/** A prompt file, with the state of its prompt as observed in the service and the targets of its pins. */
type ComparedPrompt = {
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
  /** The targets of the pins, in the order of `file.pins`. */
  readonly targets: readonly PinTarget[];
};

/**
 * Reads the parts of the git history that the planner needs. Reads former pins and fields only for prompts whose files
 * differ from the current state.
 */
export async function readPlanningHistory(
  files: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  { repository, ...otherSources }: PlanningSources,
): Promise<PlanningHistory> {
  if (repository === null) return NO_PLANNING_HISTORY;
  const sources = { repository, ...otherSources };
  const compared = files.flatMap((file): readonly ComparedPrompt[] => {
    const observedPrompt = observed.get(file.id);
    if (observedPrompt === undefined) return [];
    const atRefs = getContentsAtRefs(sources, file.id);
    return [{ file, observed: observedPrompt, targets: findPinTargets(file, observedPrompt, atRefs) }];
  });
  const refusable = compared.filter((prompt) => mayBeRefused(prompt, sources));
  const histories = await readForEachPrompt(refusable, async (prompt) => {
    return { file: prompt.file, history: await readHistoryForGuard(prompt, repository) };
  });
  const drifting = compared.filter((prompt) => mayHaveDrifted(prompt, sources));
  return {
    formerPins: mapValues(histories, ({ history }) => history.pins),
    firstAges: mapFirstAges(histories),
    alwaysPinned: mapValues(histories, ({ file, history }) => findEnvironmentsPinnedFromStart(file, history)),
    otherWants: await readForEachPrompt(refusable, ({ file }) => readOtherWantsOfSources(file, sources)),
    ...(await readDriftHistory(drifting, sources)),
    provenance: await readProvenance(compared, sources.uncommitted, repository),
    changeSummaries: await readForEachPrompt(compared, ({ file, targets }) =>
      readChangeSummaries(targets, getContentsAtRefs(sources, file.id), repository),
    ),
    contents: await readContents(compared, repository),
  };
}

/** The parts of the planning history from which the planner finds drift. */
type DriftHistory = Pick<
  PlanningHistory,
  'formerStates' | 'wantedSince' | 'unmetWants' | 'missingCommits' | 'messageSources'
>;

/** Reads the history of the prompts that may have drifted. */
async function readDriftHistory(drifting: readonly ComparedPrompt[], sources: GitSources): Promise<DriftHistory> {
  const { repository } = sources;
  const tips = drifting.length === 0 ? [] : await listTips(sources);
  // Request all places at once, so that one git process reads the history for all of them.
  const [formerPlaces, branches] = await Promise.all([
    readForEachPrompt(drifting, ({ file }) => {
      const unchangedAt = sources.uncommitted.has(file.path) ? null : repository.head;
      return findFormerPlaces(file, tips, repository, unchangedAt);
    }),
    readForEachPrompt(drifting, ({ file }) => findPlacesAtBase(file, sources)),
  ]);
  const formerStates = await readForEachPrompt(drifting, (prompt) =>
    readRelevantStates(prompt, formerPlaces, repository),
  );
  // If an earlier commit wanted the current state, the clone has the commit that the version was made from.
  const unexplained = drifting.filter(({ file, observed }) => {
    const states = formerStates.get(file.id);
    return states === undefined || !wantedCurrentState(states, file, observed);
  });
  return {
    formerStates,
    wantedSince: await readForEachPrompt(drifting, (prompt) => readWantedSinceAtBase(prompt, sources)),
    unmetWants: await readForEachPrompt(drifting, (prompt) =>
      readUnmetWantsAtBase(prompt, { formerPlaces, branches }, sources),
    ),
    missingCommits: await findMissingCommits(unexplained, repository),
    messageSources: await readForEachPrompt(drifting, ({ file, observed }) => {
      const active = [...observed.active.values()].filter((version) => version !== null);
      return readMessageSources(file, active, repository);
    }),
  };
}

/** Calls a function for each prompt and returns the results by prompt id. */
async function readForEachPrompt<Value>(
  prompts: readonly ComparedPrompt[],
  read: (prompt: ComparedPrompt) => Promise<Value>,
): Promise<ReadonlyMap<string, Value>> {
  return new Map(await Promise.all(prompts.map(async (prompt) => [prompt.file.id, await read(prompt)] as const)));
}

/**
 * Returns the commits whose histories together contain every earlier desired state. These are the base, the head, and
 * the tip of the configured branch. Leaves out each of them that is an ancestor of another.
 */
async function listTips({ repository, base, config }: GitSources): Promise<readonly string[]> {
  const tip = await repository.findKnownTip(config.branch);
  const tips = new Set([base?.commit, repository.head, tip?.commit].filter((commit) => typeof commit === 'string'));
  return tips.size === 1 ? [...tips] : repository.findIndependent([...tips]);
}

function mapValues<Value, Mapped>(
  values: ReadonlyMap<string, Value>,
  map: (value: Value) => Mapped,
): ReadonlyMap<string, Mapped> {
  return new Map([...values].map(([id, value]) => [id, map(value)]));
}

/**
 * Returns true if the promotion guard may refuse the prompt, because a pin would activate a version that the source
 * environment does not serve. The guard then needs the file's former pins, for example to recognize a rollback.
 */
function mayBeRefused({ file, observed, targets }: ComparedPrompt, sources: GitSources): boolean {
  return file.pins.some(({ environment }, index) => {
    const target = targets[index];
    if (target === undefined || target.kind === 'in-sync') return false;
    if (sources.otherPromotionSources.has(environment)) return true;
    const sourceEnvironment = sources.promotionSources.get(environment);
    if (sourceEnvironment === undefined) return false;
    const served = observed.active.get(sourceEnvironment) ?? null;
    return served === null || target.kind !== 'known' || !isSameVersion(served, target.version);
  });
}

/** Reads what earlier commits wanted in the source environments that another configuration manages. */
async function readOtherWantsOfSources(file: PromptFile, sources: GitSources): Promise<ContentsByEnvironment> {
  const { repository, config, otherPromotionSources } = sources;
  const promotions = file.pins.flatMap(({ environment }): readonly (readonly [string, string])[] => {
    const from = otherPromotionSources.get(environment);
    return from === undefined ? [] : [[environment, from]];
  });
  if (promotions.length === 0) return new Map();
  return readOtherWants(file, new Map(promotions), { repository, branch: config.branch });
}

const NO_FILE_HISTORY: FileHistory = { commits: [], pins: new Map(), isComplete: false };

/**
 * Reads the history of a file up to HEAD for the promotion guard. The guard must not use the history of the base,
 * because the choice of a base could then weaken the guard.
 */
async function readHistoryForGuard(
  { file, observed }: ComparedPrompt,
  repository: PromptRepository,
): Promise<FileHistory> {
  if (repository.head === null) return NO_FILE_HISTORY;
  const history = await readHistoryThroughMoves(file, repository.head, repository);
  const isComplete = history.isComplete && !(await wasSyncedBefore(history, observed, repository));
  return { ...history, isComplete };
}

/**
 * Returns the age of each file's first state, by prompt id. The age of a state is the number of newer states. Leaves
 * out files if git may lack their first state.
 */
function mapFirstAges(histories: ReadonlyMap<string, { readonly history: FileHistory }>): ReadonlyMap<string, number> {
  const complete = [...histories].filter(([, { history }]) => history.isComplete && history.commits.length > 0);
  return new Map(complete.map(([id, { history }]) => [id, history.commits.length - 1]));
}

/** The commits that changed each prompt file, by prompt id. */
type FormerPlaces = ReadonlyMap<string, readonly FileAtCommit[]>;

/**
 * Reads as many earlier states of a file as are needed to decide whether an earlier commit wanted the current state.
 * Reads the newest states first. Reads the older states only if the newest states do not account for the whole current
 * state.
 */
async function readRelevantStates(
  { file, observed }: ComparedPrompt,
  formerPlaces: FormerPlaces,
  repository: PromptRepository,
): Promise<FormerStates> {
  const places = formerPlaces.get(file.id) ?? [];
  const newest = await readFormerStates(file, places.slice(0, FIRST_STATES), repository);
  return wantedCurrentState(newest, file, observed) ? newest : readFormerStates(file, places, repository);
}

/**
 * Returns true if the earlier states account for the whole current state. For each pinned environment, an earlier state
 * must have wanted the active version. For each managed field, an earlier state must have wanted the current value.
 */
function wantedCurrentState({ pins, fields }: FormerStates, file: PromptFile, observed: ObservedPrompt): boolean {
  const arePinsFound = file.pins.every(({ environment }) => {
    const served = observed.active.get(environment) ?? null;
    return served === null || (pins.get(environment) ?? []).some((former) => meansVersion(former, served));
  });
  const changed = compareFields(file, observed.fields);
  const areFieldsFound = FIELDS.every((field) => {
    const current = changed[field]?.before;
    return current === undefined || fields.some((former) => (former[field] ?? '') === current);
  });
  return arePinsFound && areFieldsFound;
}

/**
 * Finds the commits of the live branch that first wanted what the pins at the base want. Returns an empty map if the
 * service does not show the times of versions, because only these times are compared with the commits.
 */
async function readWantedSinceAtBase(
  { file, observed }: ComparedPrompt,
  sources: GitSources,
): Promise<WantedSinceByEnvironment> {
  const { repository, base, config } = sources;
  const baseFile = base?.files.get(file.id);
  if (base === null || baseFile === undefined || !showsTimes(observed)) return new Map();
  const live = { repository, branch: config.branch, commit: base.commit };
  return readWantedSince(baseFile, observed, getContentsAtRefs(sources, file.id), live);
}

/** Finds the commits of the base's branch that changed a prompt. Finds none if the base does not have the prompt. */
async function findPlacesAtBase({ id }: PromptFile, { base, repository }: GitSources): Promise<BranchPlaces> {
  const file = base?.files.get(id);
  if (base === null || file === undefined) return { places: [], isComplete: false };
  return findBranchPlaces(file, base.commit, repository);
}

/** The commits that changed each prompt file, by prompt id. */
type ChangingCommits = { readonly formerPlaces: FormerPlaces; readonly branches: ReadonlyMap<string, BranchPlaces> };

/** Finds the states of a prompt that the base wants and the service does not have. */
async function readUnmetWantsAtBase(
  { file: headFile, observed }: ComparedPrompt,
  { formerPlaces, branches }: ChangingCommits,
  sources: GitSources,
): Promise<UnmetWants> {
  const { repository, base, config } = sources;
  const { id } = headFile;
  const file = base?.files.get(id);
  const branch = branches.get(id);
  if (base === null || file === undefined || branch === undefined) return NO_UNMET_WANTS;
  const tip = await repository.findKnownTip(config.branch);
  const compared = {
    file,
    base: base.commit,
    observed,
    contentsAtRefs: getContentsAtRefs(sources, id),
    formerPlaces: formerPlaces.get(id) ?? [],
    branch,
  };
  return readUnmetWants(compared, { repository, tip });
}

/**
 * Returns the commits that the records of active versions name but that the clone does not have. A commit that no ref
 * contains also counts as missing, because `sync` fetches the objects of a newer tip without moving a ref.
 */
async function findMissingCommits(
  prompts: readonly ComparedPrompt[],
  repository: PromptRepository,
): Promise<ReadonlySet<string>> {
  const active = prompts.flatMap(({ observed }) => [...observed.active.values()]);
  const recorded = active.flatMap((version) => version?.source?.commit ?? []);
  const commits = [...new Set(recorded)].filter(isCommitId);
  const resolved = await Promise.all(commits.map((commit) => repository.resolveRef(commit)));
  const present = commits.filter((_, index) => resolved[index] !== null);
  const unreferenced = await repository.findUnreferenced(present);
  return new Set([...commits.filter((commit) => !present.includes(commit)), ...unreferenced]);
}

/**
 * Returns true if the prompt may have drifted, because an environment or a field in the service differs from both the
 * base and the file. An environment without an active version can drift only if the service shows the times of
 * versions.
 */
function mayHaveDrifted({ file, observed, targets }: ComparedPrompt, sources: GitSources): boolean {
  const baseFile = sources.base?.files.get(file.id);
  if (baseFile === undefined) return false;
  const atRefs = getContentsAtRefs(sources, file.id);
  const differsFromBase = ({ environment }: EnvironmentPin): boolean => {
    const basePin = findPin(baseFile.pins, environment);
    const isServing = (observed.active.get(environment) ?? null) !== null;
    if (basePin === undefined || (!isServing && !showsTimes(observed))) return false;
    return findPinTarget(basePin, baseFile, observed, atRefs).kind !== 'in-sync';
  };
  if (file.pins.some((pin, index) => targets[index]?.kind !== 'in-sync' && differsFromBase(pin))) return true;
  const fieldsOfFile = compareFields(file, observed.fields);
  const fieldsOfBase = compareFields(baseFile, observed.fields);
  return FIELDS.some((field) => fieldsOfFile[field] !== undefined && fieldsOfBase[field] !== undefined);
}

/**
 * Reads content from git for versions that pins would activate but that promptsync has not read from the service.
 * Returns the content by version id. Some of it may be missing, because promptsync can show a plan without it.
 */
async function readContents(
  compared: readonly ComparedPrompt[],
  repository: PromptRepository,
): Promise<PlanningHistory['contents']> {
  const entries = compared.flatMap(({ file, targets }) =>
    targets.map(async (target): Promise<readonly [string, Content][]> => {
      if (target.kind !== 'known' || target.version.content !== null) return [];
      const content = await readContentFromGit(target.version, file, repository);
      return content === null ? [] : [[target.version.id, content]];
    }),
  );
  return new Map((await Promise.all(entries)).flat());
}

/**
 * Reads the content of a version from git. First checks the commit that the version records as its source, and then the
 * other states of the file. Returns null if none of them has the same text as the version.
 */
async function readContentFromGit(
  version: KnownVersion,
  file: PromptFile,
  repository: PromptRepository,
): Promise<Content | null> {
  const sourceFile = await readSourceFile(version, repository);
  if (sourceFile !== null) return sourceFile.content;
  // A version that somebody created in the service has no source commit. An import or an edit may still have added its
  // text to git.
  const formerFiles = repository.head === null ? [] : await readFormerFiles(file, repository.head, repository);
  const match = formerFiles.find((former) => matchesDigest(version.digest, former.file.content));
  return match?.file.content ?? null;
}
