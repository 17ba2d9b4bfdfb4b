import { join, resolve } from 'node:path';
import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { EMBEDDED_API_KEY } from '../config/service.ts';
import { openWorkspace, type Workspace } from '../desired/workspace.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { type EmbeddedServer, startServer } from '../embedded/server.ts';
import { openStore } from '../embedded/store.ts';
import { isDirectory, trackedLink } from '../files/paths.ts';
import { isError, makeProblem, messageOf, problemOf, type Problem, ProblemError } from '../problem.ts';

export type ServeOptions = {
  /** The SQLite file, relative to the working directory. */
  readonly db: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** A workspace whose prompt ids are made known first: its folder or its configuration; true: the one found here. */
  readonly seed?: string | true | undefined;
};

export type Serving = {
  readonly baseUrl: string;
  /** The variable that holds the key which is accepted; null when it is the embedded service's own. */
  readonly keyVariable: string | null;
  readonly prompts: number;
  readonly close: () => Promise<void>;
};

type ServeResult = { readonly serving: Serving | null; readonly problems: readonly Problem[] };

/** Starts the embedded service by itself. It runs until it is closed; what was served stays in the file. */
export async function serve(options: ServeOptions, world: World): Promise<ServeResult> {
  const { workingDirectory, environment, now } = world;
  const { seed, port } = options;
  const { files, problems } = seed === undefined ? { files: [], problems: [] } : await openSeed(seed, world);
  if (problems.some(isError)) return { serving: null, problems };
  const given = environment[DEFAULTS.api_key_env] ?? '';
  const [apiKey, keyVariable] = given === '' ? [EMBEDDED_API_KEY, null] : [given, DEFAULTS.api_key_env];
  const databasePath = resolve(workingDirectory, options.db);
  try {
    const { baseUrl, close } = await startEmbedded({ databasePath, port, apiKey, files, now });
    return { serving: { baseUrl, close, keyVariable, prompts: files.length }, problems };
  } catch (error) {
    return { serving: null, problems: [...problems, problemOf(error)] };
  }
}

async function openSeed(seed: string | true, world: World): Promise<Workspace> {
  if (seed === true) return openWorkspace({ only: [] }, world);
  const path = resolve(world.workingDirectory, seed);
  return openWorkspace({ config: isDirectory(path) ? join(path, CONFIG_NAME) : path, only: [] }, world);
}

type EmbeddedOptions = Pick<ServeOptions, 'port'> & {
  readonly databasePath: string;
  readonly apiKey: string;
  /** Their ids are made known: the interface has no call that creates a prompt. */
  readonly files: readonly PromptFile[];
  readonly now: () => number;
};

/** Starts the embedded service. Throws a `ProblemError` when the file or the port cannot be had. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  try {
    return await start(options);
  } catch (error) {
    throw new ProblemError(makeProblem('usage/cannot-serve', { reason: messageOf(error) }), { cause: error });
  }
}

const PROJECT = 'embedded';

async function start({ databasePath, port, apiKey, files, now }: EmbeddedOptions): Promise<EmbeddedServer> {
  const link = trackedLink(databasePath);
  if (link !== null) throw new Error(`${link} is a symbolic link inside a repository`);
  const store = openStore(databasePath, { now });
  try {
    store.authoriseKey({ apiKey, projectId: PROJECT });
    for (const { id, key, name } of files) store.registerPrompt({ id, projectId: PROJECT, key, name });
    const server = await startServer({ store, port });
    return { ...server, close: () => server.close().then(() => store.close()) };
  } catch (error) {
    store.close();
    throw error;
  }
}
