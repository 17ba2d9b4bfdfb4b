import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import type { ConfigResult } from '../config/parse.ts';
import { toolEnvironments } from '../domain/policy.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { inShard } from '../domain/shard-of.ts';
import { shardText, type Shard } from '../domain/shard.ts';
import { isRoot } from '../files/paths.ts';
import type { GitStart } from '../git/environment.ts';
import type { Repository } from '../git/repository.ts';
import { inPlaceOrder, isError, problemOf, ProblemError, type Problem } from '../problem.ts';
import type { Late } from '../prompts/late.ts';
import { readPrompts } from '../prompts/read.ts';
import { selectNamed, type Selectors } from './select-files.ts';
import type { Narrowed } from './since/narrow.ts';
import type { World } from './world.ts';

export type WorkspaceOptions = Selectors & {
  /** Only prompts that have changed since this ref, and those whose last sync is not known to be complete. */
  readonly changedSince?: string | undefined;
  /** What is read again when it is asked for: for commands that need little of it, and edit no file. */
  readonly late?: Late | undefined;
  /** As given with --config, relative to the working directory. */
  readonly config?: string | undefined;
  /** Where it was read already: it is not read again. */
  readonly configuration?: ConfigResult | undefined;
  /** The part of the selected prompts that is meant; all of them are read and checked. */
  readonly shard?: Shard | undefined;
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
  const request = { workingDirectory, file: options.config, environment };
  const { config, problems } = options.configuration ?? (await loadConfig(request));
  if (config === null) return { config, files: [], problems: inPlaceOrder(problems), narrowed: null };
  world.keepFolder(config.folder);
  const narrowed = await narrowedBy(options, config, world);
  if (narrowed !== null && 'code' in narrowed) {
    return { config, files: [], problems: inPlaceOrder([...problems, narrowed]), narrowed: null };
  }
  const selects = options.only.length > 0;
  // What is to be selected by key or path has to be read.
  const left = selects ? [] : (narrowed?.left ?? []);
  const read = await readPrompts(config, environmentRules(config), { left, late: options.late });
  const selected = selectNamed(read.files, options);
  const unselectable = read.problems.some(isError) ? [] : selected.problems;
  const found = inPlaceOrder([...problems, ...read.problems, ...unselectable]);
  return {
    config,
    ...leaveOut(inShard(selected.files, options.shard), narrowed, selects ? null : read.unread),
    problems: found,
  };
}

async function narrowedBy(
  { changedSince, shard }: WorkspaceOptions,
  config: Config,
  { notice }: World,
): Promise<Narrowed | Problem | null> {
  if (changedSince === undefined) return null;
  try {
    const { narrowSince } = await import('./since/narrow.ts');
    const narrowed = await narrowSince(
      changedSince,
      config,
      await openRepositoryOf(config),
      shard === undefined ? null : shardText(shard),
    );
    if (narrowed.reason !== null) notice(`All prompts are looked at: ${narrowed.reason}.`);
    return narrowed;
  } catch (error) {
    if (error instanceof ProblemError) return problemOf(error);
    throw error;
  }
}

/**
 * What is left out, as far as it is there. Where prompts were selected, all files were read: those of them that are left
 * out are taken out again.
 */
function leaveOut(files: readonly PromptFile[], narrowed: Narrowed | null, unread: ReadonlySet<string> | null) {
  if (narrowed === null) return { files, narrowed };
  const there = unread ?? new Set(files.map(({ path }) => path));
  const left = narrowed.left.filter(({ path }) => there.has(path));
  const paths = new Set(left.map(({ path }) => path));
  return { files: files.filter(({ path }) => !paths.has(path)), narrowed: { ...narrowed, left } };
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
