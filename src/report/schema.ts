import { z } from 'zod';
import { REPORT_MODES } from '../domain/edits.ts';
import { FIELDS } from '../domain/plan.ts';

// The shapes of service versions, changes and drift.

const DigestShape = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const VersionRefShape = z.object({
  id: z.string().describe('The service’s id of the version.'),
  version_number: z.int().nullable().describe('null: not known.'),
});
const NewVersionShape = z.object({
  new: z.literal(true).describe('A version that the same plan makes.'),
  digest: DigestShape.optional().describe('Of its content, where that is of a git: pin.'),
});
const ChangeStatusShape = z
  .enum(['made', 'adopted', 'not_made', 'unknown'])
  .optional()
  .describe('After an apply only. adopted: it was there already; unknown: the answer was lost.');

const CreateVersionShape = z.object({
  kind: z.literal('create-version').describe('What is done.'),
  digest: DigestShape.describe('Of the content, with line feeds and without any at its end.'),
  metadata_digest: DigestShape.optional().describe('Where the file manages metadata.'),
  metadata_from: VersionRefShape.optional().describe(
    'The version whose metadata it keeps, where the file manages none.',
  ),
  kept_metadata: z.string().optional().describe('That metadata: a line for each key, with its value as JSON.'),
  metadata_omitted: z.literal(true).optional().describe('That metadata has more than 100 kB and is left out.'),
  ref: z.string().optional().describe('The git: pin that the content is for; absent for the file’s own content.'),
  baseline: z.literal(true).optional().describe('It only carries promptsync’s record: nothing served changes.'),
  change_summary: z
    .string()
    .nullable()
    .describe('What is stored with the version: the subject of the commit that last changed the file; null: none.'),
  version: VersionRefShape.optional().describe('The version that was made.'),
  status: ChangeStatusShape,
});

const UpdatePromptShape = z.object({
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
  status: ChangeStatusShape,
});

const TextShape = z
  .string()
  .nullable()
  .describe('With line feeds. null: there is none, it is not known, or it is left out.');
const MetadataShape = z
  .string()
  .optional()
  .describe(
    'A line for each key, its value as JSON; the whole as JSON if it is not a mapping. Where both sides are known, and one has any.',
  );

const TEXT_FIELDS = {
  before_text: TextShape,
  after_text: TextShape,
  text_omitted: z
    .literal(true)
    .optional()
    .describe('A text of more than 100 kB, or with as much metadata, is left out.'),
  before_metadata: MetadataShape,
  after_metadata: MetadataShape,
  breaking: z
    .array(
      z.object({
        variable: z.string().describe('Its name.'),
        kind: z.enum(['added', 'removed']).describe('Callers have to supply it, or no longer.'),
      }),
    )
    .describe('Variables that only one of the two texts has, where both are known.'),
};

const SERVED_FIELDS = {
  before: VersionRefShape.nullable().describe('What is active there; null: nothing.'),
  after: z.union([VersionRefShape, NewVersionShape]).describe('What becomes active. After an apply it has its id.'),
  ...TEXT_FIELDS,
};

const SetActiveShape = z.object({
  kind: z.literal('set-active'),
  environment: z.string().describe('The environment whose active version changes.'),
  ...SERVED_FIELDS,
  status: ChangeStatusShape,
});

const ChangeShape = z.discriminatedUnion('kind', [CreateVersionShape, UpdatePromptShape, SetActiveShape]);

const DEVIATION_FIELDS = {
  kind: z
    .enum(['outside', 'unfinished'])
    .describe('unfinished: an earlier commit wanted what stands there, or nothing stands there yet.'),
  restores: z.boolean().describe('Whether a sync only puts it back: the files of now want it as the base does.'),
};

const EnvironmentDriftShape = z.object({
  environment: z.string().describe('The environment that differs.'),
  ...DEVIATION_FIELDS,
  expected: z.union([VersionRefShape, NewVersionShape]).describe('What the base commit wants.'),
  observed: VersionRefShape.extend({
    made_by: z.enum(['git', 'outside']).describe('git: by promptsync, from a commit. outside: by somebody else.'),
    commit: z.string().optional().describe('The commit that it was made from.'),
    pin: z.string().optional().describe('The number that pins it; absent where only version:<id> does.'),
  })
    .nullable()
    .describe('What the service serves.'),
});

const FieldDriftShape = z.object({
  field: z.enum(FIELDS).describe('The field of the prompt that differs.'),
  ...DEVIATION_FIELDS,
  expected: z.string(),
  observed: z.string(),
});

const DriftShape = z.union([EnvironmentDriftShape, FieldDriftShape]);

// The shapes that `promptsync history` reports for one prompt.

const COMMIT_INFO_FIELDS = {
  author: z.string().optional().describe('The author’s name.'),
  date: z.string().optional().describe('The author’s date, ISO 8601.'),
  subject: z.string().optional().describe('Of the merge commit of a pull request: the title of that.'),
  pull_request: z.string().optional().describe('#12, or !12 of GitLab.'),
};

