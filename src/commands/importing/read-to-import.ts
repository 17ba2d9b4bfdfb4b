import type { Config } from '../../config/config.ts';
import { readingOnly, type Observation } from '../../domain/observed.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import { observe } from '../../observing/observe.ts';
import type { Problem } from '../../problem.ts';
import { openService, type ServiceOptions } from '../open-service.ts';
import type { World } from '../world.ts';

export type ImportRequest = {
  readonly config: Config;
  /** Those that the workspace has. */
  readonly files: readonly PromptFile[];
  readonly ids: readonly string[];
  readonly environments: readonly string[];
};

export type ReadToImport = {
  /** Null where the service cannot be asked; the problems say why. */
  readonly observation: Observation | null;
  /** How reports call the service. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/** Reads prompts that may have no file yet. Sends nothing but GET. */
export async function readToImport(
  { config, files, ids, environments }: ImportRequest,
  options: ServiceOptions,
  world: World,
): Promise<ReadToImport> {
  const { opened, problems } = await openService(config, files, world, options);
  if (opened === null) return { observation: null, service: null, problems };
  const requests = ids.map((id) => readingOnly(id, environments));
  try {
    const observation = await observe(opened.service, requests, {
      trackingEnvironment: null,
      concurrency: config.concurrency,
      stop: world.stop,
      onObserved: (done, all) => world.onProgress({ what: 'Observing', done, all }),
    });
    return { observation, service: opened.name, problems };
  } finally {
    await opened.close();
  }
}
