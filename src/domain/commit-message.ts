import { cutText, shortenCommitId } from '../text.ts';
import type { Provenance } from './plan.ts';
import type { KnownVersion } from './versions.ts';

/**
 * Returns the subject and the id of the commit that introduced the content, such as `Explain the decision
 * (9f2c1ab04d3e)`. Truncates the subject to fit `maxLength` UTF-16 code units. Undefined if the file is not committed.
 */
export function makeCommitMessage(
  { commit, changeCommit = commit, changeSummary }: Provenance,
  maxLength: number,
): string | undefined {
  if (changeCommit === undefined) return undefined;
  const id = `(${shortenCommitId(changeCommit)})`;
  if (changeSummary === undefined) return id;
  return `${cutText(changeSummary.toWellFormed(), maxLength - id.length - 1)} ${id}`;
}

/** Returns the shortened commit id at the end of a version's message. */
export function findCommitIdInMessage(message: string): string | null {
  return /(?:^| )\(([0-9a-f]{12})\)$/.exec(message)?.[1] ?? null;
}

/**
 * Returns the commit that the record or the message of a version names as its source. The id in a message is shortened.
 * Returns null if the version names none, or if somebody else created it.
 */
export function findNamedCommit({ isManaged, source, message = '' }: KnownVersion): string | null {
  if (isManaged === null) return findCommitIdInMessage(message);
  return (isManaged ? source?.commit : undefined) ?? null;
}
