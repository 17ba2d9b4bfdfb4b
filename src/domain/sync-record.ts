import type { Digest } from './digest.ts';

/** What a clone remembers of its last sync: which prompts the service held just as a commit has their files. */
export type SyncRecord = {
  readonly commit: string;
  /** Of the configuration file: with another one every prompt may be wanted otherwise. */
  readonly config: Digest;
  readonly complete: readonly CompletePrompt[];
};

/** A prompt of which a sync left nothing to do. */
export type CompletePrompt = {
  /** Relative to the folder of the configuration file. */
  readonly path: string;
  readonly id: string;
  readonly key: string;
  /** The refs that its pins follow, and the commits that they named. */
  readonly refs?: Readonly<Record<string, string>>;
};

/** All refs that any of the prompts follows, each once. */
export function refsIn(prompts: readonly CompletePrompt[]): readonly string[] {
  return [...new Set(prompts.flatMap(({ refs = {} }) => Object.keys(refs)))];
}

/**
 * The prompts that need not be looked at: their files are as the record's commit has them, and each ref that they
 * follow names the same commit as then.
 * @param refs what each ref names now; null: nothing
 */
export function stillComplete(
  { complete }: SyncRecord,
  changed: ReadonlySet<string>,
  refs: ReadonlyMap<string, string | null>,
): readonly CompletePrompt[] {
  const stands = ({ refs: then = {} }: CompletePrompt) =>
    Object.entries(then).every(([ref, commit]) => refs.get(ref) === commit);
  return complete.filter((prompt) => !changed.has(prompt.path) && stands(prompt));
}

/** The record without what is known of some prompts: they may be half written, or no longer as its commit wants them. */
export function forget(record: SyncRecord, ids: ReadonlySet<string>): SyncRecord {
  return { ...record, complete: record.complete.filter(({ id }) => !ids.has(id)) };
}
