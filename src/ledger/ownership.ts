import { EMPTY_METADATA_DIGEST } from '../domain/digest.ts';
import type { Content } from '../domain/prompt-file.ts';
import { type LedgerEntry, present, type Version } from './stamp.ts';

/**
 * Whether promptsync made a version: its stamp speaks of its text. The stamp alone is no proof, because whoever edits a
 * copy in the service copies the stamp as well.
 */
export function isOwn(version: Version): boolean {
  return version.stamp?.digest === version.digest;
}

/**
 * Whether a version with a stamp of promptsync's may be a copy in which metadata was edited, or one to which the
 * service itself added some. It is none where its number is the one right after its ledger's newest: only the version
 * that the stamp was written for can have that one.
 */
export function isDoubtful(version: Version): boolean {
  const sent = version.stamp?.metadataDigest;
  return isOwn(version) && sent !== undefined && sent !== version.metadataDigest && !followsLedger(version);
}

/** A version as a ledger remembers it: as somebody else's where it may be a copy. */
export function entryOf(version: Version): LedgerEntry {
  return toEntry(version, isOwn(version) && !isDoubtful(version));
}

/**
 * A version as it counts where it is served already: as our own unless it is known to be a copy. Some services add
 * metadata of their own, and what they serve is in sync all the same.
 */
export function entryAsServed(version: Version, known: readonly LedgerEntry[]): LedgerEntry {
  const isCopy = isDoubtful(version) && hasOriginal(version, known);
  return toEntry(version, isOwn(version) && !isCopy);
}

function toEntry({ number, id, digest, metadataDigest, stamp }: Version, ours: boolean): LedgerEntry {
  const entry = { number, id, digest, metadataDigest, ours };
  if (stamp === null || !ours) return entry;
  const { commit, path, baseline } = stamp;
  return { ...entry, ...present({ commit, path, baseline }) };
}

/** Whether the service stored something else than promptsync sent for this content: what was sent stands in the stamp. */
export function isRewritten(version: Version, content: Content, known: readonly LedgerEntry[]): boolean {
  const { digest, metadataDigest } = content;
  const { stamp } = version;
  if (stamp?.digest !== digest || hasOriginal(version, known)) return false;
  const sent = stamp.metadataDigest;
  if (sent !== undefined && sent !== (metadataDigest ?? EMPTY_METADATA_DIGEST)) return false;
  if (version.digest !== digest) return followsLedger(version) || differsInForm(version.text, content.text);
  return sent !== undefined && metadataDigest !== undefined && version.metadataDigest !== metadataDigest;
}

/** A service that has kept the text but for its form, and no metadata at all: what turned up may well be what was sent. */
export function isTidied({ stamp, text, digest, metadataDigest }: Version, content: Content): boolean {
  const bare = stamp === null && metadataDigest === EMPTY_METADATA_DIGEST;
  return bare && digest !== content.digest && differsInForm(text, content.text);
}

/** Whether two texts are the same but for white space and Unicode's normal forms: what services tidy. */
function differsInForm(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.normalize('NFC').replaceAll(/\s+/g, ''));
  return a === b;
}

/** The version that the tracking environment stands on: null where there is none, undefined where it was not read. */
export type Head = Version | null | undefined;

/**
 * Whether a version may be the newest of promptsync's after the head. Its ledger must name the head: otherwise what
 * only the head's ledger remembers would be forgotten.
 */
export function mayFollow(version: Version, head: Head): boolean {
  if (head === undefined || !isOwn(version) || isDoubtful(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.stamp?.ledger ?? []).some(({ id }) => id === head.id);
}

/** Whether a version before this one holds exactly what the stamp was written for: nothing is made twice. */
function hasOriginal({ number, stamp }: Version, known: readonly LedgerEntry[]): boolean {
  return known.some(
    (entry) => entry.number < number && entry.digest === stamp?.digest && entry.metadataDigest === stamp.metadataDigest,
  );
}

/** Whether a version has the number right after its ledger's newest: the one that the stamp was written for has. */
export function followsLedger({ number, stamp }: Version): boolean {
  const newest = Math.max(0, ...(stamp?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}
