import type { Problem } from '../problem.ts';
import type { Digest } from './digest.ts';
import type { ObservedPrompt, ReadRequest } from './observed-prompt.ts';
import type { ChangeStatus, CreateVersion, UpdatePrompt } from './plan.ts';
import type { VersionRef } from './versions.ts';
import type { Pin } from './prompt-file.ts';

/** What a service takes, as far as that is known without asking it. Faults are clauses, null where there is none. */
export type ProviderRules = {
  readonly findIdFault: (id: string) => string | null;
  readonly findEnvironmentFault: (environment: string) => string | null;
  /** Environments of the tool's own, which no pin may name. */
  readonly reservedEnvironments: readonly string[];
  /** Whether a prompt has key, name and description there; where it has none its id is its name. */
  readonly hasFields: boolean;
  /** Whether a version's id may be pinned; where it may not, a number always can be. */
  readonly canPinIds: boolean;
};

/** A service as promptsync works with it. How it recognises versions and survives lost answers is its own business. */
export type Provider = {
  /** Reads a prompt and never writes. Throws a `ProblemError` when the prompt cannot be read. */
  readonly observe: (wanted: ReadRequest) => Promise<ObservedPrompt>;
  /** Starts to write one prompt. Nothing is sent for it. */
  readonly makeWriter: (wanted: ReadRequest) => PromptWriter;
  /** All prompts that there are; null where the service cannot list them. */
  readonly list: (() => Promise<readonly ListedPrompt[]>) | null;
};

/** A prompt that the service has, whether or not there is a file of it. */
export type ListedPrompt = {
  readonly name: string;
  /** Environments in which a version of it is active. */
  readonly environments: readonly string[];
  readonly lastVersion: number;
  /** A limit that the prompt exceeds, or null. With a problem, environments and last version are not known. */
  readonly problem: Problem | null;
};

/** Writes one prompt, and remembers what it has made and seen. `observe` goes first. */
export type PromptWriter = {
  /** Reads the prompt once more. Throws a `ProblemError` when it cannot be read. */
  readonly observe: () => Promise<ObservedPrompt>;
  /** Looks for the versions that these pins name and nobody knows. Throws a `ProblemError` when it cannot look. */
  readonly find: (pins: readonly Pin[]) => Promise<ObservedPrompt>;
  /** Makes one version, whatever answer is lost. Never throws. */
  readonly create: (change: CreateVersion, uses: VersionUses) => Promise<CreateOutcome>;
  /** Changes fields of the prompt. Never throws. */
  readonly update: (change: UpdatePrompt) => Promise<WriteOutcome>;
  /** Makes a version active that is what it is known as, and reads the environment back. Never throws. */
  readonly activate: (environment: string, version: VersionRef) => Promise<WriteOutcome>;
};

/** What a plan does with versions beside making one. */
export type VersionUses = {
  /** Environments that are moved to the new version right after: a service may take both in one write. */
  readonly environments: readonly string[];
  /** Versions that were there already and that pins other than `latest` make active. */
  readonly pinnedVersions: readonly VersionRef[];
};

export type CreateOutcome = WriteOutcome & {
  /** The environments that the same write moves, or may have moved where its answer was lost. */
  readonly movedEnvironments?: readonly string[];
  /** The metadata digest of a version that was adopted in place of a new one. */
  readonly adoptedMetadataDigest?: Digest;
};

/** What became of one write; after an error among the problems nothing else may be written. */
export type WriteOutcome = {
  readonly status: ChangeStatus;
  /** The version that was made or that is active from now on, where it is known. */
  readonly version?: VersionRef;
  readonly problems: readonly Problem[];
};
