import { existsSync } from 'node:fs';
import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config, ServiceLocation } from '../workspace/config.ts';
import { parseConfig } from '../workspace/load-config.ts';
import { BASE_URL_VARIABLE, EMBEDDED_API_KEY, getProviderDescriptor, readKey } from '../workspace/service-settings.ts';
import { type PromptRepository, readFileFromGit } from '../history/read-at-commit.ts';
import type { DesiredWorkspace } from '../desired-state/read-desired-state.ts';
import { makeUnmatchedProblems, selectKeys } from '../desired-state/select-files.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { PromptIdentity, PromptFile } from '../domain/prompt-file.ts';
import { makeRelativePath } from '../workspace/paths.ts';
import type { ListedPrompt, Provider } from '../providers/provider-interface.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { System } from '../domain/system.ts';
import type { ObserveOptions } from '../observing/observe-prompts.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { OpenedProvider, ProviderDescriptor, ProviderOpening } from '../providers/provider-descriptor.ts';
import { PROVIDERS } from '../providers/provider-list.ts';
import type { CallReport } from '../http/connection.ts';
import { showHidden } from '../text.ts';

/** An open connection to the service. The caller must close it. */
export type OpenedService = OpenedProvider & {
  /** The name of the service in reports. */
  readonly name: string;
};

export type ServiceOptions = {
  /** Called after each request to the service. Undefined without `--verbose`. */
  readonly onCall?: ((call: CallReport) => void) | undefined;
  /**
   * The secret key and then the public key, if the caller supplies them. If the value of a key is undefined, promptsync
   * reads the environment variable that the configuration specifies.
   */
  readonly keys?: readonly SuppliedKey[];
};

/** A key that the caller supplies, such as an input of the GitHub Action. */
type SuppliedKey = {
  readonly value: string | undefined;
  /** The source of the key, as messages describe it. For example, "The input `api-key`". */
  readonly label: string;
};

type ServiceRequest = {
  readonly config: Config;
  /** The prompt files. The embedded service registers their prompts. A hosted service ignores them. */
  readonly files: readonly PromptFile[];
  /** All valid prompt files, including those that are not selected. */
  readonly allFiles: readonly PromptFile[];
  /** The repository from which the provider reads content at earlier commits. Null outside of a repository. */
  readonly repository: PromptRepository | null;
};

/** Opens the configured service. If it is embedded, first starts it and registers the prompts of the files. */
export async function openProvider(
  request: ServiceRequest,
  system: System,
  options: ServiceOptions,
): Promise<Result<OpenedService>> {
  const prepared = await prepareService(request, system, options);
  if (!prepared.isSuccess) return prepared;
  const { opening, location, name, close } = prepared.value;
  const opened = await getProviderDescriptor(location).open(opening);
  return makeSuccess({ provider: opened.provider, name, close: () => opened.close().then(close) });
}

/** A service that a provider can open. If it is the embedded service, it runs until `close` is called. */
type PreparedService = Pick<OpenedService, 'name' | 'close'> & {
  readonly location: ServiceLocation;
  readonly opening: ProviderOpening;
};

/** Reads the address and the keys of the configured service, and starts it if it is embedded. Sends no request. */
export async function prepareService(
  request: ServiceRequest,
  system: System,
  options: ServiceOptions,
): Promise<Result<PreparedService>> {
  const { config, files, repository } = request;
  const access = readAccess(config, options, system);
  if (!access.isSuccess) return access;
  const { location, secretKey, publicKey, keySources } = access.value;
  const { baseUrl, name, close } = await reachService(access.value, config.folder, files, system);
  const { now, random, sleep, stopSignal, environment, onWait } = system;
  const { concurrency, timeoutSeconds } = config;
  const callOption = options.onCall === undefined ? {} : { onCall: options.onCall };
  const { words } = getProviderDescriptor(location);
  const opening: ProviderOpening = {
    connection: {
      baseUrl,
      environment,
      concurrency,
      timeoutSeconds,
      now,
      random,
      sleep,
      stop: stopSignal,
      keySources,
      onWait: (wait) => onWait({ ...wait, service: words.service }),
      ...callOption,
    },
    secretKey,
    publicKey,
    newOperation: system.makeUniqueId,
    textAt: async (commit, path) => (await readFileFromGit(repository, commit, path))?.content ?? null,
    findUnselectedFile: (promptId) => findUnselectedFile(promptId, request),
  };
  return makeSuccess({ location, opening, name, close });
}

