import { relative } from 'node:path';
import { readApiKey, type ApiKeyResult } from '../config/api-key.ts';
import type { Config, ServiceLocation } from '../config/config.ts';
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

type Connection = { readonly baseUrl: string; readonly apiKey: string };

/** Opens the configured service; the embedded one is started here and knows the ids of the prompt files. */
export async function openService(
  config: Config,
  files: readonly PromptFile[],
  world: World,
  { onCall, apiKey: given }: ServiceOptions,
): Promise<OpenServiceResult> {
  const { service: location } = config;
  if (location?.kind === 'embedded') return openEmbedded(location, config, files, world, onCall);
  const { apiKey, problems } = findKey(location, given, world);
  if (apiKey === null || location === null) return { opened: null, problems };
  world.keepSecret(apiKey);
  const connected = await connectTo({ baseUrl: location.baseUrl, apiKey }, config, world, onCall);
  return { opened: { service: connected, name: location.baseUrl, close: connected.close }, problems: [] };
}

/** What of the configuration stands in the way of asking its service; nothing is sent. */
export function serviceProblems(config: Config, { apiKey }: ServiceOptions, world: World): readonly Problem[] {
  const { service: location } = config;
  return location?.kind === 'embedded' ? [] : findKey(location, apiKey, world).problems;
}

type Remote = ServiceLocation & { readonly kind: 'remote' };

function findKey(location: Remote | null, given: string | undefined, { environment }: World): ApiKeyResult {
  if (location === null) return { apiKey: null, problems: [makeProblem('config/missing-service')] };
  const variable = location.apiKeyVariable;
  return readApiKey(variable, given === undefined ? environment : { [variable]: given });
}

async function openEmbedded(
  { databasePath }: ServiceLocation & { kind: 'embedded' },
  config: Config,
  files: readonly PromptFile[],
  world: World,
  onCall?: (call: CallReport) => void,
): Promise<OpenServiceResult> {
  const { startEmbedded, EMBEDDED_API_KEY: apiKey } = await import('./embedded-service.ts');
  const server = await startEmbedded({ databasePath, port: 0, apiKeys: [apiKey], files, now: world.now });
  const connected = await connectTo({ baseUrl: server.baseUrl, apiKey }, config, world, onCall);
  const close = async (): Promise<void> => {
    await connected.close();
    await server.close();
  };
  return {
    opened: { service: connected, name: `embedded:${relative(config.folder, databasePath)}`, close },
    problems: [],
  };
}

async function connectTo(
  connection: Connection,
  { concurrency, timeoutSeconds }: Config,
  { now, random, sleep, environment }: World,
  onCall?: (call: CallReport) => void,
) {
  const { connect } = await import('../service/client.ts');
  const hook = onCall === undefined ? {} : { onCall };
  return connect({ ...connection, concurrency, timeoutSeconds, now, random, sleep, environment, ...hook });
}
