import { z } from 'zod';
import { isPathSegment } from '../domain/text.ts';
import { line } from '../yaml/line.ts';

const id = z
  .string()
  .refine(isPathSegment, 'expected one segment of a path, not "." or "..", without / \\ ? # % and blanks')
  .meta({ pattern: '^(?!\\.{1,2}$)[^\\p{Cc}\\s/\\\\?#%]+$' });

const pin = z
  .union([
    z.literal('latest').describe("The version that holds this file's text and metadata, whatever its number."),
    z.int().min(1).describe('The version with this number.'),
    z
      .string()
      .regex(/^version:(?!\.{1,2}$)[^\p{Cc}]+$/u)
      .describe('The version with this id.'),
    z
      .string()
      .regex(/^git:[^\p{Cc}\s~^:?*[\\-][^\p{Cc}\s:?*[\\]*$/u)
      .describe('This prompt as it was at a tag, branch or commit.'),
  ])
  .describe('What the environment serves: latest, a version number, version:<id> or git:<ref>.');

/** The front matter of a prompt file as its author writes it. */
export const FrontMatterShape = z.strictObject({
  id: id.describe('The id of the prompt in the service, which creates none: without blanks and / \\ ? # %.'),
  key: line.describe('The stable key of the prompt, such as support/greeting.'),
  name: line.describe('The display name.'),
  description: z.string().optional().describe('What the prompt is for. Absent: not managed.'),
  pins: z.record(line, pin).optional().describe('What each environment serves. One that is not named is left alone.'),
  metadata: z
    .record(z.string().meta({ not: { const: 'promptsync' } }), z.json().describe('Any JSON value.'))
    .optional()
    .describe('Stored with each version. Absent: not managed.'),
  variables: z
    .array(z.string().describe('The name of a {{placeholder}}.'))
    .optional()
    .describe('The names of the {{placeholders}} in the text, exactly.'),
});

export type FrontMatter = z.infer<typeof FrontMatterShape>;

export const FRONT_MATTER_FIELDS: readonly string[] = Object.keys(FrontMatterShape.shape);
