import { makeCommitMessage } from '../../domain/commit-message.ts';
import { canReuseVersion, isSameVersionContent } from '../../domain/compare-content.ts';
import { computeCreatedDigests, type CreateVersion } from '../../domain/plan.ts';
import { differsOnlyInForm } from '../write-outcome.ts';
import { MAX_MESSAGE_LENGTH } from './file-rules.ts';
import type { RemoteLangfuseVersion } from './version.ts';

/**
 * Finds a version whose content Langfuse or a gateway changed when storing it. Langfuse has no version records, but the
 * commit message contains the commit id. A version with the same message as this change is therefore from an earlier
 * sync of the same content. Returns null if the file is not committed, because its versions then have no commit
 * message.
 */
export function findRewrittenVersion(
  versions: readonly RemoteLangfuseVersion[],
  change: CreateVersion,
): RemoteLangfuseVersion | null {
  const message = makeCommitMessage(change.provenance, MAX_MESSAGE_LENGTH);
  if (message === undefined) return null;
  return versions.find((version) => version.message === message && mayBeRewritten(version, change)) ?? null;
}

/** Returns true if the version has exactly the planned text and config. */
export function isStoredAsPlanned(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return isSameVersionContent(version, computeCreatedDigests(change));
}

/** Returns true if the version differs from the planned content, but only in white space or Unicode normalization. */
function mayBeRewritten(version: RemoteLangfuseVersion, { content }: CreateVersion): boolean {
  return !canReuseVersion(version, content) && differsOnlyInForm(version.content.text, content.text);
}
