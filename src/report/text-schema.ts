import { z } from 'zod';

// The shapes of the text, the metadata and the messages that an environment serves before and after a change.

const TextShape = z
  .string()
  .nullable()
  .describe(
    'A text with LF line endings, or the messages of a chat prompt in canonical form. null if there is no text, if it is unknown, or if the report omits it.',
  );
const MetadataShape = z
  .string()
  .optional()
  .describe(
    'Metadata: one line for each key, with its value as JSON. Metadata that is not a mapping is JSON as a whole. Present only if both sides are known and at least one side has metadata.',
  );

const BreakingKindShape = z
  .enum(['added', 'removed'])
  .describe('The kind of change. added: callers must supply it. removed: callers no longer need to supply it.');
const MessageNamesShape = z.array(
  z.string().describe('The role of a message, or the name of a placeholder and `*`. An unusual name is a JSON string.'),
);

/** The shapes of the fields that show the text, the metadata and the messages before and after a change. */
export const TEXT_FIELDS = {
  before_text: TextShape,
  after_text: TextShape,
  text_omitted: z
    .literal(true)
    .optional()
    .describe('The report omits the texts, because a text or its metadata is larger than 100 kB.'),
  before_metadata: MetadataShape,
  after_metadata: MetadataShape,
  breaking: z
    .array(
      z.union([
        z.object({ variable: z.string().describe('The name of the variable.'), kind: BreakingKindShape }),
        z.object({
          placeholder: z.string().describe('The name of the placeholder of a chat prompt.'),
          kind: BreakingKindShape,
        }),
      ]),
    )
    .describe(
      'The variables and placeholders that only one of the two texts has. Empty if there was no text before the change, or if one of the texts is unknown.',
    ),
  messages: z
    .object({
      before: MessageNamesShape.describe('The messages before the change.'),
      after: MessageNamesShape.describe('The messages after the change.'),
    })
    .optional()
    .describe('The messages of a chat prompt, if the change adds, removes, or reorders roles or placeholders.'),
};
