import {
  type Config,
  listEnvironmentsWithoutLatest,
  mapOtherPromotionSources,
  mapPromotionSources,
} from '../workspace/config.ts';
import { findMovingRefs, parseFileAtCommit, readContentsAtRefs } from '../history/read-at-commit.ts';
import {
  type CommitComparison,
  findNewPaths,
  listConfigPaths,
  type SkippedPrompts,
  openWorkspaceRepository,
  readChangesSince,
  type Workspace,
} from './open-workspace.ts';
import { selectFiles } from './select-files.ts';
import type { FormerConfig, PromptRepository } from '../history/read-at-commit.ts';
import { type AcceptedWarnings, collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { DesiredState, BaseState } from '../domain/desired-state.ts';
import { dependsOnConfig, type EnvironmentPin, type PromptFile } from '../domain/prompt-file.ts';
import { makeSuccess, type Result, failWithProblem } from '../domain/result.ts';
import { listSearchFolders, makePromptMatcher } from '../workspace/find-prompt-paths.ts';
import type { HeadComparison, WorkTreeComparison } from '../git/open-repository.ts';
import { isError, makeProblem, type Problem, ProblemError } from '../problem.ts';
import { NOT_REGULAR } from '../workspace/read-write-files.ts';

/** The desired state, and what it was read from. promptsync reads all of this before it contacts the service. */
export type DesiredWorkspace = DesiredState & {
  readonly config: Config;
  readonly repository: PromptRepository | null;
  readonly base: ReviewedBase | null;
  /** All valid prompt files, including those that are not selected. */
  readonly allFiles: readonly PromptFile[];
  readonly invalidFiles: Workspace['invalidFiles'];
  readonly selectors: Workspace['selectors'];
  /**
   * The paths of the selected files that differ from HEAD. Also includes files whose id or pins come from a
   * configuration that gives them another meaning at HEAD. Empty outside a repository.
   */
  readonly uncommitted: ReadonlySet<string>;
  /** Tracked files that were changed or deleted since HEAD: the configuration, and files in the prompt folders. */
  readonly changedSinceHead: readonly string[];
  readonly skipped: SkippedPrompts | null;
  /** Taken from the base, if there is one, so that a pull request cannot silence its own warnings. */
  readonly acceptedWarnings: AcceptedWarnings;
  readonly problems: readonly Problem[];
};

export type DesiredOptions = {
  /** The git ref of the base commit. If undefined, the command uses its default base, if it has one. */
  readonly base?: string | undefined;
};

/** The options of a read, after the command has checked the names of environments. */
type DesiredRequest = DesiredOptions & Pick<DesiredState, 'environmentSelection'>;

/**
 * Reads the desired state of a workspace that has no errors. Returns a failure if promptsync cannot read the base,
 * because the plan depends on it.
 */
export async function readDesiredState(
  workspace: Workspace & { readonly config: Config },
  { base: ref, environmentSelection }: DesiredRequest,
): Promise<Result<DesiredWorkspace>> {
  const { config, files, skipped } = workspace;
  try {
    const repository = await openWorkspaceRepository(config);
    await refuseKeywords(files, repository);
    const { uncommitted, changed: changedSinceHead } = await compareFilesWithHead(workspace, repository);
    const base = ref === undefined ? null : await readBase({ ...workspace, ref, environmentSelection }, repository);
    const headFiles = new Set(files);
    const changedBaseFiles = [...(base?.files.values() ?? [])].filter((file) => !headFiles.has(file));
    return makeSuccess({
      config,
      files,
      allFiles: workspace.allFiles,
      invalidFiles: workspace.invalidFiles,
      selectors: workspace.selectors,
      repository,
      base,
      skipped,
      acceptedWarnings: base?.acceptedWarnings ?? collectAcceptedWarnings(files, config),
      contentsAtRefs: await readContentsAtRefs([...files, ...changedBaseFiles], repository),
      environmentOrder: config.environments?.map(({ name }) => name) ?? null,
      environmentsWithoutLatest: listEnvironmentsWithoutLatest(config),
      movingRefs: await findMovingRefs(files, repository),
      promotionSources: mapPromotionSources(config),
      otherPromotionSources: mapOtherPromotionSources(config),
      environmentSelection,
      uncommitted,
      changedSinceHead,
      problems: [...workspace.problems, ...(base?.problems ?? [])],
    });
  } catch (error) {
    return failWithProblem(error);
  }
}

/** Matches the keyword that git replaces in files with the `ident` attribute. */
const IDENT_KEYWORD = /\$Id(?::[^$\\]*)?\$/;

/**
 * Throws a `ProblemError` if git replaces a keyword in a prompt file. git replaces it only when it writes the file, so
 * the file's text can differ between two clones of the same commit.
 */
async function refuseKeywords(files: readonly PromptFile[], repository: PromptRepository | null): Promise<void> {
  for (const file of files) {
    if (repository === null || !IDENT_KEYWORD.test(JSON.stringify(file))) continue;
    const attributes = await repository.readAttributes(repository.toRootPath(file.path));
    if (attributes.has('ident')) throw new ProblemError(makeProblem('git/ident', {}, { path: file.path }));
  }
}

async function compareFilesWithHead(
  { files, config }: Workspace & { readonly config: Config },
  repository: PromptRepository | null,
): Promise<HeadComparison> {
  if (repository === null) return { uncommitted: new Set(), changed: [] };
  const { head } = repository;
  const paths = files.map(({ path }) => path);
  const configPaths = listConfigPaths(config);
  const folders = [...listSearchFolders(config), ...configPaths];
  const { uncommitted, changed } = await repository.compareWithHead([...paths, ...configPaths], folders);
  const isConfigUncommitted = configPaths.some((path) => uncommitted.has(path));
  if (head !== null && !isConfigUncommitted) repository.rememberConfig(head);
  const hasOldMeaning = head === null || (await repository.readConfigAt(head)).repository === repository;
  // If an uncommitted configuration gives files another meaning, those that depend on it count as uncommitted, too.
  const isUncommitted = (file: PromptFile): boolean =>
    uncommitted.has(file.path) || (!hasOldMeaning && dependsOnConfig(file));
  return { uncommitted: new Set(files.filter(isUncommitted).map(({ path }) => path)), changed };
}

export type BaseFiles = BaseState & {
  readonly commit: string;
};

/** The prompts and environments that were managed at a base but no longer are. */
export type LeftManagement = {
  /** The git ref of the base, or its shortened commit id. */
  readonly ref: string;
  /** The selected files at the base whose prompts have no file now, because it was deleted or matches no pattern. */
  readonly removedFiles: readonly PromptFile[];
  /** The current paths of files that look removed only because their path changes the id, by the id at the base. */
  readonly newPaths: ReadonlyMap<string, string>;
  /** The selected prompt files that pin fewer environments than at the base. */
  readonly removedPins: readonly RemovedPins[];
};

/** A prompt file in the work tree, and the pins that it had only at the base. */
export type RemovedPins = { readonly file: PromptFile; readonly pins: readonly EnvironmentPin[] };

/** The base that the user specified. It also decides which warnings the user accepts. */
type ReviewedBase = BaseFiles &
  LeftManagement & {
    /** The warnings that the base accepts. Files that have moved since the base are listed under their current paths. */
    readonly acceptedWarnings: AcceptedWarnings;
    /** Warnings about files that are invalid at the base, and a warning if the clone is shallow. */
    readonly problems: readonly Problem[];
  };

type BaseRequest = Pick<DesiredWorkspace, 'config' | 'files' | 'allFiles' | 'invalidFiles' | 'selectors'> & {
  readonly ref: string;
  readonly environmentSelection: DesiredState['environmentSelection'];
};

/** Parses only the files that have changed since the base. Throws a `ProblemError` if git cannot read the base. */
async function readBase(request: BaseRequest, workspaceRepository: PromptRepository | null): Promise<ReviewedBase> {
  const { ref, files } = request;
  const { repository: headRepository, commit, ...comparison } = await readChangesSince(ref, workspaceRepository);
  const isConfigUnchanged = listConfigPaths(request.config).every((path) => comparison.same.has(path));
  if (isConfigUnchanged) headRepository.rememberConfig(commit);
  const { repository, acceptWarnings } = await headRepository.readConfigAt(commit);
  const isSameMeaning = repository === headRepository;
  const unchangedFiles = isSameMeaning ? files.filter(({ path }) => comparison.same.has(path)) : [];
  const changedFiles = await readChangedFiles({ repository: headRepository, commit }, comparison, request.config);
  const shallowWarnings = repository.isShallow ? [makeProblem('git/shallow', { of: 'drift' })] : [];
  const selectedTypes = new Map(files.map(({ id, type }) => [id, type]));
  const changedBaseFiles = changedFiles.flatMap(({ file }) => file ?? []);
  const allBaseFiles = [...unchangedFiles, ...changedBaseFiles];
  // The type of a prompt never changes. So a file with another type belonged to a different prompt with the same id.
  const selectedBaseFiles = allBaseFiles.filter(({ id, type }) => selectedTypes.get(id) === type);
  const baseFiles = new Map(selectedBaseFiles.map((file) => [file.id, file]));
  const removedFiles = await findRemovedFiles(changedBaseFiles, { repository, commit }, request);
  return {
    ref,
    commit,
    files: baseFiles,
    isDefault: false,
    removedFiles,
    newPaths: await findNewPaths(removedFiles, request.allFiles, { repository, commit }),
    removedPins: findRemovedPins(files, baseFiles, request.environmentSelection),
    acceptedWarnings: { everywhere: acceptWarnings, byPath: mapAcceptedWarnings(files, baseFiles, removedFiles) },
    problems: [...warnAboutInvalidFiles(changedFiles, request), ...shallowWarnings],
  };
}

/** Reads the prompt files at a base that may differ from the work tree, including invalid ones. */
export async function readChangedFiles(
  { repository: headRepository, commit }: Pick<CommitComparison, 'repository' | 'commit'>,
  comparison: WorkTreeComparison,
  config: Config,
): Promise<readonly FileAtBase[]> {
  const { repository, patterns } = await headRepository.readConfigAt(commit);
  const isSameMeaning = repository === headRepository;
  const paths = listPathsToRead(comparison, config, patterns, isSameMeaning);
  return (await Promise.all(paths.map((path) => readFileAtBase(commit, path, repository)))).flat();
}

/**
 * Lists the changed paths that match the patterns, and all paths that matched only the patterns of the base. Also lists
 * the unchanged paths if the configuration at the base interprets prompt files differently.
 */
function listPathsToRead(
  { same, changed }: WorkTreeComparison,
  config: Config,
  patterns: FormerConfig['patterns'],
  isSameMeaning: boolean,
): readonly string[] {
  const matches = makePromptMatcher(config);
  const changedPaths = (isSameMeaning ? changed : [...same, ...changed]).filter(matches);
  // Do not match all paths if the configuration has not changed.
  if (patterns === null || patterns === config.patterns) return changedPaths;
  const matchedAtBase = makePromptMatcher({ ...config, patterns });
  return [...changedPaths, ...[...same, ...changed].filter((path) => matchedAtBase(path) && !matches(path))];
}

/** Considers only selected environments. The base files are keyed by prompt id. */
export function findRemovedPins(
  files: readonly PromptFile[],
  baseFiles: ReadonlyMap<string, PromptFile>,
  selection: DesiredState['environmentSelection'],
): readonly RemovedPins[] {
  const compared = files.map((file): RemovedPins => {
    const pinned = new Set(file.pins.map(({ environment }) => environment));
    const pins = (baseFiles.get(file.id)?.pins ?? []).filter(({ environment }) => {
      return !pinned.has(environment) && (selection === null || selection.selected.includes(environment));
    });
    return { file, pins };
  });
  return compared.filter(({ pins }) => pins.length > 0);
}

/**
 * Returns the accepted warnings by path. At the path of a removed file, only the file in the work tree counts. The two
 * files may belong to different prompts, and a prompt must not inherit accepted warnings from another prompt.
 */
function mapAcceptedWarnings(
  files: readonly PromptFile[],
  baseFiles: ReadonlyMap<string, PromptFile>,
  removedFiles: readonly PromptFile[],
): AcceptedWarnings['byPath'] {
  const ofRemovedFiles = removedFiles.map(({ path, acceptWarnings = [] }) => [path, acceptWarnings] as const);
  const ofFiles = files.map(({ path, id }) => [path, baseFiles.get(id)?.acceptWarnings ?? []] as const);
  return new Map([...ofRemovedFiles, ...ofFiles]);
}

/** Compares with all files, because a prompt may have moved to a path or key that the selectors do not match. */
export async function findRemovedFiles(
  baseFiles: readonly PromptFile[],
  location: Pick<CommitComparison, 'repository' | 'commit'>,
  workspace: Pick<DesiredWorkspace, 'config' | 'files' | 'allFiles' | 'invalidFiles' | 'selectors'>,
): Promise<readonly PromptFile[]> {
  const missing = await omitSparsePrompts(listMissingFiles(baseFiles, workspace), location, workspace.config);
  return selectMissingFiles(missing, workspace);
}

/** Counts an invalid file as the file of the prompt with its id, or of the prompt that had its path at the base. */
function listMissingFiles(
  baseFiles: readonly PromptFile[],
  { allFiles, invalidFiles }: Pick<DesiredWorkspace, 'allFiles' | 'invalidFiles'>,
): readonly PromptFile[] {
  const ids = new Set([...allFiles, ...invalidFiles].map(({ id }) => id));
  const invalidPaths = new Set(invalidFiles.map(({ path }) => path));
  return baseFiles.filter(({ id, path }) => !ids.has(id) && !invalidPaths.has(path));
}

/** Omits prompts that have moved to a path that a sparse checkout lacks. Reads their ids from HEAD. */
async function omitSparsePrompts(
  missing: readonly PromptFile[],
  { repository, commit }: Pick<CommitComparison, 'repository' | 'commit'>,
  config: Config,
): Promise<readonly PromptFile[]> {
  const { head } = repository;
  if (missing.length === 0 || head === null) return missing;
  const { repository: headRepository } = await repository.readConfigAt(head);
  const paths = (await repository.listSparsePaths()).filter(makePromptMatcher(config)).map(repository.toRootPath);
  const ids = await Promise.all(
    paths.map(async (path) => {
      // A file that the base has at this path has not moved here. In a partial clone, reading it requires a request.
      if ((await repository.findBlobId(commit, path)) !== null) return null;
      return (await parseFileAtCommit(headRepository, { commit: head, path }))?.file?.id ?? null;
    }),
  );
  return missing.filter(({ id }) => !ids.includes(id));
}

/** Omits files with the placeholder id, because a user who replaces that id does not remove a prompt. */
function selectMissingFiles(
  missing: readonly PromptFile[],
  { config, selectors, files }: Pick<DesiredWorkspace, 'config' | 'selectors' | 'files'>,
): readonly PromptFile[] {
  const prompts = new Set(missing.filter(({ id }) => id !== config.rules.placeholderId));
  // Pass the selected files, too. If the selector `a` selects the prompt `a`, it must not also select the removed file
  // of `a/b`.
  return selectFiles([...files, ...prompts], selectors).files.filter((file) => prompts.has(file));
}

/** A file at the base. If the file is invalid there, `file` is null and `reason` explains why. */
type FileAtBase = { readonly path: string; readonly file: PromptFile | null; readonly reason: string };

/** Returns an empty list if no pattern of the base matches the file. It had no id there, and was no prompt file yet. */
async function readFileAtBase(
  commit: string,
  path: string,
  repository: PromptRepository,
): Promise<readonly FileAtBase[]> {
  const parsed = await parseFileAtCommit(repository, { commit, path: repository.toRootPath(path) });
  if (parsed === null) return [{ path, file: null, reason: NOT_REGULAR }];
  const { file, problems } = parsed;
  const isUnmatched =
    repository.fileSettings.pathIds !== null && problems.some(({ code }) => code === 'prompt/missing-id');
  if (isUnmatched) return [];
  return [{ path, file: file && { ...file, path }, reason: problems.find(isError)?.message ?? '' }];
}

function warnAboutInvalidFiles(changedFiles: readonly FileAtBase[], { ref, files }: BaseRequest): readonly Problem[] {
  const selectedPaths = new Set(files.map(({ path }) => path));
  return changedFiles
    .filter(({ file, path }) => file === null && selectedPaths.has(path))
    .map(({ path, reason }) => makeProblem('git/base-invalid', { base: ref, reason }, { path }));
}
