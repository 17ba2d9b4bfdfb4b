/** What a commit has at a path (from the repository's root), as far as git has told it by the way. */
export type KnownBlobs = {
  /** The id of a regular file's content; null: there is none. */
  readonly note: (commit: string, path: string, blob: string | null) => void;
  /** Undefined: git has to be asked. */
  readonly find: (commit: string, path: string) => string | null | undefined;
};

/** A commit never changes: what is known once stays. */
export function makeKnownBlobs(): KnownBlobs {
  const blobs = new Map<string, string | null>();
  return {
    note: (commit, path, blob) => void blobs.set(`${commit}\0${path}`, blob),
    find: (commit, path) => blobs.get(`${commit}\0${path}`),
  };
}
