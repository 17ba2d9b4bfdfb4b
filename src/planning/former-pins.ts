import { findNamed, type KnownVersion } from '../domain/known-versions.ts';
import type { Content, Pin } from '../domain/prompt-file.ts';
import type { LedgerEntry } from '../domain/version.ts';

/** How an environment was pinned at an earlier commit. */
export type FormerPin = {
  readonly commit: string;
  /** How many states of the file are newer. */
  readonly age: number;
  readonly pin: Pin;
  /** What `latest` or a ref meant then; null where it is not known, and for numbers and ids. */
  readonly content: Content | null;
};

/** By environment, newest first. */
export type FormerPins = ReadonlyMap<string, readonly FormerPin[]>;

/** A version by everything that is known of it; one that is not made yet has a digest alone. */
export type Wanted = Partial<Pick<LedgerEntry, 'id' | 'number' | 'digest' | 'metadataDigest'>>;

export function contentOf({ digest, metadataDigest }: Content): Wanted {
  return metadataDigest === undefined ? { digest } : { digest, metadataDigest };
}

/** Equal content is the same whatever its id. */
export function isSameContent(one: Wanted, other: Wanted): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  const [a, b] = [one.metadataDigest, other.metadataDigest];
  return a === undefined || b === undefined || a === b;
}

/** In an earlier run of pins than the one of now. */
export function wasPinned(target: Wanted, environment: string, former: FormerPins): boolean {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  return changed !== -1 && states.slice(changed).some((state) => means(state, target));
}

/** In the state of the file before the one that is planned for. */
export function wasPinnedLast(target: Wanted, environment: string, former: FormerPins): boolean {
  const last = former.get(environment)?.[0];
  return last !== undefined && last.age === Math.min(...agesIn(former)) && means(last, target);
}

/**
 * Whether the environment before was pinned to a version before this one was. Pins of both in one commit skip the one
 * before however old that commit is; only those that the file began with were there already.
 */
export function cameThrough(target: Wanted, from: string, environment: string, former: FormerPins): boolean {
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
  find: (content: Content) => KnownVersion | undefined,
): KnownVersion | undefined {
  return findNamed(known, pin) ?? (content === null ? undefined : find(content));
}

/** Whether a pin of an earlier commit means a version. */
export function means({ pin, content }: FormerPin, target: Wanted): boolean {
  if (pin.kind === 'number') return pin.number === target.number;
  if (pin.kind === 'version') return pin.id === target.id;
  return content !== null && isSameContent(contentOf(content), target);
}
