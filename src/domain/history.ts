import type { Digest } from './digest.ts';
import type { Pin } from './prompt-file.ts';
import type { Content } from './content.ts';

/** The pin of an environment at an earlier commit. */
export type FormerPin = {
  readonly commit: string;
  /** The number of states of the file that are newer than the state with this pin. */
  readonly age: number;
  readonly pin: Pin;
  /**
   * The content that the pin refers to. For `latest`, this is the content of the file at that commit. For `git:<ref>`,
   * it is the content at the commit that the ref points to now. Null if the content is unknown, and for pins by number
   * or id.
   */
  readonly content: Content | null;
  /**
   * Whether the pin is certain to mean the same now as at that commit. False for branches and tags, because they can
   * move.
   */
  readonly isFixed: boolean;
};

/** The pins at earlier commits, by environment. The pins of each environment are sorted newest first. */
export type FormerPins = ReadonlyMap<string, readonly FormerPin[]>;

/** A commit id and the details of the commit. The details are absent if the repository does not contain the commit. */
export type CommitInfo = {
  readonly commit: string;
  readonly author?: string;
  /** The author date in ISO 8601, with the time zone offset. */
  readonly date?: string;
  readonly subject?: string;
  /** The pull request on GitHub, such as `#12`, or the merge request on GitLab, such as `!12`. */
  readonly pullRequest?: string;
};

/** A period in which the file pinned an environment to one version, according to git. */
export type PinnedPeriod = {
  readonly environment: string;
  /** The first commit of the period. Null if the period began before the known history of the file. */
  readonly from: CommitInfo | null;
  /**
   * The commit that ended the period. Null if the newest commit still has the pin, even if the service does not serve
   * the pinned version.
   */
  readonly until: CommitInfo | null;
};

/**
 * The origin of a version:
 * - `git`: promptsync created the version from a committed file.
 * - `uncommitted`: promptsync created the version from a file that was not committed.
 * - `outside`: Somebody created the version without promptsync.
 * - `unknown`: The service does not show who created the version.
 */
export type VersionOrigin = 'git' | 'uncommitted' | 'outside' | 'unknown';

/** The origin of a version in git, and the environments that serve it or were pinned to it. */
export type VersionHistory = {
  readonly ref: { readonly id: string; readonly number: number };
  readonly digest: Digest;
  readonly origin: VersionOrigin;
  /** The commit from which promptsync created the version. Null if the commit is unknown or there is none. */
  readonly commit: CommitInfo | null;
  /**
   * The path of the prompt file at that commit, relative to the root of the repository. Null if the path is unknown.
   */
  readonly path: string | null;
  /** The message that the creator of the version stored with it. Undefined if the service does not show a message. */
  readonly message: string | undefined;
  /** The environments in which the version is active. */
  readonly activeIn: readonly string[];
  /** The periods in which the file pinned the version, grouped by environment. Each group is sorted newest first. */
  readonly pinnedPeriods: readonly PinnedPeriod[];
};

/** The version histories of all selected prompts. */
export type VersionHistories = {
  /** The version histories of each prompt, newest version first, by prompt id. */
  readonly versions: ReadonlyMap<string, readonly VersionHistory[]>;
  /** The environment whose version the user wants to trace. Null if the user wants to see all versions. */
  readonly environment: string | null;
};

/** The history of a prompt file in git, with the pins of each state of the file. */
export type FileHistory = {
  /** The commits that changed the file, newest first. The age of a pin is the index of its commit in this list. */
  readonly commits: readonly string[];
  readonly pins: FormerPins;
  /**
   * Whether the oldest known state is the first state of the file. If not, the pins in the oldest known state may be
   * much older than its commit.
   */
  readonly isComplete: boolean;
};
