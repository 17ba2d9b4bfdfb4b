import type { Environment, MaxChanges, OnDrift } from '../domain/policy.ts';
import type { Place } from '../problem.ts';
import type { WrittenConfig } from './shape.ts';

export const CONFIG_NAME = 'promptsync.yaml';

/** Where the service is. The key is not in here: it is read from the environment when it is needed. */
export type ServiceLocation =
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKeyVariable: string }
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
  readonly patterns: readonly string[];
  /** Where each pattern stands; without places when they are the default. */
  readonly patternPlaces: readonly Place[];
  /** In promotion order; null when any environment may be pinned. */
  readonly environments: readonly Environment[] | null;
  readonly trackingEnvironment: string;
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
};

const KEY_VARIABLE = 'PROMPTSYNC_API_KEY';

/** What settings are where promptsync.yaml leaves them out, by their names there. docs/configuration.md lists them. */
export const DEFAULTS = {
  api_key_env: KEY_VARIABLE,
  prompts: ['prompts/**/*.md'],
  allow_latest: true,
  tracking_environment: 'promptsync',
  on_drift: 'overwrite',
  concurrency: 8,
  timeout_seconds: 15,
} as const satisfies WrittenConfig & { readonly api_key_env: string; readonly allow_latest: boolean };

/** The environment before each that has one. */
export function promotedFrom({ environments }: Pick<Config, 'environments'>): ReadonlyMap<string, string> {
  return new Map(
    (environments ?? []).flatMap(({ name, promoteFrom }): [string, string][] =>
      promoteFrom === undefined ? [] : [[name, promoteFrom]],
    ),
  );
}

/** The environments in which no pin may be `latest`. */
export function forbidsLatest({ environments }: Pick<Config, 'environments'>): readonly string[] {
  return (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name);
}
