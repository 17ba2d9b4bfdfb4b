import { holdsContent, isSameContent } from '../domain/content.ts';
import { type ContentAtRef, computeCreatedDigests, type CreateVersion } from '../domain/plan.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import type { RemoteLangfuseVersion } from './client.ts';

/** Returns the contents that a prompt file had up to a commit. Returns null if git may not have all of them. */
export type ReadFormerContents = (commit: string, path: string) => Promise<readonly ContentAtRef[] | null>;

/**
 * Finds a version that an earlier sync of the same commit created and that Langfuse or a gateway rewrote. The stored
 * content of such a version differs from the content that promptsync sent. Langfuse has no version records, so
 * promptsync recognizes the commit of a version only by the commit message. Two commits can have the same message. If
 * the file had the stored content at a commit with this message, the version is not rewritten. Returns null for a file
 * that was not committed, because its versions have no commit message.
 */
export async function findRewrittenVersion(
  versions: readonly RemoteLangfuseVersion[],
  change: CreateVersion,
  readFormerContents: ReadFormerContents,
): Promise<RemoteLangfuseVersion | null> {
  const { commit, path } = change.provenance;
  const message = makeCommitMessage(change.provenance);
  if (message === undefined || commit === undefined || path === undefined) return null;
  const suspects = versions.filter((version) => version.message === message && mayBeRewritten(version, change));
  if (suspects.length === 0) return null;
  const formerContents = await readFormerContents(commit, path);
  if (formerContents === null) return null;
  // promptsync does not read the subject of every commit. A commit without a subject may have any message.
  const possiblySent = formerContents.filter(
    ({ provenance }) => (makeCommitMessage(provenance) ?? message) === message,
  );
  return suspects.find((version) => !possiblySent.some(({ content }) => holdsContent(version, content))) ?? null;
}

/** Whether Langfuse stored a version with the planned text and the planned config. */
export function isStoredAsPlanned(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return isSameContent(version, computeCreatedDigests(change));
}

/** Whether a version may be a rewritten form of the planned version. The texts differ at most in form. */
function mayBeRewritten(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return !isStoredAsPlanned(version, change) && differsOnlyInForm(version.content.text, change.content.text);
}

/** The maximum length of a commit message in Langfuse, in characters. */
const MAX_MESSAGE_LENGTH = 500;

/**
 * Returns the commit message for a version. It is the subject of the commit that the content is from, cut to the
 * maximum length. Returns undefined if promptsync knows no subject, as for a file that was not committed.
 */
export function makeCommitMessage({ changeSummary }: CreateVersion['provenance']): string | undefined {
  return changeSummary?.slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
}