/** Returns the path of the prompt's file if the user did not select this file. Returns null otherwise. */
function findUnselectedFile(promptId: string, { files, allFiles }: ServiceRequest): string | null {
  const isUnselected = files.every(({ id }) => id !== promptId);
  return isUnselected ? (allFiles.find(({ id }) => id === promptId)?.path ?? null) : null;
}

/** A prompt in the service. Its name is also its key and path, so that the user can select it like a prompt file. */
type SelectablePrompt = ListedPrompt & PromptIdentity;

/** The listed prompts, with a problem for each pattern that matches no prompt. */
type ListedSelection = { readonly files: readonly SelectablePrompt[]; readonly problems: readonly Problem[] };

/**
 * Lists the prompts in the service whose names match at least one pattern, or all prompts if there is no pattern. If
 * the service cannot list prompts, returns a problem whose hint depends on `purpose`.
 */
export async function listPrompts(
  { list }: Provider,
  patterns: readonly string[],
  purpose: { readonly isForOrphans: boolean },
): Promise<ListedSelection> {
  if (list === null) return { files: [], problems: [makeProblem('service/cannot-list', purpose)] };
  const listed = (await list()).map((prompt) => ({ ...prompt, id: prompt.name, key: prompt.name, path: prompt.name }));
  const selection = selectKeys(listed, patterns);
  return { files: selection.files, problems: makeUnmatchedProblems(selection, listed, 'names') };
}

export function makeObserveOptions({ concurrency }: Config, { onProgress }: System): ObserveOptions {
  return { concurrency, onObserved: (done, total) => onProgress({ phase: 'Observing', done, total }) };
}

/**
 * Returns a problem if no service is configured, or if a key is missing or invalid. Sends no request, so it cannot
 * detect a key that the service rejects.
 */
export function checkServiceAccess(config: Config, options: ServiceOptions, system: System): readonly Problem[] {
  const access = readAccess(config, options, system);
  return access.isSuccess ? [] : access.problems;
}

type ServiceAccess = {
  readonly location: ServiceLocation;
  readonly secretKey: string;
  /** The public key. Null if the service has only one key, the secret key. */
  readonly publicKey: string | null;
  /** The places where the user put the keys, as noun phrases for messages. For example, ``the variable `MY_KEY` ``. */
  readonly keySources: readonly string[];
};

function makeMissingServiceProblem({ provider }: Config): Problem {
  const { defaultAddress } = PROVIDERS[provider];
  return makeProblem('config/missing-service', {
    variables: [BASE_URL_VARIABLE, ...(defaultAddress?.variables ?? [])],
    suggestedUrl: defaultAddress?.suggestedUrl ?? null,
  });
}

/** Reads the keys of the configured service. Fails with a problem about each key that is missing or invalid. */
function readAccess(
  config: Config,
  { keys: suppliedKeys = [] }: ServiceOptions,
  { environment }: System,
): Result<ServiceAccess> {
  const { service: location } = config;
  if (location === null) return makeFailure(makeMissingServiceProblem(config));
  if (location.kind === 'embedded') {
    return makeSuccess({ location, secretKey: EMBEDDED_API_KEY, publicKey: null, keySources: ['`service.embedded`'] });
  }
  const keys: string[] = [];
  const keySources: string[] = [];
  const problems: Problem[] = [];
  for (const [index, variable] of location.keyVariables.entries()) {
    const { value, label = `The variable \`${variable}\`` } = suppliedKeys[index] ?? {};
    const key = readKey(variable, value === undefined ? environment : { ...environment, [variable]: value }, label);
    if (key.isSuccess) keys.push(key.value);
    else problems.push(...key.problems);
    keySources.push(label.replace(/^The/, 'the'));
  }
  const [secretKey = '', publicKey = null] = keys;
  problems.push(...checkPublicKey(publicKey, keySources, PROVIDERS[location.provider]));
  if (problems.length > 0) return makeFailure(...problems);
  return makeSuccess({ location, secretKey, publicKey, keySources });
}

/** Returns a problem if the public key is a secret key, because the user has probably swapped the two keys. */
function checkPublicKey(
  publicKey: string | null,
  [secretSource = '', publicSource = '']: readonly string[],
  { keys: { secretPrefix } }: ProviderDescriptor,
): readonly Problem[] {
  const isSecret = secretPrefix !== null && publicKey?.startsWith(secretPrefix) === true;
  return isSecret ? [makeProblem('config/swapped-keys', { secretSource, publicSource })] : [];
}

