import { z } from 'zod';
import { REPORT_MODES } from '../../domain/edits.ts';
import { PROMPT_TYPES } from '../../domain/chat.ts';
import { ChangeShape, DriftShape, NewVersionShape, SERVED_FIELDS, VersionRefShape } from './change-schema.ts';
import { TEXT_FIELDS } from './text-schema.ts';
import { CommitShape, DigestShape, HistoryShape, LineageShape } from './history-schema.ts';

const ProblemShape = z.object({
  code: z
    .string()
    .regex(/^[a-z]+\/[a-z0-9-]+$/)
    .describe(
      'The code of the problem. Codes do not change between releases. docs/troubleshooting.md lists all codes.',
    ),
  severity: z.enum(['error', 'warning']).describe('The severity. A warning never stops a run or blocks a prompt.'),
  message: z.string().describe('The description of the problem.'),
  hint: z.string().describe('How to fix the problem.'),
  path: z.string().optional().describe('The path of the file, relative to the folder that contains promptsync.yaml.'),
  line: z.int().optional().describe('The line number, starting at 1.'),
  column: z.int().optional().describe('The column number, starting at 1.'),
});

const ReportRowShape = z.object({
  environment: z.string().describe('An environment that the file pins.'),
  pin: z.string().describe('The pin in the file: `latest`, a number, `version:<id>`, or `git:<ref>`.'),
  active: VersionRefShape.nullable().describe('The version that the environment serves. null if it serves none.'),
  wanted: z
    .union([VersionRefShape, NewVersionShape])
    .nullable()
    .describe('The version that the pin selects. null if it is unknown.'),
  in_sync: z.boolean().describe('Whether the environment serves the version that the pin selects.'),
});

const EditShape = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create-file').describe('The kind of edit.') }),
  z.object({
    kind: z.literal('set-pin'),
    environment: z.string().describe('The environment whose pin the edit sets.'),
    before: z.string().nullable().describe('The pin before the edit. null if there was no pin.'),
    after: z.string().describe('The pin after the edit.'),
    version_number: z
      .int()
      .optional()
      .describe('If the pin names a version by id, the number of that version. Absent for other pins.'),
    active: VersionRefShape.nullable()
      .optional()
      .describe(
        'The version that the environment serves now. null if it serves none. Present only in the reports of promote and rollback.',
      ),
    serves: z
      .object(SERVED_FIELDS)
      .optional()
      .describe('The version that the environment serves now, and the version that it would serve after a sync.'),
  }),
  z.object({
    kind: z.literal('set-field'),
    field: z.string().describe('The name of the field: name, key, description, variables, or metadata.<key>.'),
    before: z.string().nullable().describe('The value before the edit, as JSON. null if the field is absent.'),
    after: z.string().nullable().describe('The value after the edit, as JSON. null if the field is absent.'),
    conflict: z.boolean().describe('Whether the file contains both values between conflict markers.'),
  }),
  z.object({
    kind: z.literal('set-text'),
    from: z.string().describe('The environment and the version that the text comes from.'),
    conflicts: z
      .int()
      .min(0)
      .describe('The number of conflicts in the file. Conflict markers enclose both sides of each conflict.'),
    texts: z
      .object({ environment: z.string().describe('The environment that serves the pulled text.'), ...TEXT_FIELDS })
      .optional()
      .describe('The text of the file before and after the edit.'),
  }),
]);

