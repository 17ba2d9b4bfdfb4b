import { z } from 'zod';

const MessageShape = z.object({
  role: z.string().describe('The role of the message, such as system or user.'),
  content: z.string().describe('The text of the message.'),
});

const PlaceholderShape = z.object({
  type: z.literal('placeholder'),
  name: z.string().describe('The name of the placeholder. The application replaces the placeholder with messages.'),
});

const IDENTITY_FIELDS = {
  id: z.string().describe('The id of the prompt in the service.'),
  version: z.int().nullable().describe('The number of the version. null if it is unknown, as with --offline.'),
};

const DETAIL_FIELDS = {
  config: z
    .unknown()
    .describe(
      'The metadata of the version, without the entry that promptsync adds. {} if there is no metadata. With --offline, null if the prompt file has no `metadata` field.',
    ),
  variables: z.array(z.string()).describe('The variables in the prompt, in order of first appearance.'),
  placeholders: z
    .array(z.string())
    .describe('The placeholders of a chat prompt, in order of first appearance. Empty for a text prompt.'),
};

const BundledPromptShape = z.discriminatedUnion('type', [
  z.object({
    ...IDENTITY_FIELDS,
    type: z.literal('text'),
    prompt: z.string().describe('The text exactly as the service returns it, byte for byte.'),
    ...DETAIL_FIELDS,
  }),
  z.object({
    ...IDENTITY_FIELDS,
    type: z.literal('chat'),
    prompt: z
      .array(z.union([MessageShape, PlaceholderShape]))
      .describe(
        'The messages and the placeholders. The text of each message is exactly what the service returns, byte for byte.',
      ),
    ...DETAIL_FIELDS,
  }),
]);

/** The public shape of a JSON bundle. Its JSON Schema is published as schemas/bundle.schema.json. */
export const BundleShape = z.object({
  schema_version: z.literal(1).describe('The version of this schema.'),
  environment: z.string().describe('The environment that serves the prompts.'),
  prompts: z
    .record(z.string(), BundledPromptShape)
    .describe('The prompts, indexed by key and sorted by the UTF-16 code units of their keys.'),
});
