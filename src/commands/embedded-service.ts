import type { PromptFile } from '../domain/prompt-file.ts';
import { startServer, type EmbeddedServer } from '../embedded/server.ts';
import { openStore } from '../embedded/store.ts';
import { trackedLink } from '../files/paths.ts';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';

type EmbeddedOptions = {
  readonly databasePath: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly apiKeys: readonly string[];
  /** Their ids are made known: the interface has no call that creates a prompt. */
  readonly files: readonly PromptFile[];
  readonly now: () => number;
};

const PROJECT = 'embedded';

/** The embedded service is for trying: it listens on the loopback address alone, and its key is no secret. */
export const EMBEDDED_API_KEY = 'embedded';

/** Starts the embedded service. Throws a `ProblemError` when the file or the port cannot be had. */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  try {
    return await start(options);
  } catch (error) {
    throw new ProblemError(makeProblem('usage/cannot-serve', { reason: messageOf(error) }), { cause: error });
  }
}

async function start({ databasePath, port, apiKeys, files, now }: EmbeddedOptions): Promise<EmbeddedServer> {
  const link = trackedLink(databasePath);
  if (link !== null) throw new Error(`${link} is a symbolic link inside a repository`);
  const store = openStore(databasePath, { now });
  try {
    for (const apiKey of apiKeys) store.authoriseKey({ apiKey, projectId: PROJECT });
    for (const { id, key, name } of files) store.registerPrompt({ id, projectId: PROJECT, key, name });
    const server = await startServer({ store, port });
    const close = () => server.close().then(() => store.close());
    return { ...server, close };
  } catch (error) {
    store.close();
    throw error;
  }
}
