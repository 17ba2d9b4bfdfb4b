import { type Content, EMPTY_METADATA_DIGEST } from '../../domain/content.ts';
import { differsOnlyInForm } from '../write-outcome.ts';
import { type LedgerEntry, pickPresentFacts, type LedgerVersion } from './version-record.ts';

/**
 * Returns true if promptsync created the version. A version record alone proves nothing: if somebody copies a version
 * and edits the copy, the copy still has the record of its original. Therefore the text and the metadata must match the
 * record. Some services add metadata, so other metadata is allowed if the number directly follows the ledger: a copy in
 * the same prompt has a higher number.
 */
export function isManagedVersion(version: LedgerVersion): boolean {
  const { record, content } = version;
  if (record?.digest !== content.digest) return false;
  return record.metadataDigest === content.metadataDigest || directlyFollowsLedger(version);
}

export function makeLedgerEntry(version: LedgerVersion): LedgerEntry {
  const { number, id, content, record } = version;
  const { digest, metadataDigest } = content;
  const isManaged = isManagedVersion(version);
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
  if (head === undefined || !isManagedVersion(version)) return false;
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
