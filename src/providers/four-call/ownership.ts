import { type Content, EMPTY_METADATA_DIGEST } from '../../domain/content.ts';
import { differsOnlyInForm } from '../write-outcome.ts';
import { type LedgerEntry, pickPresentFacts, type LedgerVersion } from './version-record.ts';

/**
 * Returns true if the version has the text that its version record describes. Either promptsync created the version, or
 * it is a copy whose text nobody edited (see `mayBeEditedCopy`). A record alone proves nothing: if somebody copies a
 * version in the service and edits the text of the copy, the copy still has the record of its original.
 */
export function isManagedVersion(version: LedgerVersion): boolean {
  return version.record?.digest === version.content.digest;
}

/**
 * Returns true if a version may be a copy of a managed version with edited metadata. The metadata of such a copy does
 * not match the metadata digest in its version record.
 *
 * A mismatch alone does not prove that the version is a copy, because some services add metadata of their own. The
 * version is certainly the original if its number directly follows the newest number in its ledger. A copy in the same
 * prompt always has a higher number.
 */
export function mayBeEditedCopy(version: LedgerVersion): boolean {
  const hasOtherMetadata = version.record?.metadataDigest !== version.content.metadataDigest;
  return isManagedVersion(version) && hasOtherMetadata && !directlyFollowsLedger(version);
}

/** Creates a ledger entry for a version. A version that may be an edited copy counts as foreign. */
export function makeLedgerEntry(version: LedgerVersion): LedgerEntry {
  return toEntry(version, isManagedVersion(version) && !mayBeEditedCopy(version));
}

/**
 * Creates a ledger entry for a version that is active in an environment. A version that may be an edited copy counts as
 * foreign only if its original is known. Some services add metadata to every version, so every version there may look
 * like an edited copy. If all of them counted as foreign, no prompt would ever be in sync.
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
 * Returns true if promptsync sent the given content for this version, but the service stored different content. The
 * version record shows this, because it contains the digests of the content that was sent.
 * @param known all known versions. If the original of the given version is among them, the given version is an edited
 * copy, and the result is false
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
 * Returns true if promptsync may have created this version with the given content, and the service changed it. The
 * stored version then has no metadata, and its text differs from the given text only in white space or Unicode
 * normalization.
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
 * versions that are only in the ledger of the head.
 */
export function mayFollowHead(version: LedgerVersion, head: LedgerHead): boolean {
  if (head === undefined || !isManagedVersion(version) || mayBeEditedCopy(version)) return false;
  if (head === null) return true;
  return version.number > head.number && (version.record?.ledger ?? []).some(({ id }) => id === head.id);
}

/**
 * Returns the newest of the given versions to which the tracking environment may move, or undefined if there is none.
 */
export function findNextHead(versions: readonly LedgerVersion[], head: LedgerHead): LedgerVersion | undefined {
  const following = versions.filter((version) => mayFollowHead(version, head));
  return following.toSorted((a, b) => b.number - a.number)[0];
}

/**
 * Returns true if an earlier version has exactly the content that the version record describes. The given version must
 * then be a copy, because promptsync never creates the same content twice.
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
