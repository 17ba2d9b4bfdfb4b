import { relative } from 'node:path';
import type { Config } from '../config/config.ts';
import { readApiKey } from '../config/service.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { untilStopped, type PromptService } from '../service/prompt-service.ts';
import type { Provider } from '../domain/provider.ts';
import { contentInGit } from '../desired/at-commit.ts';
import type { Repository } from '../git/repository.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { CallReport } from '../service/client.ts';
import type { World } from '../domain/world.ts';

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
export type Asked = {
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
    digestAt: async (commit, path) => (await contentInGit(repository, commit, path))?.digest ?? null,
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
  const { apiKey, problems } = readApiKey(variable, { ...environment, ...handed });
  return { access: apiKey === null ? null : { kind: 'remote', baseUrl, apiKey }, problems };
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
