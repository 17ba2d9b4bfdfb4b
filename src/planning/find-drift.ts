import { findNamedCommit } from '../domain/commit-message.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  type ChangeAnnotation,
  type ChangeNote,
  type Drift,
  isNewVersionRef,
  isOlderVersion,
  type ServedVersion,
} from '../domain/plan.ts';
import { findPin, type PromptFile } from '../domain/prompt-file.ts';
import { type KnownVersion, makeVersionRef } from '../domain/versions.ts';
import { countNewest, countRun, findStartOfRun, type LineState } from '../history/line-of-states.ts';
import type { BaseHistory, PromptHistory } from '../history/prompt-history.ts';
import { isVersionInGit } from './choose-pull.ts';
import {
  classifyDifference,
  type DriftEvidence,
  type DifferenceCause,
  wasMovedAfterSync,
} from './classify-difference.ts';
import {
  type ComparedPrompt,
  type Difference,
  type EnvironmentDifference,
  type WantedChanges,
  wantsCurrent,
} from './compare-prompt.ts';

/** The drift of one prompt, and the notes about changes that do not come from the head. */
export type DriftResult = { readonly drift: readonly Drift[]; readonly annotations: readonly ChangeAnnotation[] };

export const NO_DRIFT: DriftResult = { drift: [], annotations: [] };

/** With a default base, an unfinished sync appears only in the notes. With any other base, it is drift, too. */
export function findDrift(
  { file, base, observed, differences }: ComparedPrompt,
  history: PromptHistory,
  isDefaultBase: boolean,
): DriftResult {
  const { base: baseHistory } = history;
  if (base === null || baseHistory === null) return NO_DRIFT;
  const sources = { file, base, observed, baseHistory };
  const results = differences.map((difference): DriftResult => {
    const evidence = makeEvidence(difference, sources);
    const cause = classifyDifference(evidence, {
      base: baseHistory.line.states,
      head: baseHistory.headStates,
      tip: baseHistory.tipStates,
      isShallow: history.isShallow,
    });
    const isDrift = isOutsideCause(cause) || (cause === 'unfinished' && !isDefaultBase);
    return {
      drift: isDrift ? [toDrift(difference, cause, sources)] : [],
      annotations: makeAnnotations(difference, cause, sources),
    };
  });
  return {
    drift: results.flatMap(({ drift }) => drift),
    annotations: results.flatMap(({ annotations }) => annotations),
  };
}

/** A prompt at the base, and everything that promptsync compares it with. */
type DriftSources = {
  readonly file: PromptFile;
  readonly base: WantedChanges;
  readonly observed: ObservedPrompt;
  readonly baseHistory: BaseHistory;
};

function makeEvidence(difference: Difference, sources: DriftSources): DriftEvidence {
  const { observed, baseHistory } = sources;
  const { line } = baseHistory;
  const run = countRunOf(difference, sources);
  const before = line.states.slice(run);
  const wanting = { wantsCurrent: (state: LineState) => wantsCurrent(difference, state, observed) };
  if (difference.subject === 'field') {
    // A field of the first state was imported, or it is waiting for the first sync of the prompt.
    const isAdded = run < line.states.length;
    const isManagedBefore = before.some(({ file }) => file[difference.field] !== undefined);
    const wasNeverSynced = !observed.known.some(({ isManaged }) => isManaged === true);
    const isFirstWant = (isAdded && !isManagedBefore) || wasNeverSynced;
    return { ...wanting, isNothing: false, isMovingRef: false, wasMoved: false, isFirstWant };
  }
  const { environment, current, expected } = difference;
  // If the run may have begun before the oldest known state, an earlier state may have pinned the environment.
  const isFirstPin = findStartOfRun(line, run) !== null && !before.some(({ file }) => findPin(file.pins, environment));
  const isOlder = isNewVersionRef(expected) || (current !== null && isOlderVersion(current, expected));
  return {
    ...wanting,
    isNothing: current === null,
    isMovingRef: isMovingRef(environment, sources),
    wasMoved: wasMoved(difference, sources),
    isFirstWant: isFirstPin && isOlder,
  };
}

/** Counts the newest states of the base's line that want the same as the base in the environment or the field. */
function countRunOf(difference: Difference, { base, baseHistory: { line } }: DriftSources): number {
  if (difference.subject === 'environment') return countRun(line, difference.environment);
  return countNewest(line.states, ({ file }) => file[difference.field] === base.file[difference.field]);
}

