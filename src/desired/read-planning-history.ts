import { type Content, makeContentKey, matchesDigest } from '../domain/content.ts';
import { type PlanningHistory, NO_PLANNING_HISTORY } from '../domain/desired-state.ts';
import type { FileHistory } from '../domain/history.ts';
import { chooseVersionToCreate, type PinTarget, findPinTarget, findPinTargets } from '../domain/pin-target.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import { changedFields, FIELDS, type Provenance } from '../domain/plan.ts';
import type { KnownVersion, VersionFacts } from '../domain/versions.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/open-repository.ts';
import { readSourceFile } from './read-at-commit.ts';
import {
  findEnvironmentsPinnedFromStart,
  readFormerFiles,
  readFormerStates,
  readGuardHistory,
  wasSyncedBefore,
} from './read-history.ts';
import type { DesiredWorkspace } from './read-desired-state.ts';

type PlanningSources = Pick<
  DesiredWorkspace,
  'config' | 'repository' | 'base' | 'contentsAtRefs' | 'promotionSources' | 'uncommitted'
>;
type GitSources = PlanningSources & { readonly repository: Repository };

type ComparedPrompt = {
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
  /** Of each of its pins. */
  readonly meanings: readonly PinTarget[];
};

/** Reads what git says of earlier commits, of those of the files alone that differ from what was observed. */
export async function readPlanningHistory(
  files: readonly PromptFile[],
  { observed }: Pick<Observation, 'observed'>,
  { repository, ...given }: PlanningSources,
): Promise<PlanningHistory> {
  if (repository === null) return NO_PLANNING_HISTORY;
  const sources = { repository, ...given };
  const compared = files.flatMap((file): readonly ComparedPrompt[] => {
    const found = observed.get(file.id);
    const atRefs = sources.contentsAtRefs.get(file.id) ?? new Map();
    return found === undefined ? [] : [{ file, observed: found, meanings: findPinTargets(file, found, atRefs) }];
  });
  const doubted = compared.filter(findsPossibleRefusal(sources));
  const histories = await readAll(doubted, async (one) => ({ ...one, ...(await readOneFileHistory(one, repository)) }));
  const drifting = compared.filter(findsPossibleDrift(sources));
  const tips = drifting.length === 0 ? [] : await listTips(sources);
  return {
    formerPins: mapValues(histories, ({ pins }) => pins),
    firstAges: firstAges(histories),
    alwaysPinned: mapValues(histories, ({ file, ...history }) => findEnvironmentsPinnedFromStart(file, history)),
    formerStates: await readAll(drifting, ({ file }) => readFormerStates(file, tips, repository)),
    provenance: await readProvenance(compared, sources),
    contents: await readContents(compared, repository),
  };
}

/** By prompt id; of the prompts that need it. */
async function readAll<Read>(
  needed: readonly ComparedPrompt[],
  read: (one: ComparedPrompt) => Promise<Read>,
): Promise<ReadonlyMap<string, Read>> {
  return new Map(await Promise.all(needed.map(async (one) => [one.file.id, await read(one)] as const)));
}

/** What was wanted before is all that these commits contain: base, head, and the tip of the branch that goes live. */
async function listTips({ repository, base, config }: GitSources): Promise<readonly string[]> {
  const tips = [base?.commit, repository.head, await repository.findKnownTip(config.branch)];
  return repository.findIndependent(tips.filter((tip) => typeof tip === 'string'));
}

function mapValues<Read, Made>(all: ReadonlyMap<string, Read>, make: (read: Read) => Made): ReadonlyMap<string, Made> {
  return new Map([...all].map(([id, read]) => [id, make(read)]));
}

/** Whether an environment is to serve what the one before does not: only an earlier pin can allow that. */
function findsPossibleRefusal({ promotionSources }: GitSources): (compared: ComparedPrompt) => boolean {
  return ({ file, observed, meanings }) =>
    file.pins.some(({ environment }, at) => {
      const from = promotionSources.get(environment);
      const meaning = meanings[at];
      if (from === undefined || meaning === undefined || meaning.kind === 'in-sync') return false;
      const serves = observed.active.get(from) ?? null;
      return serves === null || meaning.kind !== 'known' || !isSame(serves, meaning.version);
    });
}

