import type { Digest } from './digest.ts';
import type { Pin } from './prompt-file.ts';
import type { Content } from './content.ts';

/** How an environment was pinned at an earlier commit. */
export type FormerPin = {
  readonly commit: string;
  /** How many states of the file are newer. */
  readonly age: number;
  readonly pin: Pin;
  /** What `latest` meant then, or what a ref means now; null where it is not known, and for numbers and ids. */
  readonly content: Content | null;
  /** Whether the pin means now what it meant then. False for a ref that is not a commit id: branches and tags move. */
  readonly isFixed: boolean;
};

/** By environment, newest first. */
export type FormerPins = ReadonlyMap<string, readonly FormerPin[]>;

/** A commit with what git knows of it; of one that this repository does not have, its id alone. */
export type CommitInfo = {
  readonly commit: string;
  readonly author?: string;
  /** Author's date, ISO 8601 with its offset. */
  readonly date?: string;
  readonly subject?: string;
  /** `#12`, or `!12` of GitLab. */
  readonly pullRequest?: string;
};

/** A time during which the file's pin meant a version. */
export type PinnedPeriod = {
  readonly environment: string;
  /** Null where it began before all that is known of the file. */
  readonly from: CommitInfo | null;
  /** Null where the last commit still says so, whether or not it is what the service serves. */
  readonly until: CommitInfo | null;
};

/** `uncommitted`: by promptsync, from a file that no commit holds. `unknown`: the service does not say it. */
export type VersionOrigin = 'git' | 'uncommitted' | 'outside' | 'unknown';

export type VersionHistory = {
  readonly ref: { readonly id: string; readonly number: number };
  readonly digest: Digest;
  readonly origin: VersionOrigin;
  readonly commit: CommitInfo | null;
  /** From the repository's root. */
  readonly path: string | null;
  /** What whoever made it has said of it, where the service shows that. */
  readonly message: string | undefined;
  readonly activeIn: readonly string[];
  /** According to git; newest first within each environment. */
  readonly pinnedPeriods: readonly PinnedPeriod[];
};

/** By prompt id, newest version first; and the environment that was asked about, if any. */
export type VersionHistories = {
  readonly versions: ReadonlyMap<string, readonly VersionHistory[]>;
  readonly environment: string | null;
};

/** The states of a file, and how it pinned each environment in them. */
export type FileHistory = {
  /** Those that left a state, newest first: a pin's age is the place of its commit. */
  readonly commits: readonly string[];
  readonly pins: FormerPins;
  /** Whether the oldest is the file's first: otherwise what it says may have been so long before. */
  readonly isComplete: boolean;
};
