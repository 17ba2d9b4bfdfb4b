import { type Drift, FIELDS, type FieldName, isNewVersionRef, type PromptPlan } from '../../src/domain/plan.ts';
import { findPin, type PromptFile } from '../../src/domain/prompt-file.ts';
import { MAX_DRIFT_STATES } from '../../src/history/prompt-history.ts';
import { ENVIRONMENTS, MOVING_REF, type SyncWith } from './commands.ts';
import { type Commit, type Committed, findCommitted, head } from './history.ts';
import { must, scopeOf } from './laws.ts';
import { isSurelyWhat, mayStay, type Wanted, wantedBy } from './limits.ts';
import { type ComparedCommits, findStartOfFile } from './make-prompt-history.ts';
import { type CompletedSync, findLastMove, type Place, type ServiceLog } from './service-log.ts';
import { note } from './situations.ts';
import type { World } from './world.ts';

type DriftKind = Drift['kind'] | 'none';

/** What the laws say about the drift of one place before a run. */
type Prediction = {
  readonly allowed: readonly DriftKind[];
  /** The law that leaves only one kind. */
  readonly law: string | null;
  /**
   * Whether git asked for what the place has, and nobody but promptsync has moved it. Only the times of versions can then
   * look as if somebody had.
   */
  readonly isUntouched: boolean;
};

/** The predictions by environment or field. */
export type DriftPredictions = ReadonlyMap<Place, Prediction>;

const ALL: readonly DriftKind[] = ['outside', 'unfinished', 'none'];

/** A place with the newest commits, and what the model knows about it. */
type Situation = {
  readonly world: World;
  readonly log: ServiceLog;
  readonly place: Place;
  readonly file: PromptFile;
  readonly base: PromptFile;
  readonly commits: ComparedCommits;
  readonly isDefaultBase: boolean;
  /** Returns true if the file of a commit wants what the place has now. False if the place has nothing. */
  readonly isWantedBy: (file: PromptFile) => boolean;
  readonly isNothing: boolean;
};

/** Predicts the drift before a run. A prompt that the base lacks has none. */
export function predictDrift(
  world: World,
  file: PromptFile,
  commits: ComparedCommits,
  { base: givenBase }: Pick<SyncWith, 'base'>,
): DriftPredictions {
  const base = findCommitted(commits.base, file)?.file;
  const log = world.logs.get(file.id)!;
  if (base === undefined) return new Map();
  const places = [...ENVIRONMENTS, ...(world.service.fields(file.id) === null ? [] : FIELDS)];
  return new Map(
    places.map((place) => {
      const current = log.state.places.get(place) ?? null;
      const isWantedBy = (one: PromptFile) => wantsValue(world, one, place, current);
      const isDefaultBase = givenBase === undefined;
      const situation = { world, log, place, file, base, commits, isDefaultBase, isWantedBy };
      return [place, predictPlace({ ...situation, isNothing: current === null })];
    }),
  );
}

function isField(place: Place): place is FieldName {
  return FIELDS.some((field) => field === place);
}

function wantsValue(world: World, file: PromptFile, place: Place, value: string | null): boolean {
  if (value === null) return false;
  if (isField(place)) return file[place] === value;
  const version = world.service.version(file.id, value);
  const wanted = findWanted(world, file, place);
  return version !== undefined && wanted !== null && mayStay(world, version, wanted);
}

/** Returns what a file wants in an environment. Null if it does not pin the environment. */
function findWanted(world: World, file: PromptFile, environment: string): Wanted | null {
  const pin = findPin(file.pins, environment)?.pin;
  return pin === undefined ? null : wantedBy(world, file, pin);
}

