import type { JsonObject } from '../domain/json.ts';
import type { ObservedFields } from '../domain/observed.ts';
import { type Problem, ProblemError } from '../problem.ts';

/** A prompt as the service answers it (interface section 2.1). */
export type RemotePrompt = ObservedFields & {
  readonly latestVersionId: string | null;
  /** The version active in the environment that was asked for; null when there is none. */
  readonly activeVersion: RemoteVersion | null;
};

/** An immutable content version (interface section 2.2). */
export type RemoteVersion = {
  readonly id: string;
  readonly number: number;
  readonly text: string;
  /** The service's null and an absent field are `{}`. */
  readonly metadata: JsonObject;
};

/** What a version is made of (interface section 4.2). */
export type NewVersion = {
  readonly text: string;
  readonly metadata: JsonObject;
  readonly changeSummary?: string;
};

/** Fields to update; those that are absent stay as they are. */
export type PromptFields = { readonly key?: string; readonly name?: string; readonly description?: string };

/** The four calls of the service's interface (section 4). Every call throws a `ServiceError` when it fails. */
export type PromptService = {
  /** Section 4.1. Without an environment, `activeVersion` means nothing. */
  readonly readPrompt: (promptId: string, environment?: string) => Promise<RemotePrompt>;
  /** Section 4.2. Sent once: after a `ServiceError` with effect `unknown` the version may exist. */
  readonly createVersion: (promptId: string, version: NewVersion) => Promise<RemoteVersion>;
  /** Section 4.3. Changes the given fields only. */
  readonly updatePrompt: (promptId: string, fields: PromptFields) => Promise<RemotePrompt>;
  /** Section 4.4. `updated: false` is a failure. */
  readonly setActive: (promptId: string, environment: string, versionId: string) => Promise<void>;
};

/** Whether a failed request may have changed the service. */
export type Effect = 'not-sent' | 'rejected' | 'unknown';

/** A call to the service that failed, with the problem to show and what is known of its effect. */
export class ServiceError extends ProblemError {
  readonly effect: Effect;

  constructor(problem: Problem, effect: Effect, options?: ErrorOptions) {
    super(problem, options);
    this.name = 'ServiceError';
    this.effect = effect;
  }
}
