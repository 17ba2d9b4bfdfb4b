import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { toolEnvironments } from '../domain/policy.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { isRoot } from '../files/paths.ts';
import type { GitStart } from '../git/environment.ts';
import type { Repository } from '../git/repository.ts';
import { inPlaceOrder, isError, problemOf, ProblemError, type Problem } from '../problem.ts';
import type { Late } from '../files/late.ts';
import { readPrompts } from '../files/read.ts';
import { leaveOutUnchanged, type Narrowed } from './changed-since.ts';
import { selectNamed, type Selectors } from './select-files.ts';
import type { World } from './world.ts';

export type WorkspaceOptions = Selectors & {
  /** Only prompts whose files differ from this commit. */
  readonly changedSince?: string | undefined;
  /** What is read again when it is asked for: for commands that need little of it, and edit no file. */
  readonly late?: Late | undefined;
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
  /** Null where nothing was to be left out. */
  readonly narrowed: Narrowed | null;
};

/** Reads configuration and prompt files; every problem of both is gathered. */
export async function openWorkspace(options: WorkspaceOptions, world: World): Promise<Workspace> {
  const { workingDirectory, environment } = world;
  const { config, problems } = await loadConfig({ workingDirectory, file: options.config, environment });
  if (config === null) return { config, files: [], problems: inPlaceOrder(problems), narrowed: null };
  world.keepFolder(config.folder);
  const read = await readPrompts(config, environmentRules(config), { late: options.late });
  const selected = selectNamed(read.files, options);
  const unselectable = read.problems.some(isError) ? [] : selected.problems;
  const workspace = {
    config,
    files: selected.files,
    problems: inPlaceOrder([...problems, ...read.problems, ...unselectable]),
  };
  return narrow(workspace, options.changedSince);
}

async function narrow(workspace: Omit<Workspace, 'narrowed'>, since: string | undefined): Promise<Workspace> {
  const { config, files, problems } = workspace;
  if (config === null || since === undefined) return { ...workspace, narrowed: null };
  try {
    const repository = await openRepositoryOf(config);
    return { ...workspace, ...(await leaveOutUnchanged(files, since, config, repository)) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { config, files: [], problems: inPlaceOrder([...problems, problemOf(error)]), narrowed: null };
  }
}

/** The repository that the workspace is in; null outside of one. */
export async function openRepositoryOf(config: Config): Promise<Repository | null> {
  if (!isRoot(config.root)) return null;
  const { openRepository } = await import('../git/repository.ts');
  return openRepository(gitStartOf(config), config.folder);
}

/** How git is started for a configuration. */
export function gitStartOf({ root, service }: Config): GitStart {
  return { root, keyVariables: service?.kind === 'remote' ? [service.apiKeyVariable] : [] };
}

function environmentRules({ environments, trackingEnvironment }: Config) {
  return {
    known: environments === null ? null : environments.map(({ name }) => name),
    reserved: toolEnvironments(trackingEnvironment),
  };
}
