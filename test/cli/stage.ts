import { makeWorkspace } from '../support/folder.ts';
import { workspaceFiles, type PromptParts } from '../support/prompts.ts';
import { run, type Ran, type RunOptions } from '../support/run.ts';
import { startTestService, type TestService } from '../support/service.ts';

export type Stage = {
  readonly folder: string;
  readonly service: TestService;
  /** Runs a command line, whose words hold no blanks, against the service. */
  readonly promptsync: (line: string, options?: RunOptions) => Promise<Ran>;
};

/** A workspace and the service that knows its prompts, before the first sync. */
export async function makeStage(prompts: Readonly<Record<string, PromptParts>> = { greeting: {} }): Promise<Stage> {
  const service = await startTestService(Object.keys(prompts));
  const folder = makeWorkspace(workspaceFiles(prompts));
  const promptsync: Stage['promptsync'] = (line, { environment, ...options } = {}) =>
    run(folder, line.split(' '), { ...options, environment: { ...service.environment, ...environment } });
  return { folder, service, promptsync };
}
