import { appendFile, lstat, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CONFIG_NAME, type Config } from '../config/config.ts';
import { type ConfigResult, findConfigFile, parseConfig } from '../config/load-config.ts';
import { findRepositoryProblem } from '../config/find-owner-problem.ts';
import { getVocabulary } from '../config/service.ts';
import { applyVocabulary } from '../domain/vocabulary.ts';
import { NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { WrittenFile } from '../domain/edits.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { Interview, World } from '../domain/world.ts';
import { findPromptPaths, makePromptMatcher } from '../files/find-prompt-paths.ts';
import { findRepositoryRoot, findFirstLink, isRepositoryRoot, makeRelativePath } from '../files/paths.ts';
import type { GitSettings } from '../git/open-git.ts';
import { createFile, replaceFile, NOT_REGULAR } from '../files/read-write.ts';
import { readPrompts } from '../files/read-prompts.ts';
import { openRemote } from '../git/open-remote.ts';
import { isError, makeProblem, type Problem, getSystemCode, ProblemError } from '../problem.ts';
import { showHidden } from '../text.ts';
import { NAMED_PROVIDERS, type NamedProviderName, PROVIDERS } from '../providers/list.ts';
import { findIdentityConflict, makeImport, observePromptsToImport, indexByIdentity } from './import.ts';
import { gatherAnswers, type InitFlags } from './init-answers.ts';
import {
  type CiSystem,
  makeCiFiles,
  makeConfigFile,
  renderConfig,
  makeExamplePrompt,
  type InitAnswers,
  type InitFile,
  makeLineFiles,
  makePromptInitFile,
} from './init-files.ts';
import { openProvider, type ServiceOptions } from './open-service.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan, makeCommandResult } from './result.ts';

/** The options of `init`. If `force` is true, `init` overwrites existing files without asking. */
export type InitOptions = InitFlags & ServiceOptions & { readonly force: boolean };

/**
 * Creates a workspace in the working directory. Overwrites existing files only with `--force` or if the user agrees.
 */
export async function init(options: InitOptions, world: World): Promise<CommandResult> {
  return makeCommandResult(await runInit(options, world), world);
}

async function runInit(options: InitOptions, world: World): Promise<CommandRun> {
  const stopWithoutConfig = (problems: readonly Problem[]) => makeInitRun(null, problems);
  const gitSettings = makeInitGitSettings(options, world);
  const repositoryProblem = isRepositoryRoot(gitSettings.root) ? await findRepositoryProblem(gitSettings) : null;
  if (repositoryProblem !== null) return stopWithoutConfig([repositoryProblem]);
  const guesses = {
    guessCi: () => guessCi(gitSettings),
    guessUrl: (provider: NamedProviderName) => guessAddress(provider, world),
    listEnvironments: (givenAnswers: InitAnswers) => listExistingEnvironments(givenAnswers, options, world),
  };
  const answers = await gatherAnswers(options, world.interview, guesses);
  if (!answers.isSuccess) return stopWithoutConfig(answers.problems);
  const { config, problems } = parseAnswers(answers.value, world);
  if (config === null) return stopWithoutConfig(problems);
  const makeRun = (reasons: readonly Problem[]) => makeInitRun(config, reasons);
  const nameProblems = checkFolderName(config, answers.value.ci);
  if (nameProblems.length > 0) return makeRun(nameProblems);
  if (world.interview === null && options.environments === undefined) {
    await printExistingEnvironments(answers.value, config, options, world);
  }
  const firstPrompt = await makeFirstPrompt(answers.value, config, options, world);
  if (firstPrompt.problems.some(isError)) return makeRun(firstPrompt.problems);
  if (world.stopSignal.aborted) return makeRun([makeProblem('apply/interrupted')]);
  const otherFiles = [
    ...firstPrompt.files,
    ...makeCiFiles(answers.value, config),
    ...makeLineFiles(answers.value, config),
  ];
  const target = { config, force: options.force, interview: world.interview };
  const configFile = makeConfigFile(answers.value, config);
  const { written, problems: writeProblems } = await writeInitFiles(configFile, otherFiles, target);
  const warnings = [...checkNesting(config), ...firstPrompt.problems];
  return { ...makeRun([...warnings, ...writeProblems]), service: firstPrompt.service, written };
}

/**
 * Creates the run of `init`, without the files that it wrote.
 * @param config the configuration of the workspace; null if `init` stopped before it had a valid one
 */
function makeInitRun(config: Config | null, problems: readonly Problem[]): CommandRun {
  return makeRunWithoutPlan('init', { config, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
}

/**
 * Creates the settings for git. They list the environment variables that may contain a key, so that promptsync does not
 * pass these variables on to git.
 */
function makeInitGitSettings({ apiKeyEnv }: InitOptions, { workingDirectory }: World): GitSettings {
  const defaults = Object.values(PROVIDERS).map(({ keys }) => keys.secret.defaultVariable);
  return {
    root: findRepositoryRoot(workingDirectory),
    keyVariables: apiKeyEnv === undefined ? defaults : [apiKeyEnv, ...defaults],
  };
}

/**
 * Guesses the address of a service. Returns the value of the environment variable that the service's own tools read.
 * If the variable is not set, returns the default address of the service.
 */
function guessAddress(provider: NamedProviderName, { environment }: World): string {
  const { variable, url } = NAMED_PROVIDERS[provider].defaultAddress;
  return environment[variable] || url;
}

/**
 * Guesses the CI system from the host of the remote. Returns `github` for an unknown host, because most teams use
 * GitHub.
 */
async function guessCi(gitSettings: GitSettings): Promise<CiSystem> {
  const address = await openRemote(gitSettings)
    .readAddress()
    .catch(() => '');
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/.exec(address)?.[1] ?? '';
  return /gitlab/i.test(host) ? 'gitlab' : 'github';
}

/**
 * Parses the promptsync.yaml that `init` will write. Ignores PROMPTSYNC_BASE_URL. Otherwise, this variable would
 * override the address in the answers, and the parser would not check that address.
 */
function parseAnswers(answers: InitAnswers, { workingDirectory, environment }: World): ConfigResult {
  return parseConfig(renderConfig(answers), {
    file: join(workingDirectory, CONFIG_NAME),
    shownPath: CONFIG_NAME,
    root: findRepositoryRoot(workingDirectory),
    environment: { ...environment, PROMPTSYNC_BASE_URL: '' },
  });
}

/**
 * Returns a problem if part of the workspace path would have a special meaning in the files that `init` writes:
 *
 * - A line break would start a new line, for example in .prettierignore. So control characters are not allowed.
 * - A dollar sign may start an expression in a CI file. GitHub evaluates `${{ … }}` and GitLab replaces `$NAME`, even
 *   inside YAML quotes.
 */
function checkFolderName({ folder, root }: Config, ci: CiSystem): readonly Problem[] {
  const path = makeRelativePath(root, folder);
  if (/[\p{Cc}\u2028\u2029]/u.test(path))
    return [makeProblem('init/folder-name', { path, what: 'a line break or another control character' })];
  if (ci === 'none' || !path.includes('$')) return [];
  return [
    makeProblem('init/folder-name', { path, what: 'a dollar sign, which the CI system would treat as an expression' }),
  ];
}

/** Warns if a parent folder already contains a promptsync.yaml, because the user may not know about that workspace. */
function checkNesting({ folder, root }: Config): readonly Problem[] {
  const outerConfig = folder === root ? null : findConfigFile(dirname(folder));
  if (outerConfig === null) return [];
  return [makeProblem('init/nested', { path: makeRelativePath(folder, outerConfig) })];
}

/** The maximum number of existing environments that `init` lists. */
const MAX_LISTED_ENVIRONMENTS = 20;

/**
 * Lists the environments that exist in the service in quotes, the most frequent ones first. Returns an empty list if
 * the service cannot list prompts, if a key is not set, or if a request fails, because `init` also works without the
 * service.
 */
async function listExistingEnvironments(
  answers: InitAnswers,
  options: ServiceOptions,
  world: World,
): Promise<readonly string[]> {
  const { config } = parseAnswers(answers, world);
  // The embedded service is new, so it has no environments.
  if (config === null || answers.url === null) return [];
  const opened = await openProvider({ config, files: [], allFiles: [], repository: null }, world, options);
  if (!opened.isSuccess) return [];
  const { provider, close } = opened.value;
  try {
    const prompts = (await provider.list?.()) ?? [];
    const names = prompts.flatMap(({ environments }) => environments);
    const byFrequency = [...Map.groupBy(names, (name) => name)].toSorted(([, a], [, b]) => b.length - a.length);
    return byFrequency.slice(0, MAX_LISTED_ENVIRONMENTS).map(([name]) => `"${showHidden(name)}"`);
  } catch (error) {
    if (error instanceof ProblemError) return [];
    throw error;
  } finally {
    await close();
  }
}

/** Prints the environments that exist in the service, so that the user can add missing ones to promptsync.yaml. */
async function printExistingEnvironments(
  answers: InitAnswers,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<void> {
  const existing = await listExistingEnvironments(answers, options, world);
  if (existing.length === 0) return;
  world.printNotice(
    applyVocabulary(`Existing environments in the service: ${existing.join(', ')}`, getVocabulary(config)),
  );
}

/** The first prompt file of the new workspace. */
type FirstPrompt = {
  /**
   * The new prompt file. Empty if a problem prevents its creation, or if the workspace already has prompt files and
   * needs no example.
   */
  readonly files: readonly InitFile[];
  /** The name of the service in reports. Null if `init` did not contact the service. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/**
 * Creates the first prompt file. If the user specified an id, imports that prompt, which also checks the address and
 * the key. Otherwise creates an example.
 */
async function makeFirstPrompt(
  answers: InitAnswers,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  if (answers.id !== null) return importFirstPrompt(answers.id, answers.folder, config, options, world);
  const example = makeExamplePrompt(answers);
  const { paths } = findPromptPaths(config);
  const files = paths.length === 0 || paths.includes(example.path) ? [example] : [];
  return { files, service: null, problems: [] };
}

/**
 * Imports the first prompt from the service. Returns no file if the import fails or conflicts with an existing file.
 */
async function importFirstPrompt(
  id: string,
  folder: string,
  config: Config,
  options: ServiceOptions,
  world: World,
): Promise<FirstPrompt> {
  const environments = config.environments ?? [];
  const { files } = await readPrompts({ ...config, environments: null });
  const rules = { config, folder, environments, ownEnvironment: null };
  const observed = await observePromptsToImport(
    async () => makeSuccess({ ids: [id], refused: new Map() }),
    files,
    rules,
    options,
    world,
  );
  if (!observed.isSuccess) return { files: [], service: null, problems: observed.problems };
  const { prompt, source, warnings } = makeImport(id, observed.value.observation, rules);
  const otherFiles = files.filter(({ path }) => path !== prompt.path);
  const conflict = source === null ? null : findIdentityConflict(prompt, indexByIdentity(otherFiles));
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  const newFiles = source === null || conflict !== null ? [] : [makePromptInitFile(prompt.path, source)];
  return { files: newFiles, service: observed.value.service, problems };
}

/** The workspace to write to, and how to treat existing files that differ from the new ones. */
type InitTarget = {
  readonly config: Config;
  /** Whether to overwrite existing files without asking. */
  readonly force: boolean;
  /** Asks the user before `init` overwrites a file. If null, `init` keeps existing files unless `force` is true. */
  readonly interview: Interview | null;
};

/** The decision about one file. `init` makes all decisions before it writes the first file. */
type FileDecision = {
  readonly file: InitFile;
  readonly status: WrittenFile['status'];
  /** The current content of the file. Empty if the file does not exist. */
  readonly before: string;
};

/**
 * Writes the files of `init`. Makes all decisions before it writes the first file, so that a problem or a canceled
 * question leaves the workspace unchanged. If `init` keeps an existing promptsync.yaml, skips files for prompts that
 * this configuration does not select.
 */
async function writeInitFiles(
  configFile: InitFile,
  otherFiles: readonly InitFile[],
  target: InitTarget,
): Promise<{ readonly written: readonly WrittenFile[]; readonly problems: readonly Problem[] }> {
  const configDecision = await decideAboutFile(configFile, target);
  const isUseful = configDecision.isSuccess ? makeUsefulnessCheck(configDecision.value, target) : () => true;
  const decisions = [configDecision];
  for (const file of otherFiles.filter(isUseful)) decisions.push(await decideAboutFile(file, target));
  const obstacles = decisions.flatMap((one) => (one.isSuccess ? [] : one.problems));
  if (obstacles.length > 0) return { written: [], problems: obstacles };
  const written: WrittenFile[] = [];
  const problems: Problem[] = [];
  for (const decision of decisions.flatMap((one) => (one.isSuccess ? [one.value] : []))) {
    const problem = await writeInitFile(decision, target);
    if (problem === null) written.push({ path: decision.file.path, status: decision.status });
    problems.push(...(problem === null ? warnAboutKeptFile(decision) : [problem]));
  }
  const skippedFiles = otherFiles.filter((file) => !isUseful(file) && file.kind === 'whole');
  const skipWarnings = skippedFiles.map(({ path }) => makeProblem('init/not-selected', { path }));
  return { written, problems: [...problems, ...skipWarnings] };
}

/**
 * Returns a function that decides whether a file is useful in the workspace. If `init` keeps an existing
 * promptsync.yaml with different content, a file with `promptPaths` is useful only if the kept configuration selects at
 * least one of these paths. A configuration that cannot be parsed selects no paths. All other files are always useful.
 */
function makeUsefulnessCheck(
  { file, status, before }: FileDecision,
  { config }: InitTarget,
): (file: InitFile) => boolean {
  if (status !== 'kept' || before === file.content) return () => true;
  const context = { file: config.file, shownPath: CONFIG_NAME, root: config.root, environment: {} };
  const keptConfig = parseConfig(before, context).config;
  const selectsPath = keptConfig === null ? () => false : makePromptMatcher(keptConfig);
  return ({ promptPaths }) => promptPaths === undefined || promptPaths.some(selectsPath);
}

/**
 * Reads the existing file and decides what to do with it. Asks the user before an overwrite. Throws a `ProblemError` if
 * the user cancels the question.
 */
async function decideAboutFile(file: InitFile, target: InitTarget): Promise<Result<FileDecision>> {
  const read = await readRegularFile(file.path, target.config);
  if (!read.isSuccess) return read;
  const before = read.value;
  if (before === null) return makeSuccess({ file, status: 'created', before: '' });
  return makeSuccess({ file, status: await chooseFileStatus(file, before, target), before });
}

/**
 * Reads an existing file. Returns null if there is no file. Fails if the path contains a symbolic link, because the
 * link may lead out of the repository.
 */
async function readRegularFile(path: string, { folder, root }: Config): Promise<Result<string | null>> {
  const absolutePath = resolve(folder, path);
  const link = findFirstLink(root, dirname(absolutePath));
  const shownPath = link === null ? path : makeRelativePath(folder, link);
  const stats = await lstat(absolutePath).catch(() => null);
  if (link !== null || stats?.isSymbolicLink() === true) {
    return makeFailure(makeProblem('init/in-the-way', { path: shownPath, what: 'it is a symbolic link' }));
  }
  if (stats === null) return makeSuccess(null);
  if (!stats.isFile()) return makeFailure(makeProblem('init/in-the-way', { path, what: NOT_REGULAR }));
  try {
    return makeSuccess(await readFile(absolutePath, 'utf8'));
  } catch (error) {
    return makeFailure(makeProblem('edit/unwritable', { reason: getSystemCode(error) }, { path }));
  }
}

/** Decides what to do with an existing file. Asks the user before an overwrite, unless `force` is set. */
async function chooseFileStatus(
  { path, kind, content }: InitFile,
  before: string,
  { force, interview }: InitTarget,
): Promise<WrittenFile['status']> {
  if (kind === 'line') {
    const hasLine = before.split('\n').some((line) => line.trim() === content);
    return hasLine ? 'kept' : 'extended';
  }
  if (before === content || kind === 'include') return 'kept';
  const message = `${path} already exists and differs. Overwrite it?`;
  const mayOverwrite = force || (await interview?.confirm({ message, initial: false })) === true;
  return mayOverwrite ? 'overwritten' : 'kept';
}

/**
 * Carries out the decision about one file. Returns a problem if the file could not be written. Returns null otherwise.
 */
async function writeInitFile({ file, status, before }: FileDecision, { config }: InitTarget): Promise<Problem | null> {
  const { path } = file;
  const absolutePath = resolve(config.folder, path);
  const newText = renderInitFile(file);
  try {
    if (status === 'extended') {
      const separator = before === '' || before.endsWith('\n') ? '' : '\n';
      await appendFile(absolutePath, separator + newText);
    }
    if (status === 'overwritten') await replaceFile(absolutePath, newText);
    if (status !== 'created' || (await createFile(absolutePath, newText))) return null;
    return makeProblem('init/in-the-way', { path, what: 'another program created it during this run' });
  } catch (error) {
    return makeProblem('edit/unwritable', { reason: getSystemCode(error) }, { path });
  }
}

/** Returns the content of a new file. For the kind `line`, `init` also appends this content to an existing file. */
function renderInitFile({ kind, content }: InitFile): string {
  switch (kind) {
    case 'whole':
      return content;
    case 'line':
      return `${content}\n`;
    case 'include':
      return `include:\n  - local: ${content}\n`;
  }
}

/** Returns a warning if `init` kept an existing file that differs from the new one or lacks the required `include`. */
function warnAboutKeptFile({ file: { path, kind, content }, status, before }: FileDecision): readonly Problem[] {
  if (status !== 'kept' || kind === 'line') return [];
  if (kind === 'include')
    return before.includes(content) ? [] : [makeProblem('init/include', { path, include: content })];
  return before === content ? [] : [makeProblem('init/kept', { path })];
}
