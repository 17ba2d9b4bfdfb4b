import type { Problem } from '../problem.ts';
import type { PromptType } from '../domain/chat.ts';
import type { Digest } from '../domain/digest.ts';
import type { ObservedPrompt, ReadRequest } from '../domain/observed-prompt.ts';
import type { ChangeStatus, CreateVersion, UpdatePrompt } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { Pin } from '../domain/prompt-file.ts';
import type { ServedPrompt } from '../domain/served-prompt.ts';

/** The rules of a service that promptsync can check without sending a request. */
export type FileRules = {
  /** Returns the reason why the service rejects a prompt id, phrased as a clause. */
  readonly findIdFault: (id: string) => string | null;
  /** Returns the reason why the service rejects an environment name, phrased as a clause. */
  readonly findEnvironmentFault: (environment: string) => string | null;
  /** The environments that are reserved for promptsync. They must not be pinned. */
  readonly reservedEnvironments: readonly string[];
  /** Whether prompts in the service have a key, a name and a description. If not, the id of a prompt is its name. */
  readonly hasFields: boolean;
  /** Whether the id of a prompt is a name that the user chooses. If so, a file without an id takes it from its path. */
  readonly findsPromptsByName: boolean;
  /**
   * The id that `promptsync new` writes by default, and that a sync refuses. Null if a sync can create prompts in the
   * service. In that case, the key is also the id.
   */
  readonly placeholderId: string | null;
  readonly promptTypes: readonly PromptType[];
  /** Whether a pin may specify a version by its id. If not, every version can be pinned by its number. */
  readonly canPinIds: boolean;
  /** Returns the prompts that a composed prompt includes. Empty if the service cannot compose prompts. */
  readonly listParts: (text: string) => readonly PromptPart[];
};

/** A prompt that the text of another prompt includes. */
export type PromptPart = {
  readonly promptId: string;
  /** The environment whose active version is included. Null if the text includes a fixed version or the newest one. */
  readonly environment: string | null;
  /** Whether the text includes the newest version, so that each new version changes the composed prompt. */
  readonly isNewest: boolean;
};

/**
 * The part of promptsync that works with one kind of service. Each provider has its own way to recognize versions and
 * to recover from lost responses.
 */
export type Provider = {
  /** Reads a prompt without writing anything. Throws a `ProblemError` if it cannot read the prompt. */
  readonly observe: (request: ReadRequest) => Promise<ObservedPrompt>;
  /** Sends no request. */
  readonly makeWriter: (request: ReadRequest) => PromptWriter;
  /**
   * Reads what an environment serves to applications. Null if no version is active there, or if a sync has not created
   * the prompt yet. Throws a `ProblemError` if it cannot read the prompt.
   */
  readonly readServed: (promptId: string, environment: string) => Promise<ServedPrompt | null>;
  /** Null if the service cannot list prompts. */
  readonly list: (() => Promise<readonly ListedPrompt[]>) | null;
};

/** A prompt in the service, whether or not it has a prompt file. */
export type ListedPrompt = {
  readonly name: string;
  /** The environments in which a version of the prompt is active. Empty if the prompt has a problem. */
  readonly environments: readonly string[];
  /** The number of the newest version. 0 if the number is unknown or the prompt has no versions. */
  readonly lastVersion: number;
  /** The problem to report if the prompt exceeds a limit. */
  readonly problem: Problem | null;
};

/** Writes one prompt, and remembers the versions that it has read and created. Callers must call `observe` first. */
export type PromptWriter = {
  /** Reads the prompt again. Throws a `ProblemError` if it cannot read the prompt. */
  readonly observe: () => Promise<ObservedPrompt>;
  /** Searches for the unknown versions that these pins refer to. Throws a `ProblemError` if the search fails. */
  readonly find: (pins: readonly Pin[]) => Promise<ObservedPrompt>;
  /** Creates one version. Never creates a duplicate, even if a response is lost. Never throws. */
  readonly create: (change: CreateVersion, uses: VersionUses) => Promise<CreateOutcome>;
  /** Never throws. */
  readonly update: (change: UpdatePrompt) => Promise<WriteOutcome>;
  /**
   * Makes a version active, but only if it still has the content that promptsync knows, and reads each environment
   * back. Returns one outcome for each environment, in order. After an error, does not write to the rest. Never throws.
   */
  readonly activate: (environments: readonly string[], version: VersionRef) => Promise<readonly WriteOutcome[]>;
};

/** The planned activations that a provider must know about when it creates a version. */
export type VersionUses = {
  /** The environments that the plan then moves to the new version. Some services can do both in one request. */
  readonly environments: readonly string[];
  /** The existing versions that the plan activates because of pins other than `latest`. */
  readonly pinnedVersions: readonly VersionRef[];
};

/** The outcome of creating or adopting a version. */
export type CreateOutcome = WriteOutcome & {
  /** The environments that the same request moved. If its response was lost, they may not have moved. */
  readonly movedEnvironments?: readonly string[];
  /** The metadata digest of the adopted version. Absent if promptsync created a version. */
  readonly adoptedMetadataDigest?: Digest;
  /** True if this call created the adopted version, but its response was lost. */
  readonly isRecovered?: true;
  /** True if the service refused the version because somebody else created a version of the prompt at the same time. */
  readonly hasConcurrentVersion?: true;
};

/** The outcome of one write. If `problems` contains an error, promptsync makes no further writes for this prompt. */
export type WriteOutcome = {
  readonly status: ChangeStatus;
  /** The version that was created, adopted or activated, if it is known. */
  readonly version?: VersionRef;
  readonly problems: readonly Problem[];
};