function predictPlace(situation: Situation): Prediction {
  const { world, file, base, isWantedBy, isDefaultBase, isNothing } = situation;
  const states = listStates(situation);
  const isWanted = states.some((state) => isWantedBy(state.file));
  const isMoving = isMovingRef(situation, base);
  const only = (kind: DriftKind, law: string): Prediction => ({ allowed: [kind], law, isUntouched: false });
  if ([base, file].some((one) => !wantsAnything(situation, one))) return only('none', 'git wants nothing there');
  // What such a service holds differs from what git wants, and promptsync cannot know why.
  if (world.setup.service !== 'faithful') return { allowed: ALL, law: null, isUntouched: false };
  if ([base, file].some(isWantedBy)) return only('none', 'git wants what is there');
  if (isWantedByHead(situation)) return only('none', 'a commit after the base wants what is there');
  if (wasMovedOutOfGit(situation, isWanted)) return only('outside', 'somebody moved it to what git never wanted');
  if (wasMovedBack(situation)) return only('outside', 'somebody moved it back');
  const mayBeUnfinished = !isDefaultBase && (isNothing || isMoving || isWanted);
  const isUntouched = wasLeftByTool(situation);
  const allowed = ALL.filter((kind) => (kind === 'outside' ? !isMoving : kind === 'none' || mayBeUnfinished));
  return { allowed, law: null, isUntouched };
}

/** Lists all states of the file, on any commit. */
function listStates({ world, file }: Situation): readonly Committed[] {
  return [...new Set(world.history.commits.flatMap((commit) => findCommitted(commit, file) ?? []))];
}

/** Whether a file wants something in the place. A number or an id counts even if no version has it. */
function wantsAnything({ world, place }: Situation, file: PromptFile): boolean {
  if (isField(place)) return file[place] !== undefined;
  const pin = findPin(file.pins, place)?.pin;
  if (pin === undefined) return false;
  return pin.kind === 'number' || pin.kind === 'version' || wantedBy(world, file, pin).kind !== 'nothing';
}

function isMovingRef({ place }: Situation, file: PromptFile): boolean {
  const pin = findPin(file.pins, place)?.pin;
  return pin?.kind === 'git' && pin.ref === MOVING_REF;
}

/** Whether a commit between the base and the planned commit has changed the file to want what the place has. */
function isWantedByHead(situation: Situation): boolean {
  const { world, file, isWantedBy } = situation;
  const { planned, base } = situation.commits;
  const start = findStartOfFile(world.history, file, planned);
  return listStates(situation).some((state) => {
    const { index } = state.touchedBy;
    const isBetween = index > base.index && index <= planned.index && index >= start;
    return isBetween && !isMovingRef(situation, state.file) && isWantedBy(state.file);
  });
}

/**
 * Returns the completed syncs of the current file that covered the place, newest last. Omits those whose commit no longer
 * wants what the sync left, because a tag has moved.
 */
function listSyncs({ world, log, place, file, commits }: Situation): readonly CompletedSync[] {
  const start = findStartOfFile(world.history, file, commits.planned);
  const mayCount = log.syncs.filter(({ commit }) => commit >= start && commit <= commits.base.index);
  return mayCount.filter(({ commit, left }) => {
    const then = findAt(world.history.commits, commit, file);
    return then !== undefined && wantsValue(world, then.file, place, left.get(place) ?? null);
  });
}

/**
 * Whether somebody has moved the place, after a completed sync that the base contains, to what no commit ever wanted there.
 * promptsync must see that, unless it might be the state before the first sync of the pin: an older version.
 */
function wasMovedOutOfGit(situation: Situation, isWanted: boolean): boolean {
  const { world, log, place, base, file, isNothing } = situation;
  const { service } = world;
  const syncs = listSyncs(situation);
  const last = syncs.at(-1);
  const move = findLastMove(log, place);
  if (last === undefined || move?.by !== 'somebody' || log.changes.indexOf(move) < last.age) return false;
  if (isWanted || isNothing || isMovingRef(situation, base)) return false;
  if (![base, file].every((one) => canBeFound(situation, one))) return false;
  const left = last.left.get(place) ?? '';
  if (isField(place)) return syncs.some((sync) => sync.left.get(place) !== left);
  const textOf = (id: string) => service.version(base.id, id)?.content.text;
  if (syncs.some((sync) => textOf(sync.left.get(place) ?? '') !== textOf(left))) return true;
  const wanted = service.versions(base.id).filter(({ id }) => wantsValue(world, base, place, id));
  const current = service.version(base.id, log.state.places.get(place) ?? '')?.number ?? 0;
  return isReusable(situation, left) && wanted.every(({ number }) => number < current);
}

