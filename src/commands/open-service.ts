import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config, ServiceLocation } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { BASE_URL_VARIABLE, EMBEDDED_API_KEY, readApiKey } from '../config/service.ts';
import { fileInGit } from '../desired/at-commit.ts';
import type { ReadDesired } from '../desired/read-desired.ts';
import { isPlainHttp } from '../domain/network.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Provider } from '../domain/provider.ts';
import type { World } from '../domain/world.ts';
import type { ObserveOptions } from '../observing/observe.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { CallReport } from '../service/client.ts';

export type OpenProvider = {
  readonly provider: Provider;
  /** How reports call the service. */
  readonly name: string;
  readonly close: () => Promise<void>;
};

export type ServiceOptions = {
  readonly onCall?: ((call: CallReport) => void) | undefined;
  /** Goes before the variable that the configuration names; `keyFrom` is what people call the place of it. */
  readonly apiKey?: string | undefined;
  readonly keyFrom?: string;
};

/** Whose prompts are asked about, and where git knows their contents from. */
type Asked = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly repository: Repository | null;
};

/** Opens the service; the embedded one knows the prompts of these files then. The problems say why it cannot be. */
export async function openProvider(
  { config, files, repository }: Asked,
  world: World,
  options: ServiceOptions,
): Promise<OpenProvider | { readonly problems: readonly Problem[] }> {
  const { concurrency, timeoutSeconds, trackingEnvironment } = config;
  const access = accessTo(config, options, world);
  if ('code' in access) return { problems: [access] };
  const { apiKey } = access;
  const { baseUrl, name, close } = await reach(access, config.folder, files, world);
  const { now, random, sleep, stop, environment, newId, onWait } = world;
  const { connect } = await import('../service/client.ts');
  const hook = options.onCall === undefined ? {} : { onCall: options.onCall };
  const times = { concurrency, timeoutSeconds, now, random, sleep, stop, onWait };
  const service = connect({ baseUrl, apiKey, environment, ...times, ...hook });
  const { ledgerProvider } = await import('../ledger/provider.ts');
  const provider = ledgerProvider({
    service,
    trackingEnvironment,
    newOperation: newId,
    textAt: async (commit, path) => (await fileInGit(repository, commit, path))?.content ?? null,
    sleep,
  });
  return { provider, name, close: () => service.close().then(close) };
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

type Access = { readonly location: ServiceLocation; readonly apiKey: string };

/** Where the service is and the key that goes to it, or why it cannot be asked. */
function accessTo({ service: location }: Config, { apiKey, keyFrom }: ServiceOptions, { environment }: World) {
  if (location === null) return makeProblem('config/missing-service');
  if (location.kind === 'embedded') return { location, apiKey: EMBEDDED_API_KEY };
  const { apiKeyVariable: variable } = location;
  const variables = apiKey === undefined ? environment : { ...environment, [variable]: apiKey };
  const read = readApiKey(variable, variables, keyFrom);
  return 'code' in read ? read : { location, apiKey: read.apiKey };
}

/** Where the service is; the embedded one is started here, on a port of its own. */
async function reach(
  { location, apiKey }: Access,
  folder: string,
  files: readonly PromptFile[],
  { keepSecret, now }: World,
): Promise<{ readonly baseUrl: string } & Pick<OpenProvider, 'name' | 'close'>> {
  if (location.kind === 'remote') {
    keepSecret(apiKey);
    return { baseUrl: location.baseUrl, name: location.baseUrl, close: async () => {} };
  }
  const { startEmbedded } = await import('./serve.ts');
  const { databasePath } = location;
  const { baseUrl, close } = await startEmbedded({ databasePath, port: 0, apiKey, files, now });
  return { baseUrl, name: `embedded:${relative(folder, databasePath)}`, close };
}

/** Why a run that is not to ask the service does not. */
const NEVER = { keyless: 'this run has no API key', offline: '--offline was given' } as const;

/**
 * Whether the service is asked at all: `trusted`: only if the base commit names the same one, because the key would go
 * to whatever address a pull request writes into its configuration. The others ask nothing.
 */
type Asking = 'always' | 'trusted' | keyof typeof NEVER;

export type AskingOptions = Pick<ServiceOptions, 'apiKey'> & { readonly asking?: Asking | undefined };

/** Why the service is not asked, as a warning; null where it is. */
export async function reasonNotToAsk(
  { asking = 'always', apiKey }: AskingOptions,
  { config, base, repository }: Pick<ReadDesired, 'config' | 'base' | 'repository'>,
  { environment }: World,
): Promise<Problem | null> {
  if (asking === 'always') return null;
  if (asking !== 'trusted') return makeProblem('service/not-asked', { reason: NEVER[asking] });
  // Both come from the workflow then, which the base has the say in. But it is files that allow plain http.
  const url = URL.parse(environment[BASE_URL_VARIABLE] ?? '');
  if (apiKey !== undefined && url !== null && !isPlainHttp(url)) return null;
  const then =
    base === null || repository === null ? null : await serviceAt(base.commit, config, repository, environment);
  const named = then !== null && isDeepStrictEqual(keyGoesTo(then, apiKey), keyGoesTo(config.service, apiKey));
  const reason = 'the base commit names another service, or none; a key is sent to no address that only the head names';
  return named ? null : makeProblem('service/not-asked', { reason });
}

/** Which key goes where; one that was handed over is read from no variable, whatever the configuration names. */
function keyGoesTo(service: Config['service'], apiKey: string | undefined): object | null {
  if (apiKey === undefined || service?.kind !== 'remote') return service;
  return { kind: service.kind, baseUrl: service.baseUrl };
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
