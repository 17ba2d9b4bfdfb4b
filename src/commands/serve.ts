import { join, resolve } from 'node:path';
import { CONFIG_NAME } from '../workspace/config.ts';
import { EMBEDDED_API_KEY } from '../workspace/service-settings.ts';
import { openWorkspace, type Workspace } from '../desired-state/open-workspace.ts';
import type { System } from '../domain/system.ts';
import { isDirectory } from '../workspace/paths.ts';
import { isError, type Problem, toProblem } from '../problem.ts';
import { DEFAULT_KEY_VARIABLE } from '../providers/provider-list.ts';
import { startEmbedded } from '../run/start-embedded.ts';

export type ServeOptions = {
  /** The path of the SQLite file, relative to the working directory. */
  readonly db: string;
  /** The TCP port. 0 selects a free port. */
  readonly port: number;
  /** The workspace folder or configuration file whose prompts to register. True selects the working directory. */
  readonly seed?: string | true | undefined;
};

/** An embedded service that accepts requests until `close` is called. */
export type RunningService = {
  readonly baseUrl: string;
  /** The environment variable with the accepted API key. Null if the service accepts its built-in key. */
  readonly keyVariable: string | null;
  /** The number of prompts in the database when the service started, including those that it just registered. */
  readonly prompts: number;
  readonly close: () => Promise<void>;
};

/** The running service and all problems. The service is null if a problem prevented the start. */
type ServeResult = { readonly service: RunningService | null; readonly problems: readonly Problem[] };

/** Starts the embedded service for the command `serve`. The SQLite file keeps all data when the service stops. */
export async function serveEmbedded(options: ServeOptions, system: System): Promise<ServeResult> {
  const { workingDirectory, environment, now } = system;
  const { seed, port } = options;
  const { files, problems } = seed === undefined ? { files: [], problems: [] } : await openSeed(seed, system);
  if (problems.some(isError)) return { service: null, problems };
  const configuredKey = environment[DEFAULT_KEY_VARIABLE] ?? '';
  const [apiKey, keyVariable] = configuredKey === '' ? [EMBEDDED_API_KEY, null] : [configuredKey, DEFAULT_KEY_VARIABLE];
  const databasePath = resolve(workingDirectory, options.db);
  try {
    const { baseUrl, close, prompts } = await startEmbedded({ databasePath, port, apiKey, files, now });
    return { service: { baseUrl, close, keyVariable, prompts }, problems };
  } catch (error) {
    return { service: null, problems: [...problems, toProblem(error)] };
  }
}

async function openSeed(seed: string | true, system: System): Promise<Workspace> {
  if (seed === true) return openWorkspace({ only: [] }, system);
  const path = resolve(system.workingDirectory, seed);
  return openWorkspace({ config: isDirectory(path) ? join(path, CONFIG_NAME) : path, only: [] }, system);
}
