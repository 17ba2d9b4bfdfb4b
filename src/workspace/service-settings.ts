import { dirname, resolve } from 'node:path';
import { isJsonObject } from '../domain/json.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { FileRules } from '../providers/provider-interface.ts';
import { DEFAULT_WORDS, type Words } from '../service-words.ts';
import type { System } from '../domain/system.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { leavesFolder, makeRelativePath } from './paths.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';
import type { LocatedMapping } from './strict-yaml.ts';
import type { ProviderDescriptor } from '../providers/provider-descriptor.ts';
import {
  DEFAULT_PROVIDER,
  isNamedProvider,
  listKeySettings,
  type ProviderName,
  PROVIDERS,
} from '../providers/provider-list.ts';
import {
  type Config,
  type ConfigContext,
  type ServiceLocation,
  type EnvironmentVariables,
  type WrittenConfig,
} from './config.ts';

export const BASE_URL_VARIABLE = 'PROMPTSYNC_BASE_URL';

/** The part of a configuration that determines the provider and its rules. Its shape may be invalid. */
type UncheckedConfig = { readonly service?: unknown };

/** Returns the name of the configured provider; null if promptsync has no provider with that name. */
function findProviderName({ service }: UncheckedConfig): ProviderName | null {
  const name = isJsonObject(service) ? service['provider'] : undefined;
  if (name === undefined) return DEFAULT_PROVIDER;
  return isNamedProvider(name) ? name : null;
}

/** Returns the name of the configured provider. Callers must check the shape of the configuration first. */
export function getProviderName({ service = {} }: WrittenConfig): ProviderName {
  return service.provider ?? DEFAULT_PROVIDER;
}

/** Works even if the rest of the configuration is invalid. Returns null if promptsync has no such provider. */
export function findRules(written: UncheckedConfig): FileRules | null {
  const provider = findProviderName(written);
  return provider === null ? null : PROVIDERS[provider].rules;
}

/** Returns the provider for a service location. The embedded service is a four-call service. */
export function getProviderDescriptor(location: ServiceLocation): ProviderDescriptor {
  return PROVIDERS[location.kind === 'remote' ? location.provider : DEFAULT_PROVIDER];
}

/** Returns the words that messages and reports use for the configured service. Null stands for no configuration. */
export function getProviderWords(config: Pick<Config, 'provider'> | null): Words {
  return config === null ? DEFAULT_WORDS : PROVIDERS[config.provider].words;
}

/** Returns the location of the service; null if no service is configured. Offline commands need none. */
export function locateService(written: WrittenConfig, context: ConfigContext): ServiceLocation | null {
  const { service = {} } = written;
  const fromVariable = readVariable(BASE_URL_VARIABLE, context);
  if (service.embedded !== undefined && fromVariable === undefined) {
    return { kind: 'embedded', databasePath: resolve(dirname(context.file), service.embedded) };
  }
  const provider = getProviderName(written);
  const baseUrl = fromVariable ?? service.base_url ?? listDefaultAddresses(provider, context.environment)[0]?.url;
  if (baseUrl === undefined) return null;
  return { kind: 'remote', provider, baseUrl, keyVariables: listKeyVariables(PROVIDERS[provider], service) };
}

/** The address of a service, from an environment variable that the service's own tools also read. */
export type AddressFromVariable = { readonly variable: string; readonly url: string };

/** Returns the addresses from the environment variables of a provider, in order of precedence. */
export function listDefaultAddresses(
  provider: ProviderName,
  environment: EnvironmentVariables,
): readonly AddressFromVariable[] {
  return (PROVIDERS[provider].defaultAddress?.variables ?? []).flatMap((variable) => {
    const url = readVariable(variable, { environment });
    return url === undefined ? [] : [{ variable, url }];
  });
}

/**
 * Returns a problem if the addresses differ, because promptsync cannot know which of the servers may see the keys. A
 * slash at the end makes no difference. Returns null if all addresses are the same.
 */
