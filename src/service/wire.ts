import { z } from 'zod';
import { isJson, isJsonObject, type JsonObject } from '../domain/json.ts';

/** The service's paths (interface section 4). Ids are put in percent-encoded. */
export const paths = {
  prompt: (promptId: string) => `/v1/integration/prompts/${encodeURIComponent(promptId)}`,
  versions: (promptId: string) => `${paths.prompt(promptId)}/versions`,
  setActive: (promptId: string) => `${paths.prompt(promptId)}/set-active`,
} as const;

/** Interface section 5. */
export const API_KEY_HEADER = 'x-api-key';

const text = z.string().min(1);
/**
 * Checked and handed on as it is: a record's own result lacks the key `__proto__`, which is a key like any other. By hand,
 * because metadata may have thousands of values, and zod's `json()` tries every kind of value on each.
 */
const metadata = z.custom<JsonObject>(
  (value) => isJsonObject(value) && isJson(value),
  'Invalid input: expected JSON object',
);

/** Interface section 2.2. Further fields are allowed and ignored. */
export const VersionShape = z.object({
  id: text,
  prompt_id: text,
  version_number: z.int(),
  content: z.string(),
  metadata_: metadata.nullish(),
  created_at: z.string().nullish(),
});

/** Interface section 2.1. */
export const PromptShape = z.object({
  id: text,
  project_id: z.string(),
  key: z.string(),
  name: z.string(),
  description: z.string().nullish(),
  latest_version_id: z.string().nullish(),
  active_version: VersionShape.nullish(),
  created_at: z.string().nullish(),
});

/** Interface section 4.2, request. */
export const CreateVersionShape = z.object({
  content: z.string(),
  change_summary: z.string().optional(),
  metadata_: metadata.optional(),
});

/** Interface section 4.3, request. */
export const UpdatePromptShape = z.object({
  key: z.string().optional(),
  name: z.string().optional(),
  description: z.string().optional(),
});

/** Interface section 4.4, request and answer. */
export const SetActiveShape = z.object({ environment: text, version_id: text });
export const SetActiveAnswerShape = z.object({ updated: z.boolean() });

export type WireVersion = z.infer<typeof VersionShape>;
export type WirePrompt = z.infer<typeof PromptShape>;
