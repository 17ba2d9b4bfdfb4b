import { relative } from 'node:path';
import type { Config } from '../config/config.ts';
import { readApiKey } from '../config/service.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { PromptService } from '../domain/prompt-service.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { CallReport } from '../service/client.ts';
import type { World } from './world.ts';

export type OpenService = {
  readonly service: PromptService;
  /** How reports call it; null when it was not asked. */
  readonly name: string | null;
  readonly close: () => Promise<void>;
};

export type ServiceOptions = {
  readonly onCall?: ((call: CallReport) => void) | undefined;
  /** Goes before the variable that the configuration names. */
  readonly apiKey?: string | undefined;
};

export type OpenServiceResult = { readonly opened: OpenService | null; readonly problems: readonly Problem[] };

/** Opens the service; the embedded one knows the prompts of these files then. */
export async function openService(
  config: Config,
  files: readonly PromptFile[],
  world: World,
  options: ServiceOptions,
): Promise<OpenServiceResult> {
  const { access, problems } = accessTo(config, options, world);
  if (access === null) return { opened: null, problems };
  if (access.kind === 'remote') world.keepSecret(access.apiKey);
  const { onCall } = options;
  const opening =
    access.kind === 'remote'
      ? connectTo(access, access.baseUrl, config, world, onCall)
      : openEmbedded(access, config, files, world, onCall);
  return { opened: await opening, problems: [] };
}

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
