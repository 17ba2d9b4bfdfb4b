import { type FormerPin, type FormerPinsByEnvironment, meansVersion } from '../domain/history.ts';
import type { Content } from '../domain/content.ts';
import {
  findVersionWithContent,
  findPinnedVersion,
  hasGap,
  type KnownVersion,
  type VersionTraits,
} from '../domain/versions.ts';

/** A series of consecutive states of a file that all pin an environment to the same version. */
export type PinRun = {
  /**
   * The age of the oldest state in the run. The age of a state is the number of newer states. -1 if only the planned
   * file has the pin.
   */
  readonly since: number;
};

/** The pins in the earlier states of a file, as far as git knows them. */
export type FormerPinStates = {
  readonly pins: FormerPinsByEnvironment;
  /** The age of the file's first state. Null if git may lack this state. */
  readonly firstAge: number | null;
};

/**
 * Returns the current run of states that pin the environment to this version. The planned file continues the run if the
 * newest state has such a pin. Otherwise, the run begins with the planned file.
 */
export function findCurrentRun(target: VersionTraits, environment: string, former: FormerPinsByEnvironment): PinRun {
  const states = former.get(environment) ?? [];
  const runEnd = states.findIndex((state) => !meansVersion(state, target));
  const run = runEnd === -1 ? states : states.slice(0, runEnd);
  return { since: run.at(-1)?.age ?? -1 };
}

/**
 * Returns the earlier runs of states that pinned the environment to this version, newest first. After each of these
 * runs, the file pinned the environment to a different version. A state that pins a branch or a tag belongs to no run,
 * because the ref may have pointed to a different version at that time.
 */
export function findEarlierRuns(
  target: VersionTraits,
  environment: string,
  former: FormerPinsByEnvironment,
): readonly PinRun[] {
  const states = former.get(environment) ?? [];
  const currentRunEnd = states.findIndex((state) => !meansVersion(state, target));
  if (currentRunEnd === -1) return [];
  const earlier = states.slice(currentRunEnd);
  const oldestOfRuns = earlier.filter((state, index) => {
    if (!certainlyMeantVersion(state, target)) return false;
    const previous = earlier[index + 1];
    return previous === undefined || !certainlyMeantVersion(previous, target);
  });
  return oldestOfRuns.map(({ age }) => ({ since: age }));
}

/**
 * Returns true if the file pinned the version in promotion order. This means that the state right before the run pinned
 * the source environment to the version. If the run began with the file's first state, there is no state before it. In
 * that case, the first state itself must pin the source environment to the version, because its environments already
 * served the pinned versions.
 */
export function beganAsPromotion(
  { since }: PinRun,
  target: VersionTraits,
  from: string,
  former: FormerPinStates,
): boolean {
  const source = findPinAt(since === former.firstAge ? since : since + 1, from, former);
  return source !== undefined && meansVersion(source, target);
}

/**
 * Returns true if the file may have skipped the source environment when the run began. Returns false in two cases:
 * - Git shows that the state right before the run pinned the source environment to the version. A pin to a branch or a
 *   tag does not count, because the ref may have moved since then.
 * - The run began with the file's first state. The environment already served the version at that time.
 */
export function beganAsSkip({ since }: PinRun, target: VersionTraits, from: string, former: FormerPinStates): boolean {
  if (since === former.firstAge) return false;
  const source = findPinAt(since + 1, from, former);
  return source === undefined || !certainlyMeantVersion(source, target);
}

function findPinAt(age: number, environment: string, { pins }: FormerPinStates): FormerPin | undefined {
  return pins.get(environment)?.find((state) => state.age === age);
}

/**
 * Returns the known version that a former pin refers to. Returns undefined if there is none.
 * @param findByContent finds the version if the pin refers to content (`latest` or `git:<ref>`) rather than to a number
 *   or an id
 */
export function findMeantVersion(
  { pin, content }: FormerPin,
  known: readonly KnownVersion[],
  findByContent = (wanted: Content) => findVersionWithContent(known, wanted),
): KnownVersion | undefined {
  return findPinnedVersion(known, pin) ?? (content === null ? undefined : findByContent(content));
}

