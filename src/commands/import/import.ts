import { resolve } from 'node:path';
import type { Config } from '../../workspace/config.ts';
import { getProviderWords } from '../../workspace/service-settings.ts';
import {
  loadConfiguration,
  openWorkspace,
  openWorkspaceRepository,
  type Workspace,
} from '../../desired-state/open-workspace.ts';
import { collectAcceptedWarnings } from '../../domain/accepted-warnings.ts';
import type { EditedPrompt } from '../../domain/edits.ts';
import { formatCount } from '../../text.ts';
import { type Observation, makePlainReadRequest } from '../../domain/observed-prompt.ts';
import type { Environment } from '../../domain/policy.ts';
import {
  getIdentity,
  type PromptIdentity,
  type PromptFile,
  type TypedPromptIdentity,
} from '../../domain/prompt-file.ts';
import type { Provider } from '../../providers/provider-interface.ts';
import { makeFailure, makeSuccess, type Result, failWithProblem } from '../../domain/result.ts';
import type { System } from '../../domain/system.ts';
import { findFirstFolder } from '../../workspace/find-prompt-paths.ts';
import { leavesFolder, makeRelativePath } from '../../workspace/paths.ts';
import type { WorkspaceLock } from '../../workspace/lock-workspace.ts';
import { observePrompts } from '../../observing/observe-prompts.ts';
import { chooseImport, type ImportChoice } from '../../planning/choose-import.ts';
import { isError, makeProblem, type Problem } from '../../problem.ts';
import { type CommitOptions, findCommitObstacle, wantsCommit } from '../../editing/edit-files.ts';
import { findIdentityConflict, findImportObstacle, indexByIdentity, listIdentityKeys } from './find-import-conflict.ts';
import { listPrompts, makeObserveOptions, openProvider, type ServiceOptions } from '../../run/open-service.ts';
import { checkEnvironmentFlag } from '../../editing/pin-edit.ts';
import { listKnownEnvironments } from '../../run/require-environment.ts';
import { type PromptIdSources, readPromptIds } from './read-prompt-ids.ts';
import { makeImportIdentity, renderImportFile } from './render-import-file.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from '../../run/command-result.ts';
import { makeCommandResult } from '../../run/exit-code.ts';
import { withWorkspaceLock } from '../../run/with-workspace-lock.ts';
import { type PromptImport, writeImports } from './write-imports.ts';

type ImportOptions = ServiceOptions &
  PromptIdSources &
  CommitOptions & {
    /** The value of `--config`, a path relative to the working directory. */
    readonly config?: string | undefined;
    /** The environment that provides the text. If undefined, promptsync chooses one in which a version is active. */
    readonly environment?: string | undefined;
    /** The folder for new files, relative to the folder of the configuration. */
    readonly dir?: string | undefined;
    readonly dryRun: boolean;
  };

/** Sends only GET requests, and never overwrites a file. Does not read prompts that already have a file. */
export async function importPrompts(options: ImportOptions, system: System): Promise<CommandResult> {
  const configuration = await loadConfiguration({ config: options.config }, system);
  // Standard input can stay open for a long time, and other commands wait for the lock. So read it before locking.
  const ids = configuration.config === null ? makeSuccess([]) : await readPromptIds(options, system);
  return withWorkspaceLock('import', { configuration, dryRun: options.dryRun }, system, async (_, lock) => {
    const workspace = await openWorkspace({ configuration, only: [] }, system);
    // An import may create the first file of a workspace. Warnings concern the existing files, not the import.
    const problems = workspace.problems.filter((problem) => isError(problem) && problem.code !== 'prompt/none-found');
    return makeCommandResult(await importInto({ ...workspace, problems }, ids, options, lock, system), system);
  });
}

