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

/** Whether an environment was pinned to a version, then to another one, before it came to the pin of now. */
export function wasPinned(target: Target, environment: string, former: FormerPins): boolean {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  return changed !== -1 && states.slice(changed).some((state) => means(state, target));
}

/** Whether the state of the file right before the one that is planned for pinned the version. */
export function wasPinnedLast(target: Target, environment: string, former: FormerPins): boolean {
  const last = former.get(environment)?.[0];
  return last !== undefined && last.age === Math.min(...agesIn(former)) && means(last, target);
}

/**
 * Whether the environment before was pinned to a version before this one was. Pins of both in one commit skip the one
 * before however old that commit is; only those that the file began with were there already.
 */
export function cameThrough(target: Target, from: string, environment: string, former: FormerPins): boolean {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  const since = (changed === -1 ? states : states.slice(0, changed)).at(-1)?.age;
  if (since === undefined) return false;
  const first = Math.max(...agesIn(former));
  const before = former.get(from) ?? [];
  return before.some((state) => means(state, target) && (state.age > since || state.age === first));
}

function agesIn(former: FormerPins): readonly number[] {
  return [...former.values()].flat().map(({ age }) => age);
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
