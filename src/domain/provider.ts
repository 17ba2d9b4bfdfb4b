import type { Problem } from '../problem.ts';
import type { Observed, Wanted } from './observed.ts';
import type { ChangeStatus, CreateVersion, UpdatePrompt } from './plan.ts';
import type { VersionRef } from './versions.ts';
import type { Pin } from './prompt-file.ts';

/** A service as promptsync works with it. How it recognises versions and survives lost answers is its own business. */
export type Provider = {
  /** Reads a prompt and never writes. Throws a `ProblemError` when the prompt cannot be read. */
  readonly observe: (wanted: Wanted) => Promise<Observed>;
  /** Starts to write one prompt. Nothing is sent for it. */
  readonly begin: (wanted: Wanted) => Writer;
};

/** Writes one prompt, and remembers what it has made and seen. `observe` goes first. */
export type Writer = {
  /** Reads the prompt once more. Throws a `ProblemError` when it cannot be read. */
  readonly observe: () => Promise<Observed>;
  /** Looks for the versions that these pins name and nobody knows. Throws a `ProblemError` when it cannot look. */
  readonly find: (pins: readonly Pin[]) => Promise<Observed>;
  /** Makes one version, whatever answer is lost. Never throws. */
  readonly create: (change: CreateVersion, activated: readonly VersionRef[]) => Promise<Written>;
  /** Changes fields of the prompt. Never throws. */
  readonly update: (change: UpdatePrompt) => Promise<Written>;
  /** Makes a version active that is what it is known as, and reads the environment back. Never throws. */
  readonly activate: (environment: string, version: VersionRef) => Promise<Written>;
};

/** What became of one write; after an error among the problems nothing else may be written. */
export type Written = {
  readonly status: ChangeStatus;
  /** The version that was made or that is active from now on, where it is known. */
  readonly version?: VersionRef;
  readonly problems: readonly Problem[];
};
