import { dirname, relative, resolve } from 'node:path';
import { isJsonObject } from '../domain/json.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { ProviderRules } from '../domain/provider.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { leavesFolder, toForwardSlashes } from '../files/paths.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { LocatedMapping } from '../files/strict-yaml.ts';
import type { ProviderDescriptor } from '../providers/descriptor.ts';
import { DEFAULT_PROVIDER, isNamedProvider, listKeySettings, type ProviderName, PROVIDERS } from '../providers/list.ts';
import {
  type Config,
  type ConfigContext,
  DEFAULTS,
  type ServiceLocation,
  type EnvironmentVariables,
  type WrittenConfig,
} from './config.ts';

/** The variable that takes precedence over `service.base_url`. */
export const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';

/** A configuration whose shape has not been checked yet. */
type UncheckedConfig = { readonly service?: unknown; readonly tracking_environment?: unknown };

/** Returns the name of the configured provider; null if promptsync does not have it. */
function findProviderName({ service }: UncheckedConfig): ProviderName | null {
  const name = isJsonObject(service) ? service['provider'] : undefined;
  if (name === undefined) return DEFAULT_PROVIDER;
  return isNamedProvider(name) ? name : null;
}

/** Returns the rules of the configured provider. */
export function makeRules({ service = {}, tracking_environment: tracking }: WrittenConfig): ProviderRules {
  return PROVIDERS[service.provider ?? DEFAULT_PROVIDER].rules(tracking ?? DEFAULTS.tracking_environment);
}

/** Returns the rules of the configured provider; null if promptsync does not have it, because its rules are unknown. */
export function findRules(written: UncheckedConfig): ProviderRules | null {
  const provider = findProviderName(written);
  if (provider === null) return null;
  const { tracking_environment: tracking } = written;
  return PROVIDERS[provider].rules(typeof tracking === 'string' ? tracking : DEFAULTS.tracking_environment);
}

/** Returns the provider at a location. The embedded service is a four-call service. */
export function providerAt(location: ServiceLocation): ProviderDescriptor {
  return PROVIDERS[location.kind === 'remote' ? location.provider : DEFAULT_PROVIDER];
}

/** Returns the name of the configured service in messages. */
export function titleOfService({ service }: Pick<Config, 'service'>): string {
  return service === null ? 'the service' : providerAt(service).title;
}

/** Returns the location of the service; null if nothing configures one. Offline commands need none. */
export function locateService(written: WrittenConfig, around: ConfigContext): ServiceLocation | null {
  const { service = {} } = written;
  const fromVariable = readVariable(BASE_URL_VARIABLE, around);
  if (service.embedded !== undefined && fromVariable === undefined) {
    return { kind: 'embedded', databasePath: resolve(dirname(around.file), service.embedded) };
  }
  const provider = service.provider ?? DEFAULT_PROVIDER;
  const { defaultAddress } = PROVIDERS[provider];
  const baseUrl = fromVariable ?? service.base_url ?? readVariable(defaultAddress?.variable, around);
  if (baseUrl === undefined) return null;
  return { kind: 'remote', provider, baseUrl, keyVariables: listKeyVariables(PROVIDERS[provider], service) };
}

/** Returns the variable of the secret key, then that of the public key if the provider has one. */
function listKeyVariables({ keys }: ProviderDescriptor, service: Readonly<Record<string, unknown>>): readonly string[] {
  const settings = keys.public === null ? [keys.secret] : [keys.secret, keys.public];
  return settings.map(({ name, defaultVariable }) => {
    const written = service[name];
    return typeof written === 'string' ? written : defaultVariable;
  });
}

/** Reads a variable. An empty one counts as unset, because workflows pass a missing input as an empty variable. */
function readVariable(name: string | undefined, { environment }: ConfigContext): string | undefined {
  return (name && environment[name]) || undefined;
}

/** Returns the problems of the service settings beyond their shape. The shape may be invalid, too. */
export function checkServiceSettings(mapping: LocatedMapping, around: ConfigContext): readonly Problem[] {
  const embedded = mapping.valueAt(['service', 'embedded']);
  const provider = findProviderName(mapping.value);
  return [
    ...checkBaseUrlSetting(mapping, around),
    ...(typeof embedded === 'string' && isOutside(embedded, around) ? [outsideProblem(mapping)] : []),
    ...(provider === null ? [] : checkForeignSettings(provider, mapping)),
  ];
}

