import type { FormerPin } from '../domain/former-pins.ts';
import { hasGap } from '../domain/known-versions.ts';
import type { KnownVersion } from '../domain/observed.ts';
import type { Content } from '../domain/prompt-file.ts';
import { versionMeant } from './former-pins.ts';

/**
 * What an environment goes back to: a number, which need not be known; a pin of an earlier commit of which nobody can
 * tell what it meant; or nothing, where git says nothing of anything older.
 */
export type Before =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'unclear'; readonly pin: FormerPin }
  | { readonly kind: 'nothing' };

type Meant = { readonly pin: FormerPin; readonly number: number | null };

/**
 * The first that is older than what is served, of the pins that git has, newest first: a second rollback goes on, not
 * forward again. What stood between is not passed over, unless it never was a version.
 */
export function pinnedBefore(
  pins: readonly FormerPin[],
  served: number,
  known: readonly KnownVersion[],
  find: (content: Content) => KnownVersion | undefined,
): Before {
  const all = pins.map((pin): Meant => ({ pin, number: numberOf(pin, known, find) }));
  const from = all.findIndex(({ number }) => number === served);
  // What HEAD asks for and nothing serves is to come.
  const earlier = from === -1 ? all.filter(({ pin, number }) => number !== null || pin.age > 0) : all.slice(from);
  const at = earlier.findIndex(({ number }) => number !== null && number < served);
  const number = earlier[at]?.number ?? null;
  const passed = at === -1 ? earlier : earlier.slice(0, at);
  // Where every version between is known, a text that none of them has was never synced.
  const gap = hasGap(known, number ?? 0, served);
  const unclear = passed.find((one) => one.number === null && (one.pin.pin.kind === 'version' || gap));
  if (unclear !== undefined) return { kind: 'unclear', pin: unclear.pin };
  return number === null ? { kind: 'nothing' } : { kind: 'number', number };
}

/** The next older number that is known; `known` is newest first. */
export function knownBefore(known: readonly KnownVersion[], served: number): number | null {
  return known.find(({ number }) => number < served)?.number ?? null;
}

function numberOf(
  former: FormerPin,
  known: readonly KnownVersion[],
  find: (content: Content) => KnownVersion | undefined,
): number | null {
  return former.pin.kind === 'number' ? former.pin.number : (versionMeant(former, known, find)?.number ?? null);
}
