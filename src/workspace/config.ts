import { z } from 'zod';
import { MAX_PATTERN_LENGTH } from '../text.ts';
import { type Environment, type MaxChanges, type OnDrift, MAX_CHANGES_FORM, PERCENTAGE } from '../domain/policy.ts';
import type { EnvironmentPin } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { expandBraces } from './glob.ts';
import { PinsShape } from './parse-pins.ts';
import type { PathIds } from './find-prompt-paths.ts';
import { acceptedWarningCodes, singleLineText } from './yaml-shape.ts';
import type { Place } from '../problem.ts';
import type { KeySettingName } from '../providers/provider-descriptor.ts';
import {
  DEFAULT_PROVIDER,
  KEY_SETTINGS,
  NAMED_PROVIDERS,
  PROVIDER_CHOICES,
  type ProviderName,
  PROVIDERS,
} from '../providers/provider-list.ts';

export const CONFIG_NAME = 'promptsync.yaml';
/** A file name that users expect to work for the configuration file, but that promptsync does not read. */
export const MISSPELLED_NAME = 'promptsync.yml';

/** The location of the service. The API keys stay in environment variables until promptsync needs them. */
export type ServiceLocation =
  | {
      readonly kind: 'remote';
      readonly provider: ProviderName;
      readonly baseUrl: string;
      /** The variables that contain the keys: first the secret key, then the public key if the provider has one. */
      readonly keyVariables: readonly string[];
    }
  | { readonly kind: 'embedded'; readonly databasePath: string };

/** The configuration that promptsync works with. It is the parsed configuration file with all defaults filled in. */
export type Config = {
  /** The absolute path of the configuration file. */
  readonly file: string;
  /** The folder of the configuration file. All paths in that file are relative to this folder. */
  readonly folder: string;
  /** The root of the repository. Outside a repository, this is `folder`. promptsync reads no files outside the root. */
  readonly root: string;
  /** The configured service; null if none is configured. Offline commands need no service. */
  readonly service: ServiceLocation | null;
  /** The configured provider, even if no address is configured. */
  readonly provider: ProviderName;
  /** The rules that promptsync knows without contacting the service, such as the names that the provider accepts. */
  readonly rules: FileRules;
  readonly patterns: readonly string[];
  /** The place of each pattern in the configuration file. The default patterns have no places. */
  readonly patternPlaces: readonly Place[];
  /** The environments in promotion order; null if prompt files may pin any environment. */
  readonly environments: readonly Environment[] | null;
  /** The environments that another configuration manages. promptsync checks only the form of their pins. */
  readonly otherEnvironments: readonly string[];
  /** The pins of prompt files that have no field `pins`. They include the pins of `otherEnvironments`. */
  readonly defaultPins: readonly EnvironmentPin[];
  /** The ids that prompt files without `id` take from their paths. Null if the service cannot find prompts by name. */
  readonly pathIds: PathIds | null;
  /** Whether every pin must mean the same in every service. If so, no pin may name a version. */
  readonly portablePins: boolean;
  /** The branch whose commits go live. Null means the default branch of the remote. */
  readonly branch: string | null;
  /** The line and column of `branch` in the configuration file. Null if the file does not set it. */
  readonly branchPlace: Place | null;
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  readonly acceptWarnings: readonly string[];
  readonly concurrency: number;
  readonly timeoutSeconds: number;
};

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** The information that parsing a configuration requires, in addition to the text of the configuration file. */
export type ConfigContext = {
  /** The absolute path of the configuration file. */
  readonly file: string;
  /** The path of the configuration file as problems show it. */
  readonly shownPath: string;
  /** The root of the repository, or the folder of the configuration file outside a repository. */
  readonly root: string;
  /** The environment variables of the process. `PROMPTSYNC_BASE_URL` takes precedence over the configuration file. */
  readonly environment: EnvironmentVariables;
  /** Where `PROMPTSYNC_BASE_URL` comes from, such as an action input. Default: the name of the variable. */
  readonly urlSource?: string | undefined;
};

const KEY_DEFAULTS: Readonly<Record<KeySettingName, string>> = Object.fromEntries(
  KEY_SETTINGS.map(({ name, defaultVariable }) => [name, defaultVariable]),
);

