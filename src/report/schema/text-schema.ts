import { z } from 'zod';

const TextShape = z
  .string()
  .nullable()
  .describe(
    'The text with LF line endings, or the messages of a chat prompt in canonical form. null if there is no text, if it is unknown, or if the report omits it.',
  );
const MetadataShape = z
  .string()
  .optional()
  .describe(
    'The metadata, one line per key, with the value of the key as JSON. Metadata that is not a mapping is shown as a single JSON value. Present only if the content before the change and the content after it are both known, and at least one of them has metadata.',
  );

const BreakingKindShape = z
  .enum(['added', 'removed'])
  .describe(
    'The kind of change. added: callers must now supply a value. removed: callers no longer need to supply one.',
  );
const MessageNamesShape = z.array(
  z
    .string()
    .describe(
      'The role of a message, or the name of a placeholder followed by `*`. A name with unusual characters is written as a JSON string.',
    ),
);

/** The shapes of the fields that show the text, the metadata and the messages before and after a change. */
export const TEXT_FIELDS = {
  before_text: TextShape,
  after_text: TextShape,
  text_omitted: z
    .literal(true)
    .optional()
    .describe(
      'The report omits the text before the change, the text after it, or both, because of their size. Either the text or the metadata of one side is larger than 1 MB (1,000,000 bytes of UTF-8), or all text in the report up to and including this change exceeds 32 MB. The change still counts as reviewed.',
    ),
  before_metadata: MetadataShape,
  after_metadata: MetadataShape,
  breaking: z
    .array(
      z.union([
        z.object({ variable: z.string().describe('The name of the variable.'), kind: BreakingKindShape }),
        z.object({
          placeholder: z.string().describe('The name of a placeholder in a chat prompt.'),
          kind: BreakingKindShape,
        }),
      ]),
    )
    .describe(
      'The variables and placeholders that the change adds or removes, in any kind of template tag. Empty if there was no text before the change, or if the text before or after the change is unknown.',
    ),
  messages: z
    .object({
      before: MessageNamesShape.describe('The messages before the change.'),
      after: MessageNamesShape.describe('The messages after the change.'),
    })
    .optional()
    .describe('The messages of a chat prompt, if the change adds, removes, or reorders roles or placeholders.'),
};