/** Returns the address and the name of the service. If it is the embedded service, starts it on a free port. */
async function reachService(
  { location, secretKey }: ServiceAccess,
  folder: string,
  files: readonly PromptFile[],
  { keepSecret, now, printNotice }: System,
): Promise<{ readonly baseUrl: string } & Pick<OpenedService, 'name' | 'close'>> {
  if (location.kind === 'remote') {
    // `serve` prints its built-in key, so it is no secret. Redacting it would remove an ordinary word from messages.
    if (secretKey !== EMBEDDED_API_KEY) keepSecret(secretKey);
    return { baseUrl: location.baseUrl, name: location.baseUrl, close: async () => {} };
  }
  const { startEmbedded } = await import('./start-embedded.ts');
  const { databasePath } = location;
  const pinsVersions = files.some(({ pins }) =>
    pins.some(({ pin }) => pin.kind === 'number' || pin.kind === 'version'),
  );
  // Without this notice, a user who cloned the repository would not understand why the pinned versions do not exist.
  if (pinsVersions && databasePath !== ':memory:' && !existsSync(databasePath)) {
    const name = showHidden(relative(folder, databasePath));
    printNotice(
      `The database ${name} does not exist, so promptsync creates an empty one. It lacks the pinned versions.`,
    );
  }
  const { baseUrl, close } = await startEmbedded({ databasePath, port: 0, apiKey: secretKey, files, now });
  return { baseUrl, name: `embedded:${relative(folder, databasePath)}`, close };
}

/** The reasons why promptsync did not contact the service, as reports show them, by contact policy. */
const REASONS_NOT_TO_CONTACT = { keyless: 'this run has no API key', offline: '`--offline` was specified' } as const;

/**
 * Whether promptsync may contact the service. `keyless` and `offline` forbid it. `trusted` allows it if the base commit
 * configures the same service, or if the workflow supplies the key and the address. Without this rule, a pull request
 * could configure its own address, and promptsync would send the key to that address.
 */
type ContactPolicy = 'always' | 'trusted' | keyof typeof REASONS_NOT_TO_CONTACT;

/** The policy and the keys that the caller supplies. The policy defaults to `always`. */
export type ContactPolicyOptions = Pick<ServiceOptions, 'keys'> & {
  readonly contactPolicy?: ContactPolicy | undefined;
};

/** Returns a warning that explains why promptsync must not contact the service. Returns null if contact is allowed. */
export async function findReasonNotToContact(
  { contactPolicy = 'always', keys }: ContactPolicyOptions,
  { config, base, repository }: Pick<DesiredWorkspace, 'config' | 'base' | 'repository'>,
  { environment }: System,
): Promise<Problem | null> {
  if (contactPolicy === 'always') return null;
  if (contactPolicy !== 'trusted')
    return makeProblem('service/not-asked', { reason: REASONS_NOT_TO_CONTACT[contactPolicy] });
  // A pull request cannot change a key and an address that the workflow supplies. A plain http: address is an
  // exception: the configuration file must allow it, and a pull request can change that file.
  const url = URL.parse(environment[BASE_URL_VARIABLE] ?? '');
  const isSupplied = isSecretKeySupplied(keys);
  if (isSupplied && url !== null && !isPlainHttp(url)) return null;
  const serviceAtBase =
    base === null || repository === null ? null : await readServiceAt(base.commit, config, repository, environment);
  const isSameService =
    serviceAtBase !== null &&
    isDeepStrictEqual(findKeyDestination(serviceAtBase, isSupplied), findKeyDestination(config.service, isSupplied));
  const reason =
    'the base commit configures a different service or no service at all, and promptsync never sends a key to an address that appears only in the head commit';
  return isSameService ? null : makeProblem('service/not-asked', { reason });
}

function isSecretKeySupplied([secret]: NonNullable<ContactPolicyOptions['keys']> = []): boolean {
  return secret?.value !== undefined;
}

/**
 * Returns the settings that determine which key promptsync sends to which address. If the caller supplies the secret
 * key, the names of the key variables do not count, because promptsync does not read these variables.
 */
function findKeyDestination(service: Config['service'], isSupplied: boolean): object | null {
  if (!isSupplied || service?.kind !== 'remote') return service;
  const { provider, baseUrl } = service;
  return { provider, baseUrl };
}

/** Returns null if the file does not exist at that commit, configures no service or cannot be parsed. */
async function readServiceAt(
  commit: string,
  { file, root }: Config,
  repository: PromptRepository,
  environment: System['environment'],
): Promise<Config['service']> {
  // `toRootPath` would resolve symbolic links. The head commit may have added a link that leads to a different team's
  // configuration.
  const bytes = await repository.readFileAt(commit, makeRelativePath(root, file));
  if (bytes === null) return null;
  const location = { file, shownPath: basename(file), root, environment };
  return parseConfig(bytes.toString('utf8'), location).config?.service ?? null;
}
