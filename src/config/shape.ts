import { z } from 'zod';
import { line } from '../yaml/line.ts';
import { pattern } from './pattern.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, never the key');

const location = z
  .strictObject({
    base_url: z.string().optional().describe('Where the service is; https, or http for loopback addresses.'),
    api_key_env: variableName.optional().describe('The NAME of the variable that holds the API key.'),
    embedded: line.optional().describe('Instead of base_url: the embedded service on this SQLite file.'),
  })
  .refine((s) => s.base_url === undefined || s.embedded === undefined, 'base_url and embedded exclude each other');

const serviceName = line.describe('The name of one of the services.');

const promptsEntry = z.union(
  [
    pattern,
    z
      .strictObject({
        pattern: pattern.describe('Relative to this file.'),
        service: serviceName.optional().describe('The name of the service that these files belong to.'),
      })
      .refine((entry) => entry.service === undefined || !entry.pattern.startsWith('!'), {
        message: 'a pattern that takes files out assigns them to no service',
        path: ['service'],
      }),
  ],
  'expected string, or a mapping with a pattern and a service',
);

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
  service: z
    .union([location, serviceName], { error: ({ input }) => `expected mapping, received ${kindOf(input)}` })
    .optional()
    .describe('Where the service is; with `services` the name of the one for files that nothing else assigns.'),
  services: z
    .record(
      line,
      location.refine(
        (one) => one.base_url !== undefined || one.embedded !== undefined,
        'it needs base_url or embedded',
      ),
    )
    .refine((all) => Object.keys(all).length > 0, 'it is empty')
    .optional()
    .describe('Several services by name, each with its own key.'),
  prompts: z
    .array(promptsEntry)
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
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .optional()
    .describe('Requests in flight at most: fewer while the service refuses some or grows slow.'),
  timeout_seconds: z.number().gt(0).max(600).optional(),
});

function kindOf(input: unknown): string {
  return input === null ? 'null' : Array.isArray(input) ? 'list' : typeof input;
}

export type WrittenConfig = z.infer<typeof WrittenConfigShape>;

/** One service as it is written. */
export type WrittenService = z.infer<typeof location>;

export const CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(WrittenConfigShape.shape),
  ...['base_url', 'api_key_env', 'embedded', 'pattern', 'promote_from', 'allow_latest'],
];
