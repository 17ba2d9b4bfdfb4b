import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Config } from '../config/config.ts';
import { makeGitSettings } from '../config/make-git-settings.ts';
import {
  type ConfigResult,
  type FormerSettings,
  loadConfig,
  NO_FORMER_SETTINGS,
  parseFormerSettings,
} from '../config/load-config.ts';
import { keepSecretKeys } from '../config/service.ts';
import { isEqualContent } from '../domain/content.ts';
import { formatPin, type PromptIdentity, type PromptFile } from '../domain/prompt-file.ts';
import { suggestNames } from '../domain/suggest-name.ts';
import type { World } from '../domain/world.ts';
import { makePathIds } from '../files/find-prompt-paths.ts';
import { makeGlobMatcher } from '../files/glob.ts';
import type { FileSettings } from '../files/parse-prompt-file.ts';
import { isRepositoryRoot, makeRelativePath } from '../files/paths.ts';
import { readPrompts } from '../files/read-prompts.ts';
import type { Repository, WorkTreeComparison } from '../git/open-repository.ts';
import type { FormerConfig, PromptRepository } from '../history/read-at-commit.ts';
import { sortByPlace, isError, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';

/** The options that decide which configuration and which prompt files a command reads. */
export type WorkspaceOptions = {
  /** The keys, paths, folders or patterns of the prompts to select. An empty list selects all prompts. */
  readonly only: readonly string[];
  /**
   * The git ref from `--changed-since`. promptsync skips prompts whose files have not changed since that commit.
   * Undefined turns this filter off.
   */
  readonly changedSince?: string | undefined;
  /** The path from `--config`, relative to the working directory. Undefined if the user did not pass `--config`. */
  readonly config?: string | undefined;
  /** The configuration, if the caller has already loaded it. Otherwise `openWorkspace` loads it. */
  readonly configuration?: ConfigResult | undefined;
};

/** The configuration and the selected prompt files of a command, with the problems that promptsync found in them. */
export type Workspace = {
  /** The configuration. Null if promptsync could not read it. In that case, `problems` contains an error. */
  readonly config: Config | null;
  /** The prompt files that are both valid and selected. */
  readonly files: readonly PromptFile[];
  /** All valid prompt files, including those that are not selected. */
  readonly allFiles: readonly PromptFile[];
  readonly problems: readonly Problem[];
  /**
   * The prompts that `--changed-since` leaves out. Null if the user did not pass the flag, or if git could not compare
   * the files.
   */
  readonly skipped: SkippedPrompts | null;
};

/** The prompts that `--changed-since` leaves out, and the commit that the flag refers to. */
export type SkippedPrompts = {
  /** The id of the commit that `--changed-since` refers to. */
  readonly since: string;
  /** The selected prompts whose files have not changed since that commit. */
  readonly prompts: readonly PromptFile[];
};

/** Returns the configuration that the caller has already loaded. Otherwise loads it. Keeps its keys out of all output. */
export async function loadConfiguration(
  { config: file, configuration }: Pick<WorkspaceOptions, 'config' | 'configuration'>,
  { workingDirectory, environment, keepSecret }: Pick<World, 'workingDirectory' | 'environment' | 'keepSecret'>,
): Promise<ConfigResult> {
  const result = configuration ?? (await loadConfig({ workingDirectory, file, environment }));
  keepSecretKeys(result, { environment, keepSecret });
  return result;
}

/**
 * Reads the configuration and the prompt files, and collects their problems. If the configuration is invalid, does not
 * read any prompt files.
 */
export async function openWorkspace(options: WorkspaceOptions, world: World): Promise<Workspace> {
  const { config, problems: configProblems } = await loadConfiguration(options, world);
  if (config === null) return { config, files: [], allFiles: [], problems: sortByPlace(configProblems), skipped: null };
  const prompts = await readPrompts(config);
  const selection = selectFiles(prompts.files, options.only);
  const selectionProblems = prompts.problems.some(isError) ? [] : selection.problems;
  const problems = sortByPlace([...configProblems, ...prompts.problems, ...selectionProblems]);
  const selected = { config, files: selection.files, allFiles: prompts.files, problems, skipped: null };
  const workspace =
    options.changedSince === undefined ? selected : await keepChangedFiles(selected, config, options.changedSince);
  const keptPaths = new Set(workspace.files.map(({ path }) => path));
  const omittedPaths = new Set(prompts.files.map(({ path }) => path)).difference(keptPaths);
  // Drop warnings about files that are not selected or that `--changed-since` leaves out. Keep all errors, because an
  // error in any file stops the command.
  const isRelevant = (problem: Problem) => isError(problem) || !omittedPaths.has(problem.path ?? '');
  return { ...workspace, problems: workspace.problems.filter(isRelevant) };
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
 * Separates the prompt files that have changed since a commit from those that have not. If the configuration file has
 * changed, treats all prompt files as changed, because the new configuration may change the desired state of every
 * prompt. Throws a `ProblemError` if git cannot compare the files with the commit.
 */
async function splitByChange(
  files: readonly PromptFile[],
  ref: string,
  config: Config,
): Promise<Pick<Workspace, 'files' | 'skipped'>> {
  const { commit: since, same } = await readChangesSince(ref, await openWorkspaceRepository(config));
  const isConfigUnchanged = listConfigPaths(config).every((path) => same.has(path));
  const unchangedFiles = isConfigUnchanged ? files.filter(({ path }) => same.has(path)) : [];
  const skippedFiles = new Set(unchangedFiles);
  return { files: files.filter((file) => !skippedFiles.has(file)), skipped: { since, prompts: unchangedFiles } };
}

/** A commit, with the differences between its files and the work tree. */
export type CommitComparison = WorkTreeComparison & {
  readonly repository: PromptRepository;
  /** The id of the commit. */
  readonly commit: string;
};

/**
 * Compares the work tree with the commit that a ref points to. Throws a `ProblemError` if there is no repository, or if
 * git does not know the ref.
 */
export async function readChangesSince(ref: string, repository: PromptRepository | null): Promise<CommitComparison> {
  if (repository === null) throw new ProblemError(makeProblem('git/needs-repository', { what: `The base "${ref}"` }));
  const commit = await repository.resolveRef(ref);
  if (commit === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  return { repository, commit, ...(await repository.compareWithWorkTree(commit)) };
}

/**
 * Finds the present paths of prompt files that took their id from their path and now take another one: the file was
 * moved, or another pattern matches it. Only an unchanged file counts, and a copy of a file does not. Returns the paths by
 * the id at the base.
 * @param removedFiles the files at the base whose prompts no longer have a file
 * @param files the files of the work tree
 */
export async function findNewPaths(
  removedFiles: readonly PromptFile[],
  files: readonly PromptFile[],
  { repository, commit }: Pick<CommitComparison, 'repository' | 'commit'>,
): Promise<ReadonlyMap<string, string>> {
  const isNew = async ({ path }: PromptFile) =>
    (await repository.findBlobId(commit, repository.toRootPath(path))) === null;
  const entries = removedFiles
    .filter(({ idSource }) => idSource === 'path')
    .map(async (removed): Promise<readonly (readonly [string, string])[]> => {
      const unchanged = files.filter(
        (file) => file.idSource === 'path' && isEqualContent(file.content, removed.content),
      );
      const areMoved = await Promise.all(unchanged.map(isNew));
      const found = unchanged.find(({ path }, index) => path === removed.path || areMoved[index] === true);
      return found === undefined ? [] : [[removed.id, found.path]];
    });
  return new Map((await Promise.all(entries)).flat());
}

/**
 * Returns the paths at which git may track the configuration file, relative to the folder of the file. If the file is a
 * symbolic link, the second path is the target of the link. Otherwise both paths are the same.
 */
export function listConfigPaths({ file, folder }: Config): readonly [path: string, target: string] {
  const target = makeRelativePath(realpathSync(folder), realpathSync(file));
  return [basename(file), target];
}

/** Opens the git repository that contains the workspace. Returns null outside a repository. */
export async function openWorkspaceRepository(config: Config): Promise<PromptRepository | null> {
  if (!isRepositoryRoot(config.root)) return null;
  const { openRepository } = await import('../git/open-repository.ts');
  return makePromptRepository(await openRepository(makeGitSettings(config), config.folder), config);
}

/**
 * Adds to a repository the functions that read the configuration at a commit. They read it only once per commit.
 * promptsync does not follow symbolic links in git, so a symbolic link does not count as a configuration file.
 */
export function makePromptRepository(repository: Repository, config: Config): PromptRepository {
  const configs = new Map<string, Promise<FormerConfig>>();
  const addSettings = (fileSettings: FileSettings): PromptRepository => {
    return { ...repository, branch: config.branch, fileSettings, readConfigAt, rememberConfig };
  };
  const readConfig = async (commit: string): Promise<FormerConfig> => {
    const bytes = await repository.readFileAt(commit, repository.toRootPath(basename(config.file)));
    const former = bytes === null ? NO_FORMER_SETTINGS : parseFormerSettings(new TextDecoder().decode(bytes));
    const { patterns, acceptWarnings } = former;
    const isSame = makeMeaningKey(former, config) === makeMeaningKey(config, config);
    return { patterns, acceptWarnings, repository: isSame ? workspace : addSettings(makeFileSettings(former, config)) };
  };
  const readConfigAt = (commit: string): Promise<FormerConfig> => {
    const read = configs.get(commit) ?? readConfig(commit);
    configs.set(commit, read);
    return read;
  };
  const rememberConfig = (commit: string): void => {
    const { patterns, acceptWarnings } = config;
    configs.set(commit, Promise.resolve({ patterns, acceptWarnings, repository: workspace }));
  };
  const workspace = addSettings(config);
  return workspace;
}

/** Creates the settings for prompt files at an earlier commit. The service and its environments stay the same. */
function makeFileSettings({ patterns, defaultPins }: FormerSettings, config: Config): FileSettings {
  const { otherEnvironments, pathIds, folder } = config;
  return {
    otherEnvironments,
    defaultPins,
    pathIds: pathIds && makePathIds({ folder, patterns: patterns ?? [] }),
  };
}

/**
 * Returns a string that is the same for two configurations if prompt files mean the same in both. The patterns matter
 * only if files can take their ids from their paths.
 */
function makeMeaningKey(
  { patterns, defaultPins }: Pick<FormerSettings, 'patterns' | 'defaultPins'>,
  { pathIds }: Config,
): string {
  const pins = defaultPins.map(({ environment, pin }) => [environment, formatPin(pin)]);
  return JSON.stringify([pins, pathIds === null ? null : patterns]);
}

/** The files that match a list of selectors, with a problem for each selector that matches no file. */
export type Selection<File = PromptFile> = { readonly files: readonly File[]; readonly problems: readonly Problem[] };

/**
 * Selects the files that match at least one selector. A selector is a key, a path, a folder, or a pattern that matches
 * keys or paths. An empty list selects all files.
 * @param folders whether a folder selects the files below it
 */
export function selectFiles<File extends PromptIdentity>(
  files: readonly File[],
  selectors: readonly string[],
  folders: 'selected' | 'ignored' = 'selected',
): Selection<File> {
  if (selectors.length === 0) return { files, problems: [] };
  const selections = selectors.map((selector) => {
    const matchingFiles = files.filter(makeSelectorMatcher(selector));
    // The key of a prompt can also be a folder of other keys. The user must be able to select this prompt without the
    // prompts below the folder.
    const needsFolder = folders === 'selected' && matchingFiles.length === 0;
    return { selector, selected: needsFolder ? files.filter(makeFolderMatcher(selector)) : matchingFiles };
  });
  const problems = selections
    .filter(({ selected }) => selected.length === 0)
    .map(({ selector }) =>
      makeProblem('usage/nothing-selected', { selector, suggestions: suggestSelectors(selector, files) }),
    );
  const selectedFiles = new Set(selections.flatMap(({ selected }) => selected));
  return { files: files.filter((file) => selectedFiles.has(file)), problems };
}

/**
 * Returns suggestions for a selector that matches no prompt. If the selector is the id of a prompt, suggests the key of
 * that prompt. Users try ids because `import` accepts them.
 */
function suggestSelectors(selector: string, files: readonly PromptIdentity[]): readonly string[] {
  const fileWithId = files.find(({ id }) => id === selector);
  if (fileWithId !== undefined) return [fileWithId.key];
  const names = files.flatMap(({ key, path }) => [key, path]);
  return suggestNames(selector, [...new Set([...names, ...names.flatMap(listParentFolders)])]);
}

/** Returns all folders above a key or a path, such as `team` and `team/support` for `team/support/refund`. */
function listParentFolders(name: string): readonly string[] {
  const folders = name.split('/').slice(0, -1);
  return folders.map((_, index) => folders.slice(0, index + 1).join('/'));
}

/**
 * Returns a function that tests whether a selector selects a prompt. Wildcards also match names that begin with a dot,
 * because a prompt in the service may have such a name. Hidden files were already skipped when promptsync looked for
 * prompt files.
 */
function makeSelectorMatcher(selector: string): (file: PromptIdentity) => boolean {
  const glob = makeGlobMatcher(selector, 'matched');
  return ({ key, path }) => key === selector || path === selector || glob(key) || glob(path);
}

/** Returns a function that tests whether the key or the path of a prompt is below a folder, at any depth. */
function makeFolderMatcher(folder: string): (file: PromptIdentity) => boolean {
  const prefix = `${folder.replace(/^(?:\.\/)+/, '').replace(/(?<!\/)\/+$/, '')}/`;
  return ({ key, path }) => key.startsWith(prefix) || path.startsWith(prefix);
}
