import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { type Config, makeGitSettings } from '../workspace/config.ts';
import {
  type ConfigResult,
  type FormerSettings,
  loadConfig,
  NO_FORMER_SETTINGS,
  parseFormerSettings,
} from '../workspace/load-config.ts';
import { keepSecretKeys } from '../workspace/service-settings.ts';
import { isSameFileContent } from '../domain/compare-content.ts';
import { formatPin, type PromptIdentity, type PromptFile } from '../domain/prompt-file.ts';
import type { System } from '../domain/system.ts';
import { makePathIds } from '../workspace/find-prompt-paths.ts';
import type { FileSettings } from '../workspace/parse-prompt-file.ts';
import { isRepositoryRoot, makeRelativePath } from '../workspace/paths.ts';
import { type InvalidFile, readPrompts } from '../workspace/read-prompts.ts';
import type { Repository, WorkTreeComparison } from '../git/open-repository.ts';
import type { FormerConfig, PromptRepository } from '../history/read-at-commit.ts';
import { sortByPlace, isError, makeProblem, type Problem, ProblemError, toProblem } from '../problem.ts';
import { makeUnmatchedProblems, parseSelector, selectFiles, type Selector } from './select-files.ts';

export type WorkspaceOptions = {
  /** The keys, paths, folders or patterns of the prompts to select. An empty list selects all prompts. */
  readonly only: readonly string[];
  /** The git ref from `--changed-since`, which skips unchanged prompts. Undefined turns this filter off. */
  readonly changedSince?: string | undefined;
  /** The path from `--config`, relative to the working directory. Undefined if the user did not pass `--config`. */
  readonly config?: string | undefined;
  /** The configuration, if the caller has already loaded it. Otherwise `openWorkspace` loads it. */
  readonly configuration?: ConfigResult | undefined;
};

export type Workspace = {
  /** Null if promptsync could not read the configuration. In that case, `problems` contains an error. */
  readonly config: Config | null;
  /** The prompt files that are both valid and selected. */
  readonly files: readonly PromptFile[];
  /** All valid prompt files, including those that are not selected. */
  readonly allFiles: readonly PromptFile[];
  /** All prompt files with errors, including those that are not selected. */
  readonly invalidFiles: readonly InvalidFile[];
  /** The selectors of `files`. An empty list selects all prompt files. */
  readonly selectors: readonly Selector[];
  /** Those of the configuration and the selected files. One warning replaces the errors of all other files. */
  readonly problems: readonly Problem[];
  /** Null if the user did not pass `--changed-since`, or if git could not compare the files. */
  readonly skipped: SkippedPrompts | null;
};

export type SkippedPrompts = {
  /** The commit that `--changed-since` refers to. */
  readonly since: string;
  readonly prompts: readonly PromptFile[];
};

/** Loads the configuration unless the caller has already loaded it. Keeps its keys out of all output. */
export async function loadConfiguration(
  { config: file, configuration }: Pick<WorkspaceOptions, 'config' | 'configuration'>,
  { workingDirectory, environment, keepSecret }: Pick<System, 'workingDirectory' | 'environment' | 'keepSecret'>,
): Promise<ConfigResult> {
  const result = configuration ?? (await loadConfig({ workingDirectory, file, environment }));
  keepSecretKeys(result, { environment, keepSecret });
  return result;
}

/** If the configuration is invalid, does not read any prompt files. */
export async function openWorkspace(options: WorkspaceOptions, system: System): Promise<Workspace> {
  const { config, problems: configProblems } = await loadConfiguration(options, system);
  if (config === null) return { ...NO_WORKSPACE, problems: sortByPlace(configProblems) };
  const prompts = await readPrompts(config);
  const selectors = options.only.map((text) => parseSelector(text, config, system));
  const candidates = [...prompts.files, ...prompts.invalidFiles.map(identifyInvalidFile)];
  const selection = selectFiles(candidates, selectors);
  const selectedPaths = new Set(selection.files.map(({ path }) => path));
  const [selectedInvalid, otherInvalid] = splitBySelection(prompts.invalidFiles, selectedPaths);
  const ignored = listIgnoredErrors(selectedInvalid, otherInvalid);
  const ignoredFiles = otherInvalid.filter(({ errors }) => errors.some((error) => ignored.has(error)));
  const invalidPaths = prompts.invalidFiles.map(({ path }) => path);
  const selected = {
    config,
    files: prompts.files.filter(({ path }) => selectedPaths.has(path)),
    allFiles: prompts.files,
    invalidFiles: prompts.invalidFiles,
    selectors,
    problems: sortByPlace([
      ...configProblems,
      ...prompts.problems.filter((problem) => !ignored.has(problem)),
      ...(candidates.length === 0 ? [] : makeUnmatchedProblems(selection, candidates, 'files', invalidPaths)),
      ...(ignoredFiles.length === 0 ? [] : [makeProblem('prompt/others-invalid', { count: ignoredFiles.length })]),
    ]),
    skipped: null,
  };
  const workspace =
    options.changedSince === undefined ? selected : await keepChangedFiles(selected, config, options.changedSince);
  const keptPaths = new Set([...workspace.files, ...selectedInvalid].map(({ path }) => path));
  const omittedPaths = new Set(candidates.map(({ path }) => path)).difference(keptPaths);
  // Drop warnings about files that are not selected or that `--changed-since` leaves out.
  const isRelevant = (problem: Problem) => isError(problem) || !omittedPaths.has(problem.path ?? '');
  return { ...workspace, problems: workspace.problems.filter(isRelevant) };
}

