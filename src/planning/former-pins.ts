import type { FormerPin, FormerPins } from '../domain/former-pins.ts';
import { findNamed } from '../domain/known-versions.ts';
import type { KnownVersion, VersionFacts } from '../domain/observed.ts';
import type { Content } from '../domain/prompt-file.ts';

/** A version by everything that is known of it; one that is not made yet has a digest alone. */
export type Target = Partial<Omit<VersionFacts, 'ours'>>;

export function contentOf({ digest, metadataDigest }: Content): Target {
  return metadataDigest === undefined ? { digest } : { digest, metadataDigest };
}

/** Equal content is the same whatever its id. */
export function isSameContent(one: Target, other: Target): boolean {
  if (one.digest === undefined || one.digest !== other.digest) return false;
  const [a, b] = [one.metadataDigest, other.metadataDigest];
  return a === undefined || b === undefined || a === b;
}

/** In an earlier run of pins than the one of now. */
export function wasPinned(target: Target, environment: string, former: FormerPins): boolean {
  const states = former.get(environment) ?? [];
  const changed = states.findIndex((state) => !means(state, target));
  return changed !== -1 && states.slice(changed).some((state) => means(state, target));
}

/** In the state of the file before the one that is planned for. */
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
  find: (content: Content) => KnownVersion | undefined,
): KnownVersion | undefined {
  return findNamed(known, pin) ?? (content === null ? undefined : find(content));
}

/** Whether a pin of an earlier commit means a version. */
export function means({ pin, content }: FormerPin, target: Target): boolean {
  if (pin.kind === 'number') return pin.number === target.number;
  if (pin.kind === 'version') return pin.id === target.id;
  return content !== null && isSameContent(contentOf(content), target);
}
