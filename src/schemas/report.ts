import { z } from 'zod';
import { MODES } from '../domain/modes.ts';
import { MOST_SHARDS } from '../domain/shard.ts';
import { HistoryShape, LineageShape } from './history.ts';

/** The JSON report, `--format json`. Its JSON Schema ships as schemas/report.schema.json. */

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const versionRef = z.object({ id: z.string(), version_number: z.int().nullable() });
const newVersion = z.object({ new: z.literal(true), digest: digest.optional() });
const changeStatus = z
  .enum(['made', 'adopted', 'not_made', 'unknown'])
  .optional()
  .describe('After an apply only. adopted: it was there already; unknown: the answer was lost.');

const createVersion = z.object({
  kind: z.literal('create-version'),
  digest,
  metadata_digest: digest.optional().describe('Where the file manages metadata.'),
  ref: z.string().optional().describe('The git: pin that the content is for; absent for the file’s own content.'),
  change_summary: z.string().nullable(),
  version: versionRef.optional().describe('The version that was made.'),
  status: changeStatus,
});

const updatePrompt = z.object({
  kind: z.literal('update-prompt'),
  fields: z.partialRecord(z.enum(['key', 'name', 'description']), z.object({ before: z.string(), after: z.string() })),
  status: changeStatus,
});

const setActive = z.object({
  kind: z.literal('set-active'),
  environment: z.string(),
  before: versionRef.nullable(),
  after: z.union([versionRef, newVersion]),
  status: changeStatus,
});

const driftKind = z
  .enum(['outside', 'unfinished'])
  .describe('unfinished: what stands there was made from an earlier commit, or nothing stands there yet.');

const environmentDrift = z.object({
  environment: z.string(),
  kind: driftKind,
  expected: z.union([versionRef, newVersion]).describe('What the base commit wants.'),
  observed: versionRef
    .extend({ made_by: z.enum(['git', 'outside']), commit: z.string().optional() })
    .nullable()
    .describe('What the service serves: pin version:<id> to go back to it.'),
});

const fieldDrift = z.object({
  field: z.enum(['key', 'name', 'description']),
  kind: driftKind,
  expected: z.string(),
  observed: z.string(),
});

const drift = z.union([environmentDrift, fieldDrift]);

const problem = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  hint: z.string(),
  path: z.string().optional(),
  line: z.int().optional(),
  column: z.int().optional(),
});

const environment = z.object({
  environment: z.string(),
  pin: z.string(),
  active: versionRef.nullable(),
  wanted: z.union([versionRef, newVersion]).nullable().describe('null: not known'),
  in_sync: z.boolean(),
});

const edit = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create-file') }),
  z.object({
    kind: z.literal('set-pin'),
    environment: z.string(),
    before: z.string().nullable().describe('null: it was not pinned'),
    after: z.string(),
  }),
  z.object({
    kind: z.literal('set-field'),
    field: z.string().describe('name, key, description, variables, metadata.<key>'),
    before: z.string().nullable().describe('As JSON; null: absent.'),
    after: z.string().nullable(),
    conflict: z.boolean().describe('The file has both, between conflict markers.'),
  }),
  z.object({
    kind: z.literal('set-text'),
    from: z.string().describe('The environment and the version that the text comes from.'),
    conflicts: z.int().min(0).describe('Places of which the file has both sides, between conflict markers.'),
  }),
]);

const prompt = z.object({
  path: z.string().describe('Relative to the folder of promptsync.yaml.'),
  id: z.string(),
  key: z.string(),
  service: z.string().optional().describe('The name of its service, where promptsync.yaml has `services`.'),
  status: z.enum(['unchanged', 'pending', 'applied', 'blocked', 'failed', 'not_attempted']),
  changes: z.array(z.discriminatedUnion('kind', [createVersion, updatePrompt, setActive])),
  environments: z.array(environment).optional().describe('In modes status and history only.'),
  history: HistoryShape.optional().describe('In mode history only.'),
  lineage: LineageShape.optional().describe('In mode history, of the environment that was asked for.'),
  edits: z
    .array(edit)
    .optional()
    .describe('What a command changes in the file: import, pull, promote, rollback, init.'),
  drift: z.array(drift),
  problems: z.array(problem),
});

const writtenFile = z.object({ path: z.string(), status: z.enum(['created', 'overwritten', 'extended', 'kept']) });

const count = z.int().min(0);

const shardNumber = z.int().min(1).max(MOST_SHARDS);
const shardNumbers = { index: shardNumber, of: shardNumber };
const shard = z.object(shardNumbers).refine(({ index, of }) => index <= of, 'expected an index of at most `of`');

export const ReportShape = z.object({
  schema_version: z.literal(1),
  mode: z.enum(MODES),
  service: z.string().nullable(),
  commit: z.string().nullable(),
  changed_since: z.string().optional().describe('Only what has changed since this commit was looked at.'),
  plan_digest: digest.nullable(),
  shard: shard.optional().describe('The part of the prompts that the report is of: --shard.'),
  shards: z
    .array(z.object({ ...shardNumbers, plan_digest: digest.nullable() }))
    .optional()
    .describe('Of a merged report: the parts that it is made of, each with what --expect-plan takes for it.'),
  summary: z.object({
    prompts: count,
    unchanged: count,
    create_version: count,
    update_prompt: count,
    set_active: count,
    blocked: count,
    applied: count,
    failed: count,
    not_attempted: count,
    not_looked_at: count.optional().describe('With changed_since: prompts that are not in this report.'),
  }),
  prompts: z.array(prompt),
  files: z.array(writtenFile).optional().describe('What init has written.'),
  committed: z
    .object({ commit: z.string(), branch: z.string().nullable() })
    .optional()
    .describe('The commit that holds the edits.'),
  problems: z.array(problem),
});

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** What every output format is made from. */
export type Report = ReadonlyDeep<z.infer<typeof ReportShape>>;
export type ReportPrompt = Report['prompts'][number];
export type ReportHistory = NonNullable<ReportPrompt['history']>;
export type ReportLineage = NonNullable<ReportPrompt['lineage']>;
export type ReportChange = ReportPrompt['changes'][number];
export type ReportEdit = NonNullable<ReportPrompt['edits']>[number];
export type ReportDrift = ReportPrompt['drift'][number];
export type ReportProblem = Report['problems'][number];