function isMovingRef(environment: string, { baseHistory: { line } }: DriftSources): boolean {
  const want = line.states[0]?.wants.get(environment);
  return want?.kind === 'content' && want.isMoving;
}

/** Returns true if the times of the versions show that somebody moved the environment after a sync of the base. */
function wasMoved({ environment, current, expected }: EnvironmentDifference, sources: DriftSources): boolean {
  const { base, observed, baseHistory } = sources;
  const wanted = isNewVersionRef(expected) ? undefined : observed.known.find(({ id }) => id === expected.id);
  if (wanted === undefined) return false;
  const findSince = (name: string) => findStartOfRun(baseHistory.line, countRun(baseHistory.line, name));
  const since = findSince(environment);
  const servedBySameCommit = base.pins.flatMap(({ pin, after, problems }): readonly KnownVersion[] => {
    const isAsWanted = after === null && problems.length === 0;
    const served = observed.active.get(pin.environment) ?? null;
    return isAsWanted && served !== null && findSince(pin.environment)?.commit === since?.commit ? [served] : [];
  });
  return wasMovedAfterSync({ wanted, served: current, wantedSince: since?.time ?? null, servedBySameCommit });
}

function isOutsideCause(cause: DifferenceCause): boolean {
  return cause === 'moved' || cause === 'outside';
}

function toDrift(difference: Difference, cause: DifferenceCause, sources: DriftSources): Drift {
  const { restoresBase } = difference;
  const kind = isOutsideCause(cause) ? 'outside' : 'unfinished';
  if (difference.subject === 'field') {
    const { field, expected, current } = difference;
    return { subject: 'field', field, kind, restoresBase, expected, observed: current };
  }
  const { environment, expected, current } = difference;
  const isMovedBack = cause === 'moved' && current !== null && isOlderVersion(current, expected);
  const observed = current && makeServedVersion(current, sources);
  return {
    subject: 'environment',
    environment,
    kind,
    restoresBase,
    expected,
    observed,
    ...(isMovedBack && { isMovedBack }),
  };
}

function makeAnnotations(
  difference: Difference,
  cause: DifferenceCause,
  sources: DriftSources,
): readonly ChangeAnnotation[] {
  const note = chooseNote(difference, cause, sources);
  if (note === null) return [];
  return difference.subject === 'field'
    ? [{ subject: 'field', field: difference.field, note }]
    : [{ subject: 'environment', environment: difference.environment, note }];
}

/** An unfinished sync has no note for a moving ref or a run of unknown start, or if the head and the base differ. */
function chooseNote(difference: Difference, cause: DifferenceCause, sources: DriftSources): ChangeNote | null {
  if (cause === 'behind') return { kind: 'behind' };
  if (cause !== 'unfinished' || !difference.restoresBase) return null;
  if (difference.subject === 'environment' && isMovingRef(difference.environment, sources)) return null;
  const { line, unmergedCommits } = sources.baseHistory;
  const { commit = null, time = null } = findStartOfRun(line, countRunOf(difference, sources)) ?? {};
  if (commit === null || time === null) return null;
  return { kind: 'wanted-since', commit, time, isMerged: !unmergedCommits.has(commit) };
}

function makeServedVersion(version: KnownVersion, sources: DriftSources): ServedVersion {
  const { baseHistory } = sources;
  const { missingCommits, headStates, line } = baseHistory;
  const commit = findSourceCommit(version, baseHistory);
  return {
    ...makeVersionRef(version),
    isManaged: version.isManaged === true,
    isInGit: isVersionInGit(version, [...headStates, ...line.states], sources),
    ...(commit === undefined ? {} : { commit }),
    ...(commit !== undefined && missingCommits.has(commit) && { isCommitMissing: true }),
  };
}

/**
 * Returns the commit that a version was made from. A commit that only the version's message names counts if git has the
 * version's text at that commit, or if the clone lacks the commit.
 */
function findSourceCommit(version: KnownVersion, { missingCommits, messageSources }: BaseHistory): string | undefined {
  const named = findNamedCommit(version);
  if (named !== null && (version.isManaged || missingCommits.has(named))) return named;
  return messageSources.get(version.id)?.commit;
}
