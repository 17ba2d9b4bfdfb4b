import { dirname, relative, resolve } from 'node:path';
import { isJsonObject } from '../domain/json.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { leaves, slashed } from '../files/paths.ts';
import { langfuseRules } from '../langfuse/rules.ts';
import { ledgerRules } from '../ledger/rules.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { LocatedMapping } from '../files/strict-yaml.ts';
import {
  type ConfigSurroundings,
  DEFAULTS,
  type ProviderName,
  type ServiceLocation,
  type Variables,
  type WrittenConfig,
} from './config.ts';

/** Goes before `service.base_url`. */
export const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';
/** Stands in for a `service.base_url` of Langfuse that is not written. */
export const LANGFUSE_URL_VARIABLE = 'LANGFUSE_HOST';

/** What of the configuration a provider has. Settings are named as they are written. */
type ProviderSettings = {
  readonly rules: (trackingEnvironment: string) => ProviderRules;
  readonly keyVariables: (service: NonNullable<WrittenConfig['service']>) => readonly string[];
  /** The variable that stands in for an address that is not written. */
  readonly urlVariable?: string;
  /** Settings that are not for it. */
  readonly foreign: readonly string[];
};

const PROVIDERS: Readonly<Record<ProviderName, ProviderSettings>> = {
  integration: {
    rules: ledgerRules,
    keyVariables: ({ api_key_env: key = DEFAULTS.api_key_env }) => [key],
    foreign: ['service.public_key_env', 'service.secret_key_env'],
  },
  langfuse: {
    rules: () => langfuseRules,
    keyVariables: ({
      secret_key_env: secret = DEFAULTS.secret_key_env,
      public_key_env: open = DEFAULTS.public_key_env,
    }) => [secret, open],
    urlVariable: LANGFUSE_URL_VARIABLE,
    foreign: ['service.api_key_env', 'service.embedded', 'tracking_environment'],
  },
};

/** A configuration before its shape was looked at. */
type Written = { readonly service?: unknown; readonly tracking_environment?: unknown };

function providerOf({ service }: Written): ProviderName {
  return isJsonObject(service) && service['provider'] === 'langfuse' ? 'langfuse' : 'integration';
}

/** What the service takes that a configuration names. */
export function rulesFor(written: Written): ProviderRules {
  const { tracking_environment: tracking } = written;
  return PROVIDERS[providerOf(written)].rules(typeof tracking === 'string' ? tracking : DEFAULTS.tracking_environment);
}

/** Where the service is; null where nothing says it, which is enough for offline commands. */
export function locateService(written: WrittenConfig, around: ConfigSurroundings): ServiceLocation | null {
  const { service = {} } = written;
  const fromVariable = variable(BASE_URL_VARIABLE, around);
  if (service.embedded !== undefined && fromVariable === undefined) {
    return { kind: 'embedded', databasePath: resolve(dirname(around.file), service.embedded) };
  }
  const provider = providerOf(written);
  const { urlVariable, keyVariables } = PROVIDERS[provider];
  const baseUrl = fromVariable ?? service.base_url ?? variable(urlVariable, around);
  return baseUrl === undefined ? null : { kind: 'remote', provider, baseUrl, keyVariables: keyVariables(service) };
}

/** An empty variable counts as not set: that is how workflows hand on an input that was not given. */
function variable(name: string | undefined, { environment }: ConfigSurroundings): string | undefined {
  return (name && environment[name]) || undefined;
}

/** What is wrong with the service beyond its shape, which may be wrong as well. */
export function serviceProblems(mapping: LocatedMapping, around: ConfigSurroundings): readonly Problem[] {
  const embedded = mapping.valueAt(['service', 'embedded']);
  const { foreign } = PROVIDERS[providerOf(mapping.value)];
  return [
    ...urlProblems(mapping, around),
    ...(typeof embedded === 'string' && isOutside(embedded, around) ? [outsideProblem(mapping)] : []),
    ...foreign.flatMap((field) => foreignProblems(field, mapping)),
  ];
}

function foreignProblems(field: string, mapping: LocatedMapping): readonly Problem[] {
  const path = field.split('.');
  const expected = `it is not for ${providerOf(mapping.value) === 'langfuse' ? 'Langfuse' : 'this service: provider is missing'}`;
  if (mapping.valueAt(path) === undefined) return [];
  return [makeProblem('config/invalid-field', { field, expected }, mapping.keyPlaceOf(path))];
}

/** The address that counts: of the variable that goes before all, of the setting, or of what stands in for it. */
function urlProblems(mapping: LocatedMapping, around: ConfigSurroundings): readonly Problem[] {
  const path = ['service', 'base_url'];
  const allowHttp = mapping.valueAt(['service', 'allow_http']) === true;
  const fromVariable = variable(BASE_URL_VARIABLE, around);
  if (fromVariable !== undefined) {
    return baseUrlProblems(fromVariable, allowHttp, around.urlSource ?? BASE_URL_VARIABLE, {});
  }
  const written = mapping.valueAt(path);
  if (written !== undefined) return baseUrlProblems(written, allowHttp, path.join('.'), mapping.placeOf(path));
  const { urlVariable } = PROVIDERS[providerOf(mapping.value)];
  return baseUrlProblems(variable(urlVariable, around), allowHttp, urlVariable ?? '', {});
}

/** Like patterns, a database stays inside the repository: a branch could name any file of this machine. */
function isOutside(embedded: string, { file, root }: ConfigSurroundings): boolean {
  const way = slashed(relative(root, resolve(dirname(file), embedded)));
  return leaves(way) || /(?:^|\/)\.git(?:\/|$)/i.test(way);
}

function outsideProblem(mapping: LocatedMapping): Problem {
  const expected = 'it leaves the repository, or is among what git keeps there';
  const place = mapping.placeOf(['service', 'embedded']);
  return makeProblem('config/invalid-field', { field: 'service.embedded', expected }, place);
}

/** `source` is the setting or variable that holds it. The URL itself is not repeated: it may hold a password. */
function baseUrlProblems(baseUrl: unknown, allowHttp: boolean, source: string, place: Place): readonly Problem[] {
  const expected = typeof baseUrl === 'string' ? faultOf(baseUrl, allowHttp) : null;
  return expected === null ? [] : [makeProblem('config/invalid-url', { source, expected }, place)];
}

function faultOf(baseUrl: string, allowHttp: boolean): string | null {
  const url = URL.parse(baseUrl);
  if (url === null) return 'it is no URL';
  if (/[\s\\\p{Cc}]/u.test(baseUrl)) return 'it holds blanks, backslashes or control characters';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (/[?#]/.test(baseUrl)) return 'it holds a query or a fragment';
  if (!['http:', 'https:'].includes(url.protocol)) return 'its scheme is not https';
  return isPlainHttp(url) && !allowHttp ? 'plain http is used for an address that is not loopback' : null;
}

/** The key of the embedded service is no secret: it is for trying, and listens on the loopback address alone. */
export const EMBEDDED_API_KEY = 'embedded';

/** What an HTTP header can carry, without blanks. */
const KEY = /^[\x21-\x7e]+$/;

/** Reads a key from its variable, or from what stands for it. The key occurs in no problem. */
export function readKey(variable: string, environment: Variables, source = `The variable ${variable}`) {
  const key = environment[variable];
  if (key === undefined || key === '') return makeProblem('config/missing-key', { source, variable });
  return KEY.test(key) ? { key } : makeProblem('config/invalid-key', { source });
}
