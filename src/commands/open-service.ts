import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config, ProviderName, ServiceLocation } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { BASE_URL_VARIABLE, EMBEDDED_API_KEY, readKey } from '../config/service.ts';
import { fileInGit } from '../desired/at-commit.ts';
import type { ReadDesired } from '../desired/read-desired.ts';
import { selectFiles } from '../desired/workspace.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Provider } from '../domain/provider.ts';
import type { World } from '../domain/world.ts';
import type { ObserveOptions } from '../observing/observe.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { CallReport, ConnectionOptions } from '../service/connection.ts';

export type OpenProvider = {
  readonly provider: Provider;
  /** How reports call the service. */
  readonly name: string;
  readonly close: () => Promise<void>;
};

export type ServiceOptions = {
  readonly onCall?: ((call: CallReport) => void) | undefined;
  /** They go before the variables that the configuration names, in their order. */
  readonly keys?: readonly GivenKey[];
};

/** `from` is what people call the place of it. */
type GivenKey = { readonly value: string | undefined; readonly from: string };

/** Whose prompts are asked about, and where git knows their contents from. */
type Asked = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly repository: Repository | null;
};

/** Opens the service; the embedded one knows the prompts of these files then. The problems say why it cannot be. */
export async function openProvider(
  asked: Asked,
  world: World,
  options: ServiceOptions,
): Promise<OpenProvider | { readonly problems: readonly Problem[] }> {
  const { config, files } = asked;
  const access = accessTo(config, options, world);
  if ('code' in access) return { problems: [access] };
  const { baseUrl, name, close } = await reach(access, config.folder, files, world);
  const { now, random, sleep, stop, environment, onWait } = world;
  const { concurrency, timeoutSeconds } = config;
  const hook = options.onCall === undefined ? {} : { onCall: options.onCall };
  const connection = { baseUrl, environment, concurrency, timeoutSeconds, now, random, sleep, stop, onWait, ...hook };
  const { location } = access;
  const open = OPEN[location.kind === 'remote' ? location.provider : 'integration'];
  const opened = await open({ ...asked, world, connection, keys: access.keys });
  return { provider: opened.provider, name, close: () => opened.close().then(close) };
}

type Opening = Asked & {
  readonly world: World;
  readonly connection: ConnectionOptions;
  /** In the order of their variables. */
  readonly keys: readonly string[];
};

type Opened = Pick<OpenProvider, 'provider' | 'close'>;

/** How each provider is opened; its code is loaded then. What it takes is in the table of the configuration. */
const OPEN: Readonly<Record<ProviderName, (opening: Opening) => Promise<Opened>>> = {
  integration: async ({ config, repository, world, connection, keys: [apiKey = ''] }) => {
    const { connect } = await import('../service/client.ts');
    const { ledgerProvider } = await import('../ledger/provider.ts');
    const service = connect({ ...connection, apiKey });
    const provider = ledgerProvider({
      service,
      trackingEnvironment: config.trackingEnvironment,
      newOperation: world.newId,
      textAt: async (commit, path) => (await fileInGit(repository, commit, path))?.content ?? null,
      sleep: world.sleep,
    });
    return { provider, close: service.close };
  },
  langfuse: async ({ world, connection, keys: [secretKey = '', publicKey = ''] }) => {
    const { connectLangfuse } = await import('../langfuse/client.ts');
    const { langfuseProvider } = await import('../langfuse/provider.ts');
    const service = connectLangfuse(connection, { publicKey, secretKey });
    return { provider: langfuseProvider({ service, sleep: world.sleep }), close: service.close };
  },
};

/** The prompts of the service whose names match one of the patterns, or all without any; or why they are not known. */
export async function listPrompts({ list }: Provider, patterns: readonly string[]) {
  if (list === null) return { files: [], problems: [makeProblem('service/cannot-list')] };
  const listed = (await list()).map((one) => ({ ...one, id: one.name, key: one.name, path: one.name }));
  return selectFiles(listed, patterns);
}

/** How much is read at a time, and who is told of it. */
export function observing({ concurrency }: Config, { onProgress }: World): ObserveOptions {
  return { concurrency, onObserved: (done, all) => onProgress({ what: 'Observing', done, all }) };
}

