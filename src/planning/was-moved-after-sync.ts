import type { WantedSinceByEnvironment } from '../domain/desired-state.ts';
import type { WantedSince } from '../domain/wanted-since.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { isNewVersionRef, type SetActive } from '../domain/plan.ts';
import { type EnvironmentPin, findPin, type PromptFile } from '../domain/prompt-file.ts';
import type { KnownVersion } from '../domain/versions.ts';

/** An environment that serves a different version than its pin wants, and everything that may show the reason. */
export type MoveEvidence = {
  readonly pin: EnvironmentPin;
  /** The version that the pin wants. */
  readonly wanted: KnownVersion;
  /** The version that the environment serves. Null if no version is active. */
  readonly served: KnownVersion | null;
  readonly wantedSince: WantedSinceByEnvironment;
  /** The active version of each environment that serves what HEAD wants there. */
  readonly activeAsWanted: ReadonlyMap<string, KnownVersion>;
};

/** The prompt and the git history from which promptsync collects the evidence about one environment. */
type MoveSources = Pick<MoveEvidence, 'wantedSince' | 'activeAsWanted'> & {
  /** The prompt file whose pin wants the change. */
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
};

/**
 * Collects the evidence about an environment that does not serve what its pin wants. Returns null if the wanted version
 * does not exist yet.
 */
export function makeMoveEvidence(
  { environment, after }: SetActive,
  { file, observed, wantedSince, activeAsWanted }: MoveSources,
): MoveEvidence | null {
  const pin = findPin(file.pins, environment);
  const wanted = isNewVersionRef(after) ? undefined : observed.known.find(({ id }) => id === after.id);
  if (pin === undefined || wanted === undefined) return null;
  return { pin, wanted, served: observed.active.get(environment) ?? null, wantedSince, activeAsWanted };
}

/**
 * Returns true if the times of the versions show that somebody moved the environment after the wanted version had been
 * active there. Returns false if the times show nothing, for example because the service does not show them.
 *
 * There are two kinds of evidence. Both compare with the commit that introduced what the pin wants:
 *
 * - The pin is `latest`, and the wanted version was created after the commit and touched after its creation. promptsync
 *   moves the environments of a run in the same request that creates the version, so the wanted version was active. If
 *   nothing has touched it since then, it was created by the job of a different environment (`--environment`).
 * - Both the wanted and the served version were touched after the commit, because a move touches the version that the
 *   environment leaves and the version that it joins. This does not count if a sync of the same commit may have touched
 *   one of them when it moved a different environment.
 */
export function wasMovedAfterSync(evidence: MoveEvidence): boolean {
  const { pin, wanted, served, wantedSince } = evidence;
  const since = wantedSince.get(pin.environment);
  if (since === undefined || wanted.times === undefined) return false;
  const { createdAt, updatedAt } = wanted.times;
  if (pin.pin.kind === 'latest' && isAfterCommit(createdAt, since) && updatedAt > createdAt) return true;
  if (served?.times === undefined) return false;
  const areTouched = [updatedAt, served.times.updatedAt].every((time) => isAfterCommit(time, since));
  return areTouched && !wasTouchedByOtherMove(evidence);
}

/**
 * Returns true if a version was created or changed after a commit. Commit times are in whole seconds, so a version from
 * the same second may be older than the commit and does not count.
 * @param time the time of the version, in milliseconds
 */
export function isAfterCommit(time: number, commit: Pick<WantedSince, 'time'>): boolean {
  return Math.floor(time / 1000) > commit.time;
}

/**
 * Returns true if a sync of the commit that introduced the pin may have moved a different environment to or from the
 * wanted or the served version. The sync may then have been interrupted before it moved this environment.
 */
function wasTouchedByOtherMove({ pin, wanted, served, wantedSince, activeAsWanted }: MoveEvidence): boolean {
  const commit = wantedSince.get(pin.environment)?.commit;
  return [...activeAsWanted].some(([environment, version]) => {
    if (environment === pin.environment || wantedSince.get(environment)?.commit !== commit) return false;
    return version.id === wanted.id || version.id === served?.id;
  });
}
