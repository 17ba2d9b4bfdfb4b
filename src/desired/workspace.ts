import { realpathSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import { type ConfigResult, loadConfig } from '../config/load.ts';
import type { Named, PromptFile } from '../domain/prompt-file.ts';
import { suggestSome } from '../domain/suggest.ts';
import type { World } from '../domain/world.ts';
import { makeGlob } from '../files/glob.ts';
import { isRoot } from '../files/paths.ts';
import { readPrompts } from '../files/read.ts';
import type { GitStart } from '../git/driver.ts';
import type { Repository } from '../git/repository.ts';
import { inPlaceOrder, isError, makeProblem, type Problem, ProblemError, problemOf } from '../problem.ts';

export type WorkspaceOptions = {
  /** Keys, paths or patterns of either; empty: all. */
  readonly only: readonly string[];
  /** Only prompts whose files differ from this commit. */
  readonly changedSince?: string | undefined;
  /** As given with --config, relative to the working directory. */
  readonly config?: string | undefined;
  /** Where it was read already: it is not read again. */
  readonly configuration?: ConfigResult | undefined;
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

/** What `--changed-since` leaves out. */
export type Narrowed = {
  /** The commit that was named. */
  readonly since: string;
  /** The selected prompts that are not looked at. */
  readonly left: readonly PromptFile[];
};

/** Reads configuration and prompt files; every problem of both is gathered. */
export async function openWorkspace(options: WorkspaceOptions, world: World): Promise<Workspace> {
  const { workingDirectory, environment } = world;
  const request = { workingDirectory, file: options.config, environment };
  const { config, problems } = options.configuration ?? (await loadConfig(request));
  if (config === null) return { config, files: [], problems: inPlaceOrder(problems), narrowed: null };
  world.keepFolder(config.folder);
  const read = await readPrompts(config);
  const selected = selectFiles(read.files, options.only);
  const unselectable = read.problems.some(isError) ? [] : selected.problems;
  const found = inPlaceOrder([...problems, ...read.problems, ...unselectable]);
  const all = { config, files: selected.files, problems: found, narrowed: null };
  const workspace = options.changedSince === undefined ? all : await narrow(all, config, options.changedSince);
  const left = new Set(read.files.map(({ path }) => path)).difference(new Set(workspace.files.map(({ path }) => path)));
  // A warning is of what the command is about. An error in any file stops all.
  return { ...workspace, problems: workspace.problems.filter((one) => isError(one) || !left.has(one.path ?? '')) };
}

async function narrow(workspace: Workspace, config: Config, ref: string): Promise<Workspace> {
  try {
    return { ...workspace, ...(await leaveOutUnchanged(workspace.files, ref, config)) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...workspace, files: [], problems: inPlaceOrder([...workspace.problems, problemOf(error)]) };
  }
}

/**
 * Leaves out the prompts whose files are as a commit has them. Where the configuration file differs from that commit it
 * leaves out none, because every prompt may be wanted otherwise. Throws a `ProblemError`.
 */
async function leaveOutUnchanged(files: readonly PromptFile[], ref: string, config: Config) {
  const { commit: since, same } = await readSince(ref, await openRepositoryOf(config));
  const isConfigured = configPaths(config).every((path) => same.has(path));
  const left = isConfigured ? files.filter(({ path }) => same.has(path)) : [];
  const leftOut = new Set(left);
  return { files: files.filter((file) => !leftOut.has(file)), narrowed: { since, left } };
}

/** The paths that a commit has, as they are there still or otherwise by now. Throws a `ProblemError` where it is not known. */
export async function readSince(ref: string, repository: Repository | null) {
  if (repository === null) throw new ProblemError(makeProblem('git/needs-repository', { what: `The base "${ref}"` }));
  const commit = await repository.resolveRef(ref);
  if (commit === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  return { repository, commit, ...(await repository.changedSince(commit)) };
}

/** Where git may know the configuration file, relative to its folder: of a symbolic link also what it leads to. */
export function configPaths({ file, folder }: Config): readonly [path: string, target: string] {
  const target = relative(realpathSync(folder), realpathSync(file));
  return [basename(file), target.split(sep).join('/')];
}

/** The repository that the workspace is in; null outside of one. */
export async function openRepositoryOf(config: Config): Promise<Repository | null> {
  if (!isRoot(config.root)) return null;
  const { openRepository } = await import('../git/repository.ts');
  return openRepository(gitStartOf(config), config.folder);
}

export function gitStartOf({ root, service }: Config): GitStart {
  return { root, keyVariables: service?.kind === 'remote' ? service.keyVariables : [] };
}

type Selection<File = PromptFile> = { readonly files: readonly File[]; readonly problems: readonly Problem[] };

/** The files that any of the selectors names by key, path, or a pattern of either; all of them without a selector. */
export function selectFiles<File extends Named>(files: readonly File[], selectors: readonly string[]): Selection<File> {
  if (selectors.length === 0) return { files, problems: [] };
  const matchers = selectors.map((selector) => ({ selector, matches: matcherOf(selector) }));
  const problems = matchers
    .filter(({ matches }) => !files.some(matches))
    .map(({ selector }) =>
      makeProblem('usage/nothing-selected', { selector, suggestions: namesLike(selector, files) }),
    );
  return { files: files.filter((file) => matchers.some(({ matches }) => matches(file))), problems };
}

/** What somebody probably meant who names no prompt; an id is what `import` takes, and each prompt has a key. */
function namesLike(selector: string, files: readonly Named[]): readonly string[] {
  const named = files.find(({ id }) => id === selector);
  if (named !== undefined) return [named.key];
  return suggestSome(
    selector,
    files.flatMap(({ key, path }) => [key, path]),
  );
}

function matcherOf(selector: string): (file: Named) => boolean {
  const glob = makeGlob(selector);
  return ({ key, path }) => key === selector || path === selector || glob(key) || glob(path);
}
