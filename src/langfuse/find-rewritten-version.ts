import { holdsContent, isSameContent } from '../domain/content.ts';
import { type ContentAtRef, computeCreatedDigests, type CreateVersion } from '../domain/plan.ts';
import { differsOnlyInForm } from '../service/write-outcome.ts';
import type { RemoteLangfuseVersion } from './client.ts';

/** Returns the contents that a prompt file had up to a commit. Returns null if git may not have all of them. */
export type ReadFormerContents = (commit: string, path: string) => Promise<readonly ContentAtRef[] | null>;

/**
 * Finds the version that an earlier sync of the same commit created, and that Langfuse or a gateway stored with another
 * content than promptsync sent. Without a version record, only the commit message says which commit a version is from.
 * Two commits can have the same message. A version that holds what git has at a commit with this message is therefore
 * not rewritten. Returns null for a file that was not committed, because its versions have no commit message.
 */
export async function findRewrittenVersion(
  versions: readonly RemoteLangfuseVersion[],
  change: CreateVersion,
  readFormerContents: ReadFormerContents,
): Promise<RemoteLangfuseVersion | null> {
  const { commit, path } = change.provenance;
  const message = makeCommitMessage(change.provenance);
  if (message === undefined || commit === undefined || path === undefined) return null;
  const suspects = versions.filter((version) => version.message === message && maybeRewritten(version, change));
  if (suspects.length === 0) return null;
  const former = await readFormerContents(commit, path);
  if (former === null) return null;
  // git can have more commits than promptsync reads the subjects of. A commit without a subject may have any message.
  const sent = former.filter(({ provenance }) => (makeCommitMessage(provenance) ?? message) === message);
  return suspects.find((version) => !sent.some(({ content }) => holdsContent(version, content))) ?? null;
}

/** Whether Langfuse stored a version with the text and the config that the plan says. */
export function isStoredAsPlanned(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return isSameContent(version, computeCreatedDigests(change));
}

/** Whether a version can be a rewritten form of the planned one: its text differs at most in form. */
function maybeRewritten(version: RemoteLangfuseVersion, change: CreateVersion): boolean {
  return !isStoredAsPlanned(version, change) && differsOnlyInForm(version.content.text, change.content.text);
}

/** In characters, the most that Langfuse takes. */
const MAX_MESSAGE_LENGTH = 500;

/** Returns the commit message of a version: the subject of the commit that its content is from, as far as Langfuse takes it. */
export function makeCommitMessage({ changeSummary }: CreateVersion['provenance']): string | undefined {
  return changeSummary?.slice(0, MAX_MESSAGE_LENGTH).toWellFormed();
}
