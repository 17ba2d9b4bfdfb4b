import { holdsContent, isSameContent } from '../domain/content.ts';
import { type ContentAtRef, computeCreatedDigests, type CreateVersion } from '../domain/plan.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import type { RemoteLangfuseVersion } from './client.ts';

/**
 * Returns the content that a prompt file had at each commit in its history up to the given commit or up to HEAD.
 * Returns null if the clone may lack a part of that history.
 */
export type ReadFormerContents = (commit: string, path: string) => Promise<readonly ContentAtRef[] | null>;

/**
 * Finds a version that an earlier sync of the same commit created, but that Langfuse or a gateway stored with different
 * content than promptsync sent.
 *
 * Langfuse has no version records, so promptsync recognizes the commit of a version only by the commit message. Two
 * commits can have the same message. If the file had the stored content at any commit with this message, the version
 * does not count as rewritten. Returns null for an uncommitted file, because its versions have no commit message.
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
  // promptsync does not read the subject of every commit. If the subject is unknown, assume that the message matches.
  const possiblySent = formerContents.filter(
    ({ provenance }) => (makeCommitMessage(provenance) ?? message) === message,
  );
  return suspects.find((version) => !possiblySent.some(({ content }) => holdsContent(version, content))) ?? null;
}

/** Returns true if the version has the planned text and the planned config. */
export function isStoredAsPlanned(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return isSameContent(version, computeCreatedDigests(change));
}

/**
 * Returns true if Langfuse may have stored the planned content in a changed form. The text of such a version differs
 * from the planned text at most in white space or Unicode normalization.
 */
function mayBeRewritten(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return !isStoredAsPlanned(version, change) && differsOnlyInForm(version.content.text, change.content.text);
}

/** The maximum length of a commit message in Langfuse, in characters. */
const MAX_MESSAGE_LENGTH = 500;

/**
 * Returns the commit message for a new version, which is the subject of the commit that introduced the content.
 * Truncates it to the maximum length. Returns undefined if the subject is unknown, for example for an uncommitted file.
 */
export function makeCommitMessage({ changeSummary }: CreateVersion['provenance']): string | undefined {
  return changeSummary?.slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
}
