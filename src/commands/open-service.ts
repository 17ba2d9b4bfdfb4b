import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config, ServiceLocation } from '../config/config.ts';
import { parseConfig } from '../config/load-config.ts';
import { BASE_URL_VARIABLE, EMBEDDED_API_KEY, providerAt, readKey } from '../config/service.ts';
import { readFileFromGit } from '../desired/read-at-commit.ts';
import { readFormerContents } from '../desired/read-former-contents.ts';
import type { DesiredWorkspace } from '../desired/read-desired-state.ts';
import { type Selection, selectFiles } from '../desired/open-workspace.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { PromptIdentity, PromptFile } from '../domain/prompt-file.ts';
import type { ListedPrompt, Provider } from '../domain/provider.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { World } from '../domain/world.ts';
import type { ObserveOptions } from '../observing/observe-prompts.ts';
import type { Repository } from '../git/open-repository.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { OpenedProvider } from '../providers/descriptor.ts';
import type { CallReport } from '../service/connection.ts';

/** A connection to the service, which the caller must close. */
export type OpenedService = OpenedProvider & {
  /** The name of the service in reports. */
  readonly name: string;
};

export type ServiceOptions = {
  /** Receives a report about each request to the service. */
  readonly onCall?: ((call: CallReport) => void) | undefined;
  /**
   * The keys to use instead of the variables that the configuration names: the secret key, then the public key. A key whose
   * value is undefined is read from its variable.
   */
  readonly keys?: readonly SuppliedKey[];
};

/** A key from outside the configuration. The label names the source of the key in messages. */
type SuppliedKey = { readonly value: string | undefined; readonly label: string };

/**
 * The service to open. The embedded service registers the prompts of the files. The provider reads the contents of earlier
 * commits from the repository.
 */
type ServiceRequest = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly repository: Repository | null;
};

/**
 * Opens the configured service. If that is the embedded service, this starts it and registers the prompts of these files.
 */
export async function openProvider(
  request: ServiceRequest,
  world: World,
  options: ServiceOptions,
): Promise<Result<OpenedService>> {
  const { config, files, repository } = request;
  const access = readAccess(config, options, world);
  if (!access.isSuccess) return access;
  const { location, secretKey, publicKey } = access.value;
  const { baseUrl, name, close } = await reachService(access.value, config.folder, files, world);
  const { now, random, sleep, stopSignal, environment, onWait } = world;
  const { concurrency, timeoutSeconds } = config;
  const hook = options.onCall === undefined ? {} : { onCall: options.onCall };
  const opened = await providerAt(location).open({
    connection: {
      baseUrl,
      environment,
      concurrency,
      timeoutSeconds,
      now,
      random,
      sleep,
      stop: stopSignal,
      onWait,
      ...hook,
    },
    secretKey,
    publicKey,
    trackingEnvironment: config.trackingEnvironment,
    newOperation: world.makeUniqueId,
    textAt: async (commit, path) => (await readFileFromGit(repository, commit, path))?.content ?? null,
    readFormerContents: (commit, path) => readFormerContents(repository, commit, path),
    sleep,
  });
  return makeSuccess({ provider: opened.provider, name, close: () => opened.close().then(close) });
}

/** A prompt of the service. Its name also serves as key and path, so that the user can select it like a prompt file. */
export type SelectableListing = ListedPrompt & PromptIdentity;

/**
 * Lists the prompts of the service whose names match one of the patterns, or all of them if there is no pattern. Returns
 * no prompts and the reason if the service cannot list prompts.
 */
export async function listPrompts(
  { list }: Provider,
  patterns: readonly string[],
): Promise<Selection<SelectableListing>> {
  if (list === null) return { files: [], problems: [makeProblem('service/cannot-list')] };
  const listed = (await list()).map((prompt) => ({ ...prompt, id: prompt.name, key: prompt.name, path: prompt.name }));
  return selectFiles(listed, patterns);
}

/** Returns the options for observing prompts: the limit of parallel reads, and the callback that reports progress. */
export function makeObserveOptions({ concurrency }: Config, { onProgress }: World): ObserveOptions {
  return { concurrency, onObserved: (done, total) => onProgress({ phase: 'Observing', done, total }) };
}

/** Returns the problem that prevents access to the service: no configured service, or no valid key. Sends no request. */
export function checkServiceAccess(config: Config, options: ServiceOptions, world: World): readonly Problem[] {
  const access = readAccess(config, options, world);
  return access.isSuccess ? [] : access.problems;
}

/** A service and the keys to access it. */
type ServiceAccess = {
  readonly location: ServiceLocation;
  readonly secretKey: string;
  /** Null if the service has a single key. */
  readonly publicKey: string | null;
};