async function importInto(
  workspace: Workspace,
  ids: Result<readonly string[]>,
  options: ImportOptions,
  lock: WorkspaceLock,
  system: System,
): Promise<CommandRun> {
  const { config, files, problems } = workspace;
  const acceptedWarnings = collectAcceptedWarnings([], config);
  const makeRun = (newProblems: readonly Problem[]) =>
    makeRunWithoutPlan('import', {
      config,
      files: [],
      acceptedWarnings,
      problems: [...problems, ...newProblems],
    });
  if (config === null || problems.some(isError)) return makeRun([]);
  const rules = makeImportRules(config, files, options);
  if (!rules.isSuccess) return makeRun(rules.problems);
  if (!ids.isSuccess) return makeRun(ids.problems);
  const repository = wantsCommit(options) ? await openWorkspaceRepository(config) : null;
  const obstacle = await findCommitObstacle(options, { config, repository });
  if (obstacle !== null) return makeRun([obstacle]);
  const requested = separateExisting(ids.value, files);
  // If every prompt already has a file, send no request to the service.
  if (requested.ids.length === 0) return { ...makeRun([]), edited: requested.existing.map(makeExistingPrompt) };
  const chooseIds = (provider: Provider) => expandPatterns(requested, files, provider);
  const read = await observePromptsToImport(chooseIds, files, rules.value, options, system);
  if (!read.isSuccess) return makeRun(read.problems);
  const { service, observation, existing } = read.value;
  const imports = await makeImports(read.value.ids, observation, files, rules.value);
  const loss = lock.findLossProblem();
  if (loss !== null) return makeRun([loss]);
  const sources = { observation, repository, rules: rules.value };
  const { written, problems: commitProblems, ...commits } = await writeImports(imports, sources, options, system);
  const edited = [...existing.map(makeExistingPrompt), ...written];
  const warnings = imports.flatMap((promptImport) => promptImport.warnings);
  const notice = describeMissingFirstPin(edited, imports, rules.value);
  if (notice !== null) system.printNotice(notice);
  return { ...makeRun([...warnings, ...commitProblems]), service, edited, ...commits };
}

/** The ids of prompts that have no file, and the files of the other prompts. */
type SeparatedIds = {
  readonly ids: readonly string[];
  readonly existing: readonly PromptFile[];
};

/** A pattern counts as an id without a file, unless it is exactly the id of a prompt with a file. */
function separateExisting(ids: readonly string[], files: readonly PromptFile[]): SeparatedIds {
  const filesById = new Map(files.map((file) => [file.id, file]));
  const existing = ids.map((id) => filesById.get(id)).filter((file) => file !== undefined);
  return { ids: ids.filter((id) => !filesById.has(id)), existing };
}

function makeExistingPrompt(file: PromptFile): EditedPrompt {
  return { ...getIdentity(file), status: 'unchanged', edits: [], problems: [] };
}

/**
 * Replaces each pattern with the names of the matching prompts. If the service can list its prompts, fails for every
 * unknown id, before promptsync reads any prompt. Otherwise, fails only for patterns.
 */
export async function expandPatterns(
  { ids: idsAndPatterns, existing }: SeparatedIds,
  files: readonly PromptFile[],
  provider: Provider,
): Promise<Result<ImportIds>> {
  const ids = idsAndPatterns.filter((id) => !isPattern(id));
  const hasPatterns = ids.length < idsAndPatterns.length;
  if (provider.list === null && !hasPatterns) return makeSuccess({ ids, existing, refused: new Map() });
  const { files: listed, problems } = await listPrompts(provider, idsAndPatterns, { isForOrphans: false });
  if (problems.length > 0) return makeFailure(...problems);
  const matching = separateExisting([...new Set([...ids, ...listed.map(({ name }) => name)])], files);
  const refused = new Map(listed.flatMap(({ name, problem }) => (problem === null ? [] : [[name, problem] as const])));
  // Remove duplicates, because a pattern can match a prompt whose id the user also passed.
  const allExisting = [...new Set([...existing, ...matching.existing])];
  return makeSuccess({ ids: matching.ids, existing: allExisting, refused });
}

