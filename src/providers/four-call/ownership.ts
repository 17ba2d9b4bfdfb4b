import { type Content, EMPTY_METADATA_DIGEST } from '../../domain/content.ts';
import { differsOnlyInForm } from '../write-outcome.ts';
import { type LedgerEntry, pickPresentFacts, type LedgerVersion } from './version-record.ts';

/**
 * Returns true if the version has the text that its version record describes. It may still be a copy (see
 * `mayBeEditedCopy`). A record alone proves nothing: if somebody copies a version and edits the text, the copy still
 * has the record of its original.
 */
export function isManagedVersion(version: LedgerVersion): boolean {
  return version.record?.digest === version.content.digest;
}

/**
 * Returns true if a version may be a copy of a managed version with edited metadata, which does not match the digest in
 * its version record. That alone proves nothing, because some services add metadata. A version whose number directly
 * follows its ledger is the original, because a copy in the same prompt has a higher number.
 */
export function mayBeEditedCopy(version: LedgerVersion): boolean {
  const hasOtherMetadata = version.record?.metadataDigest !== version.content.metadataDigest;
  return isManagedVersion(version) && hasOtherMetadata && !directlyFollowsLedger(version);
}

/** A version that may be an edited copy counts as foreign. */
export function makeLedgerEntry(version: LedgerVersion): LedgerEntry {
  return toEntry(version, isManagedVersion(version) && !mayBeEditedCopy(version));
}

/**
 * For an active version, an edited copy counts as foreign only if its original is known. Some services add metadata, so
 * every version there may look like an edited copy. If all of them counted as foreign, no prompt would ever be in sync.
 */
export function makeServedEntry(version: LedgerVersion, known: readonly LedgerEntry[]): LedgerEntry {
  const isCopy = mayBeEditedCopy(version) && hasOriginal(version, known);
  return toEntry(version, isManagedVersion(version) && !isCopy);
}

function toEntry({ number, id, content, record }: LedgerVersion, isManaged: boolean): LedgerEntry {
  const { digest, metadataDigest } = content;
  const entry = { number, id, digest, metadataDigest, isManaged };
  if (record === null || !isManaged) return entry;
  const { commit, path, baseline } = record;
  return { ...entry, ...pickPresentFacts({ commit, path, baseline }) };
}

/**
 * Returns true if the service stored different content than promptsync sent for this version, according to the digests
 * in its version record. An edited copy of one of the `known` versions does not count.
 */
export function isRewritten(version: LedgerVersion, content: Content, known: readonly LedgerEntry[]): boolean {
  const { digest, metadataDigest } = content;
  const { record, content: stored } = version;
  if (record?.digest !== digest || hasOriginal(version, known)) return false;
  if (record.metadataDigest !== (metadataDigest ?? EMPTY_METADATA_DIGEST)) return false;
  if (stored.digest !== digest) return directlyFollowsLedger(version) || differsOnlyInForm(stored.text, content.text);
  return metadataDigest !== undefined && stored.metadataDigest !== metadataDigest;
}

/**
 * Returns true if promptsync may have created this version with the given content, and the service dropped its metadata
 * and changed only white space or Unicode normalization.
 */
export function mayBeTidiedCreate({ record, content: stored }: LedgerVersion, content: Content): boolean {
  const hasNoMetadata = record === null && stored.metadataDigest === EMPTY_METADATA_DIGEST;
  return hasNoMetadata && stored.digest !== content.digest && differsOnlyInForm(stored.text, content.text);
}

/** The version in the tracking environment. Null if none is active. Undefined if promptsync did not read it. */
export type LedgerHead = LedgerVersion | null | undefined;

/**
 * Returns true if the tracking environment may move to this version from the head. The version must be managed and
 * newer, and its ledger must contain the head. Otherwise promptsync would forget the versions that are only in the
 * head's ledger.
 */
export function mayFollowHead(version: LedgerVersion, head: LedgerHead): boolean {
  if (head === undefined || !isManagedVersion(version) || mayBeEditedCopy(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.record?.ledger ?? []).some(({ id }) => id === head.id);
}

/** Returns the newest of the versions to which the tracking environment may move. */
export function findNextHead(versions: readonly LedgerVersion[], head: LedgerHead): LedgerVersion | undefined {
  const following = versions.filter((version) => mayFollowHead(version, head));
  return following.toSorted((a, b) => b.number - a.number)[0];
}

/**
 * Returns true if an earlier version has the content that the version record describes. The version is then a copy,
 * because promptsync never creates the same content twice.
 */
function hasOriginal({ number, record }: LedgerVersion, known: readonly LedgerEntry[]): boolean {
  return known.some(
    (entry) =>
      entry.number < number && entry.digest === record?.digest && entry.metadataDigest === record.metadataDigest,
  );
}

/** Returns true if the number is one higher than the highest in the ledger. A copy has a higher number. */
export function directlyFollowsLedger({ number, record }: LedgerVersion): boolean {
  const newest = Math.max(0, ...(record?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}
