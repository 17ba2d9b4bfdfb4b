import { z } from 'zod';

/** What the report tells of the service: its versions, what is changed there, and what differs. */

export const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
export const versionRef = z.object({
  id: z.string().describe('The service’s id of the version.'),
  version_number: z.int().nullable().describe('null: not known.'),
});
export const newVersion = z.object({
  new: z.literal(true).describe('A version that the same plan makes.'),
  digest: digest.optional().describe('Of its content, where that is of a git: pin.'),
});
const FIELDS = ['key', 'name', 'description'] as const;
const changeStatus = z
  .enum(['made', 'adopted', 'not_made', 'unknown'])
  .optional()
  .describe('After an apply only. adopted: it was there already; unknown: the answer was lost.');

const createVersion = z.object({
  kind: z.literal('create-version').describe('What is done.'),
  digest: digest.describe('Of the content, with line feeds.'),
  metadata_digest: digest.optional().describe('Where the file manages metadata.'),
  ref: z.string().optional().describe('The git: pin that the content is for; absent for the file’s own content.'),
  change_summary: z
    .string()
    .nullable()
    .describe('What is stored with the version: the subject of the commit that last changed the file; null: none.'),
  version: versionRef.optional().describe('The version that was made.'),
  status: changeStatus,
});

const updatePrompt = z.object({
  kind: z.literal('update-prompt'),
  fields: z
    .partialRecord(
      z.enum(FIELDS),
      z.object({
        before: z.string().describe('What the service has.'),
        after: z.string().describe('What the file has.'),
      }),
    )
    .describe('The fields that change, by name: key, name, description.'),
  status: changeStatus,
});

const setActive = z.object({
  kind: z.literal('set-active'),
  environment: z.string().describe('The environment whose active version changes.'),
  before: versionRef.nullable().describe('What is active there; null: nothing.'),
  after: z.union([versionRef, newVersion]).describe('What becomes active. After an apply it has its id.'),
  status: changeStatus,
});

/** What is done in the service, or would be. */
export const change = z.discriminatedUnion('kind', [createVersion, updatePrompt, setActive]);

const driftKind = z
  .enum(['outside', 'unfinished'])
  .describe('unfinished: what stands there was made from an earlier commit, or nothing stands there yet.');

const environmentDrift = z.object({
  environment: z.string().describe('The environment that differs.'),
  kind: driftKind,
  expected: z.union([versionRef, newVersion]).describe('What the base commit wants.'),
  observed: versionRef
    .extend({
      made_by: z.enum(['git', 'outside']).describe('git: by promptsync, from a commit. outside: by somebody else.'),
      commit: z.string().optional().describe('The commit that it was made from.'),
    })
    .nullable()
    .describe('What the service serves: pin version:<id> to go back to it.'),
});

const fieldDrift = z.object({
  field: z.enum(FIELDS).describe('The field of the prompt that differs.'),
  kind: driftKind,
  expected: z.string(),
  observed: z.string(),
});

/** Where the service differs from what the base commit wants. */
export const drift = z.union([environmentDrift, fieldDrift]);
