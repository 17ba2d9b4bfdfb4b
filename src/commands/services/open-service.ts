import { relative } from 'node:path';
import type { Config } from '../../config/config.ts';
import { UNNAMED } from '../../config/services.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { PromptService } from '../../domain/prompt-service.ts';
import type { Problem } from '../../problem.ts';
import type { CallReport } from '../../service/client.ts';
import { filesOf, neededServices, type NeededService } from './needed-services.ts';
import { routeCalls } from './route-calls.ts';
import type { World } from '../world.ts';

export type OpenService = {
  readonly service: PromptService;
  /** How reports call it; null when it was not asked. */
  readonly name: string | null;
  readonly close: () => Promise<void>;
};

/** A prompt and the name of the service that it belongs to. */
type Owned = Pick<PromptFile, 'id' | 'service'>;

/** A call, and the name of the service that it went to, where services have names. */
export type ServiceCall = CallReport & { readonly service?: string };

export type ServiceOptions = {
  readonly onCall?: ((call: ServiceCall) => void) | undefined;
  /** Goes before the variable that the configuration names. */
  readonly apiKey?: string | undefined;
  /** Files that are no more: their prompts can be read as well where their services are opened anyway. */
  readonly gone?: readonly Owned[] | undefined;
  /** The name of a service that is opened although it may have no files yet. */
  readonly also?: string | undefined;
};

export type OpenServiceResult = { readonly opened: OpenService | null; readonly problems: readonly Problem[] };

/** Opens the services of these prompt files, and no other, as one that sends each call to the service of its prompt. */
export async function openService(
  config: Config,
  files: readonly PromptFile[],
  world: World,
  { onCall, apiKey, gone = [], also }: ServiceOptions,
): Promise<OpenServiceResult> {
  const { needed, problems } = neededServices(config, files, apiKey, world.environment, also);
  if (problems.length > 0) return { opened: null, problems };
  for (const one of needed) if (one.kind === 'remote') world.keepSecret(one.apiKey);
  const opened = await openAll(needed, gone, (one) => openOne(one, config, world, onCall));
  return { opened, problems: [] };
}

/** What of the configuration stands in the way of asking the services of these files; nothing is sent. */
export function serviceProblems(
  config: Config,
  files: readonly PromptFile[],
  { apiKey }: ServiceOptions,
  world: World,
): readonly Problem[] {
  return neededServices(config, files, apiKey, world.environment).problems;
}

type Connection = { readonly service: PromptService; readonly close: () => Promise<void> };

/** All, or none: where one cannot be opened the others are closed, and its error is thrown. */
async function openAll(
  needed: readonly NeededService[],
  gone: readonly Owned[],
  open: (one: NeededService) => Promise<OpenService>,
): Promise<OpenService> {
  const settled = await Promise.allSettled(needed.map(open));
  const opened = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())));
  const failure = settled.find((one) => one.status === 'rejected');
  if (failure !== undefined) {
    await close();
    throw failure.reason;
  }
  const byPrompt = needed.flatMap(({ files, name }, index) => {
    const service = opened[index]?.service;
    const known = [...files, ...filesOf(name, gone)];
    return service === undefined ? [] : known.map(({ id }): [string, PromptService] => [id, service]);
  });
  return { service: routeCalls(new Map(byPrompt)), name: opened.map(({ name }) => name).join(', ') || null, close };
}

async function openOne(
  one: NeededService,
  config: Config,
  world: World,
  onCall: ServiceOptions['onCall'],
): Promise<OpenService> {
  const remote = one.kind === 'remote';
  const told = tellingService(one.name, onCall);
  const connection = await (remote ? connectTo(one, config, world, told) : openEmbedded(one, config, world, told));
  const address = remote ? one.baseUrl : `embedded:${relative(config.folder, one.databasePath)}`;
  return { ...connection, name: one.name === UNNAMED ? address : `${one.name}: ${address}` };
}

function tellingService(name: string, onCall: ServiceOptions['onCall']): ServiceOptions['onCall'] {
  return onCall === undefined || name === UNNAMED ? onCall : (call) => onCall({ ...call, service: name });
}

type Embedded = Extract<NeededService, { kind: 'embedded' }>;
type Remote = Extract<NeededService, { kind: 'remote' }>;

/** Started here; it knows the ids of its prompt files. */
async function openEmbedded(
  { databasePath, files }: Embedded,
  config: Config,
  world: World,
  onCall: ServiceOptions['onCall'],
): Promise<Connection> {
  const { startEmbedded, EMBEDDED_API_KEY: apiKey } = await import('./embedded-service.ts');
  const server = await startEmbedded({ databasePath, port: 0, apiKeys: [apiKey], files, now: world.now });
  const { service, close } = await connectTo({ baseUrl: server.baseUrl, apiKey }, config, world, onCall);
  return { service, close: () => close().then(server.close) };
}

async function connectTo(
  { baseUrl, apiKey }: Pick<Remote, 'baseUrl' | 'apiKey'>,
  { concurrency, timeoutSeconds }: Config,
  { now, random, sleep, stop, environment }: World,
  onCall: ServiceOptions['onCall'],
): Promise<Connection> {
  const { connect } = await import('../../service/client.ts');
  const hook = onCall === undefined ? {} : { onCall };
  const times = { concurrency, timeoutSeconds, now, random, sleep, stop };
  const service = connect({ baseUrl, apiKey, environment, ...times, ...hook });
  return { service, close: service.close };
}
