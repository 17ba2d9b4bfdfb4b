import { basename, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.ts';
import { parseConfig } from '../config/load.ts';
import { BASE_URL_VARIABLE, readApiKey } from '../config/service.ts';
import { fileInGit } from '../desired/at-commit.ts';
import type { ReadDesired } from '../desired/read-desired.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { type PromptService, untilStopped } from '../service/prompt-service.ts';
import type { Provider } from '../domain/provider.ts';
import type { World } from '../domain/world.ts';
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
  /** Goes before the variable that the configuration names. */
  readonly apiKey?: string | undefined;
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
  const { access, problems } = accessTo(config, options, world);
  if (access === null) return { problems };
  if (access.kind === 'remote') world.keepSecret(access.apiKey);
  const { onCall } = options;
  const { service, name, close } =
    access.kind === 'remote'
      ? await connectTo(access, access.baseUrl, config, world, onCall)
      : await openEmbedded(access, config, files, world, onCall);
  const { ledgerProvider } = await import('../ledger/provider.ts');
  const provider = ledgerProvider({
    service: untilStopped(service, world.stop),
    trackingEnvironment: config.trackingEnvironment,
    newOperation: world.newId,
    digestAt: async (commit, path) => (await fileInGit(repository, commit, path))?.content.digest ?? null,
    sleep: world.sleep,
  });
  return { provider, name, close };
}

type OpenService = { readonly service: PromptService; readonly name: string; readonly close: () => Promise<void> };

/** What of the configuration stands in the way of asking the service; nothing is sent. */
export function serviceProblems(config: Config, options: ServiceOptions, world: World): readonly Problem[] {
  return accessTo(config, options, world).problems;
}

type Remote = { readonly kind: 'remote'; readonly baseUrl: string; readonly apiKey: string };
type Embedded = { readonly kind: 'embedded'; readonly databasePath: string };
type Access = { readonly access: Remote | Embedded | null; readonly problems: readonly Problem[] };

/** The service with the key that goes to it; an embedded one needs none. */
function accessTo({ service }: Config, { apiKey: given }: ServiceOptions, { environment }: World): Access {
  if (service === null) return { access: null, problems: [makeProblem('config/missing-service')] };
  if (service.kind === 'embedded') return { access: service, problems: [] };
  const { baseUrl, apiKeyVariable: variable } = service;
  const handed = given === undefined ? {} : { [variable]: given };
  const read = readApiKey(variable, { ...environment, ...handed });
  if ('code' in read) return { access: null, problems: [read] };
  return { access: { kind: 'remote', baseUrl, apiKey: read.apiKey }, problems: [] };
}

/** Started here, on a port of its own. */
async function openEmbedded(
  { databasePath }: Embedded,
  config: Config,
  files: readonly PromptFile[],
  world: World,
  onCall: ServiceOptions['onCall'],
): Promise<OpenService> {
  const { startEmbedded, EMBEDDED_API_KEY: apiKey } = await import('./embedded-service.ts');
  const server = await startEmbedded({ databasePath, port: 0, apiKeys: [apiKey], files, now: world.now });
  const name = `embedded:${relative(config.folder, databasePath)}`;
  const opened = await connectTo({ baseUrl: server.baseUrl, apiKey }, name, config, world, onCall);
  return { ...opened, close: () => opened.close().then(server.close) };
}

async function connectTo(
  { baseUrl, apiKey }: Pick<Remote, 'baseUrl' | 'apiKey'>,
  name: string,
  { concurrency, timeoutSeconds }: Config,
  { now, random, sleep, stop, environment }: World,
  onCall: ServiceOptions['onCall'],
): Promise<OpenService> {
  const { connect } = await import('../service/client.ts');
  const hook = onCall === undefined ? {} : { onCall };
  const times = { concurrency, timeoutSeconds, now, random, sleep, stop };
  const service = connect({ baseUrl, apiKey, environment, ...times, ...hook });
  return { service, name, close: service.close };
}

/**
 * Whether the service is asked at all: `trusted`: only if the base commit names the same one, because the key would go
 * to whatever address a pull request writes into its configuration.
 */
type Asking = 'always' | 'trusted' | 'never';

export type AskingOptions = Pick<ServiceOptions, 'apiKey'> & { readonly asking?: Asking | undefined };

/** Why the service is not asked, as a warning; null where it is. */
export async function reasonNotToAsk(
  { asking = 'always', apiKey }: AskingOptions,
  { config, base, repository }: Pick<ReadDesired, 'config' | 'base' | 'repository'>,
  { environment }: World,
): Promise<Problem | null> {
  if (asking === 'always') return null;
  if (asking === 'never') return makeProblem('service/not-asked', { reason: 'this run has no API key' });
  // Both come from the workflow then, which the base has the say in.
  if (apiKey !== undefined && (environment[BASE_URL_VARIABLE] ?? '') !== '') return null;
  const then =
    base === null || repository === null ? null : await serviceAt(base.commit, config, repository, environment);
  const named = then !== null && isDeepStrictEqual(keyGoesTo(then, apiKey), keyGoesTo(config.service, apiKey));
  const reason = 'the base commit names another service, or none; a key is sent to no address that only the head names';
  return named ? null : makeProblem('service/not-asked', { reason });
}

type Service = Config['service'];

/** Which key goes where; one that was handed over is read from no variable, whatever the configuration names. */
function keyGoesTo(service: Service, apiKey: string | undefined): object | null {
  if (apiKey === undefined || service?.kind !== 'remote') return service;
  return { kind: service.kind, baseUrl: service.baseUrl };
}

async function serviceAt(
  commit: string,
  { file, root }: Config,
  repository: Repository,
  environment: World['environment'],
): Promise<Service> {
  const name = basename(file);
  const bytes = await repository.fileAt(commit, repository.fromRoot(name));
  if (bytes === null) return null;
  const around = { file, shownPath: name, root, environment };
  return parseConfig(bytes.toString('utf8'), around).config?.service ?? null;
}
