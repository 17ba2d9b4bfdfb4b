import { join, resolve } from 'node:path';
import { CONFIG_NAME, DEFAULTS } from '../config/config.ts';
import { isDirectory } from '../files/paths.ts';
import { isError, problemOf, type Problem } from '../problem.ts';
import { EMBEDDED_API_KEY, startEmbedded } from './embedded-service.ts';
import { openWorkspace, type Workspace } from '../desired/workspace.ts';
import type { World } from '../domain/world.ts';

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

export type ServeResult = { readonly serving: Serving | null; readonly problems: readonly Problem[] };

/** Starts the embedded service by itself. It runs until it is closed; what was served stays in the file. */
export async function serve(options: ServeOptions, world: World): Promise<ServeResult> {
  const { workingDirectory, environment, now } = world;
  const seed = options.seed === undefined ? null : await openSeed(options.seed, world);
  if (seed?.problems.some(isError) === true) return { serving: null, problems: seed.problems };
  const files = seed?.files ?? [];
  const apiKey = environment[DEFAULTS.api_key_env];
  const given = apiKey !== undefined && apiKey !== '';
  const databasePath = resolve(workingDirectory, options.db);
  const apiKeys = [given ? apiKey : EMBEDDED_API_KEY];
  const problems = seed?.problems ?? [];
  try {
    const { baseUrl, close } = await startEmbedded({ databasePath, port: options.port, apiKeys, files, now });
    const keyVariable = given ? DEFAULTS.api_key_env : null;
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
