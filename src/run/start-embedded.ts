import { PLACEHOLDER_ID, type PromptFile } from '../domain/prompt-file.ts';
import { type EmbeddedServer, startServer } from '../embedded/server.ts';
import { openStore } from '../embedded/prompt-store.ts';
import { findTrackedLink } from '../workspace/paths.ts';
import { describeSystemError, findSystemCode, getErrorMessage, makeProblem, ProblemError } from '../problem.ts';

type EmbeddedOptions = {
  /** The absolute path of the SQLite file. */
  readonly databasePath: string;
  /** The TCP port. 0 selects a free port. */
  readonly port: number;
  readonly apiKey: string;
  /** The service registers their prompts when it starts, because its API has no call that creates a prompt. */
  readonly files: readonly PromptFile[];
  readonly now: () => number;
};

type StartedService = EmbeddedServer & {
  /** The number of prompts in the database, including those that the start registered. */
  readonly prompts: number;
};

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

/** The only project, because promptsync always starts the embedded service with a single API key. */
const PROJECT_ID = 'embedded';

/** A file with the placeholder id has no prompt yet. */
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
