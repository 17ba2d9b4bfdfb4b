import { makeRepository } from '../support/folder.ts';
import { workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, type Ran, type RunOptions } from '../support/run.ts';
import { KEY, startTestService, type TestService } from '../support/service.ts';

export type Stage = {
  readonly folder: string;
  readonly service: TestService;
  /** Runs a command line against the service. Its words must not contain spaces. */
  readonly promptsync: (line: string, options?: RunOptions) => Promise<Ran>;
};

type Prompts = Readonly<Record<string, PromptParts>>;

/** Makes a workspace that was never synced, and a service that has its prompts. */
export async function makeStage(prompts: Prompts = { greeting: {} }, apiKey = KEY): Promise<Stage> {
  const service = await startTestService(Object.keys(prompts), apiKey);
  const folder = makeRepository(workspaceFiles(prompts));
  const promptsync: Stage['promptsync'] = (line, { environment, ...options } = {}) =>
    run(folder, line.split(' '), { ...options, environment: { ...service.environment, ...environment } });
  return { folder, service, promptsync };
}
