import { setTimeout } from 'node:timers/promises';
import { commitAllAt, makeRepository, writeFiles } from '../support/folder.ts';
import { KILLED, startCli } from '../support/cli.ts';
import { handOn, startFront, type FrontAnswer, type FrontRequest } from '../support/front.ts';
import { run, type Ran } from '../support/run.ts';
import type { LangfuseServer } from './server.ts';

/** A request that writes, and how its response gets lost. */
export type Trouble = {
  /** The number of the write in its run, starting with 1. */
  readonly write: number;
  readonly when: 'before the server has seen' | 'after the server has done';
  readonly what: 'the connection breaks' | 'promptsync is killed';
};

/** The front matter and the body of a prompt file. */
export type PromptFile = { readonly id: string; readonly text: string; readonly [field: string]: unknown };

export type Workspace = {
  /** Writes the prompt files and commits them at the current time, because reports compare it with Langfuse's times. */
  readonly commit: (...files: readonly PromptFile[]) => void;
  readonly run: (...words: readonly string[]) => Promise<Ran>;
  /** Runs `sync --yes`. The response to one of its writes gets lost. */
  readonly syncInTrouble: (trouble: Trouble) => Promise<Ran>;
  /** Returns and forgets the methods of the writes since the last call. */
  readonly takeWrites: () => readonly string[];
};

/** Makes a repository whose configuration names the server, with a proxy in between that can lose responses. */
export async function openWorkspace(server: LangfuseServer): Promise<Workspace> {
  let loseResponse: ((request: FrontRequest) => Promise<FrontAnswer | null>) | null = null;
  const answer = async (request: FrontRequest): Promise<FrontAnswer | null> => loseResponse?.(request) ?? null;
  const front = await startFront({ target: server.baseUrl, answer });

  const folder = makeRepository({
    'promptsync.yaml': `service: { provider: langfuse, base_url: "${front.baseUrl}" }\nenvironments: { staging: {}, production: {} }\n`,
  });
  const environment = {
    LANGFUSE_PUBLIC_KEY: server.keys.publicKey,
    LANGFUSE_SECRET_KEY: server.keys.secretKey,
  };
  // A real server needs the real waits.
  const sleep = (milliseconds: number, signal: AbortSignal) => setTimeout(milliseconds, undefined, { signal });

  return {
    commit: (...files) => {
      writeFiles(folder, Object.fromEntries(files.map((file, index) => [`prompts/${index}.md`, render(file)])));
      commitAllAt(folder, new Date().toISOString());
    },
    run: (...words) => run(folder, words, { environment, sleep }),
    syncInTrouble: async (trouble) => {
      const started = startCli(folder, ['sync', '--yes'], {
        environment: { ...environment, LANGFUSE_BASE_URL: undefined, LANGFUSE_HOST: undefined },
      });
      let writes = 0;
      loseResponse = async (request) => {
        if (request.method === 'GET' || (writes += 1) !== trouble.write) return null;
        if (trouble.when === 'after the server has done') await handOn(request, server.baseUrl);
        if (trouble.what === 'promptsync is killed') {
          started.child.kill('SIGKILL');
          await started.ended;
        }
        // The proxy closes the connection without a response.
        throw new Error('the response is lost');
      };
      const ran = await started.ended;
      loseResponse = null;
      if (writes < trouble.write) throw new Error(`The run ended with ${ran.exitCode} after ${writes} writes.`);
      if ((ran.exitCode === KILLED) !== (trouble.what === 'promptsync is killed')) throw new Error(ran.stderr);
      return ran;
    },
    takeWrites: () => front.requests.splice(0).flatMap(({ method }) => (method === 'GET' ? [] : [method])),
  };
}

function render({ text, ...fields }: PromptFile): string {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`);
  return `---\n${lines.join('')}---\n\n${text}\n`;
}
