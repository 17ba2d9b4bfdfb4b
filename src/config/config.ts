import type { Environment, MaxChanges, OnDrift } from '../domain/policy.ts';
import type { Place } from '../problem.ts';

/** Where the service is. The key is not in here: it is read from the environment when it is needed. */
export type ServiceLocation =
  | { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKeyVariable: string }
  | { readonly kind: 'embedded'; readonly databasePath: string };

/** Which files belong to which of the named services. What a prompt file itself names goes before all of this. */
export type Assignment = {
  /** The last one that matches decides. */
  readonly byPattern: readonly { readonly pattern: string; readonly service: string }[];
  /** For files that no pattern assigns; null when each of them has to be assigned. */
  readonly otherwise: string | null;
};

/** The configuration as the program uses it: everything resolved, defaults filled in. */
export type Config = {
  /** Absolute path of the configuration file, and its folder, to which all paths are relative. */
  readonly file: string;
  readonly folder: string;
  /** The repository's root; outside a repository the folder. Nothing is read from outside it. */
  readonly root: string;
  /** By name; the only one of a `service:` mapping has the empty name. Empty: enough for offline commands. */
  readonly services: ReadonlyMap<string, ServiceLocation>;
  /** Null where services have no names. */
  readonly assignment: Assignment | null;
  readonly patterns: readonly string[];
  /** Where each pattern stands; without places when they are the default. */
  readonly patternPlaces: readonly Place[];
  /** In promotion order; null when any environment may be pinned. */
  readonly environments: readonly Environment[] | null;
  /** Null when the tool has no environment of its own. */
  readonly trackingEnvironment: string | null;
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  readonly concurrency: number;
  readonly timeoutSeconds: number;
};