export const NO_WORKSPACE: Workspace = {
  config: null,
  files: [],
  allFiles: [],
  invalidFiles: [],
  selectors: [],
  problems: [],
  skipped: null,
};

/** If the key of an invalid file is unknown, selectors can match only its path. */
function identifyInvalidFile({ path, id, key }: InvalidFile): PromptIdentity {
  return { path, id: id ?? path, key: key ?? '' };
}

function splitBySelection(
  files: readonly InvalidFile[],
  selectedPaths: ReadonlySet<string>,
): readonly [selected: readonly InvalidFile[], others: readonly InvalidFile[]] {
  const isSelected = ({ path }: InvalidFile) => selectedPaths.has(path);
  return [files.filter(isSelected), files.filter((file) => !isSelected(file))];
}

/** The errors of unselected files do not stop the command, unless they affect a selected file, as duplicate ids do. */
function listIgnoredErrors(
  selectedInvalid: readonly InvalidFile[],
  otherInvalid: readonly InvalidFile[],
): ReadonlySet<Problem> {
  const selectedErrors = new Set(selectedInvalid.flatMap(({ errors }) => errors));
  return new Set(otherInvalid.flatMap(({ errors }) => errors)).difference(selectedErrors);
}

async function keepChangedFiles(workspace: Workspace, config: Config, ref: string): Promise<Workspace> {
  try {
    return { ...workspace, ...(await splitByChange(workspace.files, ref, config)) };
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error;
    return { ...workspace, files: [], problems: sortByPlace([...workspace.problems, toProblem(error)]) };
  }
}

/** If the configuration has changed, all files count as changed. Throws a `ProblemError` if git cannot compare them. */
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

export type CommitComparison = WorkTreeComparison & {
  readonly repository: PromptRepository;
  readonly commit: string;
};

/** Throws a `ProblemError` if there is no repository, or if git does not know the ref. */
export async function readChangesSince(ref: string, repository: PromptRepository | null): Promise<CommitComparison> {
  if (repository === null) throw new ProblemError(makeProblem('git/needs-repository', { what: `The base "${ref}"` }));
  const commit = await repository.resolveRef(ref);
  if (commit === null) throw new ProblemError(makeProblem('git/unknown-base', { ref }));
  return { repository, commit, ...(await repository.compareWithWorkTree(commit)) };
}

/**
 * Finds the current paths of files whose ids came from their paths and have changed, because a file was moved or
 * another pattern matches it. Ignores edited files, and copies that already existed at the base. Returns the paths by
 * the id at the base.
 * @param removedFiles the files at the base whose prompts no longer have a file
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
        (file) => file.idSource === 'path' && isSameFileContent(file.content, removed.content),
      );
      const areMoved = await Promise.all(unchanged.map(isNew));
      const found = unchanged.find(({ path }, index) => path === removed.path || areMoved[index] === true);
      return found === undefined ? [] : [[removed.id, found.path]];
    });
  return new Map((await Promise.all(entries)).flat());
}

/** Returns the path of the file and, if it is a symbolic link, of its target, relative to the folder of the file. */
export function listConfigPaths({ file, folder }: Config): readonly [path: string, target: string] {
  const target = makeRelativePath(realpathSync(folder), realpathSync(file));
  return [basename(file), target];
}

/** Opens the git repository that contains the workspace. Returns null outside a repository. */
export async function openWorkspaceRepository(config: Config): Promise<PromptRepository | null> {
  if (!isRepositoryRoot(config.root)) return null;
  const { openRepository } = await import('../git/open-repository.ts');
  return makePromptRepository(await openRepository(makeGitSettings(config), config.folder, config.branch), config);
}

/** Reads the configuration once per commit. In git, a symbolic link does not count as a configuration file. */
export function makePromptRepository(repository: Repository, config: Config): PromptRepository {
  const configs = new Map<string, Promise<FormerConfig>>();
  const addSettings = (fileSettings: FileSettings): PromptRepository => {
    return { ...repository, fileSettings, readConfigAt, rememberConfig };
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

/** The service and its environments stay the same. */
function makeFileSettings({ patterns, defaultPins }: FormerSettings, config: Config): FileSettings {
  const { otherEnvironments, pathIds, folder } = config;
  return {
    otherEnvironments,
    defaultPins,
    pathIds: pathIds && makePathIds({ folder, patterns: patterns ?? [] }),
  };
}

/** Returns equal keys if files have the same meaning. Patterns matter only if files can take ids from paths. */
function makeMeaningKey(
  { patterns, defaultPins }: Pick<FormerSettings, 'patterns' | 'defaultPins'>,
  { pathIds }: Config,
): string {
  const pins = defaultPins.map(({ environment, pin }) => [environment, formatPin(pin)]);
  return JSON.stringify([pins, pathIds === null ? null : patterns]);
}