/** What of the configuration stands in the way of asking the service; nothing is sent. */
export function serviceProblems(config: Config, options: ServiceOptions, world: World): readonly Problem[] {
  const access = accessTo(config, options, world);
  return 'code' in access ? [access] : [];
}

type Access = { readonly location: ServiceLocation; readonly keys: readonly string[] };

/** Where the service is and the keys that go to it, or why it cannot be asked. */
function accessTo({ service: location }: Config, { keys: given = [] }: ServiceOptions, { environment }: World) {
  if (location === null) return makeProblem('config/missing-service');
  if (location.kind === 'embedded') return { location, keys: [EMBEDDED_API_KEY] };
  const read = location.keyVariables.map((variable, at) => {
    const { value, from } = given[at] ?? {};
    return readKey(variable, value === undefined ? environment : { ...environment, [variable]: value }, from);
  });
  const problem = read.find((one) => 'code' in one);
  return problem ?? { location, keys: read.flatMap((one) => ('key' in one ? [one.key] : [])) };
}

/** Where the service is; the embedded one is started here, on a port of its own. */
async function reach(
  { location, keys: [secret = ''] }: Access,
  folder: string,
  files: readonly PromptFile[],
  { keepSecret, now }: World,
): Promise<{ readonly baseUrl: string } & Pick<OpenProvider, 'name' | 'close'>> {
  if (location.kind === 'remote') {
    keepSecret(secret);
    return { baseUrl: location.baseUrl, name: location.baseUrl, close: async () => {} };
  }
  const { startEmbedded } = await import('./serve.ts');
  const { databasePath } = location;
  const { baseUrl, close } = await startEmbedded({ databasePath, port: 0, apiKey: secret, files, now });
  return { baseUrl, name: `embedded:${relative(folder, databasePath)}`, close };
}

/** Why a run that is not to ask the service does not. */
const NEVER = { keyless: 'this run has no API key', offline: '--offline was given' } as const;

/**
 * Whether the service is asked at all: `trusted`: only if the base commit names the same one, because the key would go
 * to whatever address a pull request writes into its configuration. The others ask nothing.
 */
type Asking = 'always' | 'trusted' | keyof typeof NEVER;

export type AskingOptions = Pick<ServiceOptions, 'keys'> & { readonly asking?: Asking | undefined };

/** Why the service is not asked, as a warning; null where it is. */
export async function reasonNotToAsk(
  { asking = 'always', keys }: AskingOptions,
  { config, base, repository }: Pick<ReadDesired, 'config' | 'base' | 'repository'>,
  { environment }: World,
): Promise<Problem | null> {
  if (asking === 'always') return null;
  if (asking !== 'trusted') return makeProblem('service/not-asked', { reason: NEVER[asking] });
  // Both come from the workflow then, which the base has the say in. But it is files that allow plain http.
  const url = URL.parse(environment[BASE_URL_VARIABLE] ?? '');
  const isGiven = isKeyGiven(keys);
  if (isGiven && url !== null && !isPlainHttp(url)) return null;
  const then =
    base === null || repository === null ? null : await serviceAt(base.commit, config, repository, environment);
  const named = then !== null && isDeepStrictEqual(keyGoesTo(then, isGiven), keyGoesTo(config.service, isGiven));
  const reason = 'the base commit names another service, or none; a key is sent to no address that only the head names';
  return named ? null : makeProblem('service/not-asked', { reason });
}

function isKeyGiven([secret]: NonNullable<AskingOptions['keys']> = []): boolean {
  return secret?.value !== undefined;
}

/** Which key goes where; one that was handed over is read from no variable, whatever the configuration names. */
function keyGoesTo(service: Config['service'], isGiven: boolean): object | null {
  if (!isGiven || service?.kind !== 'remote') return service;
  const { provider, baseUrl } = service;
  return { provider, baseUrl };
}

async function serviceAt(
  commit: string,
  { file, root }: Config,
  repository: Repository,
  environment: World['environment'],
): Promise<Config['service']> {
  const name = basename(file);
  const bytes = await repository.fileAt(commit, repository.fromRoot(name));
  if (bytes === null) return null;
  const around = { file, shownPath: name, root, environment };
  return parseConfig(bytes.toString('utf8'), around).config?.service ?? null;
}
