import type { FormerPin, FormerPins } from '../domain/history.ts';
import { type Content, matchesDigest, isInSync } from '../domain/content.ts';
import {
  findVersionWithContent,
  findPinnedVersion,
  hasGap,
  type KnownVersion,
  type VersionFacts,
} from '../domain/versions.ts';

/** Everything known about a version. A version that does not exist yet has only digests. */
export type VersionTraits = {
  readonly [Key in Exclude<keyof VersionFacts, 'isManaged'>]?: VersionFacts[Key] | undefined;
};

/** States of the file, one after the other, that pinned an environment to the same version. */
export type PinRun = {
  /** The age of the run's oldest state; -1 if only the planned file has the pin so far. */
  readonly since: number;
};

/** The known states of a file. */
export type FormerPinStates = {
  readonly pins: FormerPins;
  /** The age of the file's first state; null if git may not show that state. */
  readonly firstAge: number | null;
};

/** Returns the run that the planned file continues or begins when it pins the environment to a version. */
export function findCurrentRun(target: VersionTraits, environment: string, former: FormerPins): PinRun {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !meansVersion(state, target));
  const run = changed === -1 ? states : states.slice(0, changed);
  return { since: run.at(-1)?.age ?? -1 };
}

/**
 * Returns the runs that pinned the environment to a version before it was pinned to another one, newest first. A pin to
 * a branch or a tag belongs to none of them, because the ref may have named another version then.
 */
export function findEarlierRuns(target: VersionTraits, environment: string, former: FormerPins): readonly PinRun[] {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !meansVersion(state, target));
  if (changed === -1) return [];
  const earlier = states.slice(changed);
  const oldest = earlier.filter((state, at) => {
    const before = earlier[at + 1];
    return meantVersion(state, target) && (before === undefined || !meantVersion(before, target));
  });
  return oldest.map(({ age }) => ({ since: age }));
}

/**
 * Whether the file pinned the source environment to the version right before the run began. If the file's first state
 * pinned both environments to the version, they had it already.
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
 * Whether git does not show that the file pinned the source environment to the version right before the run began. It
 * may have been pinned to another version, to a ref that may have moved since, or not at all. A pin of the file's first
 * state is no skip: the environment had the version already.
 */
export function beganAsSkip({ since }: PinRun, target: VersionTraits, from: string, former: FormerPinStates): boolean {
  if (since === former.firstAge) return false;
  const source = findPinAt(since + 1, from, former);
  return source === undefined || !meantVersion(source, target);
}

function findPinAt(age: number, environment: string, { pins }: FormerPinStates): FormerPin | undefined {
  return pins.get(environment)?.find((state) => state.age === age);
}

/** Returns the known version that a pin of an earlier commit means. `find` chooses a version for a content. */
export function findMeantVersion(
  { pin, content }: FormerPin,
  known: readonly KnownVersion[],
  find = (one: Content) => findVersionWithContent(known, one),
): KnownVersion | undefined {
  return findPinnedVersion(known, pin) ?? (content === null ? undefined : find(content));
}

/** Whether a pin of an earlier commit means a version, as far as its content is known. */
export function meansVersion({ pin, content }: FormerPin, target: VersionTraits): boolean {
  if (pin.kind === 'number') return pin.number === target.number;
  if (pin.kind === 'version') return pin.id === target.id;
  const { digest, metadataDigest } = target;
  if (content === null || digest === undefined) return false;
  return metadataDigest === undefined ? matchesDigest(digest, content) : isInSync({ digest, metadataDigest }, content);
}

/** Whether a pin certainly meant the version when it was committed. */
function meantVersion(state: FormerPin, target: VersionTraits): boolean {
  return state.isFixed && meansVersion(state, target);
}

/**
 * The target of a rollback: a version number, which need not be a known version; a former pin whose meaning is unknown;
 * or nothing, if git has no older pin.
 */
export type PreviousPin =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'unclear'; readonly pin: FormerPin }
  | { readonly kind: 'nothing' };

type ServedContent = Pick<KnownVersion, 'number' | 'digest'>;

/**
 * Returns the newest former pin of an older version with another text. A second rollback therefore continues backward,
 * and does not return to the version before the first rollback. A pin of unknown meaning in between makes the result
 * unclear, unless it never became a version.
 * @param pins newest first
 */
export function findPreviousPin(
  pins: readonly FormerPin[],
  { number: served, digest }: ServedContent,
  known: readonly KnownVersion[],
): PreviousPin {
  const same = new Set(known.flatMap((one) => (one.digest === digest ? [one.number] : [])));
  const all = pins.map((pin) => ({
    pin,
    number: pin.pin.kind === 'number' ? pin.pin.number : (findMeantVersion(pin, known)?.number ?? null),
  }));
  const from = all.findIndex(({ number }) => number === served);
  // A pin of HEAD that no version matches has not been synced yet, so it is not a former pin.
  const earlier = from === -1 ? all.filter(({ pin, number }) => number !== null || pin.age > 0) : all.slice(from);
  const at = earlier.findIndex(({ number }) => number !== null && number < served && !same.has(number));
  const number = earlier[at]?.number ?? null;
  const passed = at === -1 ? earlier : earlier.slice(0, at);
  // If all versions in between are known, a text that none of them has was never synced.
  const gap = hasGap(known, number ?? 0, served);
  const unclear = passed.find((one) => one.number === null && (one.pin.pin.kind === 'version' || gap));
  if (unclear !== undefined) return { kind: 'unclear', pin: unclear.pin };
  return number === null ? { kind: 'nothing' } : { kind: 'number', number };
}

/**
 * Returns the number of the newest known version that is older than the served one and has another text.
 * @param known newest first
 */
export function findPreviousNumber(known: readonly KnownVersion[], served: ServedContent): number | null {
  return known.find(({ number, digest }) => number < served.number && digest !== served.digest)?.number ?? null;
}
