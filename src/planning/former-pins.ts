import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isDigestOf } from '../domain/digest.ts';
import { findContent, findNamed, hasGap, isInSync, type KnownVersion, type VersionFacts } from '../domain/versions.ts';
import type { Content } from '../domain/prompt-file.ts';

/** A version by everything that is known of it; one that is not made yet has a digest alone. */
export type Target = Partial<Omit<VersionFacts, 'ours'>>;

/** Equal content is the same whatever its id. */
export function isSameContent(one: Target, other: Target): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  const [a, b] = [one.metadataDigest, other.metadataDigest];
  return a === undefined || b === undefined || a === b;
}

/** States of the file, one after the other, that pinned an environment to the same version. */
export type PinRun = {
  /** The age of the run's oldest state; -1 if only the planned file has the pin so far. */
  readonly since: number;
};

/** The known states of a file. */
export type FormerStates = {
  readonly pins: FormerPins;
  /** The age of the file's first state; null if git may not show that state. */
  readonly firstAge: number | null;
};

/** Returns the run that the planned file continues or begins when it pins the environment to a version. */
export function currentRun(target: Target, environment: string, former: FormerPins): PinRun {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  const run = changed === -1 ? states : states.slice(0, changed);
  return { since: run.at(-1)?.age ?? -1 };
}

/**
 * Returns the runs that pinned the environment to a version before it was pinned to another one, newest first. A pin to
 * a branch or a tag belongs to none of them, because the ref may have named another version then.
 */
export function earlierRuns(target: Target, environment: string, former: FormerPins): readonly PinRun[] {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  if (changed === -1) return [];
  const earlier = states.slice(changed);
  const oldest = earlier.filter((state, at) => {
    const before = earlier[at + 1];
    return hasMeant(state, target) && (before === undefined || !hasMeant(before, target));
  });
  return oldest.map(({ age }) => ({ since: age }));
}

/**
 * Whether the file pinned the source environment to the version right before the run began. If the file's first state
 * pinned both environments to the version, they had it already.
 */
export function beganAsPromotion({ since }: PinRun, target: Target, from: string, former: FormerStates): boolean {
  const source = pinAt(since === former.firstAge ? since : since + 1, from, former);
  return source !== undefined && means(source, target);
}

/**
 * Whether git does not show that the file pinned the source environment to the version right before the run began. It
 * may have been pinned to another version, to a ref that may have moved since, or not at all. A pin of the file's first
 * state is no skip: the environment had the version already.
 */
export function beganAsSkip({ since }: PinRun, target: Target, from: string, former: FormerStates): boolean {
  if (since === former.firstAge) return false;
  const source = pinAt(since + 1, from, former);
  return source === undefined || !hasMeant(source, target);
}

function pinAt(age: number, environment: string, { pins }: FormerStates): FormerPin | undefined {
  return pins.get(environment)?.find((state) => state.age === age);
}

/** The version that a pin of an earlier commit means, as far as it is known; `find` chooses one that holds a content. */
export function versionMeant(
  { pin, content }: FormerPin,
  known: readonly KnownVersion[],
  find = (one: Content) => findContent(known, one),
): KnownVersion | undefined {
  return findNamed(known, pin) ?? (content === null ? undefined : find(content));
}

export function means({ pin, content }: FormerPin, target: Target): boolean {
  if (pin.kind === 'number') return pin.number === target.number;
  if (pin.kind === 'version') return pin.id === target.id;
  const { digest, metadataDigest } = target;
  if (content === null || digest === undefined) return false;
  return metadataDigest === undefined ? isDigestOf(digest, content) : isInSync({ digest, metadataDigest }, content);
}

/** Whether a pin certainly meant the version when it was committed. */
function hasMeant(state: FormerPin, target: Target): boolean {
  return state.isFixed && means(state, target);
}

/**
 * What an environment goes back to: a number, which need not be known; a pin of an earlier commit of which nobody
 * knows what it meant; or nothing, where git says nothing of anything older.
 */
export type Before =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'unclear'; readonly pin: FormerPin }
  | { readonly kind: 'nothing' };

type Served = Pick<KnownVersion, 'number' | 'digest'>;

/**
 * The first that is older than what is served and has another text, of the pins that git has, newest first: a second
 * rollback goes on, not forward again. What stood between is not passed over, unless it never was a version.
 */
export function pinnedBefore(
  pins: readonly FormerPin[],
  { number: served, digest }: Served,
  known: readonly KnownVersion[],
): Before {
  const same = new Set(known.flatMap((one) => (one.digest === digest ? [one.number] : [])));
  const all = pins.map((pin) => ({
    pin,
    number: pin.pin.kind === 'number' ? pin.pin.number : (versionMeant(pin, known)?.number ?? null),
  }));
  const from = all.findIndex(({ number }) => number === served);
  // What HEAD asks for and nothing serves is to come.
  const earlier = from === -1 ? all.filter(({ pin, number }) => number !== null || pin.age > 0) : all.slice(from);
  const at = earlier.findIndex(({ number }) => number !== null && number < served && !same.has(number));
  const number = earlier[at]?.number ?? null;
  const passed = at === -1 ? earlier : earlier.slice(0, at);
  // Where every version between is known, a text that none of them has was never synced.
  const gap = hasGap(known, number ?? 0, served);
  const unclear = passed.find((one) => one.number === null && (one.pin.pin.kind === 'version' || gap));
  if (unclear !== undefined) return { kind: 'unclear', pin: unclear.pin };
  return number === null ? { kind: 'nothing' } : { kind: 'number', number };
}

/** The next older number that is known and has another text; `known` is newest first. */
export function knownBefore(known: readonly KnownVersion[], served: Served): number | null {
  return known.find(({ number, digest }) => number < served.number && digest !== served.digest)?.number ?? null;
}