/** The default values, by the names of the settings in promptsync.yaml. docs/configuration.md lists them, too. */
export const DEFAULTS = {
  ...KEY_DEFAULTS,
  prompts: ['prompts/**/*.md'],
  allow_latest: true,
  portable_pins: false,
  on_drift: 'overwrite',
  concurrency: 8,
  timeout_seconds: 15,
} as const satisfies WrittenConfig & NonNullable<WrittenConfig['service']> & { readonly allow_latest: boolean };

type EnvironmentSettings = Pick<Config, 'environments' | 'otherEnvironments'>;

/**
 * Returns a map from each environment with `promote_from` to the environment that it promotes from. Omits the sources
 * that another configuration manages, because promptsync cannot ask their service.
 */
export function mapPromotionSources({
  environments,
  otherEnvironments,
}: EnvironmentSettings): ReadonlyMap<string, string> {
  return new Map(listPromotions({ environments }).filter(([, source]) => !otherEnvironments.includes(source)));
}

/** Maps each environment to the environment of another configuration that it promotes from. */
export function mapOtherPromotionSources({
  environments,
  otherEnvironments,
}: EnvironmentSettings): ReadonlyMap<string, string> {
  return new Map(listPromotions({ environments }).filter(([, source]) => otherEnvironments.includes(source)));
}

/** Returns each environment with `promote_from`, and the environment that it promotes from. */
function listPromotions({ environments }: Pick<Config, 'environments'>): readonly (readonly [string, string])[] {
  return (environments ?? []).flatMap(({ name, promoteFrom }): readonly (readonly [string, string])[] =>
    promoteFrom === undefined ? [] : [[name, promoteFrom]],
  );
}

/** Returns the names of the environments that allow neither `latest` nor pins to moving refs. */
export function listEnvironmentsWithoutLatest({ environments }: Pick<Config, 'environments'>): readonly string[] {
  return (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name);
}

/** A glob pattern. Refuses parentheses, because users expect groups but would get literal characters. */
const pattern = singleLineText
  .max(MAX_PATTERN_LENGTH, { error: `it is longer than ${MAX_PATTERN_LENGTH} characters`, abort: true })
  .refine((text) => text !== '!', 'it is empty')
  .refine((text) => expandBraces(text).length > 0, 'its braces expand to too many patterns')
  .refine(
    (text) => !/[()]/.test(text),
    'it contains parentheses; use braces such as {a,b}, or exclude files with a pattern that begins with !',
  )
  // A regular expression cannot count brace expansions, so only the parser checks their number.
  .meta({ pattern: '^(?!!$)[^()\\p{Cc}]+$' });

const variableName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable, not the key itself');

/** The settings that specify which environment variables contain the keys, in the order of the providers. */
const keySettings: Readonly<Record<KeySettingName, z.ZodOptional<z.ZodString>>> = Object.fromEntries(
  KEY_SETTINGS.map(({ name, description }) => [name, variableName.optional().describe(description)]),
);

const providerDescriptions = PROVIDER_CHOICES.map((name) => `${name} for ${NAMED_PROVIDERS[name].title}`);

const addressDescriptions = Object.values(PROVIDERS).flatMap(({ title, defaultAddress }) =>
  defaultAddress === null
    ? []
    : [`For ${title}, the default is the value of ${defaultAddress.variables.join(', or else ')}.`],
);