export function isPattern(id: string): boolean {
  return /[*?[{]/.test(id);
}

type ImportRules = {
  readonly config: Config;
  /** The folder for new files, relative to the folder of the configuration. */
  readonly folder: string;
  /** The environments to pin, in promotion order. */
  readonly environments: readonly Environment[];
  /**
   * The environment whose active version provides the text of each new file. If null, promptsync uses an
   * environment that serves a version: the first one that may be pinned to `latest`, or else the first one.
   */
  readonly ownEnvironment: string | null;
};

function makeImportRules(
  config: Config,
  files: readonly PromptFile[],
  { environment, dir }: ImportOptions,
): Result<ImportRules> {
  const folder = resolveImportFolder(config, dir);
  if (!folder.isSuccess) return folder;
  const environments = chooseEnvironments(config, files, environment);
  if (!environments.isSuccess) return environments;
  return makeSuccess({
    config,
    folder: folder.value,
    environments: environments.value,
    ownEnvironment: environment ?? null,
  });
}

/** Without environments in the configuration, returns the one from `--environment`. Fails if there is neither. */
function chooseEnvironments(
  config: Config,
  files: readonly PromptFile[],
  environment: string | undefined,
): Result<readonly Environment[]> {
  const configured = config.environments ?? [];
  if (environment === undefined) {
    const known = listKnownEnvironments(config, files);
    return configured.length > 0
      ? makeSuccess(configured)
      : makeFailure(makeProblem('import/environment-needed', { known }));
  }
  const [problem] = checkEnvironmentFlag('--environment', environment, config);
  if (problem !== undefined) return makeFailure(problem);
  return makeSuccess(config.environments === null ? [{ name: environment, allowLatest: true }] : configured);
}

/** Without `--dir`, returns the folder at the start of the first pattern. Fails if it is outside the repository. */
export function resolveImportFolder(config: Config, dir: string | undefined): Result<string> {
  const { folder, root } = config;
  const newFilesFolder = dir === undefined ? findFirstFolder(config) : makeRelativePath(folder, resolve(folder, dir));
  const isOutside = leavesFolder(makeRelativePath(root, resolve(folder, newFilesFolder)));
  if (isOutside) return makeFailure(makeProblem('import/outside', { folder: dir ?? newFilesFolder }));
  return makeSuccess(newFilesFolder);
}

type ImportIds = SeparatedIds & {
  /** The problem of each prompt that promptsync refuses to read because it exceeds a limit, by prompt id. */
  readonly refused: ReadonlyMap<string, Problem>;
};

type ImportObservation = SeparatedIds & {
  readonly observation: Observation;
  /** The name of the service in reports. */
  readonly service: string;
};

/**
 * Sends only GET requests. `chooseIds` receives the provider, because expanding a pattern requires the list of all
 * prompts. If the service is embedded, it registers the prompts of the existing `files` when it starts.
 */
export async function observePromptsToImport(
  chooseIds: (provider: Provider) => Promise<Result<ImportIds>>,
  files: readonly PromptFile[],
  { config, environments }: ImportRules,
  options: ServiceOptions,
  system: System,
): Promise<Result<ImportObservation>> {
  const opened = await openProvider({ config, files, allFiles: files, repository: null }, system, options);
  if (!opened.isSuccess) return opened;
  const { provider, name: service, close } = opened.value;
  const names = environments.map(({ name }) => name);
  try {
    const chosen = await chooseIds(provider).catch(failWithProblem);
    if (!chosen.isSuccess) return chosen;
    const { ids, existing, refused } = chosen.value;
    const requests = ids.filter((id) => !refused.has(id)).map((id) => makePlainReadRequest(id, names, 'listed'));
    const { observed, failed } = await observePrompts(provider, requests, makeObserveOptions(config, system));
    const observation = { observed, failed: new Map([...refused, ...failed]) };
    return makeSuccess({ ids, existing, observation, service });
  } finally {
    await close();
  }
}

/** Blocks a file whose id, key or path is already taken. If two new files conflict, imports only the first one. */
async function makeImports(
  ids: readonly string[],
  observation: Observation,
  existing: readonly PromptIdentity[],
  rules: ImportRules,
): Promise<readonly PromptImport[]> {
  const imports: PromptImport[] = [];
  const taken = indexByIdentity(existing);
  for (const id of ids) {
    const candidate = makeImport(id, observation, rules);
    const { prompt } = candidate;
    if (candidate.file === null) {
      imports.push(candidate);
      continue;
    }
    const obstacle = findIdentityConflict(prompt, taken) ?? (await findImportObstacle(prompt.path, rules));
    if (obstacle !== null) {
      imports.push(refuseImport(prompt, 'blocked', obstacle));
      continue;
    }
    imports.push(candidate);
    listIdentityKeys(prompt).forEach((identityKey) => taken.set(identityKey, prompt));
  }
  return imports;
}

/** Does not check whether the path is free. The path is empty if promptsync could not read the prompt. */
export function makeImport(id: string, { observed, failed }: Observation, rules: ImportRules): PromptImport {
  const prompt = observed.get(id);
  if (prompt === undefined) {
    const problem =
      failed.get(id) ?? makeProblem('internal/unexpected', { reason: 'promptsync did not read the prompt' });
    return refuseImport({ path: '', id, key: id, type: null }, 'failed', problem);
  }
  const identity = makeImportIdentity(id, prompt, rules.folder);
  const { environments, ownEnvironment } = rules;
  const choice = chooseImport(prompt, environments, ownEnvironment, rules.config.portablePins);
  if (choice === null) {
    const isNamed = ownEnvironment !== null;
    const names = isNamed ? [ownEnvironment] : environments.map((environment) => environment.name);
    const problem = makeProblem('import/nothing-active', { environments: names, named: isNamed });
    return refuseImport(identity, 'blocked', problem);
  }
  const { source, problems } = renderImportFile(identity, prompt, choice, rules.config);
  if (source === null) return refuseImport(identity, 'blocked', ...problems);
  const { unpinned } = choice;
  const warnings =
    unpinned.length === 0 ? [] : [makeProblem('import/unpinned', { environments: unpinned }, { path: identity.path })];
  return {
    prompt: { ...identity, status: 'pending', edits: makeImportEdits(choice), problems: [] },
    file: { identity, choice, source },
    warnings: [...problems, ...warnings],
  };
}

/** Warns about files that do not pin the first environment, because new versions would go to no environment. */
function describeMissingFirstPin(
  edited: readonly EditedPrompt[],
  imports: readonly PromptImport[],
  { config, environments: [first] }: ImportRules,
): string | null {
  if (first === undefined || !first.allowLatest) return null;
  const serving = imports.filter(({ file }) => file?.choice.unpinned.includes(first.name) === true);
  const servingIds = new Set(serving.map(({ prompt }) => prompt.id));
  const unpinned = edited.filter(({ id, status, edits }) => {
    const pinned = edits.flatMap((edit) => (edit.kind === 'set-pin' ? [edit.environment] : []));
    const isWritten = status === 'applied' || status === 'pending';
    return isWritten && !pinned.includes(first.name) && !servingIds.has(id);
  });
  if (unpinned.length === 0) return null;
  const files = formatCount(unpinned.length, 'new file does', 'new files do');
  const isStuck = ({ edits }: EditedPrompt) =>
    !edits.some((edit) => edit.kind === 'set-pin' && edit.after === 'latest');
  const stuck = unpinned.some(isStuck)
    ? ' If a file has no `latest` pin, an edit to it does not go live in any environment.'
    : '';
  const { environment } = getProviderWords(config);
  return `${files} not pin the ${environment} "${first.name}" because that ${environment} serves no version of ${unpinned.length === 1 ? 'the prompt' : 'these prompts'}.${stuck} To activate new versions in "${first.name}", add \`${first.name}: latest\` under \`pins:\`.`;
}

export function makeImportEdits({ pins }: Pick<ImportChoice, 'pins'>): EditedPrompt['edits'] {
  const pinned = pins.map(({ environment, value, comment }) => ({
    kind: 'set-pin' as const,
    environment,
    before: null,
    after: String(value),
    // The comment of a pin that names an id is the number of the version.
    ...(comment !== '' && { versionNumber: Number(comment) }),
  }));
  return [{ kind: 'create-file' }, ...pinned];
}

function refuseImport(
  { path, id, key, type }: TypedPromptIdentity,
  status: 'blocked' | 'failed',
  ...problems: readonly Problem[]
): PromptImport {
  return { prompt: { path, id, key, type, status, edits: [], problems }, file: null, warnings: [] };
}
