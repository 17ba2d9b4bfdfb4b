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

/** The version that the tracking environment stands on; null where it was not read or there is none. */
export function headOf({ active }: Observed, trackingEnvironment: string | null): Version | null {
  return trackingEnvironment === null ? null : (active.get(trackingEnvironment) ?? null);
}

/**
 * Whether a version may be the newest of promptsync's after the head. Its ledger must name the head: otherwise what
 * only the head's ledger remembers would be forgotten.
 */
export function mayFollow(version: Version, head: Version | null): boolean {
  if (!isOwn(version)) return false;
  return head === null || (version.stamp?.ledger ?? []).some(({ id }) => id === head.id);
}

/** promptsync stamps what it makes: a head without a stamp was made for a service that drops `metadata_`. */
export function dropsMetadata(head: Version | null): boolean {
  return head !== null && head.stamp === null;
}

/** A content as the service can hold it: where it drops `metadata_`, a text without any is all that it ever shows. */
export function asKept(content: Content, head: Version | null): Content {
  return dropsMetadata(head) ? { text: content.text, digest: content.digest } : content;
}

function followsLedger({ number, stamp }: Version): boolean {
  const newest = Math.max(0, ...(stamp?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}

function withoutForm(text: string): string {
  return text.normalize('NFC').replaceAll(/\s+/g, '');
}
