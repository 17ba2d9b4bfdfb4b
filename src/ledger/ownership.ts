import { type Content, EMPTY_METADATA_DIGEST } from '../domain/content.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import { type LedgerEntry, pickPresentFacts, type LedgerVersion } from './version-record.ts';

/**
 * Whether promptsync created a version: its version record contains the digest of its text. The record alone proves
 * nothing, because somebody who copies a version in the service and edits the copy also copies the record.
 */
export function isManagedVersion(version: LedgerVersion): boolean {
  return version.record?.digest === version.content.digest;
}

/**
 * Whether a version may be a copy of a managed version with edited metadata. The metadata of such a version does not
 * match the digest in its version record. This also happens if the service itself adds metadata. A version whose number
 * directly follows its ledger is no copy, because only the version that the record was written for has that number.
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

/** Makes the ledger entry of a version. A version that may be an edited copy counts as foreign. */
export function makeLedgerEntry(version: LedgerVersion): LedgerEntry {
  return toEntry(version, isManagedVersion(version) && !mayBeEditedCopy(version));
}

/**
 * Makes the entry of a version that an environment serves. The version counts as foreign only if it is certainly an
 * edited copy. Otherwise a service that adds metadata to every version would never be in sync.
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
 * Whether promptsync sent this content for a version and the service stored another content. The version record
 * contains the digests of the sent content.
 * @param known all known versions, to tell a rewritten version from an edited copy of a version with this content
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
 * Whether a version may be the result of a create call, from a service that tidies texts and drops all metadata: it has
 * no metadata, and its text differs from the sent text only in form.
 */
export function mayBeTidiedCreate({ record, content: stored }: LedgerVersion, content: Content): boolean {
  const hasNoMetadata = record === null && stored.metadataDigest === EMPTY_METADATA_DIGEST;
  return hasNoMetadata && stored.digest !== content.digest && differsOnlyInForm(stored.text, content.text);
}

/** The version in the tracking environment. Null if none is active there. Undefined if promptsync did not read it. */
export type LedgerHead = LedgerVersion | null | undefined;

/**
 * Whether the tracking environment may move from the head to a version. The version must be managed and newer, and its
 * ledger must contain the head. Otherwise promptsync would forget the versions that only the ledger of the head
 * contains.
 */
export function mayFollowHead(version: LedgerVersion, head: LedgerHead): boolean {
  if (head === undefined || !isManagedVersion(version) || mayBeEditedCopy(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.record?.ledger ?? []).some(({ id }) => id === head.id);
}

/**
 * Whether an earlier version holds exactly the content that the record of this version describes. If so, this version
 * is a copy, because promptsync never creates a content twice.
 */
function hasOriginal({ number, record }: LedgerVersion, known: readonly LedgerEntry[]): boolean {
  return known.some(
    (entry) =>
      entry.number < number && entry.digest === record?.digest && entry.metadataDigest === record.metadataDigest,
  );
}

/**
 * Whether the number of a version is the one after the newest number in its ledger. Only the version that the record
 * was written for has this number.
 */
export function directlyFollowsLedger({ number, record }: LedgerVersion): boolean {
  const newest = Math.max(0, ...(record?.ledger ?? []).map((entry) => entry.number));
  return number === newest + 1;
}
