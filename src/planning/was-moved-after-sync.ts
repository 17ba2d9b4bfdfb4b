import { type KnownVersion, toSeconds } from '../domain/versions.ts';

/**
 * An environment that serves a version other than the one that its pin wants, with the evidence that somebody moved it.
 */
export type MoveEvidence = {
  /** The version that the pin wants. */
  readonly wanted: KnownVersion;
  /** The version that the environment serves. Null if no version is active. */
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
 * wants. A move touches the version that the environment leaves and the version that it joins. It counts if both were
 * touched together, after the commit and after the creation of the wanted version. All times are in whole seconds.
 *
 * A job for another environment of the same commit may have touched one of the two versions. Then the touch shows nothing.
 * If the wanted version is older than the commit, one such environment is enough. If it is newer, there must be two,
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
