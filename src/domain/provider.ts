import type { Problem } from '../problem.ts';
import type { Digest } from './digest.ts';
import type { ObservedPrompt, ReadRequest } from './observed-prompt.ts';
import type { ChangeStatus, CreateVersion, UpdatePrompt } from './plan.ts';
import type { VersionRef } from './versions.ts';
import type { Pin } from './prompt-file.ts';

/** The rules of a service that promptsync can check without contacting the service. */
export type ProviderRules = {
  /** Returns the reason why the service does not accept a prompt id, as a clause. Null if the id is valid. */
  readonly findIdFault: (id: string) => string | null;
  /** Returns the reason why the service does not accept an environment name, as a clause. Null if the name is valid. */
  readonly findEnvironmentFault: (environment: string) => string | null;
  /** The environments that belong to promptsync. No pin may name them. */
  readonly reservedEnvironments: readonly string[];
  /** Whether a prompt has a key, a name and a description in the service. If not, the id of a prompt is its name. */
  readonly hasFields: boolean;
  /** Whether a pin may name a version by its id. If not, a pin can name every version by its number. */
  readonly canPinIds: boolean;
};

/**
 * The part of promptsync that works with one kind of service. Each provider decides how to recognize versions and how
 * to recover from lost responses.
 */
export type Provider = {
  /** Reads a prompt. Never writes. Throws a `ProblemError` if the service cannot show the prompt. */
  readonly observe: (request: ReadRequest) => Promise<ObservedPrompt>;
  /** Makes the writer for one prompt. Sends no request. */
  readonly makeWriter: (request: ReadRequest) => PromptWriter;
  /** Lists all prompts of the service. Null if the service cannot list prompts. */
  readonly list: (() => Promise<readonly ListedPrompt[]>) | null;
};

/** A prompt in the service, with or without a prompt file. */
export type ListedPrompt = {
  readonly name: string;
  /** The environments in which a version of the prompt is active. Empty if the prompt has a problem. */
  readonly environments: readonly string[];
  /** The number of the newest version. 0 if it is unknown or there is no version. */
  readonly lastVersion: number;
  /** The problem of a prompt that exceeds a limit. Null if the prompt is within the limits. */
  readonly problem: Problem | null;
};

/** Writes one prompt, and remembers the versions that it read and created. Callers call `observe` first. */
export type PromptWriter = {
  /** Reads the prompt again. Throws a `ProblemError` if the service cannot show the prompt. */
  readonly observe: () => Promise<ObservedPrompt>;
  /** Searches for the unknown versions that these pins name. Throws a `ProblemError` if the search fails. */
  readonly find: (pins: readonly Pin[]) => Promise<ObservedPrompt>;
  /** Creates one version. Never creates a second one, even if a response is lost. Never throws. */
  readonly create: (change: CreateVersion, uses: VersionUses) => Promise<CreateOutcome>;
  /** Updates fields of the prompt. Never throws. */
  readonly update: (change: UpdatePrompt) => Promise<WriteOutcome>;
  /**
   * Makes a version active in an environment, provided that it still has the known content. Reads the environment back
   * afterward. Never throws.
   */
  readonly activate: (environment: string, version: VersionRef) => Promise<WriteOutcome>;
};

/** The activations of a plan that affect how a provider creates a version. */
export type VersionUses = {
  /**
   * The environments that move to the new version right after the create. Some services can move them in the same
   * request.
   */
  readonly environments: readonly string[];
  /** The existing versions that the plan activates for pins other than `latest`. */
  readonly pinnedVersions: readonly VersionRef[];
};

/** The outcome of creating or adopting a version. */
export type CreateOutcome = WriteOutcome & {
  /** The environments that the same request moved. If its response was lost, they may not have moved. */
  readonly movedEnvironments?: readonly string[];
  /** The metadata digest of the version that promptsync adopted. Absent if promptsync created a version. */
  readonly adoptedMetadataDigest?: Digest;
};

/** The outcome of one write. If its problems contain an error, promptsync writes nothing more for this prompt. */
export type WriteOutcome = {
  readonly status: ChangeStatus;
  /** The version that was created, adopted or activated, if it is known. */
  readonly version?: VersionRef;
  readonly problems: readonly Problem[];
};
