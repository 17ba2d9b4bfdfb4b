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
  /**
   * The commit that ended the period. Null if the newest state of the file still pins the version, whether or not the
   * service serves it.
   */
  readonly until: CommitInfo | null;
};

/**
 * The origin of a version:
 * - `git`: promptsync created the version from a committed file.
 * - `uncommitted`: promptsync created the version from a file that was not committed.
 * - `before-adoption`: Somebody created the version before promptsync created its first version of the prompt.
 * - `outside`: Somebody created the version without promptsync, after promptsync created its first version of the
 *   prompt.
 * - `unknown`: The service does not show who created the version.
 */
export type VersionOrigin = 'git' | 'uncommitted' | 'before-adoption' | 'outside' | 'unknown';

/** The history of one version: where it came from, which environments serve it, and when the file pinned it. */
export type VersionHistory = {
  readonly ref: { readonly id: string; readonly number: number };
  readonly digest: Digest;
  readonly origin: VersionOrigin;
  /** Whether the version is a baseline. */
  readonly isBaseline: boolean;
  /** The commit from which promptsync created the version. Null if there is none, or if it is unknown. */
  readonly commit: CommitInfo | null;
  /**
   * The path of the prompt file at that commit, relative to the repository root. Null if the path is unknown.
   */
  readonly path: string | null;
  /** The message that the creator of the version stored with it. Undefined if the service does not show a message. */
  readonly message: string | undefined;
  /**
   * The time at which the service created the version, in milliseconds since 1970. Null if the service does not show
   * it. Also null if promptsync certainly created the version from a commit, because the date of the commit counts
   * then.
   */
  readonly createdAt: number | null;
  /** The user or the API key that created the version. Null if the service does not show it. */
  readonly createdBy: string | null;
  /** The environments in which the version is active. */
  readonly activeIn: readonly string[];
  /**
   * The periods in which the file pinned an environment to the version. They are grouped by environment, and the newest
   * period of each group comes first.
   */
  readonly pinnedPeriods: readonly PinnedPeriod[];
};

/** The version histories of all selected prompts. */
export type VersionHistories = {
  /** The history of each version, by prompt id. The newest version of each prompt comes first. */
  readonly versions: ReadonlyMap<string, readonly VersionHistory[]>;
  /** The environment whose active version the user wants to trace. Null if the user wants to see all versions. */
  readonly environment: string | null;
};
