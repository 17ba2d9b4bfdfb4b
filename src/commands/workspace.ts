import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { toolEnvironments } from '../domain/policy.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/repository.ts';
import { inPlaceOrder, isError, type Problem } from '../problem.ts';
import { readPrompts } from '../prompts/read.ts';
import { assignServices, serviceRules } from './services/assign-services.ts';
import { selectNamed, type Selectors } from './select-files.ts';
import type { World } from './world.ts';

export type WorkspaceOptions = Selectors & {
  /** As given with --config, relative to the working directory. */
  readonly config?: string | undefined;
};

/** The configuration and the prompt files that a command is about. */
export type Workspace = {
  /** Null when it cannot be read; then there is an error among the problems. */
  readonly config: Config | null;
  /** The valid files that were selected. */
  readonly files: readonly PromptFile[];
  readonly problems: readonly Problem[];
};

/** Reads configuration and prompt files; every problem of both is gathered. */
export async function openWorkspace(options: WorkspaceOptions, world: World): Promise<Workspace> {
  const { workingDirectory, environment } = world;
  const { config, problems } = await loadConfig({ workingDirectory, file: options.config, environment });
  if (config === null) return { config, files: [], problems: inPlaceOrder(problems) };
  const services = serviceRules(config);
  const read = await readPrompts(config, { ...environmentRules(config), services });
  const selected = selectNamed(assignServices(read.files, services), options);
  const unselectable = read.problems.some(isError) ? [] : selected.problems;
  return { config, files: selected.files, problems: inPlaceOrder([...problems, ...read.problems, ...unselectable]) };
}

/** The repository that the workspace is in; null outside of one. */
export async function openRepositoryOf({ root, folder }: Config): Promise<Repository | null> {
  if (!existsSync(join(root, '.git'))) return null;
  const { openRepository } = await import('../git/repository.ts');
  return openRepository(folder);
}

function environmentRules({ environments, trackingEnvironment }: Config) {
  return {
    known: environments === null ? null : environments.map(({ name }) => name),
    reserved: toolEnvironments(trackingEnvironment),
  };
}