const CommitShape = z
  .object({ commit: z.string().describe('Its id.'), ...COMMIT_INFO_FIELDS })
  .describe('Of a commit that the repository does not have, its id alone.');

const MakerShape = z
  .enum(['git', 'uncommitted', 'outside', 'unknown'])
  .describe('uncommitted: by promptsync, from a file of no commit. outside: by somebody else. unknown: not said.');

const VERSION_FIELDS = {
  id: z.string().describe('The service’s id of the version.'),
  version_number: z.int().describe('The number that the service gave it.'),
  digest: DigestShape.describe('Of its content, with line feeds.'),
  made_by: MakerShape,
  commit: z.string().optional().describe('The commit that its content comes from.'),
  ...COMMIT_INFO_FIELDS,
  path: z.string().optional().describe('The file at that commit, from the repository’s root.'),
  message: z.string().optional().describe('What whoever made it has said of it, where the service shows that.'),
};

const PinPeriodShape = z.object({
  environment: z.string().describe('The environment that was pinned to it.'),
  from: CommitShape.nullable().describe(
    'The commit that pinned it, on the branch that is checked out; null: one before all that are known.',
  ),
  until: CommitShape.nullable().describe('The commit that ended it; null: the last commit still says so.'),
  served: z.boolean().describe('Whether the service serves it there now.'),
});

const HistoryShape = z.object({
  versions: z
    .array(
      z.object({
        ...VERSION_FIELDS,
        active_in: z.array(z.string()).describe('Environments that serve it now.'),
        pinned: z.array(PinPeriodShape).describe('When the file’s pins meant it, as far as git knows.'),
      }),
    )
    .describe('All that are known, newest first.'),
});

const LineageShape = z.object({
  environment: z.string().describe('The one that was asked for.'),
  serves: z.object(VERSION_FIELDS).nullable().describe('null: the environment serves nothing.'),
  pinned: CommitShape.nullable().describe(
    'Since when the file’s pin means what is served, without a break; null: it does not.',
  ),
});

// The shapes of prompts, problems and the whole report.

const ProblemShape = z.object({
  code: z
    .string()
    .regex(/^[a-z]+\/[a-z0-9-]+$/)
    .describe('Stays the same from release to release; docs/troubleshooting.md lists them.'),
  severity: z.enum(['error', 'warning']).describe('A warning stops nothing.'),
  message: z.string().describe('What happened.'),
  hint: z.string().describe('What to do about it.'),
  path: z.string().optional().describe('The file, relative to the folder of promptsync.yaml.'),
  line: z.int().optional().describe('From 1.'),
  column: z.int().optional().describe('From 1.'),
});

const ReportRowShape = z.object({
  environment: z.string().describe('One that the file pins.'),
  pin: z.string().describe('What the file says: `latest`, a number, `version:<id>` or `git:<ref>`.'),
  active: VersionRefShape.nullable().describe('What the service serves; null: nothing.'),
  wanted: z.union([VersionRefShape, NewVersionShape]).nullable().describe('What the pin means; null: not known.'),
  in_sync: z.boolean().describe('Whether what is active is what is wanted.'),
});

const EditShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create-file').describe('What is done to the file.') }),
  z.object({
    kind: z.literal('set-pin'),
    environment: z.string().describe('The environment whose pin is set.'),
    before: z.string().nullable().describe('A pin, or a value as JSON; null: not pinned, or absent.'),
    after: z.string(),
    serves: z.object(SERVED_FIELDS).optional().describe('What a sync makes of it: what is served there now, and then.'),
  }),
  z.object({
    kind: z.literal('set-field'),
    field: z.string().describe('name, key, description, variables, metadata.<key>'),
    before: z.string().nullable().describe('As JSON; null: absent.'),
    after: z.string().nullable().describe('A pin, or a value as JSON; null: absent.'),
    conflict: z.boolean().describe('The file has both, between conflict markers.'),
  }),
  z.object({
    kind: z.literal('set-text'),
    from: z.string().describe('The environment and the version that the text comes from.'),
    conflicts: z.int().min(0).describe('Places of which the file has both sides, between conflict markers.'),
    texts: z
      .object({ environment: z.string().describe('Where the other text comes from.'), ...TEXT_FIELDS })
      .optional()
      .describe('The text of the file before and after.'),
  }),
]);

