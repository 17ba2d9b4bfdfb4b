import { z } from 'zod';
import { line } from '../yaml/line.ts';
import { pattern } from './pattern.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, never the key');

const service = z
  .strictObject({
    base_url: z.string().optional().describe('Where the service is; https, or http for loopback addresses.'),
    api_key_env: variableName.optional().describe('The NAME of the variable that holds the API key.'),
    embedded: line.optional().describe('Instead of base_url: the embedded service on this SQLite file.'),
  })
  .refine((s) => s.base_url === undefined || s.embedded === undefined, 'base_url and embedded exclude each other');

const environment = z
  .strictObject({
    promote_from: line.optional().describe('The environment in which a version must be active first.'),
    allow_latest: z.boolean().optional().describe('Whether a pin of this environment may be `latest`.'),
  })
  .nullable();

const MAX_CHANGES_EXPECTED = 'expected a number, or a percentage such as 25%';
const maxChanges = z.union(
  [
    z.int(MAX_CHANGES_EXPECTED).min(0, MAX_CHANGES_EXPECTED).max(999_999_999, MAX_CHANGES_EXPECTED),
    z.string().regex(/^(100|[0-9]{1,2})%$/, MAX_CHANGES_EXPECTED),
  ],
  MAX_CHANGES_EXPECTED,
);

/** `promptsync.yaml` as its author writes it. */
export const WrittenConfigShape = z.strictObject({
  service: service.optional(),
  prompts: z
    .array(pattern)
    .min(1, 'it is empty')
    .optional()
    .describe('Patterns of prompt files, relative to this file.'),
  environments: z.record(line, environment).optional().describe('In promotion order. Present: no other may be pinned.'),
  tracking_environment: z
    .union([line, z.literal(false)], 'expected the name of an environment or false')
    .optional()
    .describe("The tool's own environment, or false."),
  on_drift: z.enum(['overwrite', 'fail']).optional(),
  variables: z
    .enum(['note', 'strict'])
    .optional()
    .describe('What a change of the {{placeholders}} of an environment is: a note, or refused without allow_breaking.'),
  max_changes: maxChanges.optional(),
  concurrency: z.int().min(1).max(256).optional().describe('Requests in flight.'),
  timeout_seconds: z.number().gt(0).max(600).optional(),
});

export type WrittenConfig = z.infer<typeof WrittenConfigShape>;

export const CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(WrittenConfigShape.shape),
  ...['base_url', 'api_key_env', 'embedded', 'promote_from', 'allow_latest'],
];
