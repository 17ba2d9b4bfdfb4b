import { type Content, EMPTY_METADATA_DIGEST } from '../domain/content.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import { type LedgerEntry, pickPresentFacts, type LedgerVersion } from './version-record.ts';

/**
 * Returns true if promptsync created the version. The version record must contain the digest of the text. The presence
 * of a record is not enough, because somebody who copies a version in the service and edits the copy also copies the
 * record.
 */
export function isManagedVersion(version: LedgerVersion): boolean {
  return version.record?.digest === version.content.digest;
}

/**
 * Returns true if a version may be a copy of a managed version with edited metadata. The metadata of such a version
 * does not match the digest in its version record. The same mismatch occurs if the service itself adds metadata. A
 * version whose number directly follows its ledger is not a copy, because only the version for which the record was
 * written has that number.
 */
export function mayBeEditedCopy(version: LedgerVersion): boolean {
  const sent = version.record?.metadataDigest;
  return (
    isManagedVersion(version) &&
    sent !== undefined &&
    sent !== version.content.metadataDigest &&
    !directlyFollowsLedger(version)
  );
}

/** Creates the ledger entry of a version. A version that may be an edited copy counts as foreign. */
export function makeLedgerEntry(version: LedgerVersion): LedgerEntry {
  return toEntry(version, isManagedVersion(version) && !mayBeEditedCopy(version));
}

/**
 * Creates the ledger entry of a version that is active in an environment. The version counts as foreign only if it is
 * certainly an edited copy. Otherwise, with a service that adds metadata to every version, no prompt would ever be in
 * sync.
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
 * Returns true if promptsync sent this content for a version, but the service stored different content. The version
 * record contains the digests of the sent content.
 * @param known all known versions, to distinguish a rewritten version from an edited copy of a version with this
 * content
 */
export function isRewritten(version: LedgerVersion, content: Content, known: readonly LedgerEntry[]): boolean {
  const { digest, metadataDigest } = content;
  const { record, content: stored } = version;
  if (record?.digest !== digest || hasOriginal(version, known)) return false;
  const sent = record.metadataDigest;
  if (sent !== undefined && sent !== (metadataDigest ?? EMPTY_METADATA_DIGEST)) return false;
  if (stored.digest !== digest) return directlyFollowsLedger(version) || differsOnlyInForm(stored.text, content.text);
  return sent !== undefined && metadataDigest !== undefined && stored.metadataDigest !== metadataDigest;
}

/**
 * Returns true if a version may come from a create call to a service that rewrites text and drops all metadata. Such a
 * version has no metadata, and its text differs from the sent text only in white space or Unicode normalization.
 */
export function mayBeTidiedCreate({ record, content: stored }: LedgerVersion, content: Content): boolean {
  const hasNoMetadata = record === null && stored.metadataDigest === EMPTY_METADATA_DIGEST;
  return hasNoMetadata && stored.digest !== content.digest && differsOnlyInForm(stored.text, content.text);
}

/**
 * The version that is active in the tracking environment. Null if none is active. Undefined if promptsync did not read
 * the environment.
 */
export type LedgerHead = LedgerVersion | null | undefined;

/**
 * Returns true if the tracking environment may move from its current version, the head, to the given version. The given
 * version must be managed and newer, and its ledger must contain the head. Otherwise promptsync would forget the
 * versions that only the ledger of the head contains.
 */
export function mayFollowHead(version: LedgerVersion, head: LedgerHead): boolean {
  if (head === undefined || !isManagedVersion(version) || mayBeEditedCopy(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.record?.ledger ?? []).some(({ id }) => id === head.id);
}

/**
 * Returns true if an earlier version has exactly the content that the record of this version describes. This version is
 * then a copy, because promptsync never creates the same content twice.
 */
function hasOriginal({ number, record }: LedgerVersion, known: readonly LedgerEntry[]): boolean {
  return known.some(
    (entry) =>
      entry.number < number && entry.digest === record?.digest && entry.metadataDigest === record.metadataDigest,
  );
}

/**
 * Returns true if the number of a version is one higher than the highest number in its ledger. Only the version for
 * which the record was written has this number.
 */
export function directlyFollowsLedger({ number, record }: LedgerVersion): boolean {
  const newest = Math.max(0, ...(record?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}
