import type { StoredContent } from '../../domain/content.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ObservedFields } from '../../domain/observed-prompt.ts';

/** A prompt as the service returns it (interface section 2.1). */
export type ServicePrompt = ObservedFields & {
  /** Null if the prompt has no versions. */
  readonly latestVersionId: string | null;
  /** The version that is active in the environment of the request. */
  readonly activeVersion: ServiceVersion | null;
};

/** An immutable version of a prompt as the service returns it (interface section 2.2). */
export type ServiceVersion = {
  readonly id: string;
  readonly number: number;
  /** The text and the metadata, which includes the version record. The metadata is `{}` if the service sends none. */
  readonly content: StoredContent<JsonObject>;
  /** When the service created the version, in milliseconds since 1970. Absent if the service does not show it. */
  readonly createdAt?: number;
};

/** The input for creating a version (interface section 4.2). */
export type NewServiceVersion = {
  /** The text and the metadata, which includes the version record. */
  readonly content: StoredContent<JsonObject>;
  /** The subject of the commit that the content comes from. */
  readonly changeSummary?: string;
};

/** The prompt fields to update. The service does not change absent fields. */
export type PromptFields = { readonly key?: string; readonly name?: string; readonly description?: string };

/** The four calls of the service (interface section 4). A failed call throws a `ServiceError`. */
export type PromptService = {
  /** Reads a prompt (section 4.1). If `environment` is undefined, `activeVersion` in the result has no meaning. */
  readonly readPrompt: (promptId: string, environment?: string) => Promise<ServicePrompt>;
  /** Creates a version (section 4.2). After a `ServiceError` with the effect `unknown`, the version may exist. */
  readonly createVersion: (promptId: string, version: NewServiceVersion) => Promise<ServiceVersion>;
  /** Updates fields (section 4.3) and returns the updated prompt. */
  readonly updatePrompt: (promptId: string, fields: PromptFields) => Promise<ServicePrompt>;
  /** Activates a version in an environment (section 4.4). Throws if the response contains `updated: false`. */
  readonly setActive: (promptId: string, environment: string, versionId: string) => Promise<void>;
};