const PromptShape = z.object({
  path: z.string().describe('Relative to the folder of promptsync.yaml.'),
  id: z.string().describe('The service’s id of the prompt.'),
  key: z.string().describe('The key that the file says.'),
  status: z
    .enum(['unchanged', 'pending', 'applied', 'blocked', 'failed', 'not_attempted'])
    .describe(
      'pending: on a dry run, it has changes. blocked: refused by a guard. not_attempted: the run ended before.',
    ),
  changes: z.array(ChangeShape).describe('In the order in which they are made.'),
  environments: z
    .array(ReportRowShape)
    .optional()
    .describe('Where a plan was made, by the file’s pins; after an apply as it was before. Not known of what failed.'),
  history: HistoryShape.optional().describe('In mode history only.'),
  lineage: LineageShape.optional().describe('In mode history, of the environment that was asked for.'),
  edits: z
    .array(EditShape)
    .optional()
    .describe('What a command changes in the file: import, pull, promote, rollback, init.'),
  drift: z.array(DriftShape).describe('What was changed in the service, as far as --base knows.'),
  problems: z.array(ProblemShape).describe('Of this prompt.'),
  waiting: z
    .array(
      z.object({
        environment: z.string().describe('The environment that is behind.'),
        from: z.string().describe('The one that it is promoted from.'),
        versions: z.int().min(1).describe('How many versions it is behind.'),
        since: CommitShape.nullable().describe('The commit that last changed its pin; null: not known.'),
      }),
    )
    .optional()
    .describe('In mode status: what waits for promotion.'),
});

const WrittenFileShape = z.object({
  path: z.string().describe('Relative to the folder of promptsync.yaml.'),
  status: z.enum(['created', 'overwritten', 'extended', 'kept']).describe('kept: it was there already and differs.'),
});

const OrphanShape = z.object({
  name: z.string().describe('The service’s id of the prompt.'),
  labels: z.array(z.string()).describe('Environments that serve a version of it.'),
  last_version: z.int().describe('The number of its newest version.'),
});

const CountShape = z.int().min(0);

/** The shape of the report that `--format json` prints. Its JSON Schema is published as schemas/report.schema.json. */
export const ReportShape = z.object({
  schema_version: z.literal(1).describe('Another number means a report that readers of this one cannot read.'),
  mode: z.enum(REPORT_MODES).describe('dry-run and apply: a sync. The others: the command of that name.'),
  service: z.string().nullable().describe('The address of the service; null: it was not asked.'),
  commit: z.string().nullable().describe('HEAD of the repository; null: there is none.'),
  changed_since: z.string().optional().describe('Only what has changed since this commit was looked at.'),
  plan_digest: DigestShape.nullable().describe('What --expect-plan takes; null: there is no plan.'),
  summary: z
    .object({
      prompts: CountShape.describe('Prompts in the report.'),
      unchanged: CountShape.describe('Prompts that are in sync.'),
      create_version: CountShape.describe(
        'Versions: on a dry run those to create, after an apply those that were made.',
      ),
      update_prompt: CountShape.describe('Prompts whose fields change, or were changed.'),
      set_active: CountShape.describe('Environments whose active version changes, or was changed.'),
      blocked: CountShape.describe('Prompts that a guard has refused.'),
      applied: CountShape.describe('Prompts that were changed.'),
      failed: CountShape.describe('Prompts that failed.'),
      not_attempted: CountShape.describe('Prompts that the run did not come to.'),
      not_looked_at: CountShape.optional().describe('With changed_since: prompts that are not in this report.'),
    })
    .describe('What the report holds, counted.'),
  prompts: z.array(PromptShape).describe('By path.'),
  orphans: z.array(OrphanShape).optional().describe('With --orphans: prompts of the service that no file is of.'),
  files: z.array(WrittenFileShape).optional().describe('What init has written.'),
  committed: z
    .object({
      commit: z.string().describe('Its id.'),
      branch: z.string().nullable().describe('null: HEAD is on none.'),
      pull_request: z
        .string()
        .regex(/^[#!][0-9]+$/)
        .optional()
        .describe('#12, where the action has proposed it.'),
    })
    .optional()
    .describe('The commit that holds the edits.'),
  problems: z.array(ProblemShape).describe('Of the run and of files that are no prompts.'),
});

/** A type whose objects and arrays are read-only at every depth. */
type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** The report of one run of promptsync. promptsync renders every output format from this report. */
export type Report = ReadonlyDeep<z.infer<typeof ReportShape>>;
/** The part of a report that describes one prompt. */
export type ReportPrompt = Report['prompts'][number];
/** The known versions of one prompt. */
export type ReportHistory = NonNullable<ReportPrompt['history']>;
/** The origin of the version that one environment serves. */
export type ReportLineage = NonNullable<ReportPrompt['lineage']>;
/** The pin of one environment, with its active version and its desired version. */
export type ReportRow = NonNullable<ReportPrompt['environments']>[number];
/** A change to one prompt in the service. */
export type ReportChange = ReportPrompt['changes'][number];
/** An edit to one prompt file. */
export type ReportEdit = NonNullable<ReportPrompt['edits']>[number];
/** The drift of one environment or one field. */
export type ReportDrift = ReportPrompt['drift'][number];
/** An error or a warning in a report. */
export type ReportProblem = Report['problems'][number];