export function findAddressConflict(addresses: readonly AddressFromVariable[]): Problem | null {
  const different = new Set(addresses.map(({ url }) => url.replace(/\/+$/, '')));
  const variables = addresses.map(({ variable }) => variable);
  return different.size > 1 ? makeProblem('config/different-addresses', { variables }) : null;
}

/** Lists the secret key first, then the public key if the provider has one. */
function listKeyVariables({ keys }: ProviderDescriptor, service: Readonly<Record<string, unknown>>): readonly string[] {
  const settings = keys.public === null ? [keys.secret] : [keys.secret, keys.public];
  return settings.map(({ name, defaultVariable }) => {
    const written = service[name];
    return typeof written === 'string' ? written : defaultVariable;
  });
}

/** An empty value counts as unset, because workflows pass a missing input as an empty variable. */
function readVariable(name: string, { environment }: Pick<ConfigContext, 'environment'>): string | undefined {
  const value = environment[name];
  return value === '' ? undefined : value;
}

/** Checks the rules that the shape cannot express. Also works if the shape is invalid. */
export function checkServiceSettings(mapping: LocatedMapping, context: ConfigContext): readonly Problem[] {
  const embedded = mapping.valueAt(['service', 'embedded']);
  const provider = findProviderName(mapping.value);
  return [
    ...checkBaseUrlSetting(mapping, context),
    ...(typeof embedded === 'string' && isOutside(embedded, context) ? [makeOutsideProblem(mapping)] : []),
    ...(provider === null ? [] : checkForeignSettings(provider, mapping)),
  ];
}

/** Reports each setting in the configuration that does not apply to its provider. */
function checkForeignSettings(provider: ProviderName, mapping: LocatedMapping): readonly Problem[] {
  const ownSettings = listSettings(PROVIDERS[provider]);
  const allSettings = new Set(Object.values(PROVIDERS).flatMap(listSettings));
  const expected =
    provider === DEFAULT_PROVIDER
      ? 'it applies only if service.provider is set'
      : `it does not apply to ${PROVIDERS[provider].title}`;
  return [...allSettings].flatMap((field) => {
    const path = field.split('.');
    if (ownSettings.includes(field) || mapping.valueAt(path) === undefined) return [];
    return [makeProblem('config/invalid-field', { field, expected }, mapping.keyPlaceOf(path))];
  });
}

/** Lists the settings that not every provider has, such as `service.api_key_env`. */
function listSettings(provider: ProviderDescriptor): readonly string[] {
  return [...listKeySettings(provider).map(({ name }) => `service.${name}`), ...provider.ownSettings];
}

/** Checks the URL that takes effect: `PROMPTSYNC_BASE_URL`, then `service.base_url`, then the provider's variables. */
function checkBaseUrlSetting(mapping: LocatedMapping, context: ConfigContext): readonly Problem[] {
  const path = ['service', 'base_url'];
  const allowHttp = mapping.valueAt(['service', 'allow_http']) === true;
  const fromVariable = readVariable(BASE_URL_VARIABLE, context);
  if (fromVariable !== undefined) {
    return checkBaseUrl(fromVariable, allowHttp, context.urlSource ?? `\`${BASE_URL_VARIABLE}\``, {});
  }
  const written = mapping.valueAt(path);
  if (written !== undefined) return checkBaseUrl(written, allowHttp, `\`${path.join('.')}\``, mapping.placeOf(path));
  const provider = findProviderName(mapping.value);
  const addresses = provider === null ? [] : listDefaultAddresses(provider, context.environment);
  const conflict = findAddressConflict(addresses);
  if (conflict !== null) return [conflict];
  return addresses.slice(0, 1).flatMap(({ url, variable }) => checkBaseUrl(url, allowHttp, `\`${variable}\``, {}));
}

/** Also refuses `.git`. Without this check, a branch could make promptsync open any file on the user's machine. */
function isOutside(embedded: string, { file, root }: ConfigContext): boolean {
  const path = makeRelativePath(root, resolve(dirname(file), embedded));
  return leavesFolder(path) || /(?:^|\/)\.git(?:\/|$)/i.test(path);
}

