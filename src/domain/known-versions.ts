import { EMPTY_METADATA_DIGEST } from './digest.ts';
import { versionsRead, type Observed } from './observed.ts';
import { isCopy, isDoubtful, isOwn, mayFollow, type Head } from './ownership.ts';
import type { Content, Pin } from './prompt-file.ts';
import type { LedgerEntry, Version } from './version.ts';

/** A version that is known of, with itself where it was read. */
export type KnownVersion = LedgerEntry & { readonly version: Version | null };

const NEWEST_KEPT = 20;

/** All versions that the versions read and their ledgers tell of, newest first; of one number the one read first. */
export function knownVersions(observed: Observed): readonly KnownVersion[] {
  const read = versionsRead(observed);
  const known = new Map<string, KnownVersion>();
  const note = (entry: LedgerEntry, version: Version | null): void => {
    known.set(entry.id, { ...stillPinned(entry, known.get(entry.id)), version });
  };
  // What was read comes last: it beats what a ledger says of it, as a newer ledger beats an older one.
  for (const { stamp } of read.toSorted((a, b) => a.number - b.number)) {
    for (const entry of stamp?.ledger ?? []) note(entry, null);
  }
  for (const version of read) note(entryOf(version), version);
  return [...known.values()].toSorted((a, b) => b.number - a.number || rank(a) - rank(b));
}

/** The entry, pinned where either was: what was pinned once stays so. */
export function stillPinned(entry: LedgerEntry, other: LedgerEntry | undefined): LedgerEntry {
  const pinned = entry.pinned ?? other?.pinned;
  return pinned === undefined ? entry : { ...entry, pinned };
}

/** What was read goes before what a ledger says: a ledger copied from elsewhere may name another version so. */
function rank({ version }: KnownVersion): number {
  return version === null ? 1 : 0;
}

/** A version as a ledger remembers it: as somebody else's where it may be a copy. */
export function entryOf(version: Version): LedgerEntry {
  return toEntry(version, isOwn(version) && !isDoubtful(version));
}

/**
 * A version as it is judged where it is served already: as our own unless it is known to be a copy. Some services add
 * metadata of their own, and what they serve is in sync all the same.
 */
export function entryAsServed(version: Version, known: readonly LedgerEntry[]): LedgerEntry {
  return toEntry(version, isOwn(version) && !isCopy(version, known));
}

function toEntry({ number, id, digest, metadataDigest, stamp }: Version, own: boolean): LedgerEntry {
  const entry = { number, id, digest, metadataDigest };
  if (stamp === null || !own) return { ...entry, outside: true };
  const { commit, path } = stamp;
  return { ...entry, ...(commit === undefined ? {} : { commit }), ...(path === undefined ? {} : { path }) };
}

/**
 * Whether a version holds a wanted content. Where the file manages no metadata, any metadata of a version that
 * promptsync made will do, and of another's none: it may carry settings that nobody has reviewed.
 */
export function holds(version: LedgerEntry, content: Content): boolean {
  if (version.digest !== content.digest) return false;
  if (content.metadataDigest !== undefined) return version.metadataDigest === content.metadataDigest;
  return version.outside === undefined || version.metadataDigest === EMPTY_METADATA_DIGEST;
}

/** Whether a version between two numbers is not known. Numbers come from the service, and may be as large as they like. */
export function hasGap(known: readonly LedgerEntry[], older: number, newer: number): boolean {
  const between = known.map(({ number }) => number).filter((number) => number > older && number < newer);
  return new Set(between).size < newer - older - 1;
}

/** The version that a number or an id names; undefined where it is not known, and for pins that name a content. */
export function findNamed<Known extends LedgerEntry>(known: readonly Known[], pin: Pin): Known | undefined {
  if (pin.kind === 'number') return known.find(({ number }) => number === pin.number);
  return pin.kind === 'version' ? known.find(({ id }) => id === pin.id) : undefined;
}

/** The version to use for a content: one that promptsync made before another's, then the newest. */
export function findContent<Known extends LedgerEntry>(known: readonly Known[], content: Content): Known | undefined {
  const holding = known.filter((version) => holds(version, content));
  return holding.find((version) => version.outside === undefined) ?? holding[0];
}

/**
 * Whether a content will be found again whatever becomes active: promptsync made a version of it, or a ledger names
 * one. Somebody else's version that is merely active is forgotten as soon as it no longer is, and so is one that was
 * looked at and that the tracking environment may not move to.
 */
export function isRemembered(observed: Observed, content: Content, head: Head): boolean {
  const known = knownVersions(observed);
  const named = versionsRead(observed).flatMap(({ stamp }) => stamp?.ledger ?? []);
  const served = [...observed.active.values(), head ?? null].filter((version) => version !== null);
  const own = served.map((version) => entryAsServed(version, known)).filter(({ outside }) => outside === undefined);
  const looked = observed.looked.filter((version) => mayFollow(version, head)).map(entryOf);
  // A head without a stamp is our own all the same: then the service drops metadata.
  const tracked = head === null || head === undefined ? [] : [entryOf(head)];
  return [...own, ...looked, ...tracked, ...named].some((entry) => holds(entry, content));
}

/**
 * The ledger for the next version: the newest known ones, those to keep (active now), and all that were pinned once, so
 * that their numbers can be pinned again.
 */
export function makeLedger(
  known: readonly LedgerEntry[],
  keptIds: ReadonlySet<string | undefined>,
  pinnedIds: ReadonlySet<string>,
): readonly LedgerEntry[] {
  const newestFirst = known.toSorted((a, b) => b.number - a.number);
  return newestFirst
    .map((entry): LedgerEntry => (pinnedIds.has(entry.id) ? { ...entry, pinned: true } : entry))
    .filter((entry, index) => index < NEWEST_KEPT || keptIds.has(entry.id) || entry.pinned === true);
}