/** Whether promptsync finds a version again and may activate it for the base. It may not reuse some foreign versions. */
function isReusable({ world, place, base }: Situation, versionId: string): boolean {
  const version = world.service.version(base.id, versionId);
  const wanted = findWanted(world, base, place);
  if (version === undefined || wanted === null || !world.service.isKept(base.id, versionId)) return false;
  return !wantsValue(world, base, place, versionId) || isSurelyWhat(world, version, wanted);
}

/** Whether promptsync knows the version that a file pins by its number or id. */
function canBeFound({ world, place }: Situation, file: PromptFile): boolean {
  const wanted = isField(place) ? null : findWanted(world, file, place);
  if (wanted?.kind === 'nothing') return false;
  return wanted?.kind !== 'version' || world.service.isFindable(file.id, wanted.version.id);
}

/**
 * Whether somebody took an environment off the version that the last completed sync had created, neither the file nor the
 * two versions have changed since, and no newer commit wants what is there. A service with times shows that.
 */
function wasMovedBack(situation: Situation): boolean {
  const { world, log, place, file, base, commits } = situation;
  const last = listSyncs(situation).at(-1);
  const move = findLastMove(log, place);
  const left = last?.left.get(place) ?? null;
  if (last === undefined || move?.by !== 'somebody' || left === null) return false;
  // If a newer commit of the live branch wants what is there, the planned commit is behind.
  const isWantedLater = listStates(situation).some(({ touchedBy, file: later }) => {
    return touchedBy.index > commits.planned.index && situation.isWantedBy(later);
  });
  if (isWantedLater) return false;
  const isSameFile = [commits.planned, commits.base].every((commit) => {
    return (findCommitted(commit, file)?.touchedBy.index ?? Number.NaN) <= last.commit;
  });
  if (!isSameFile || !last.created.has(left) || isMovingRef(situation, base)) return false;
  const { from, to } = move.moves.get(place) ?? {};
  // The job of a second label may have touched both versions.
  const others = base.pins.filter(({ environment }) => {
    return environment !== place && [left, to].includes(log.state.places.get(environment) ?? undefined);
  });
  if (others.length > 1) return false;
  // A label that is put on a second version does not leave the first one.
  const isMoveAway = from === left && move.touched.has(left) && log.changes.indexOf(move) >= last.age;
  const later = log.changes.slice(log.changes.indexOf(move) + 1);
  const isTouchedLater = later.some(({ touched }) => touched.has(left) || touched.has(to ?? ''));
  const versions = world.service.versions(file.id);
  const isThere = versions.some(({ id }) => id === left);
  // A copy of what the base wants hides the move, because promptsync may compare its times instead.
  if (versions.some(({ id }) => id !== left && wantsValue(world, base, place, id))) return false;
  return isMoveAway && !isTouchedLater && isThere;
}

/**
 * Whether nobody but promptsync has moved the place since the import of the prompt or since a sync, and the commit of that
 * sync still wants what it has put there. Only a moved tag can change what an earlier commit wants.
 */
function wasLeftByTool(situation: Situation): boolean {
  const { world, log, place, file, commits, isWantedBy, isNothing } = situation;
  const move = findLastMove(log, place);
  if (move?.by === 'somebody' || (move === undefined && isField(place))) return false;
  if (isNothing) return true;
  const { history } = world;
  const index = move?.commit ?? log.importedAt;
  const line = index > commits.planned.index ? head(history) : commits.planned;
  const then = findAt(history.commits, index, file);
  if (then === undefined || index < findStartOfFile(history, file, line)) return false;
  return line.index - index < MAX_DRIFT_STATES && !isMovingRef(situation, then.file) && isWantedBy(then.file);
}

