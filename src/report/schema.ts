import { z } from 'zod';
import { MODES } from '../domain/edits.ts';
import { change, digest, drift, newVersion, versionRef } from './changes.ts';
import { HistoryShape, LineageShape } from './history-schema.ts';

/** The JSON report, `--format json`. Its JSON Schema ships as schemas/report.schema.json. */

const problem = z.object({
  code: z.string().describe('Stays the same from release to release; docs/troubleshooting.md lists them.'),
  severity: z.enum(['error', 'warning']).describe('A warning stops nothing.'),
  message: z.string().describe('What happened.'),
  hint: z.string().describe('What to do about it.'),
  path: z.string().optional().describe('The file, relative to the folder of promptsync.yaml.'),
  line: z.int().optional().describe('From 1.'),
  column: z.int().optional().describe('From 1.'),
});

const environment = z.object({
  environment: z.string().describe('One that the file pins.'),
  pin: z.string().describe('What the file says: `latest`, a number, `version:<id>` or `git:<ref>`.'),
  active: versionRef.nullable().describe('What the service serves; null: nothing.'),
  wanted: z.union([versionRef, newVersion]).nullable().describe('What the pin means; null: not known.'),
  in_sync: z.boolean().describe('Whether what is active is what is wanted.'),
});

const edit = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('create-file').describe('What is done to the file.') }),
  z.object({
    kind: z.literal('set-pin'),
    environment: z.string().describe('The environment whose pin is set.'),
    before: z.string().nullable().describe('A pin, or a value as JSON; null: not pinned, or absent.'),
    after: z.string(),
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
  }),
]);

const prompt = z.object({
  path: z.string().describe('Relative to the folder of promptsync.yaml.'),
  id: z.string().describe('The service’s id of the prompt.'),
  key: z.string().describe('The key that the file says.'),
  status: z
    .enum(['unchanged', 'pending', 'applied', 'blocked', 'failed', 'not_attempted'])
    .describe(
      'pending: on a dry run, it has changes. blocked: refused by a guard. not_attempted: the run ended before.',
    ),
  changes: z.array(change).describe('In the order in which they are made.'),
  environments: z.array(environment).optional().describe('In modes status and history only.'),
  history: HistoryShape.optional().describe('In mode history only.'),
  lineage: LineageShape.optional().describe('In mode history, of the environment that was asked for.'),
  edits: z
    .array(edit)
    .optional()
    .describe('What a command changes in the file: import, pull, promote, rollback, init.'),
  drift: z.array(drift).describe('What was changed in the service, as far as --base tells.'),
  problems: z.array(problem).describe('Of this prompt.'),
});

const writtenFile = z.object({
  path: z.string().describe('Relative to the folder of promptsync.yaml.'),
  status: z.enum(['created', 'overwritten', 'extended', 'kept']).describe('kept: it was there already and differs.'),
});

const count = z.int().min(0);

export const ReportShape = z.object({
  schema_version: z.literal(1).describe('Another number means a report that readers of this one cannot read.'),
  mode: z.enum(MODES).describe('dry-run and apply: a sync. The others: the command of that name.'),
  service: z.string().nullable().describe('The address of the service; null: it was not asked.'),
  commit: z.string().nullable().describe('HEAD of the repository; null: there is none.'),
  changed_since: z.string().optional().describe('Only what has changed since this commit was looked at.'),
  plan_digest: digest.nullable().describe('What --expect-plan takes; null: there is no plan.'),
  summary: z
    .object({
      prompts: count.describe('Prompts in the report.'),
      unchanged: count.describe('Prompts that are in sync.'),
      create_version: count.describe('Versions: on a dry run those to create, after an apply those that were made.'),
      update_prompt: count.describe('Prompts whose fields change, or were changed.'),
      set_active: count.describe('Environments whose active version changes, or was changed.'),
      blocked: count.describe('Prompts that a guard has refused.'),
      applied: count.describe('Prompts that were changed.'),
      failed: count.describe('Prompts that failed.'),
      not_attempted: count.describe('Prompts that the run did not come to.'),
      not_looked_at: count.optional().describe('With changed_since: prompts that are not in this report.'),
    })
    .describe('What the report holds, counted.'),
  prompts: z.array(prompt).describe('By path.'),
  files: z.array(writtenFile).optional().describe('What init has written.'),
  committed: z
    .object({
      commit: z.string().describe('Its id.'),
      branch: z.string().nullable().describe('null: HEAD is on none.'),
    })
    .optional()
    .describe('The commit that holds the edits.'),
  problems: z.array(problem).describe('Of the run and of files that are no prompts.'),
});

type ReadonlyDeep<T> = T extends readonly (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

/** What every output format is made from. */
export type Report = ReadonlyDeep<z.infer<typeof ReportShape>>;
/** What a report tells of one prompt. */
export type ReportPrompt = Report['prompts'][number];
export type ReportHistory = NonNullable<ReportPrompt['history']>;
export type ReportLineage = NonNullable<ReportPrompt['lineage']>;
/** One change of a prompt; after an apply with its status. */
export type ReportChange = ReportPrompt['changes'][number];
export type ReportEdit = NonNullable<ReportPrompt['edits']>[number];
/** One environment or field that was changed without promptsync, or not brought to its end by it. */
export type ReportDrift = ReportPrompt['drift'][number];
/** One problem, with its code, its place and what to do. */
export type ReportProblem = Report['problems'][number];