function isSame(one: VersionFacts, other: VersionFacts): boolean {
  return one.id === other.id || makeContentKey(one) === makeContentKey(other);
}

const NO_STATES: FileHistory = { commits: [], pins: new Map(), isComplete: false };

/** The history of HEAD decides about promotion order. A base must not: it would weaken the guard. */
async function readOneFileHistory({ file, observed }: ComparedPrompt, repository: Repository): Promise<FileHistory> {
  if (repository.head === null) return NO_STATES;
  const history = await readGuardHistory(file, repository.head, repository);
  const isComplete = history.isComplete && !(await wasSyncedBefore(history, observed, repository));
  return { ...history, isComplete };
}

/** Returns the age of each file's first state, by prompt id. Leaves out a file if git may not show its first state. */
function firstAges(histories: ReadonlyMap<string, FileHistory>): ReadonlyMap<string, number> {
  const known = [...histories].filter(([, { commits, isComplete }]) => isComplete && commits.length > 0);
  return new Map(known.map(([id, { commits }]) => [id, commits.length - 1]));
}

/** Whether a field is, or an environment serves, neither what the base wants nor what the file does. */
function findsPossibleDrift({ base, contentsAtRefs }: GitSources): (compared: ComparedPrompt) => boolean {
  return ({ file, observed, meanings }) => {
    const then = base?.files.get(file.id);
    if (then === undefined) return false;
    const atRefs = contentsAtRefs.get(file.id) ?? new Map();
    const isMoved = ({ environment }: EnvironmentPin): boolean => {
      const pin = then.pins.find((one) => one.environment === environment);
      const serves = observed.active.get(environment) ?? null;
      return serves !== null && pin !== undefined && findPinTarget(pin, then, observed, atRefs).kind !== 'in-sync';
    };
    if (file.pins.some((pin, at) => meanings[at]?.kind !== 'in-sync' && isMoved(pin))) return true;
    const [now, before] = [file, then].map((one) => changedFields(one, observed.fields));
    return FIELDS.some((field) => now?.[field] !== undefined && before?.[field] !== undefined);
  };
}

/** Of the files that a version is to be made of; what is not committed comes from no commit. */
async function readProvenance(
  compared: readonly ComparedPrompt[],
  { repository, uncommitted }: GitSources,
): Promise<PlanningHistory['provenance']> {
  const creating = compared.filter(
    ({ file, observed, meanings }) => chooseVersionToCreate(file, observed, meanings) !== null,
  );
  const paths = creating.map(({ file }) => file.path).filter((path) => !uncommitted.has(path));
  const { head, toRootPath: fromRoot, findLastCommit: lastCommitAt } = repository;
  if (head === null) return new Map<string, Provenance>();
  const last = await Promise.all(paths.map(async (path) => [path, await lastCommitAt(head, fromRoot(path))] as const));
  return new Map(last.flatMap(([path, commit]) => (commit === null ? [] : [[path, commit]])));
}

/** The texts that environments are to serve and that the service did not show; a plan can be shown without them. */
async function readContents(
  compared: readonly ComparedPrompt[],
  repository: Repository,
): Promise<PlanningHistory['contents']> {
  const found = compared.flatMap(({ file, meanings }) =>
    meanings.map(async (meaning): Promise<readonly [string, Content][]> => {
      if (meaning.kind !== 'known' || meaning.version.content !== null) return [];
      const content = await readContentFromGit(meaning.version, file, repository);
      return content === null ? [] : [[meaning.version.id, content]];
    }),
  );
  return new Map((await Promise.all(found)).flat());
}

/** The file at the version's commit, or else at any other, provided that it holds what the version does. */
async function readContentFromGit(
  version: KnownVersion,
  file: PromptFile,
  repository: Repository,
): Promise<Content | null> {
  const then = await readSourceFile(version, repository);
  if (then !== null) return then.content;
  // What was imported, or put into the file after it was made in the service, names no commit.
  const former = repository.head === null ? [] : await readFormerFiles(file, repository.head, repository);
  return former.find((one) => matchesDigest(version.digest, one.file.content))?.file.content ?? null;
}
