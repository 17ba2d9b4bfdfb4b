import { z } from 'zod';
import { MAX_PATTERN_LENGTH } from '../text.ts';
import type { Environment, MaxChanges, OnDrift } from '../domain/policy.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { expandBraces } from '../files/glob.ts';
import { acceptedWarningCodes, singleLineText } from '../files/yaml-shape.ts';
import type { Place } from '../problem.ts';
import type { KeySettingName } from '../providers/descriptor.ts';
import {
  DEFAULT_PROVIDER,
  KEY_SETTINGS,
  NAMED_PROVIDERS,
  PROVIDER_CHOICES,
  type ProviderName,
  PROVIDERS,
} from '../providers/list.ts';

export const CONFIG_NAME = 'promptsync.yaml';

/** The location of the service. It contains no keys: promptsync reads them from the environment when it needs them. */
export type ServiceLocation =
  | {
      readonly kind: 'remote';
      readonly provider: ProviderName;
      readonly baseUrl: string;
      /** The variable of the secret key, and then that of the public key if the provider has one. */
      readonly keyVariables: readonly string[];
    }
  | { readonly kind: 'embedded'; readonly databasePath: string };

/** The configuration that the program uses, with resolved paths and defaults. */
export type Config = {
  /** The absolute path of the configuration file. All paths in it are relative to `folder`. */
  readonly file: string;
  readonly folder: string;
  /** The root of the repository, or `folder` outside a repository. promptsync reads no file outside of it. */
  readonly root: string;
  /** Null if nothing configures a service. Offline commands need none. */
  readonly service: ServiceLocation | null;
  /** The rules of the provider, which are known without contacting the service. */
  readonly rules: ProviderRules;
  readonly patterns: readonly string[];
  /** The place of each pattern in the file. Default patterns have no places. */
  readonly patternPlaces: readonly Place[];
  /** In promotion order; null if any environment may be pinned. */
  readonly environments: readonly Environment[] | null;
  /** The branch whose commits go live; null for the default branch of the remote. */
  readonly branch: string | null;
  readonly trackingEnvironment: string;
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  readonly acceptWarnings: readonly string[];
  readonly concurrency: number;
  readonly timeoutSeconds: number;
};

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** Everything that parsing a configuration needs besides its text. */
export type ConfigContext = {
  /** The absolute path of the file. Problems show `shownPath` instead. */
  readonly file: string;
  readonly shownPath: string;
  readonly root: string;
  /** Its variables take precedence over the file. Problems call the source of the base URL `urlSource`. */
  readonly environment: EnvironmentVariables;
  readonly urlSource?: string | undefined;
};

const KEY_DEFAULTS: Readonly<Record<KeySettingName, string>> = Object.fromEntries(
  KEY_SETTINGS.map(({ name, defaultVariable }) => [name, defaultVariable]),
);

/** The defaults of settings, by their names in promptsync.yaml. docs/configuration.md lists them. */
export const DEFAULTS = {
  ...KEY_DEFAULTS,
  prompts: ['prompts/**/*.md'],
  allow_latest: true,
  tracking_environment: 'promptsync',
  on_drift: 'overwrite',
  concurrency: 8,
  timeout_seconds: 15,
} as const satisfies WrittenConfig & NonNullable<WrittenConfig['service']> & { readonly allow_latest: boolean };

/** Returns the source environment of each environment that has one. */
export function mapPromotionSources({ environments }: Pick<Config, 'environments'>): ReadonlyMap<string, string> {
  return new Map(
    (environments ?? []).flatMap(({ name, promoteFrom }): [string, string][] =>
      promoteFrom === undefined ? [] : [[name, promoteFrom]],
    ),
  );
}

export function listEnvironmentsWithoutLatest({ environments }: Pick<Config, 'environments'>): readonly string[] {
  return (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name);
}

/** A pattern of prompt files. Parentheses are refused: other tools use them for groups, but here they would match nothing. */
const pattern = singleLineText
  .max(MAX_PATTERN_LENGTH, { error: `it is longer than ${MAX_PATTERN_LENGTH} characters`, abort: true })
  .refine((text) => text !== '!', 'it is empty')
  .refine((text) => expandBraces(text).length > 0, 'its braces stand for too many patterns')
  .refine((text) => !/[()]/.test(text), 'it holds parentheses; use braces, or a pattern that begins with !')
  // The parser checks braces, because a regular expression cannot.
  .meta({ pattern: '^(?!!$)[^()\\p{Cc}]+$' });

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, never the key');

/** One setting for each key of a provider, in the order of the providers. */
const keySettings: Readonly<Record<KeySettingName, z.ZodOptional<z.ZodString>>> = Object.fromEntries(
  KEY_SETTINGS.map(({ name, description }) => [name, variableName.optional().describe(description)]),
);

const providerDescriptions = PROVIDER_CHOICES.map(
  (name) => `${name}: prompts are kept in ${NAMED_PROVIDERS[name].title}.`,
);

const addressDescriptions = Object.values(PROVIDERS).flatMap(({ title, defaultAddress }) =>
  defaultAddress === null ? [] : [`of ${title} ${defaultAddress.variable} stands in for it`],
);

/**
 * `meta` adds to the JSON Schema that editors use. The schema cannot express rules that depend on another place, such as
 * the names of environments, or on the host of a URL.
 */
const location = z
  .strictObject({
    provider: z
      .enum(PROVIDER_CHOICES)
      .optional()
      .describe(`${providerDescriptions.join(' ')} Absent: ${PROVIDERS[DEFAULT_PROVIDER].title}.`),
    base_url: z
      .string()
      .optional()
      .meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?:[^\\s\\\\?#\\p{Cc}]+$' })
      .describe(
        `Where the service is; https, or http for loopback addresses. ${['PROMPTSYNC_BASE_URL goes before it', ...addressDescriptions].join('; ')}.`,
      ),
    ...keySettings,
    allow_http: z
      .boolean()
      .optional()
      .describe('true: plain http to any address, inside a private network. The key can be read on its way.'),
    embedded: singleLineText.optional().describe('Instead of base_url: the embedded service on this SQLite file.'),
  })
  .refine((s) => s.base_url === undefined || s.embedded === undefined, 'base_url and embedded exclude each other')
  .meta({ not: { required: ['base_url', 'embedded'] } })
  .describe('Where the service is, and the name of the variable that holds its key.');

const environment = z
  .strictObject({
    promote_from: singleLineText
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
    .record(singleLineText, environment)
    .optional()
    .describe('In promotion order. Where it is there, no other may be pinned.'),
  branch: singleLineText.optional().describe("The branch that goes live. Default: the remote's default branch."),
  tracking_environment: singleLineText
    .optional()
    .describe("An environment of the tool's own, on the newest version it made."),
  on_drift: z
    .enum(['overwrite', 'fail'])
    .optional()
    .describe('fail refuses prompts that were changed outside of git; it needs --base.'),
  max_changes: maxChanges
    .optional()
    .describe('Refuse when more prompts would change: a number, or a percentage such as 25%.'),
  accept_warnings: acceptedWarningCodes,
  concurrency: z.int().min(1).max(256).optional().describe('Requests in flight at most.'),
  timeout_seconds: z.number().gt(0).max(600).optional().describe('For each request.'),
});

export type WrittenConfig = z.infer<typeof WrittenConfigShape>;

export const CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(WrittenConfigShape.shape),
  ...Object.keys(location.shape),
  ...Object.keys(environment.unwrap().shape),
];
