import { asKept } from '../domain/ownership.ts';
import { findContent, holds, type KnownVersion } from '../domain/known-versions.ts';
import { versionMeant, type FormerPin } from './former-pins.ts';

/** A prompt's file as one commit left it: how it pinned each environment. */
export type FileState = { readonly commit: string; readonly pins: ReadonlyMap<string, FormerPin> };

/** The states of a file, newest first. */
export type FilePast = {
  readonly states: readonly FileState[];
  /** Whether the oldest is the file's first: otherwise what it says may have been so long before. */
  readonly whole: boolean;
};

/** A time during which an environment's pin meant one version: between two commits; null: before all that are known. */
export type Stay = { readonly id: string; readonly from: string | null; readonly until: string | null };

/** What pins are read against. */
export type Meanings = {
  readonly known: readonly KnownVersion[];
  /** What the environment serves now. */
  readonly active: KnownVersion | null;
  /** Whether the service drops the metadata of versions. */
  readonly forgets: boolean;
};

/**
 * What an environment was pinned to, newest first. Pins that are written otherwise and mean the same are one time; those
 * that mean no version that is known are none.
 */
export function pinnedTimes(environment: string, { states, whole }: FilePast, meanings: Meanings): readonly Stay[] {
  const oldestFirst = states.toReversed().map(({ commit, pins }) => {
    const pin = pins.get(environment);
    return { commit, id: pin === undefined ? null : (meantBy(pin, meanings)?.id ?? null) };
  });
  const turns = oldestFirst.filter(({ id }, index) => index === 0 || id !== oldestFirst[index - 1]?.id);
  const stays = turns.flatMap(({ commit, id }, index): readonly Stay[] =>
    id === null ? [] : [{ id, from: index === 0 && !whole ? null : commit, until: turns[index + 1]?.commit ?? null }],
  );
  return stays.toReversed();
}

/** Of equal contents the one that is served: which of them a sync had made active does not matter. */
function meantBy(pin: FormerPin, { known, active, forgets }: Meanings): KnownVersion | undefined {
  return versionMeant(pin, known, (content) => {
    const sought = asKept(content, forgets);
    return active !== null && holds(active, sought) ? active : findContent(known, sought);
  });
}
