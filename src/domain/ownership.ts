import type { Observed } from './observed.ts';
import type { Content } from './prompt-file.ts';
import type { Version } from './version.ts';

/**
 * Whether promptsync made a version. Its stamp alone is no proof: whoever edits a copy in the service copies the stamp
 * as well. A copy shows by another text. It shows by other metadata, too, unless its number is the one right after its
 * ledger's newest: only the version that the stamp was written for can have that one, and some services add metadata.
 */
export function isOwn(version: Version): boolean {
  const { stamp, digest, metadataDigest } = version;
  if (stamp === null || stamp.digest !== digest) return false;
  return (stamp.metadataDigest ?? metadataDigest) === metadataDigest || followsLedger(version);
}

/** Whether the service stored something else than promptsync sent for this content: what was sent stands in the stamp. */
export function isRewritten(version: Version, { text, digest, metadataDigest }: Content): boolean {
  const { stamp } = version;
  if (stamp?.digest !== digest) return false;
  if (version.digest !== digest) return followsLedger(version) || differsInForm(version.text, text);
  const sent = metadataDigest !== undefined && stamp.metadataDigest === metadataDigest;
  return sent && version.metadataDigest !== metadataDigest && followsLedger(version);
}

/** Whether two texts are the same but for white space and Unicode's normal forms: what services tidy. */
export function differsInForm(one: string, other: string): boolean {
  return withoutForm(one) === withoutForm(other);
}

/** The version that the tracking environment stands on: null where there is none, undefined where it was not read. */
export type Head = Version | null | undefined;

export function headOf({ active }: Observed, trackingEnvironment: string | null): Head {
  return trackingEnvironment === null ? undefined : active.get(trackingEnvironment);
}

/**
 * Whether a version may be the newest of promptsync's after the head. Its ledger must name the head: otherwise what
 * only the head's ledger remembers would be forgotten.
 */
export function mayFollow(version: Version, head: Head): boolean {
  if (head === undefined || !isOwn(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.stamp?.ledger ?? []).some(({ id }) => id === head.id);
}

/**
 * Whether the service drops `metadata_`: promptsync stamps what it makes, and the head is one of its own. Where any
 * other version carries a stamp, somebody else has moved the tracking environment.
 */
export function dropsMetadata(observed: Observed, trackingEnvironment: string | null): boolean {
  const head = headOf(observed, trackingEnvironment) ?? null;
  const read = [...observed.active.values(), ...observed.looked];
  return head !== null && read.every((version) => version === null || version.stamp === null);
}

/** A content as such a service can hold it: a text without metadata is all that it ever shows. */
export function withoutMetadata({ text, digest }: Content): Content {
  return { text, digest };
}

function followsLedger({ number, stamp }: Version): boolean {
  const newest = Math.max(0, ...(stamp?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}

function withoutForm(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, '');
}