/** Reads the keys of the configured service. Fails with the first key that is missing or invalid. */
function readAccess(
  { service: location }: Config,
  { keys: suppliedKeys = [] }: ServiceOptions,
  { environment }: World,
): Result<ServiceAccess> {
  if (location === null) return makeFailure(makeProblem('config/missing-service'));
  if (location.kind === 'embedded') return makeSuccess({ location, secretKey: EMBEDDED_API_KEY, publicKey: null });
  const keys: string[] = [];
  for (const [index, variable] of location.keyVariables.entries()) {
    const { value, label } = suppliedKeys[index] ?? {};
    const key = readKey(variable, value === undefined ? environment : { ...environment, [variable]: value }, label);
    if (!key.isSuccess) return key;
    keys.push(key.value);
  }
  const [secretKey = '', publicKey = null] = keys;
  return makeSuccess({ location, secretKey, publicKey });
}

/** Returns the address and the name of the service. Starts the embedded service on a free port. */
async function reachService(
  { location, secretKey }: ServiceAccess,
  folder: string,
  files: readonly PromptFile[],
  { keepSecret, now }: World,
): Promise<{ readonly baseUrl: string } & Pick<OpenedService, 'name' | 'close'>> {
  if (location.kind === 'remote') {
    keepSecret(secretKey);
    return { baseUrl: location.baseUrl, name: location.baseUrl, close: async () => {} };
  }
  const { startEmbedded } = await import('./serve.ts');
  const { databasePath } = location;
  const { baseUrl, close } = await startEmbedded({ databasePath, port: 0, apiKey: secretKey, files, now });
  return { baseUrl, name: `embedded:${relative(folder, databasePath)}`, close };
}

/** The reasons that reports give if promptsync does not contact the service, by policy. */
const REASONS_NOT_TO_ASK = { keyless: 'this run has no API key', offline: '--offline was given' } as const;

/**
 * When promptsync may contact the service. `trusted`: only if the base commit configures the same service. Otherwise a pull
 * request could write any address into its configuration, and promptsync would send the key there. `keyless` and
 * `offline`: never.
 */
type AskPolicy = 'always' | 'trusted' | keyof typeof REASONS_NOT_TO_ASK;

export type AskPolicyOptions = Pick<ServiceOptions, 'keys'> & { readonly askPolicy?: AskPolicy | undefined };

/** Returns the warning that says why promptsync must not contact the service. Null if it may. */
export async function findReasonNotToAsk(
  { askPolicy = 'always', keys }: AskPolicyOptions,
  { config, base, repository }: Pick<DesiredWorkspace, 'config' | 'base' | 'repository'>,
  { environment }: World,
): Promise<Problem | null> {
  if (askPolicy === 'always') return null;
  if (askPolicy !== 'trusted') return makeProblem('service/not-asked', { reason: REASONS_NOT_TO_ASK[askPolicy] });
  // If both key and address come from the workflow, a pull request cannot change them. Plain http is an exception: the
  // configuration file allows it, and a pull request can change that file.
  const url = URL.parse(environment[BASE_URL_VARIABLE] ?? '');
  const isSupplied = isSecretKeySupplied(keys);
  if (isSupplied && url !== null && !isPlainHttp(url)) return null;
  const serviceAtBase =
    base === null || repository === null ? null : await readServiceAt(base.commit, config, repository, environment);
  const isSameService =
    serviceAtBase !== null &&
    isDeepStrictEqual(findKeyDestination(serviceAtBase, isSupplied), findKeyDestination(config.service, isSupplied));
  const reason = 'the base commit names another service, or none; a key is sent to no address that only the head names';
  return isSameService ? null : makeProblem('service/not-asked', { reason });
}

function isSecretKeySupplied([secret]: NonNullable<AskPolicyOptions['keys']> = []): boolean {
  return secret?.value !== undefined;
}

/**
 * Returns the part of the service's configuration that decides which key promptsync sends to which address. If the caller
 * supplies the key, the variables that the configuration names do not matter.
 */
function findKeyDestination(service: Config['service'], isSupplied: boolean): object | null {
  if (!isSupplied || service?.kind !== 'remote') return service;
  const { provider, baseUrl } = service;
  return { provider, baseUrl };
}

/** Returns the service that the configuration file names at a commit. Null if it names none or cannot be parsed. */
async function readServiceAt(
  commit: string,
  { file, root }: Config,
  repository: Repository,
  environment: World['environment'],
): Promise<Config['service']> {
  const name = basename(file);
  const bytes = await repository.readFileAt(commit, repository.toRootPath(name));
  if (bytes === null) return null;
  const location = { file, shownPath: name, root, environment };
  return parseConfig(bytes.toString('utf8'), location).config?.service ?? null;
}
