import { EMPTY_METADATA_DIGEST } from './digest.ts';
import { versionsRead, type Observed } from './observed.ts';
import type { Content } from './prompt-file.ts';
import type { LedgerEntry, Version } from './version.ts';

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

/** Whether a version is a copy in which metadata was edited: what its stamp was written for is known. */
export function isCopy(version: Version, known: readonly LedgerEntry[]): boolean {
  return isDoubtful(version) && hasOriginal(version, known);
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

/** Whether two texts are the same but for white space and Unicode's normal forms: what services tidy. */
export function differsInForm(one: string, other: string): boolean {
  return withoutForm(one) === withoutForm(other);
}

/** The version that the tracking environment stands on: null where there is none, undefined where it was not read. */
export type Head = Version | null | undefined;

export function headOf({ active }: Observed, trackingEnvironment: string): Head {
  return active.get(trackingEnvironment);
}

/**
 * Whether a version may be the newest of promptsync's after the head. Its ledger must name the head: otherwise what
 * only the head's ledger remembers would be forgotten.
 */
export function mayFollow(version: Version, head: Head): boolean {
  if (head === undefined || !isOwn(version) || isDoubtful(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.stamp?.ledger ?? []).some(({ id }) => id === head.id);
}

/**
 * Whether the service drops `metadata_`: promptsync stamps what it makes, and the head is one of its own. Where any
 * other version carries a stamp, somebody else has moved the tracking environment.
 */
export function dropsMetadata(observed: Observed, trackingEnvironment: string): boolean {
  const head = headOf(observed, trackingEnvironment) ?? null;
  return head !== null && versionsRead(observed).every(({ stamp }) => stamp === null);
}

/** A content as the service can hold it: where it forgets metadata, a text without any is all that it ever shows. */
export function asKept(content: Content, forgets: boolean): Content {
  return forgets ? { text: content.text, digest: content.digest } : content;
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

function withoutForm(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, '');
}
