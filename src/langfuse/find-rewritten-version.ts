import { holdsContent, isSameContent } from '../domain/content.ts';
import { computeCreatedDigests, type CreateVersion } from '../domain/plan.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import type { RemoteLangfuseVersion } from './version.ts';
import type { ProviderOpening } from '../providers/descriptor.ts';

/**
 * Finds a version whose content Langfuse or a gateway changed when storing it. Considers only versions with the commit
 * message of this change, because an earlier sync of the same commit may have created them.
 *
 * Langfuse has no version records, so only the commit message of a version shows which commit it comes from. Several
 * commits can have the same message. A version does not count as changed if the file had the stored content at one of
 * these commits, because promptsync may have sent exactly that content.
 *
 * Returns null if the file is not committed, because its versions then have no commit message. Also returns null if the
 * history of the file may be incomplete.
 */
export async function findRewrittenVersion(
  versions: readonly RemoteLangfuseVersion[],
  change: CreateVersion,
  readFormerContents: ProviderOpening['readFormerContents'],
): Promise<RemoteLangfuseVersion | null> {
  const { commit, path } = change.provenance;
  const message = makeCommitMessage(change.provenance);
  if (message === undefined || commit === undefined || path === undefined) return null;
  const suspects = versions.filter((version) => version.message === message && mayBeRewritten(version, change));
  if (suspects.length === 0) return null;
  const formerContents = await readFormerContents(commit, path);
  if (formerContents === null) return null;
  // promptsync does not read the subject of every commit. If a subject is unknown, assume that the message matches.
  const possiblySent = formerContents.filter(
    ({ provenance }) => (makeCommitMessage(provenance) ?? message) === message,
  );
  return suspects.find((version) => !possiblySent.some(({ content }) => holdsContent(version, content))) ?? null;
}

/** Returns true if the version has exactly the planned text and config. */
export function isStoredAsPlanned(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return isSameContent(version, computeCreatedDigests(change));
}

/**
 * Returns true if Langfuse or a gateway may have changed the planned content when storing this version. The stored
 * content then differs from the plan, but the text has at most different white space or Unicode normalization.
 */
function mayBeRewritten(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return !isStoredAsPlanned(version, change) && differsOnlyInForm(version.content.text, change.content.text);
}

/** The maximum length of a commit message in Langfuse, in characters. */
const MAX_MESSAGE_LENGTH = 500;

/**
 * Returns the commit message for a new version. This is the subject of the commit that introduced the content,
 * truncated to the maximum length. Returns undefined if the subject is unknown, for example because the file is not
 * committed.
 */
export function makeCommitMessage({ changeSummary }: CreateVersion['provenance']): string | undefined {
  return changeSummary?.slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
}
