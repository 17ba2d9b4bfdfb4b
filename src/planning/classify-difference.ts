import { type KnownVersion, toSeconds } from '../domain/versions.ts';
import type { LineState } from '../history/line-of-states.ts';

/**
 * The cause of a difference between the service and the base:
 * - `head`: A state that the base lacks wants what the service has.
 * - `behind`: The live branch wants what the service has, and HEAD does not contain that commit yet.
 * - `moved`: The provider shows that somebody moved the environment.
 * - `outside`: No state of the base's line wants what the service has, so somebody changed the service.
 * - `first`: The base wants this for the first time, and no sync has put it into the service yet.
 * - `unfinished`: A sync has not finished, or somebody restored an earlier state. This also covers what git cannot
 *   explain: a moving ref, a shallow clone, and an environment that serves nothing.
 */
export type DifferenceCause = 'head' | 'behind' | 'moved' | 'outside' | 'first' | 'unfinished';

/** What git and the service show about an environment or a field that matches neither the base nor the head. */
export type DriftEvidence = {
  /** Returns true if the state of the file wants what the service has. False if the service has nothing. */
  readonly wantsCurrent: (state: LineState) => boolean;
  /** Whether no version is active in the environment. */
  readonly isNothing: boolean;
  /** Whether the pin at the base is a moving ref. It has no run. */
  readonly isMovingRef: boolean;
  /** Whether the provider shows that somebody moved the environment after a sync had applied what the base wants. */
  readonly wasMoved: boolean;
  /**
   * True if the base is the first to want something in this environment or field, and no sync can have applied it yet:
   * the environment serves an older version, the wanted version does not exist, or the field came with a later state.
   */
  readonly isFirstWant: boolean;
};

/** The states of the file that promptsync compares with the service. */
export type StatesOfLines = {
  /** The states of the base's line. */
  readonly base: readonly LineState[];
  /** The states of the head's line that the base lacks. */
  readonly head: readonly LineState[];
  /** The states that the live branch has and HEAD lacks. */
  readonly tip: readonly LineState[];
  readonly isShallow: boolean;
};

/** Finds the cause of a difference. The first condition that applies decides. */
export function classifyDifference(
  { wantsCurrent, isNothing, isMovingRef, wasMoved, isFirstWant }: DriftEvidence,
  { base, head, tip, isShallow }: StatesOfLines,
): DifferenceCause {
  if (head.some(wantsCurrent)) return 'head';
  if (isMovingRef) return 'unfinished';
  if (tip.some(wantsCurrent)) return 'behind';
  if (isShallow) return 'unfinished';
  if (wasMoved) return 'moved';
  if (isNothing) return 'unfinished';
  if (isFirstWant) return 'first';
  return base.some(wantsCurrent) ? 'unfinished' : 'outside';
}

/** Evidence that somebody moved an environment away from the version that its pin wants. */
export type MoveEvidence = {
  readonly wanted: KnownVersion;
  /** Null if no version is active. */
  readonly served: KnownVersion | null;
  /** The committer date of the commit that began the run of the pin, in seconds since 1970. Null if unknown. */
  readonly wantedSince: number | null;
  /** The versions that other environments serve because the same commit wants them there. */
  readonly servedBySameCommit: readonly KnownVersion[];
};

/** The maximum number of seconds between the two `updatedAt` times that a single move sets. */
const MAX_SECONDS_OF_MOVE = 2;

/**
 * Returns true if the times of the versions show that somebody moved the environment after it had served what its pin
 * wants. A move updates the version that the environment leaves and the version that it joins. It counts if both were
 * updated together, after the commit and after the creation of the wanted version. All times are in whole seconds.
 *
 * A job for another environment of the same commit may also have updated one of the versions. If the wanted version is
 * older than the commit, one such environment is enough to reject the evidence. If it is newer, there must be two,
 * because the sync that created the version moved the first of them in the same call.
 */
export function wasMovedAfterSync({ wanted, served, wantedSince, servedBySameCommit }: MoveEvidence): boolean {
  const touched = served === null ? [wanted] : [wanted, served];
  const touchedAt = touched.flatMap(({ times }) => {
    return times?.updatedAt === undefined ? [] : [toSeconds(times.updatedAt)];
  });
  if (wanted.times === undefined || touchedAt.length < touched.length || wantedSince === null) return false;
  const createdAt = toSeconds(wanted.times.createdAt);
  const movedAt = Math.min(...touchedAt);
  if (Math.max(...touchedAt) - movedAt > MAX_SECONDS_OF_MOVE) return false;
  if (movedAt <= wantedSince || movedAt <= createdAt) return false;
  const others = servedBySameCommit.filter(({ id }) => touched.some((version) => version.id === id));
  return others.length < (createdAt > wantedSince ? 2 : 1);
}
