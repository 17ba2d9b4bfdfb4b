import { z } from 'zod';
import { FIELDS } from '../../domain/plan.ts';
import { DigestShape } from './history-schema.ts';
import { TEXT_FIELDS } from './text-schema.ts';

export const VersionRefShape = z.object({
  id: z.string().describe('The id of the version in the service.'),
  version_number: z.int().nullable().describe('The number of the version. null if it is unknown.'),
});
export const NewVersionShape = z.object({
  new: z.literal(true).describe('A version that the same plan creates.'),
  digest: DigestShape.optional().describe(
    "The digest of the version's content. Present only if a git: pin determines the content.",
  ),
});
const UnknownVersionShape = z.object({
  id: z.null().describe('null, because promptsync does not know the version.'),
  version_number: z.int().describe('The version number in the pin.'),
});
const WantedSinceShape = z.object({
  commit: z.string().describe('The id of the commit.'),
  date: z.string().describe('The committer date in UTC, as YYYY-MM-DD.'),
  unmerged: z
    .literal(true)
    .optional()
    .describe('promptsync cannot confirm that the commit is merged into the live branch.'),
});

/** The notes about where a change comes from. A change has at most one of them. */
const NOTE_FIELDS = {
  wanted_since: WantedSinceShape.optional().describe(
    'The commit in which the files first asked for the state that this change produces. Either no sync has applied the change since that commit, or someone has since restored an earlier state.',
  ),
  behind: z
    .literal(true)
    .optional()
    .describe('The current state matches a commit on the live branch that HEAD does not contain.'),
};

const ChangeStatusShape = z
  .enum(['made', 'adopted', 'not_made', 'unknown'])
  .optional()
  .describe(
    'The outcome of the change. Present only after an apply. adopted: the version already existed. unknown: the response was lost.',
  );

const CreateVersionShape = z.object({
  kind: z.literal('create-version').describe('The kind of change.'),
  digest: DigestShape.describe(
    'The digest of the content, computed with LF line endings and without trailing line breaks.',
  ),
  metadata_digest: DigestShape.optional().describe(
    'The digest of the metadata, if the file manages the metadata of the prompt.',
  ),
  metadata_from: VersionRefShape.optional().describe(
    'If the file does not manage metadata, the version that the new version takes its metadata from.',
  ),
  kept_metadata: z
    .string()
    .optional()
    .describe('The metadata that the new version keeps: one line per key, with the value as JSON.'),
  metadata_omitted: z
    .literal(true)
    .optional()
    .describe(
      'true if the report omits the metadata of the new version because the metadata is too large. Only unchanged metadata is omitted. The limits are the same as for `text_omitted`.',
    ),
  ref: z
    .string()
    .optional()
    .describe('The ref in the git: pin that uses this content. Absent if the content comes from the file itself.'),
  baseline: z
    .literal(true)
    .optional()
    .describe(
      "The version is a baseline: it exists only for promptsync's own records, and no pinned environment serves it.",
    ),
  missing_pin: z
    .string()
    .optional()
    .describe(
      'The first environment in promotion order. Present only if the file does not pin this environment and no pin uses the version. A pin to `latest` in this environment would activate the version.',
    ),
  creates_prompt: z
    .literal(true)
    .optional()
    .describe('The prompt does not exist in the service yet. The service creates it together with this version.'),
  change_summary: z
    .string()
    .nullable()
    .describe(
      'The subject of the commit that last changed the file. The service stores it with the version. null if there is no such commit.',
    ),
  version: VersionRefShape.optional().describe('The version that the apply created or adopted.'),
  status: ChangeStatusShape,
  recovered: z
    .literal(true)
    .optional()
    .describe(
      "This run created the version, but the service's response was lost. promptsync then found the version and adopted it.",
    ),
});

const UpdatePromptShape = z.object({
  kind: z.literal('update-prompt'),
  fields: z
    .partialRecord(
      z.enum(FIELDS),
      z.object({
        before: z.string().describe('The value in the service.'),
        after: z.string().describe('The value in the file.'),
        ...NOTE_FIELDS,
      }),
    )
    .describe('The fields that change. Possible values: key, name, description.'),
  status: ChangeStatusShape,
});

export const SERVED_FIELDS = {
  before: VersionRefShape.nullable().describe('The version that is active in the environment. null if none is active.'),
  after: z
    .union([VersionRefShape, NewVersionShape])
    .describe('The version that becomes active. The id of a new version is included only after an apply.'),
  ...TEXT_FIELDS,
};

const SetActiveShape = z.object({
  kind: z.literal('set-active'),
  environment: z.string().describe('The environment whose active version changes.'),
  ...SERVED_FIELDS,
  ...NOTE_FIELDS,
  status: ChangeStatusShape,
});

export const ChangeShape = z.discriminatedUnion('kind', [CreateVersionShape, UpdatePromptShape, SetActiveShape]);

const DEVIATION_FIELDS = {
  kind: z
    .enum(['outside', 'unfinished'])
    .describe(
      'The kind of drift. outside: someone made a change in the service. unfinished: the service still has the state that an earlier commit requested, or no version is active yet.',
    ),
  restores: z
    .boolean()
    .describe(
      'Whether a sync would only restore the state that the base commit requested. This is the case if the files still request that state.',
    ),
  pull: z
    .literal(true)
    .optional()
    .describe(
      'Whether `promptsync pull` can copy the current state into the file. Present only if the kind is `outside`.',
    ),
};

const EnvironmentDriftShape = z.object({
  environment: z.string().describe('The environment that differs.'),
  ...DEVIATION_FIELDS,
  expected: z
    .union([VersionRefShape, UnknownVersionShape, NewVersionShape])
    .describe('The version selected by the pin at the base commit.'),
  observed: VersionRefShape.extend({
    made_by: z
      .enum(['git', 'outside'])
      .describe(
        'Who created the version. git: promptsync created it from a commit. outside: someone else created it, or the service does not show who did.',
      ),
    commit: z
      .string()
      .optional()
      .describe(
        'The commit that the version was created from. Shortened if the commit is named only in the message of the version and is not in the clone.',
      ),
    commit_missing: z.literal(true).optional().describe('The clone does not have that commit.'),
  })
    .nullable()
    .describe('The version that the environment serves. null if it serves none.'),
  moved_back: z
    .literal(true)
    .optional()
    .describe(
      'The timestamps in the service show that someone moved the environment back to a version older than the expected one.',
    ),
});

const FieldDriftShape = z.object({
  field: z.enum(FIELDS).describe('The prompt field that differs.'),
  ...DEVIATION_FIELDS,
  expected: z.string().describe('The value in the file at the base commit.'),
  observed: z.string().describe('The value in the service.'),
});

export const DriftShape = z.union([EnvironmentDriftShape, FieldDriftShape]);

export type ReportNoteFields = Pick<z.output<typeof SetActiveShape>, keyof typeof NOTE_FIELDS>;
