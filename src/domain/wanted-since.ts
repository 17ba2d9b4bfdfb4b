/** The commit that introduced what a file wants. */
export type WantedSince = {
  readonly commit: string;
  /** The committer date of the commit, in seconds since 1970. */
  readonly time: number;
};

/**
 * A state that the base wants in an environment or a field and that the service does not have, with everything that git
 * and the version records say about it.
 */
export type UnmetWant = WantedSince & {
  /** Whether the commit is an ancestor of a known tip of the live branch. */
  readonly isMerged: boolean;
  /** Whether no earlier state of the file pins the environment or manages the field. */
  readonly isFirst: boolean;
  /** Whether an earlier state of the file, on the first-parent history of the base, wants the current state. */
  readonly wasCurrentWanted: boolean;
  /** Whether a version record shows that the wanted version was active in the environment. */
  readonly isRecorded: boolean;
  /** Whether such a version record was made from a commit that contains `commit`. */
  readonly wasLive: boolean;
  /** The newest commit that wants the current state and is not an ancestor of `commit`. Null if there is none. */
  readonly rival: RivalWant | null;
};

/** A commit that wants the current state of the service, although the base wants another state. */
export type RivalWant = {
  readonly commit: string;
  /** The live branch, if its tip wants the current state. Null if only an older or a different commit wants it. */
  readonly branch: string | null;
};
