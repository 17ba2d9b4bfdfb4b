/** The commit that introduced the state that a file requests. */
export type WantedSince = {
  readonly commit: string;
  /** The committer date of the commit, in seconds since 1970. */
  readonly time: number;
};

/**
 * A state of an environment or a field that the base requests but the service does not have. Includes everything that
 * git and the version records show about this state.
 */
export type UnmetWant = WantedSince & {
  /** Whether the commit is an ancestor of the tip of the live branch, as far as the clone knows that tip. */
  readonly isMerged: boolean;
  /** True if no earlier state of the file pins the environment or manages the field. */
  readonly isFirst: boolean;
  /** True if an earlier state of the file, in the first-parent history of the base, requests the current state. */
  readonly wasCurrentWanted: boolean;
  /** Whether a version record shows that the requested version was active in the environment. */
  readonly isRecorded: boolean;
  /** True if one of these version records names `commit` or one of its descendants. */
  readonly wasLive: boolean;
  /** The newest commit that requests the current state and is not an ancestor of `commit`. Null if there is none. */
  readonly rival: RivalWant | null;
};

/** A commit that requests the current state of the service, although the base requests another state. */
export type RivalWant = {
  readonly commit: string;
  /**
   * The live branch, if its tip requests the current state. Null if only an older or a different commit requests the
   * current state.
   */
  readonly branch: string | null;
};