/** `meta` adds rules to the JSON Schema for editors. Only the parser checks rules that a schema cannot express. */
const location = z
  .strictObject({
    provider: z
      .enum(PROVIDER_CHOICES)
      .optional()
      .describe(
        `The kind of service: ${providerDescriptions.join(', ')}. If you omit this setting, promptsync assumes ${PROVIDERS[DEFAULT_PROVIDER].title}.`,
      ),
    base_url: z
      .string()
      .optional()
      .meta({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?:[^\\s\\\\?#\\p{Cc}]+$' })
      .describe(
        [
          'The URL of the service. It must use https, or http for a loopback address.',
          'PROMPTSYNC_BASE_URL overrides this setting.',
          ...addressDescriptions,
        ].join(' '),
      ),
    ...keySettings,
    allow_http: z
      .boolean()
      .optional()
      .describe(
        'If true, promptsync accepts plain http for any address. Use it only on a private network, because anyone who can read the traffic can read the key.',
      ),
    embedded: singleLineText
      .optional()
      .describe(
        'The path of the SQLite file for the embedded service, relative to this file. Use it instead of base_url.',
      ),
  })
  .refine((s) => s.base_url === undefined || s.embedded === undefined, 'set either base_url or embedded, not both')
  .meta({ not: { required: ['base_url', 'embedded'] } })
  .describe('The address of the service, and the names of the environment variables that contain its keys.');

const environment = z
  .strictObject({
    promote_from: singleLineText
      .optional()
      .describe(
        'The environment that must serve a version before this environment can serve it. List that environment earlier in `environments`, or in `other_environments`.',
      ),
    allow_latest: z
      .boolean()
      .optional()
      .describe(
        'If false, promptsync blocks prompts that pin this environment to `latest`, or to a branch or another git ref that moves.',
      ),
  })
  .nullable()
  .describe(
    'An environment for which prompt files can pin a version, with rules for which versions can go live there.',
  );

const MAX_CHANGES_EXPECTED = `expected ${MAX_CHANGES_FORM}`;
const maxChanges = z.union(
  [
    z.int(MAX_CHANGES_EXPECTED).min(0, MAX_CHANGES_EXPECTED).max(999_999_999, MAX_CHANGES_EXPECTED),
    z.string().regex(PERCENTAGE, MAX_CHANGES_EXPECTED),
  ],
  MAX_CHANGES_EXPECTED,
);

const defaults = z
  .strictObject({
    pins: PinsShape.optional().describe('The pins for all prompt files that have no `pins` field.'),
  })
  .describe('The default values of fields that prompt files omit.');

export const WrittenConfigShape = z.strictObject({
  service: location.optional(),
  prompts: z
    .array(pattern.describe('A glob pattern, relative to this file. A pattern that begins with `!` excludes files.'))
    .min(1, 'it is empty')
    .optional()
    .describe('The glob patterns that select the prompt files, relative to this file.'),
  environments: z
    .record(singleLineText, environment)
    .optional()
    .describe(
      'The environments, in promotion order. With this setting, prompt files can pin only these environments and those listed in `other_environments`.',
    ),
  other_environments: z
    .array(singleLineText.describe('The name of an environment.'))
    .meta({ uniqueItems: true })
    .optional()
    .describe(
      'The environments that another configuration manages. promptsync checks the syntax of their pins and otherwise ignores them.',
    ),
  defaults: defaults.optional(),
  portable_pins: z
    .boolean()
    .optional()
    .describe('If true, pins cannot contain version numbers or version ids, because these differ between services.'),
  branch: singleLineText
    .optional()
    .describe(
      "The branch whose commits go live. If you omit this setting, promptsync uses the remote's default branch.",
    ),
  on_drift: z
    .enum(['overwrite', 'fail'])
    .optional()
    .describe(
      'What promptsync does with a prompt that someone changed in the service: overwrite restores the state in git, and fail blocks the prompt.',
    ),
  max_changes: maxChanges
    .optional()
    .describe(
      'The maximum number of prompts that can change, or a percentage such as 25%. If more prompts would change, promptsync blocks the run.',
    ),
  accept_warnings: acceptedWarningCodes,
  concurrency: z.int().min(1).max(256).optional().describe('The maximum number of simultaneous requests.'),
  timeout_seconds: z.number().gt(0).max(600).optional().describe('The timeout for each request, in seconds.'),
});

/** The configuration as the user writes it, before promptsync fills in defaults. */
export type WrittenConfig = z.infer<typeof WrittenConfigShape>;

/** Returns the names of the settings that are allowed beside the setting at a path. */
export function listSettingsBeside([section, ...rest]: readonly PropertyKey[]): readonly string[] {
  if (rest.length === 0) return Object.keys(WrittenConfigShape.shape);
  if (section === 'service') return Object.keys(location.shape);
  if (section === 'defaults') return Object.keys(defaults.shape);
  return section === 'environments' ? Object.keys(environment.unwrap().shape) : [];
}

/** The names of the settings on all levels. If a name is unknown, promptsync suggests one of these. */
export const CONFIG_FIELDS: readonly string[] = [
  ...Object.keys(WrittenConfigShape.shape),
  ...Object.keys(location.shape),
  ...Object.keys(environment.unwrap().shape),
  ...Object.keys(defaults.shape),
];

/**
 * Returns the settings for git. git must not inherit the variables that contain the keys of the service. The type is
 * written out, because `GitSettings` would add the types of simple-git to those of the library.
 */
export function makeGitSettings({ root, service }: Pick<Config, 'root' | 'service'>): {
  readonly root: string;
  readonly keyVariables: readonly string[];
} {
  return { root, keyVariables: service?.kind === 'remote' ? service.keyVariables : [] };
}