/** Returns true if the pin certainly referred to this version when it was committed. */
function certainlyMeantVersion(state: FormerPin, target: VersionTraits): boolean {
  return state.isFixed && meansVersion(state, target);
}

/**
 * The target of a rollback, according to git:
 * - `number`: The target is the version with this number. promptsync may not know the version itself.
 * - `unclear`: promptsync does not know which version the former pin `pin` refers to.
 * - `nothing`: git has no older pin.
 */
type PreviousPin =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'unclear'; readonly pin: FormerPin }
  | { readonly kind: 'nothing' };

/** The number and the text digest of the version that an environment serves. */
type ServedContent = Pick<KnownVersion, 'number' | 'digest'>;

/**
 * Finds the target of a rollback: the version that the newest suitable former pin refers to. The version must be older
 * than the served version and have a different text. Because the target is older, a second rollback goes further back.
 * It does not return to the version from before the first rollback.
 *
 * The result is `unclear` if the file pinned an unknown version after it pinned the target and before it pinned the
 * served version. A pin whose text never became a version does not make the result unclear.
 * @param pins the former pins, newest first
 */
export function findPreviousPin(
  pins: readonly FormerPin[],
  { number: served, digest }: ServedContent,
  known: readonly KnownVersion[],
): PreviousPin {
  const versionsWithSameText = known.filter((version) => version.digest === digest);
  const numbersWithSameText = new Set(versionsWithSameText.map((version) => version.number));
  const numberedPins = pins.map((pin) => ({ pin, number: getPinnedNumber(pin, known) }));
  const servedIndex = numberedPins.findIndex(({ number }) => number === served);
  // A pin in the newest state that matches no version has not been synced yet, so it is not a former pin.
  const formerPins = numberedPins.filter(({ pin, number }) => number !== null || pin.age > 0);
  const earlierPins = servedIndex === -1 ? formerPins : numberedPins.slice(servedIndex);
  const previousIndex = earlierPins.findIndex(
    ({ number }) => number !== null && number < served && !numbersWithSameText.has(number),
  );
  const number = earlierPins[previousIndex]?.number ?? null;
  const pinsBetween = previousIndex === -1 ? earlierPins : earlierPins.slice(0, previousIndex);
  // A text was never synced if no version between the target and the served version contains it. This is certain only
  // if promptsync knows all versions in that range.
  const hasUnknownVersions = hasGap(known, number ?? 0, served);
  const unclear = pinsBetween.find((one) => {
    return one.number === null && (one.pin.pin.kind === 'version' || hasUnknownVersions);
  });
  if (unclear !== undefined) return { kind: 'unclear', pin: unclear.pin };
  return number === null ? { kind: 'nothing' } : { kind: 'number', number };
}

/**
 * Finds the pin to a commit, a branch or a tag that a rollback writes again. Goes back to before the first state that
 * pinned the present content, so that a second rollback goes further back. From there, skips version numbers, ids,
 * `latest` and pins of the present content. Returns null if there is no such pin. If the ref of the pin no longer exists,
 * the content of the pin is null.
 * @param pins the former pins, newest first
 * @param hasPresentContent returns true if a content is the one that the rollback replaces
 */
export function findPreviousGitPin(
  pins: readonly FormerPin[],
  hasPresentContent: (content: Content) => boolean,
): FormerPin | null {
  const oldest = pins.findLastIndex(({ content }) => content !== null && hasPresentContent(content));
  const previous = pins.slice(oldest + 1).find(({ pin, content }) => {
    return pin.kind === 'git' && (content === null || !hasPresentContent(content));
  });
  return previous ?? null;
}

/** Returns the number of the version that a former pin refers to. Returns null if no known version matches the pin. */
function getPinnedNumber(former: FormerPin, known: readonly KnownVersion[]): number | null {
  if (former.pin.kind === 'number') return former.pin.number;
  return findMeantVersion(former, known)?.number ?? null;
}

/**
 * Returns the number of the newest known version that is older than the served version and differs from it in text.
 * Returns null if there is none.
 * @param known the known versions, newest first
 */
export function findPreviousNumber(known: readonly KnownVersion[], served: ServedContent): number | null {
  return known.find(({ number, digest }) => number < served.number && digest !== served.digest)?.number ?? null;
}
