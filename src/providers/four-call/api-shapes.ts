import { z } from 'zod';
import { isJsonValue, isJsonObject, type JsonObject } from '../../domain/json.ts';

/** The paths of the four calls (interface section 4), with percent-encoded ids. */
export const servicePaths = {
  prompt: (promptId: string) => `/v1/integration/prompts/${encodeURIComponent(promptId)}`,
  versions: (promptId: string) => `${servicePaths.prompt(promptId)}/versions`,
  setActive: (promptId: string) => `${servicePaths.prompt(promptId)}/set-active`,
} as const;

/** The header that carries the API key (interface section 5). */
export const API_KEY_HEADER = 'x-api-key';

const nonEmptyText = z.string().min(1);
/**
 * A JSON object. zod's `record()` would drop the key `__proto__`. zod's `json()` would be slow, because it tries every
 * JSON type on each value, and metadata may contain thousands of values.
 */
const metadata = z.custom<JsonObject>(
  (value) => isJsonObject(value) && isJsonValue(value),
  'Invalid input: expected JSON object',
);

/** A version (interface section 2.2). Other fields are allowed and ignored. */
export const VersionShape = z.object({
  id: nonEmptyText,
  prompt_id: nonEmptyText,
  version_number: z.int(),
  content: z.string(),
  metadata_: metadata.nullish(),
  /** promptsync can work without this time, so it ignores a time that is invalid or has no time zone. */
  created_at: z.iso.datetime({ offset: true }).nullish().catch(null),
});

/** A prompt (interface section 2.1). Other fields are allowed and ignored. */
export const PromptShape = z.object({
  id: nonEmptyText,
  project_id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  latest_version_id: z.string().nullish(),
  active_version: VersionShape.nullish(),
  created_at: z.string().nullish(),
});

/** The body of a request that creates a version (interface section 4.2). */
export const CreateVersionShape = z.object({
  content: z.string(),
  change_summary: z.string().optional(),
  metadata_: metadata.optional(),
});

/** The body of a request that updates fields (interface section 4.3). */
export const UpdatePromptShape = z.object({
  key: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
});

/** The body of a request that activates a version (interface section 4.4). */
export const SetActiveShape = z.object({ environment: nonEmptyText, version_id: nonEmptyText });
/** The response to a request that activates a version (interface section 4.4). */
export const SetActiveResponseShape = z.object({ updated: z.boolean() });

export type WireVersion = z.infer<typeof VersionShape>;
export type WirePrompt = z.infer<typeof PromptShape>;
