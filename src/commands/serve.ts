import { join, resolve } from 'node:path';
import { CONFIG_NAME } from '../config/config.ts';
import { EMBEDDED_API_KEY } from '../config/service.ts';
import { openWorkspace, type Workspace } from '../desired/open-workspace.ts';
import { PLACEHOLDER_ID, type PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { type EmbeddedServer, startServer } from '../embedded/server.ts';
import { openStore } from '../embedded/store.ts';
import { isDirectory, findTrackedLink } from '../files/paths.ts';
import {
  describeSystemError,
  findSystemCode,
  getErrorMessage,
  isError,
  makeProblem,
  type Problem,
  ProblemError,
  toProblem,
} from '../problem.ts';
import { DEFAULT_KEY_VARIABLE } from '../providers/list.ts';

/** The options of the command `serve`. */
export type ServeOptions = {
  /** The path of the SQLite file, relative to the working directory. */
  readonly db: string;
  /** The TCP port. 0 selects a free port. */
  readonly port: number;
  /**
   * The path of a workspace folder or of a configuration file. The service registers the prompts of this workspace
   * before it accepts requests. True selects the workspace in the working directory. Undefined registers no prompts.
   */
  readonly seed?: string | true | undefined;
};

/** An embedded service that accepts requests until `close` is called. */
export type RunningService = {
  readonly baseUrl: string;
  /**
   * The name of the environment variable that contains the accepted API key. Null if the service accepts its built-in
   * key instead.
   */
  readonly keyVariable: string | null;
  /** The number of prompts in the database when the service started, including those that it just registered. */
  readonly prompts: number;
  readonly close: () => Promise<void>;
};

/** The running service and all problems. The service is null if a problem prevented the start. */
type ServeResult = { readonly service: RunningService | null; readonly problems: readonly Problem[] };

/** Starts the embedded service for the command `serve`. The SQLite file keeps all data when the service stops. */
export async function serveEmbedded(options: ServeOptions, world: World): Promise<ServeResult> {
  const { workingDirectory, environment, now } = world;
  const { seed, port } = options;
  const { files, problems } = seed === undefined ? { files: [], problems: [] } : await openSeed(seed, world);
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

/** Reads the workspace whose prompts the embedded service registers. */
async function openSeed(seed: string | true, world: World): Promise<Workspace> {
  if (seed === true) return openWorkspace({ only: [] }, world);
  const path = resolve(world.workingDirectory, seed);
  return openWorkspace({ config: isDirectory(path) ? join(path, CONFIG_NAME) : path, only: [] }, world);
}

/** The settings for starting the embedded service. */
type EmbeddedOptions = Pick<ServeOptions, 'port'> & {
  readonly databasePath: string;
  readonly apiKey: string;
  /**
   * The files whose prompts the service registers when it starts, because its API has no call that creates a prompt.
   */
  readonly files: readonly PromptFile[];
  readonly now: () => number;
};

/** A running embedded service, and the number of prompts that it has. */
type StartedService = EmbeddedServer & Pick<RunningService, 'prompts'>;

/** Starts the embedded service. Throws a `ProblemError` if the SQLite file or the port cannot be opened. */
export async function startEmbedded(options: EmbeddedOptions): Promise<StartedService> {
  try {
    return await startWithPrompts(options);
  } catch (error) {
    // The messages of SQLite and of promptsync's own checks say more than their codes.
    const isTaken = findSystemCode(error) === 'EADDRINUSE';
    const reason = isTaken ? `port ${options.port}: ${describeSystemError(error)}` : getErrorMessage(error);
    throw new ProblemError(makeProblem('usage/cannot-serve', { reason }), { cause: error });
  }
}

/**
 * The id of the project that all prompts belong to. The embedded service can store several projects, but promptsync
 * needs only one, because it always starts the service with a single API key.
 */
const PROJECT_ID = 'embedded';

/**
 * Returns true if the embedded service registers the prompt of this file. A file with the placeholder id has no prompt
 * yet.
 */
function isRegistered({ id }: Pick<PromptFile, 'id'>): boolean {
  return id !== PLACEHOLDER_ID;
}

async function startWithPrompts({ databasePath, port, apiKey, files, now }: EmbeddedOptions): Promise<StartedService> {
  // Refuse symbolic links in a repository. A commit can contain a link to a file outside the repository, and SQLite
  // would follow the link and write to that file.
  const link = findTrackedLink(databasePath);
  if (link !== null) throw new Error(`${link} is a symbolic link inside a repository`);
  const store = openStore(databasePath, { now });
  try {
    store.authorizeKey({ apiKey, projectId: PROJECT_ID });
    for (const { id, key, name } of files.filter(isRegistered))
      store.registerPrompt({ id, projectId: PROJECT_ID, key, name });
    const server = await startServer({ store, port });
    const prompts = store.countPrompts();
    return { ...server, prompts, close: () => server.close().then(() => store.close()) };
  } catch (error) {
    store.close();
    throw error;
  }
}