const PromptShape = z.object({
  path: z.string().describe('The path of the file, relative to the folder that contains promptsync.yaml.'),
  id: z.string().describe('The id of the prompt in the service.'),
  id_source: z
    .literal('path')
    .optional()
    .describe(
      'Where the id comes from. Present only if promptsync derives the id from the path of the file. Absent if the file contains the id.',
    ),
  key: z.string().describe("The prompt's key in the file."),
  type: z.enum(PROMPT_TYPES).nullable().describe('The type of the prompt. null if promptsync could not read it.'),
  url: z
    .string()
    .regex(/^https?:\/\/[\w\-.~:/?#[\]@!$&*+,;=%]+$/)
    .optional()
    .describe("The address of the prompt's page in the service's user interface, if it has one."),
  status: z
    .enum(['unchanged', 'pending', 'applied', 'blocked', 'failed', 'not_attempted'])
    .describe(
      'The status of the prompt. pending: a dry run found changes. blocked: a guard blocked the prompt. not_attempted: the run ended before it reached the prompt.',
    ),
  changes: z.array(ChangeShape).describe('The changes, in the order in which promptsync makes them.'),
  environments: z
    .array(ReportRowShape)
    .optional()
    .describe(
      "The prompt's pinned environments, if there is a plan. After an apply, these entries show the state of the environments before the apply. If the status of the prompt is failed, the state of the environments is unknown.",
    ),
  history: HistoryShape.optional().describe('The history of the prompt. Present only if the mode is history.'),
  lineage: LineageShape.optional().describe(
    'The origin of the version that the selected environment serves. Present only if the mode is history.',
  ),
  edits: z
    .array(EditShape)
    .optional()
    .describe(
      'The edits that import, new, pull, promote, or rollback made to the file. With rollback --now, the prompt has both `edits` and `changes`.',
    ),
  drift: z.array(DriftShape).describe('The drift in the service relative to the base.'),
  problems: z.array(ProblemShape).describe('The problems found in this prompt.'),
  waiting: z
    .array(
      z.object({
        environment: z.string().describe('The environment waiting for a promotion.'),
        from: z.string().describe('The promotion source: the environment that serves the version to promote.'),
        versions: z
          .int()
          .min(1)
          .describe('The number of versions by which the environment is behind its promotion source.'),
        since: CommitShape.nullable().describe(
          'The commit that pinned the promotion source to its current version. null if the commit is unknown.',
        ),
      }),
    )
    .optional()
    .describe(
      'The environments waiting for a promotion. Excludes environments that rolled back the version of their promotion source. Present only if the mode is status.',
    ),
  ahead: z
    .array(
      z.object({
        environment: z.string().describe('The environment that is ahead of its promotion source.'),
        from: z
          .string()
          .describe('The promotion source of the environment: the environment that its versions are promoted from.'),
        versions: z
          .int()
          .min(1)
          .describe('The number of versions by which the environment is ahead of its promotion source.'),
      }),
    )
    .optional()
    .describe(
      'The environments that serve a newer version than their promotion source does. Present only if the mode is `status`.',
    ),
  affected: z
    .array(
      z.object({
        path: z.string().describe('The path of the file, relative to the folder that contains promptsync.yaml.'),
        key: z.string().describe('The key of the prompt.'),
      }),
    )
    .optional()
    .describe('The composed prompts affected by the changes to this prompt, even if their own files are unchanged.'),
});

const WrittenFileShape = z.object({
  path: z.string().describe('The path of the file, relative to the folder that contains promptsync.yaml.'),
  status: z
    .enum(['created', 'overwritten', 'extended', 'kept'])
    .describe('The status of the file. kept: the file already existed with different content.'),
});

const OrphanShape = z.object({
  name: z.string().describe('The id of the prompt in the service.'),
  labels: z.array(z.string()).describe('The environments that serve a version of the prompt.'),
  last_version: z.int().describe('The number of the newest version of the prompt.'),
});

const CountShape = z.int().min(0);

/** The shape of the report that `--format json` prints. Its JSON Schema is published as schemas/report.schema.json. */
export const ReportShape = z.object({
  schema_version: z
    .literal(1)
    .describe(
      'The version of this schema. A program written for version 1 cannot read reports with any other version.',
    ),
  mode: z
    .enum(REPORT_MODES)
    .describe(
      'The mode of the run. For sync, either dry-run or apply. For any other command, the name of the command.',
    ),
  service: z.string().nullable().describe('The address of the service. null if promptsync did not contact it.'),
  vocabulary: z
    .object({
      service: z
        .string()
        .regex(/^[A-Za-z ]{1,40}$/)
        .describe('The name of the service, as it appears in a sentence.'),
      environment: z
        .string()
        .regex(/^[a-z]{1,20}$/)
        .describe('The service\'s term for an environment, such as "label".'),
    })
    .optional()
    .describe(
      'The words that this report uses for the service and its environments. Absent if they are "the service" and "environment".',
    ),
  commit: z.string().nullable().describe('The commit at HEAD. null if there is no commit.'),
  base: z
    .string()
    .optional()
    .describe(
      'The name of the base that drift is measured against: the live branch, a git ref, or a shortened commit id. Absent if it is unknown, or if there is no drift.',
    ),
  branch: z
    .string()
    .optional()
    .describe(
      'The name of the live branch. Absent if the clone does not know the tip of that branch, or if the report contains neither drift nor notes about changes.',
    ),
  changed_since: z
    .string()
    .optional()
    .describe(
      'The commit specified with --changed-since. The report covers only prompts that changed after this commit.',
    ),
  promotion_order: z
    .array(z.string())
    .optional()
    .describe('The configured environments in promotion order. Absent if the configuration lists none.'),
  environments: z
    .array(z.string())
    .optional()
    .describe(
      'The environments selected with --environment, or the environment that rollback --now rolls back. The report covers only these. Absent if the report covers all environments.',
    ),
  plan_digest: DigestShape.nullable().describe('The digest of the plan, for --expect-plan. null if there is no plan.'),
  summary: z
    .object({
      prompts: CountShape.describe('The number of prompts in the report.'),
      unchanged: CountShape.describe('The number of prompts that are in sync.'),
      create_version: CountShape.describe(
        'The number of versions that will be created or, after an apply, the number that were created. Does not include baselines.',
      ),
      baselines: CountShape.describe(
        'The number of baselines that will be created or, after an apply, the number that were created.',
      ),
      update_prompt: CountShape.describe(
        'The number of prompts whose fields will change or, after an apply, have changed.',
      ),
      set_active: CountShape.describe(
        'The number of environments whose active version will change or, after an apply, has changed.',
      ),
      blocked: CountShape.describe('The number of prompts that a guard blocked.'),
      applied: CountShape.describe('The number of prompts that the run changed.'),
      failed: CountShape.describe('The number of prompts that failed.'),
      not_attempted: CountShape.describe('The number of prompts that the run did not reach.'),
      not_looked_at: CountShape.optional().describe(
        'The number of prompts that are not in the report because of changed_since.',
      ),
    })
    .describe('The totals for the report.'),
  prompts: z.array(PromptShape).describe('The prompts, sorted by path.'),
  orphans: z
    .array(OrphanShape)
    .optional()
    .describe('The prompts in the service that have no prompt file. Present only with --orphans.'),
  files: z.array(WrittenFileShape).optional().describe('The files that init wrote or kept.'),
  next_steps: z
    .array(z.string())
    .optional()
    .describe(
      'What the user can do next, after init, new, or rollback --now writes files. Each step is one or two sentences, or a command.',
    ),
  committed: z
    .object({
      commit: z.string().describe('The id of the commit.'),
      branch: z.string().nullable().describe('The branch of the commit. null if HEAD is detached.'),
      pull_request: z
        .string()
        .regex(/^[#!][0-9]+$/)
        .optional()
        .describe('The number of the pull request in which the action proposes the commit, such as #12.'),
    })
    .optional()
    .describe('The commit that contains the edits. For an import, the last commit that the import made.'),
  commits: z
    .array(
      z.object({
        commit: z.string().nullable().describe('The id of the commit. null on a dry run.'),
        subject: z.string().describe('The subject of the commit.'),
        paths: z.array(z.string()).describe('The prompt files in the commit.'),
      }),
    )
    .optional()
    .describe(
      'The commits that import --commit made, oldest first. Every commit except the last holds content that an environment serves but the new files do not contain. On a dry run, these are the commits that import would make.',
    ),
  problems: z
    .array(ProblemShape)
    .describe('The problems that affect the whole run, and the problems in files that are not prompts.'),
});

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** The report of one run of promptsync. promptsync renders every output format from this report. */
export type Report = ReadonlyDeep<z.infer<typeof ReportShape>>;
export type ReportPrompt = Report['prompts'][number];
/** The known versions of one prompt. */
export type ReportHistory = NonNullable<ReportPrompt['history']>;
/** The origin of the version that one environment serves. */
export type ReportLineage = NonNullable<ReportPrompt['lineage']>;
/** An environment that the file pins: its pin, its active version and its desired version. */
export type ReportRow = NonNullable<ReportPrompt['environments']>[number];
/** A change to one prompt in the service. */
export type ReportChange = ReportPrompt['changes'][number];
/** An edit to one prompt file. */
export type ReportEdit = NonNullable<ReportPrompt['edits']>[number];
/** The drift of one environment or one field. */
export type ReportDrift = ReportPrompt['drift'][number];
/** An error or a warning in a report. */
export type ReportProblem = Report['problems'][number];