/** Reports each setting that belongs to other providers only. */
function checkForeignSettings(provider: ProviderName, mapping: LocatedMapping): readonly Problem[] {
  const own = listSettings(PROVIDERS[provider]);
  const all = new Set(Object.values(PROVIDERS).flatMap(listSettings));
  const service = provider === DEFAULT_PROVIDER ? 'this service: provider is missing' : PROVIDERS[provider].title;
  return [...all].flatMap((field) => {
    const path = field.split('.');
    if (own.includes(field) || mapping.valueAt(path) === undefined) return [];
    return [
      makeProblem('config/invalid-field', { field, expected: `it is not for ${service}` }, mapping.keyPlaceOf(path)),
    ];
  });
}

/** Returns the paths of the settings that only some providers have, as far as this one has them. */
function listSettings(provider: ProviderDescriptor): readonly string[] {
  return [...listKeySettings(provider).map(({ name }) => `service.${name}`), ...provider.ownSettings];
}

/** Checks the effective base URL: from the variable with precedence, from the setting, or the default of the provider. */
function checkBaseUrlSetting(mapping: LocatedMapping, around: ConfigContext): readonly Problem[] {
  const path = ['service', 'base_url'];
  const allowHttp = mapping.valueAt(['service', 'allow_http']) === true;
  const fromVariable = readVariable(BASE_URL_VARIABLE, around);
  if (fromVariable !== undefined) {
    return checkBaseUrl(fromVariable, allowHttp, around.urlSource ?? BASE_URL_VARIABLE, {});
  }
  const written = mapping.valueAt(path);
  if (written !== undefined) return checkBaseUrl(written, allowHttp, path.join('.'), mapping.placeOf(path));
  const provider = findProviderName(mapping.value);
  const standIn = provider === null ? undefined : PROVIDERS[provider].defaultAddress?.variable;
  return checkBaseUrl(readVariable(standIn, around), allowHttp, standIn ?? '', {});
}

/** Whether the database is outside the repository. Otherwise a branch could name any file of this machine. */
function isOutside(embedded: string, { file, root }: ConfigContext): boolean {
  const way = toForwardSlashes(relative(root, resolve(dirname(file), embedded)));
  return leavesFolder(way) || /(?:^|\/)\.git(?:\/|$)/i.test(way);
}

function outsideProblem(mapping: LocatedMapping): Problem {
  const expected = 'it leaves the repository, or is among what git keeps there';
  const place = mapping.placeOf(['service', 'embedded']);
  return makeProblem('config/invalid-field', { field: 'service.embedded', expected }, place);
}

/**
 * Checks a base URL. Problems name its source and not the URL, which may contain a password.
 * @param source the setting or variable that holds the URL
 */
function checkBaseUrl(baseUrl: unknown, allowHttp: boolean, source: string, place: Place): readonly Problem[] {
  const expected = typeof baseUrl === 'string' ? findUrlFault(baseUrl, allowHttp) : null;
  return expected === null ? [] : [makeProblem('config/invalid-url', { source, expected }, place)];
}

function findUrlFault(baseUrl: string, allowHttp: boolean): string | null {
  const url = URL.parse(baseUrl);
  if (url === null) return 'it is no URL';
  if (/[\s\\\p{Cc}]/u.test(baseUrl)) return 'it holds blanks, backslashes or control characters';
  if (url.username !== '' || url.password !== '') return 'it holds credentials';
  if (/[?#]/.test(baseUrl)) return 'it holds a query or a fragment';
  if (!['http:', 'https:'].includes(url.protocol)) return 'its scheme is not https';
  return isPlainHttp(url) && !allowHttp ? 'plain http is used for an address that is not loopback' : null;
}

/** The API key of the embedded service. It is not a secret, because the service listens only on the loopback address. */
export const EMBEDDED_API_KEY = 'embedded';

/** The characters that an HTTP header can carry, without blanks. */
const KEY_PATTERN = /^[\x21-\x7e]+$/;

/**
 * Reads a key from its variable. No problem contains the key.
 * @param source the place of the key in words, for problems
 */
export function readKey(
  variable: string,
  environment: EnvironmentVariables,
  source = `The variable ${variable}`,
): Result<string> {
  const key = environment[variable];
  if (key === undefined || key === '') return makeFailure(makeProblem('config/missing-key', { source, variable }));
  return KEY_PATTERN.test(key) ? makeSuccess(key) : makeFailure(makeProblem('config/invalid-key', { source }));
}