function makeOutsideProblem(mapping: LocatedMapping): Problem {
  const expected = 'its path points outside the repository or into .git';
  const place = mapping.placeOf(['service', 'embedded']);
  return makeProblem('config/invalid-field', { field: 'service.embedded', expected }, place);
}

/**
 * Problems name the source of the URL instead of quoting it, because it may contain a password.
 * @param source the setting or environment variable that contains the URL, in backticks
 */
function checkBaseUrl(baseUrl: unknown, allowHttp: boolean, source: string, place: Place): readonly Problem[] {
  const expected = typeof baseUrl === 'string' ? findUrlFault(baseUrl, allowHttp) : null;
  return expected === null ? [] : [makeProblem('config/invalid-url', { source, expected }, place)];
}

function findUrlFault(baseUrl: string, allowHttp: boolean): string | null {
  if (/[\s\\\p{Cc}]/u.test(baseUrl)) return 'it contains white space, backslashes, or control characters';
  if (!/^https?:\/\//i.test(baseUrl)) return 'it does not begin with `https://`';
  const url = URL.parse(baseUrl);
  if (url === null) return 'it is not a URL';
  if (url.username !== '' || url.password !== '') return 'it contains a user name or a password';
  if (/[?#]/.test(baseUrl)) return 'it contains a query or a fragment';
  return isPlainHttp(url) && !allowHttp ? 'it uses plain http for a non-loopback address' : null;
}

/** Not a secret, because the embedded service listens only on the loopback address. */
export const EMBEDDED_API_KEY = 'embedded';

/** Matches a key that contains only visible ASCII characters. All of them are allowed in an HTTP header. */
const KEY_PATTERN = /^[\x21-\x7e]+$/;

/**
 * Reads a key from its environment variable. Problems never contain the key.
 * @param source the source of the key as problems show it, such as ``The variable `MY_KEY` ``
 */
export function readKey(
  variable: string,
  environment: EnvironmentVariables,
  source = `The variable \`${variable}\``,
): Result<string> {
  const key = environment[variable];
  if (key === undefined || key === '') return makeFailure(makeProblem('config/missing-key', { source, variable }));
  return KEY_PATTERN.test(key) ? makeSuccess(key) : makeFailure(makeProblem('config/invalid-key', { source }));
}

type SecretSettings = {
  readonly config: Pick<Config, 'service'> | null;
  /** The environment variables that the configuration file names for secret keys. */
  readonly secretVariables?: readonly string[];
};

/**
 * Keeps the secret key out of all later output. Commands that need no key call this, too, because texts from files may
 * contain it. Without a valid configuration or an address, keeps the values of all variables secret that the file
 * names, and of all default variables.
 */
export function keepSecretKeys(
  settings: SecretSettings,
  { environment, keepSecret }: Pick<System, 'environment' | 'keepSecret'>,
): void {
  for (const variable of listPossibleVariables(settings)) {
    const key = environment[variable];
    if (key !== undefined && key !== EMBEDDED_API_KEY) keepSecret(key);
  }
}

/** Returns the environment variables that may contain the secret key of the service. */
function listPossibleVariables({ config, secretVariables = [] }: SecretSettings): readonly string[] {
  const service = config?.service ?? null;
  if (service === null) {
    return [...secretVariables, ...Object.values(PROVIDERS).map(({ keys }) => keys.secret.defaultVariable)];
  }
  return service.kind === 'remote' ? service.keyVariables.slice(0, 1) : [];
}

/** Returns the environment variables that a configuration file names for secret keys. Its shape may be invalid. */
export function listSecretVariables(mapping: LocatedMapping): readonly string[] {
  const names = Object.values(PROVIDERS).map(({ keys }) => mapping.valueAt(['service', keys.secret.name]));
  return [...new Set(names.filter((name) => typeof name === 'string'))];
}
