import { realpathSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import type { Config } from '../config/config.ts';
import { type ConfigResult, loadConfig } from '../config/load-config.ts';
import type { PromptIdentity, PromptFile } from '../domain/prompt-file.ts';
import { suggestNames } from '../domain/suggest-name.ts';
import type { World } from '../domain/world.ts';
import { makeGlob } from '../files/glob.ts';
import { isRepositoryRoot } from '../files/paths.ts';
import { readPrompts } from '../files/read-prompts.ts';
import type { GitSettings } from '../git/open-git.ts';
import type { Repository, WorkTreeComparison } from '../git/open-repository.ts';
import { sortByPlace, isError, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';

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
  readonly skipped: SkippedPrompts | null;
};

/** What `--changed-since` leaves out. */
export type SkippedPrompts = {
  /** The commit that was named. */
  readonly since: string;
  /** The selected prompts that are not looked at. */
  readonly prompts: readonly PromptFile[];
};

/** Reads configuration and prompt files; every problem of both is gathered. */
export async function openWorkspace(options: WorkspaceOptions, world: World): Promise<Workspace> {
  const { workingDirectory, environment } = world;
  const request = { workingDirectory, file: options.config, environment };
  const { config, problems } = options.configuration ?? (await loadConfig(request));
  if (config === null) return { config, files: [], problems: sortByPlace(problems), skipped: null };
  const read = await readPrompts(config);
  const selected = selectFiles(read.files, options.only);
  const unselectable = read.problems.some(isError) ? [] : selected.problems;
  const found = sortByPlace([...problems, ...read.problems, ...unselectable]);
  const all = { config, files: selected.files, problems: found, skipped: null };
  const workspace =
    options.changedSince === undefined ? all : await keepChangedFiles(all, config, options.changedSince);
  const left = new Set(read.files.map(({ path }) => path)).difference(new Set(workspace.files.map(({ path }) => path)));
  // A warning is of what the command is about. An error in any file stops all.
  return { ...workspace, problems: workspace.problems.filter((one) => isError(one) || !left.has(one.path ?? '')) };
}

async function keepChangedFiles(workspace: Workspace, config: Config, ref: string): Promise<Workspace> {
  try {
    return { ...workspace, ...(await splitByChange(workspace.files, ref, config)) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...workspace, files: [], problems: sortByPlace([...workspace.problems, toProblem(error)]) };
  }
}

/**
 * Leaves out the prompts whose files are as a commit has them. Where the configuration file differs from that commit it
 * leaves out none, because every prompt may be wanted otherwise. Throws a `ProblemError`.
 */
async function splitByChange(
  files: readonly PromptFile[],
  ref: string,
  config: Config,
): Promise<Pick<Workspace, 'files' | 'skipped'>> {
  const { commit: since, same } = await readChangesSince(ref, await openWorkspaceRepository(config));
  const isConfigured = listConfigPaths(config).every((path) => same.has(path));
  const left = isConfigured ? files.filter(({ path }) => same.has(path)) : [];
  const leftOut = new Set(left);
  return { files: files.filter((file) => !leftOut.has(file)), skipped: { since, prompts: left } };
}

/** A commit, and how the files of the work tree differ from it. */
type CommitComparison = WorkTreeComparison & {
  readonly repository: Repository;
  /** The id of the commit. */
  readonly commit: string;
};

/** Compares the work tree with the commit that a ref names. Throws a `ProblemError` if git does not know the ref. */
export async function readChangesSince(ref: string, repository: Repository | null): Promise<CommitComparison> {
  if (repository === null) throw new ProblemError(makeProblem('git/needs-repository', { what: `The base "${ref}"` }));
  const commit = await repository.resolveRef(ref);
  if (commit === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  return { repository, commit, ...(await repository.compareWithWorkTree(commit)) };
}

/** Where git may know the configuration file, relative to its folder: of a symbolic link also what it leads to. */
export function listConfigPaths({ file, folder }: Config): readonly [path: string, target: string] {
  const target = relative(realpathSync(folder), realpathSync(file));
  return [basename(file), target.split(sep).join('/')];
}

/** The repository that the workspace is in; null outside of one. */
export async function openWorkspaceRepository(config: Config): Promise<Repository | null> {
  if (!isRepositoryRoot(config.root)) return null;
  const { openRepository } = await import('../git/open-repository.ts');
  return openRepository(makeGitSettings(config), config.folder);
}

export function makeGitSettings({ root, service }: Config): GitSettings {
  return { root, keyVariables: service?.kind === 'remote' ? service.keyVariables : [] };
}

/** The files that were selected. A selector that matches none is a problem. */
export type Selection<File = PromptFile> = { readonly files: readonly File[]; readonly problems: readonly Problem[] };

/** The files that any of the selectors names by key, path, or a pattern of either; all of them without a selector. */
export function selectFiles<File extends PromptIdentity>(
  files: readonly File[],
  selectors: readonly string[],
): Selection<File> {
  if (selectors.length === 0) return { files, problems: [] };
  const matchers = selectors.map((selector) => ({ selector, matches: makeSelectorMatcher(selector) }));
  const problems = matchers
    .filter(({ matches }) => !files.some(matches))
    .map(({ selector }) =>
      makeProblem('usage/nothing-selected', { selector, suggestions: suggestSelectors(selector, files) }),
    );
  return { files: files.filter((file) => matchers.some(({ matches }) => matches(file))), problems };
}

/** What somebody probably meant who names no prompt; an id is what `import` takes, and each prompt has a key. */
function suggestSelectors(selector: string, files: readonly PromptIdentity[]): readonly string[] {
  const named = files.find(({ id }) => id === selector);
  if (named !== undefined) return [named.key];
  return suggestNames(
    selector,
    files.flatMap(({ key, path }) => [key, path]),
  );
}

function makeSelectorMatcher(selector: string): (file: PromptIdentity) => boolean {
  const glob = makeGlob(selector);
  return ({ key, path }) => key === selector || path === selector || glob(key) || glob(path);
}
