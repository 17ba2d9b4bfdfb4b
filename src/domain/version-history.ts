import type { Digest } from './digest.ts';

/** A commit id, with the details of the commit if the repository contains it. */
export type CommitInfo = {
  readonly commit: string;
  readonly author?: string;
  /** The author date in ISO 8601, with the time zone offset. */
  readonly date?: string;
  readonly subject?: string;
  /** The pull request on GitHub, such as `#12`, or the merge request on GitLab, such as `!12`. */
  readonly pullRequest?: string;
};

/** A period in which the file pinned an environment to the same version, according to git. */
export type PinnedPeriod = {
  readonly environment: string;
  /** The commit that began the period. Null if the period began before the oldest known state of the file. */
  readonly from: CommitInfo | null;
  /** Null if the newest state of the file still pins the version, whether or not the service serves it. */
  readonly until: CommitInfo | null;
};

/**
 * The origin of a version:
 * - `git`, `uncommitted`: promptsync created the version from a file that was or was not committed.
 * - `before-adoption`, `outside`: Somebody else created it, before or after promptsync's first version of the prompt.
 * - `unknown`: The service does not show who created the version.
 */
export type VersionOrigin = 'git' | 'uncommitted' | 'before-adoption' | 'outside' | 'unknown';

export type VersionHistory = {
  readonly ref: { readonly id: string; readonly number: number };
  readonly digest: Digest;
  readonly origin: VersionOrigin;
  readonly isBaseline: boolean;
  /** The commit from which promptsync created the version. Null if there is none, or if it is unknown. */
  readonly commit: CommitInfo | null;
  /** Relative to the repository root. Null if the path is unknown. */
  readonly path: string | null;
  /** Undefined if the service does not show a message. */
  readonly message: string | undefined;
  /** In milliseconds since 1970. Null if the service does not show it, or if the date of a commit counts instead. */
  readonly createdAt: number | null;
  /** The user or the API key that created the version. Null if the service does not show it. */
  readonly createdBy: string | null;
  readonly activeIn: readonly string[];
  /** Grouped by environment, newest first in each group. */
  readonly pinnedPeriods: readonly PinnedPeriod[];
};

export type VersionHistories = {
  /** The history of each version, by prompt id. The newest version of each prompt comes first. */
  readonly versions: ReadonlyMap<string, readonly VersionHistory[]>;
  /** The environment whose active version the user wants to trace. Null if the user wants to see all versions. */
  readonly environment: string | null;
};
