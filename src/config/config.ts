import { z } from 'zod';
import { LONGEST_PATTERN } from '../domain/text.ts';
import type { Environment, MaxChanges, OnDrift } from '../domain/policy.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { expandBraces } from '../files/glob.ts';
import { acceptedWarnings, line } from '../files/yaml-shape.ts';
import type { Place } from '../problem.ts';

export const CONFIG_NAME = 'promptsync.yaml';

/** Which interface a service has: that of the four calls, or another one's. */
export type ProviderName = 'integration' | 'langfuse';

/** Where the service is. Keys are not in here: they are read from the environment when they are needed. */
export type ServiceLocation =
  | {
      readonly kind: 'remote';
      readonly provider: ProviderName;
      readonly baseUrl: string;
      /** The variable of the secret key, then that of the public key where there is one. */
      readonly keyVariables: readonly string[];
    }
  | { readonly kind: 'embedded'; readonly databasePath: string };

/** The configuration as the program uses it: everything resolved, defaults filled in. */
export type Config = {
  /** Absolute path of the configuration file, and its folder, to which all paths are relative. */
  readonly file: string;
  readonly folder: string;
  /** The repository's root; outside a repository the folder. Nothing is read from outside it. */
  readonly root: string;
  /** Null: enough for offline commands. */
  readonly service: ServiceLocation | null;
  /** What the service takes. */
  readonly rules: ProviderRules;
  readonly patterns: readonly string[];
  /** Where each pattern stands; without places when they are the default. */
  readonly patternPlaces: readonly Place[];
  /** In promotion order; null when any environment may be pinned. */
  readonly environments: readonly Environment[] | null;
  /** What goes live; null: the remote's default branch. */
  readonly branch: string | null;
  readonly trackingEnvironment: string;
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  readonly acceptWarnings: readonly string[];
  readonly concurrency: number;
  readonly timeoutSeconds: number;
};

export type Variables = Readonly<Record<string, string | undefined>>;

/** What is known of a configuration besides its text. */
export type ConfigSurroundings = {
  /** Absolute path of the file, and the way it is shown in problems. */
  readonly file: string;
  readonly shownPath: string;
  readonly root: string;
  /** They come before the file; `urlSource` is what people call the place of the base URL among them. */
  readonly environment: Variables;
  readonly urlSource?: string | undefined;
};

const KEY_VARIABLE = 'PROMPTSYNC_API_KEY';

/** What settings are where promptsync.yaml leaves them out, by their names there. docs/configuration.md lists them. */
export const DEFAULTS = {
  api_key_env: KEY_VARIABLE,
  public_key_env: 'LANGFUSE_PUBLIC_KEY',
  secret_key_env: 'LANGFUSE_SECRET_KEY',
  prompts: ['prompts/**/*.md'],
  allow_latest: true,
  tracking_environment: 'promptsync',
  on_drift: 'overwrite',
  concurrency: 8,
  timeout_seconds: 15,
} as const satisfies WrittenConfig & NonNullable<WrittenConfig['service']> & { readonly allow_latest: boolean };

/** The environment before each that has one. */
export function promotedFrom({ environments }: Pick<Config, 'environments'>): ReadonlyMap<string, string> {
  return new Map(
    (environments ?? []).flatMap(({ name, promoteFrom }): [string, string][] =>
      promoteFrom === undefined ? [] : [[name, promoteFrom]],
    ),
  );
}

export function forbidsLatest({ environments }: Pick<Config, 'environments'>): readonly string[] {
  return (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name);
}

/** A pattern of prompt files. What other tools take for groups in parentheses would silently match nothing here. */
const pattern = line
  .max(LONGEST_PATTERN, { error: `it is longer than ${LONGEST_PATTERN} characters`, abort: true })
  .refine((text) => text !== '!', 'it is empty')
  .refine((text) => expandBraces(text).length > 0, 'its braces stand for too many patterns')
  .refine((text) => !/[()]/.test(text), 'it holds parentheses; use braces, or a pattern that begins with !')
  // What it says of braces is left to the parser.
  .meta({ pattern: '^(?!!$)[^()\\p{Cc}]+$' });

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, never the key');

/**
 * `meta` is put into the JSON Schema besides what zod puts there, for editors. What depends on another place (names of
 * environments, an order) or on the host of a URL cannot be said in it.
 */
const location = z
  .strictObject({
    provider: z
      .enum(['langfuse'])
      .optional()
      .describe('langfuse: prompts are kept in Langfuse. Absent: a service of the four calls.'),
    base_url: z
      .string()
      .optional()
      .meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?:[^\\s\\\\?#\\p{Cc}]+$' })
      .describe(
        'Where the service is; https, or http for loopback addresses. PROMPTSYNC_BASE_URL goes before it; of Langfuse LANGFUSE_HOST stands in for it.',
      ),
    api_key_env: variableName.optional().describe('The NAME of the variable that holds the API key, never the key.'),
    public_key_env: variableName.optional().describe("The NAME of the variable that holds Langfuse's public key."),
    secret_key_env: variableName.optional().describe("The NAME of the variable that holds Langfuse's secret key."),
    allow_http: z
      .boolean()
      .optional()
      .describe('true: plain http to any address, inside a private network. The key can be read on its way.'),
    embedded: line.optional().describe('Instead of base_url: the embedded service on this SQLite file.'),
  })
  .refine((s) => s.base_url === undefined || s.embedded === undefined, 'base_url and embedded exclude each other')
  .meta({ not: { required: ['base_url', 'embedded'] } })
  .describe('Where the service is, and the name of the variable that holds its key.');

const environment = z
  .strictObject({
    promote_from: line
      .optional()
      .describe('The environment, listed before, in which a version must be active before it may be active here.'),
    allow_latest: z.boolean().optional().describe('false refuses the pin `latest` here.'),
  })
  .nullable()
  .describe('An environment that may be pinned, and the rules for what goes live in it.');

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
  service: location.optional(),
  prompts: z
    .array(pattern.describe('A pattern of prompt files, relative to this file; `!` in front takes files out.'))
    .min(1, 'it is empty')
    .optional()
    .describe('Patterns of prompt files, relative to this file.'),
  environments: z
    .record(line, environment)
    .optional()
    .describe('In promotion order. Where it is there, no other may be pinned.'),
  branch: line.optional().describe("The branch that goes live. Default: the remote's default branch."),
  tracking_environment: line.optional().describe("An environment of the tool's own, on the newest version it made."),
  on_drift: z
    .enum(['overwrite', 'fail'])
    .optional()
    .describe('fail refuses prompts that were changed outside of git; it needs --base.'),
  max_changes: maxChanges
    .optional()
    .describe('Refuse when more prompts would change: a number, or a percentage such as 25%.'),
  accept_warnings: acceptedWarnings,
  concurrency: z.int().min(1).max(256).optional().describe('Requests in flight at most.'),
  timeout_seconds: z.number().gt(0).max(600).optional().describe('For each request.'),
});

export type WrittenConfig = z.infer<typeof WrittenConfigShape>;

export const CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(WrittenConfigShape.shape),
  ...Object.keys(location.shape),
  ...Object.keys(environment.unwrap().shape),
];