function findAt(commits: readonly Commit[], index: number, file: PromptFile): Committed | undefined {
  const commit = commits[index];
  return commit && findCommitted(commit, file);
}

/** Checks the reported drift and notes, and that `on_drift: fail` refuses outside drift only. */
export function checkDrift(
  world: World,
  plan: PromptPlan,
  predictions: DriftPredictions,
  commits: ComparedCommits,
  { onDrift, environments }: Pick<SyncWith, 'onDrift' | 'environments'>,
): void {
  const { id } = plan.file;
  const { file, hasFields } = scopeOf(plan.file, environments);
  const reported = new Map(plan.drift.map((one) => [one.subject === 'field' ? one.field : one.environment, one]));
  for (const [place, { allowed, law, isUntouched }] of predictions) {
    const isCovered = isField(place) ? hasFields : findPin(file.pins, place) !== undefined;
    const drift = reported.get(place);
    const kind = drift?.kind ?? 'none';
    const isAllowed = isCovered ? allowed.includes(kind) : kind === 'none';
    note(world.statistics, `drift: ${kind}`);
    must(isAllowed, () => `the drift of ${place} of ${id} is ${kind}, but ${law ?? `it is ${allowed.join(' or ')}`}`);
    if (kind === 'outside' && law !== null) note(world.statistics, `drift: ${law}`);
    if (kind === 'outside' && isUntouched) checkOtherMove(world, id, place, drift);
    if (drift?.subject === 'environment' && drift.isMovedBack) note(world.statistics, 'drift: moved back');
  }
  const unpredicted = [...reported.keys()].filter((place) => !predictions.has(place));
  must(unpredicted.length === 0, () => `${unpredicted.join(', ')} of ${id} drifts, without a base`);
  const isOutside = plan.drift.some(({ kind }) => kind === 'outside');
  const refused = plan.problems.some(({ code }) => code === 'guard/drift');
  const mayBeRefused = onDrift === 'fail' && isOutside;
  // Another problem, such as an unknown version number, may leave nothing to refuse.
  const mustBeRefused = mayBeRefused && plan.changes.length > 0;
  const isAsExpected = refused ? mayBeRefused : !mustBeRefused;
  must(isAsExpected, () => `${id} is ${refused ? '' : 'not '}refused for its drift`);
  const isBehind = commits.planned !== head(world.history);
  for (const { note: annotation } of plan.annotations) {
    note(world.statistics, `note: ${annotation.kind}`);
    must(annotation.kind !== 'behind' || isBehind, () => `${id} is behind the newest commit`);
  }
}

/**
 * Checks that another label explains why a place looks moved that nobody moved: its move has touched the same versions. The
 * contract accepts that as a limit of Langfuse's times.
 */
function checkOtherMove({ logs, statistics }: World, promptId: string, place: Place, drift: Drift | undefined): void {
  const what = (): string => `${place} of ${promptId} drifts, but git asked for what it has, and nobody touched it`;
  must(drift?.subject === 'environment', what);
  const { observed, expected } = drift;
  const touched = [observed, isNewVersionRef(expected) ? null : expected].flatMap((version) => version?.id ?? []);
  const { changes } = logs.get(promptId)!;
  const other = changes.findLast((change) => {
    // A PATCH of a label that is there already moves nothing, but it touches the version.
    const isOther = change.moves.size === 0 || [...change.moves.keys()].some((label) => label !== place);
    return isOther && touched.every((id) => change.touched.has(id));
  });
  must(touched.length > 0 && other !== undefined, what);
  note(statistics, `accepted: a label that looks moved, because ${other.by} moved another one`);
}

/** Checks that the plan right after a completed sync shows neither drift nor notes. */
export function checkNoDrift({ file, drift, annotations }: PromptPlan): void {
  must(drift.length === 0, () => `${file.id} drifts right after a sync: ${JSON.stringify(drift)}`);
  must(annotations.length === 0, () => `${file.id} has notes right after a sync: ${JSON.stringify(annotations)}`);
}
