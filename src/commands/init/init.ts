import { dirname, join } from 'node:path';
import { CONFIG_NAME, type Config } from '../../workspace/config.ts';
import { type ConfigResult, findConfigFile, parseConfig } from '../../workspace/load-config.ts';
import { findRepositoryProblem } from '../../workspace/find-owner-problem.ts';
import { getProviderWords, listDefaultAddresses } from '../../workspace/service-settings.ts';
import { NO_ACCEPTED_WARNINGS } from '../../domain/accepted-warnings.ts';
import { makeSuccess, type Result } from '../../domain/result.ts';
import type { ListedPrompt } from '../../providers/provider-interface.ts';
import type { System } from '../../domain/system.ts';
import { findPromptPaths } from '../../workspace/find-prompt-paths.ts';
import { findRepositoryRoot, isRepositoryRoot, makeRelativePath } from '../../workspace/paths.ts';
import type { GitSettings } from '../../git/run-git.ts';
import { readPrompts } from '../../workspace/read-prompts.ts';
import { openRemote } from '../../git/open-remote.ts';
import { isError, makeProblem, type Problem, ProblemError } from '../../problem.ts';
import { showHidden } from '../../text.ts';
import { type NamedProviderName, PROVIDERS } from '../../providers/provider-list.ts';
import { findIdentityConflict, indexByIdentity } from '../import/find-import-conflict.ts';
import { expandPatterns, isPattern, makeImport, observePromptsToImport } from '../import/import.ts';
import { describeFault, findAddressFault, findKeyFault, stopIfInterrupted } from './check-init-answers.ts';
import { type AnswerHelpers, gatherAnswers, type InitFlags } from './init-answers.ts';
import {
  type CiSystem,
  makeConfigFile,
  renderConfig,
  makeExamplePrompts,
  type InitAnswers,
  type InitFile,
  makeLineFiles,
  makePreCommitFile,
  makePromptInitFile,
} from './init-files.ts';
import { findCiNameFault, makeCiFiles } from './make-workflows.ts';
import {
  decideAboutFile,
  type FileDecision,
  type InitTarget,
  parseKeptConfig,
  writeInitFiles,
} from './write-init-files.ts';
import { openProvider, type ServiceOptions } from '../../run/open-service.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from '../../run/command-result.ts';
import { makeCommandResult } from '../../run/exit-code.ts';

/** The options of `init`. If `force` is true, `init` overwrites existing files without asking. */
export type InitOptions = InitFlags & ServiceOptions & { readonly force: boolean };

/** Overwrites existing files only with `--force` or if the user agrees. */
export async function init(options: InitOptions, system: System): Promise<CommandResult> {
  return makeCommandResult(await runInit(options, system), system);
}

async function runInit(options: InitOptions, system: System): Promise<CommandRun> {
  const gitSettings = makeInitGitSettings(options, system);
  const repositoryProblem = isRepositoryRoot(gitSettings.root) ? await findRepositoryProblem(gitSettings) : null;
  if (repositoryProblem !== null) return makeInitRun(null, [repositoryProblem]);
  // A large project has many pages of prompts, so list it only once.
  let listing: ReturnType<typeof listExistingPrompts> | null = null;
  const listOnce = (givenAnswers: InitAnswers) => (listing ??= listExistingPrompts(givenAnswers, options, system));
  const helpers = {
    guessCi: () => guessCi(gitSettings),
    listAddresses: (provider: NamedProviderName) => listDefaultAddresses(provider, system.environment),
    listEnvironments: async (givenAnswers: InitAnswers) => listEnvironmentNames((await listOnce(givenAnswers)) ?? []),
    ...makeAnswerChecks(options, system),
  };
  const answers = await gatherAnswers(options, system.interview, helpers);
  if (!answers.isSuccess) return makeInitRun(null, answers.problems);
  const { config, problems } = parseAnswers(answers.value, system);
  if (config === null) return makeInitRun(null, problems);
  const nameProblems = checkFolderName(config, answers.value.ci);
  if (nameProblems.length > 0) return makeInitRun(config, nameProblems);
  const existingPrompts = await listOnce(answers.value);
  if (system.interview === null && options.environments === undefined) {
    printEnvironments(existingPrompts ?? [], config, system);
  }
  const { id, folder } = answers.value;
  const firstPrompt =
    id === null
      ? makeExamples(answers.value, config, existingPrompts)
      : await importFirstPrompt(id, folder, config, options, system);
  if (firstPrompt.problems.some(isError)) return makeInitRun(config, firstPrompt.problems);
  if (system.stopSignal.aborted) return makeInitRun(config, [makeProblem('apply/interrupted')]);
  return writeWorkspace(answers.value, config, firstPrompt, { force: options.force, interview: system.interview });
}

async function writeWorkspace(
  answers: InitAnswers,
  config: Config,
  firstPrompt: FirstPrompt,
  { force, interview }: Omit<InitTarget, 'config'>,
): Promise<CommandRun> {
  const target = { config, force, interview };
  const configDecision = await decideAboutFile(makeConfigFile(answers, config), target);
  const environments = readKeptEnvironments(configDecision, target) ?? answers.environments;
  const ciNameFault = findCiNameFault(answers.ci, environments, getProviderWords(config));
  if (ciNameFault !== null) {
    return makeInitRun(config, [makeProblem('init/invalid-flag', { flag: '--environments', reason: ciNameFault })]);
  }
  const ciFiles = makeCiFiles({ ...answers, environments }, config);
  const hookFiles = answers.preCommit ? [makePreCommitFile(config)] : [];
  const otherFiles = [...firstPrompt.files, ...ciFiles, ...hookFiles, ...makeLineFiles(answers, config)];
  const { written, problems: writeProblems } = await writeInitFiles(configDecision, otherFiles, target);
  const warnings = [...checkNesting(config), ...firstPrompt.problems];
  const run = {
    ...makeInitRun(config, [...warnings, ...writeProblems]),
    service: firstPrompt.service,
    written,
  };
  if (writeProblems.some(isError)) return run;
  const isNew = ({ path }: InitFile) => written.some((one) => one.path === path && one.status !== 'kept');
  const newFiles = { ci: ciFiles.filter(isNew), hooks: hookFiles.filter(isNew) };
  return { ...run, nextSteps: describeNextSteps({ ...answers, environments }, firstPrompt, newFiles) };
}

/** `config` is null if `init` stopped before it had a valid configuration. */
function makeInitRun(config: Config | null, problems: readonly Problem[]): CommandRun {
  return makeRunWithoutPlan('init', { config, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
}

function makeAnswerChecks(
  options: InitOptions,
  system: System,
): Pick<AnswerHelpers, 'findAddressFault' | 'findKeyFault' | 'findPromptFault'> {
  const makeCheck = (check: typeof findAddressFault) => async (answers: InitAnswers) => {
    const { config } = parseAnswers(answers, system);
    return config === null ? null : check(config, options, system);
  };
  return {
    findAddressFault: makeCheck(findAddressFault),
    findKeyFault: makeCheck(findKeyFault),
    findPromptFault: async (answers) => {
      const { config } = parseAnswers(answers, system);
      if (config === null || answers.id === null) return null;
      const { problems } = await importFirstPrompt(answers.id, answers.folder, config, options, system);
      stopIfInterrupted(system);
      return describeFault(problems.find(isError) ?? null, config);
    },
  };
}

/** Returns null if `init` writes a new promptsync.yaml, or if the existing one does not list environments. */
function readKeptEnvironments(decision: Result<FileDecision>, target: InitTarget): readonly string[] | null {
  const keptConfig = decision.isSuccess ? parseKeptConfig(decision.value, target) : null;
  const environments = keptConfig?.config?.environments ?? [];
  return environments.length === 0 ? null : environments.map(({ name }) => name);
}

/** Matches the placeholder for a commit of promptsync in a CI file or in .pre-commit-config.yaml. */
const PLACEHOLDER_COMMIT = /[@#']0{40}\b/;

/** `newFiles` contains only files that `init` wrote. */
function describeNextSteps(
  answers: InitAnswers,
  { isServiceEmpty }: FirstPrompt,
  newFiles: { readonly ci: readonly InitFile[]; readonly hooks: readonly InitFile[] },
): readonly string[] {
  const { id, provider } = answers;
  const isUnpinned = ({ content }: InitFile) => PLACEHOLDER_COMMIT.test(content);
  const unpinned = [...newFiles.ci, ...newFiles.hooks].filter(isUnpinned).map(({ path }) => path);
  const { importArguments, words } = PROVIDERS[provider];
  const others = id === null ? 'the prompts' : 'the other prompts';
  return [
    isServiceEmpty
      ? 'Next: run promptsync new KEY to create another prompt.'
      : `Next: run promptsync import ${importArguments} to write files for ${others} in ${words.service}.`,
    ...(unpinned.length === 0
      ? []
      : [
          `In ${unpinned.join(', ')}, replace the zeros with the id of a promptsync commit that you trust.`,
          ...(newFiles.ci.some(isUnpinned) ? describeKeySteps(answers) : []),
        ]),
    'Then commit the files and run promptsync plan.',
  ];
}

/** Describes where the user stores the keys for the CI system. */
function describeKeySteps({ ci, provider, keyVariable, environments }: InitAnswers): readonly string[] {
  const publicKey = PROVIDERS[provider].keys.public;
  const keys = publicKey === null ? keyVariable : `${publicKey.defaultVariable} and ${keyVariable}`;
  const plural = publicKey === null ? '' : 's';
  const names = environments.map((name) => `"${showHidden(name)}"`).join(', ');
  switch (ci) {
    case 'github':
      return [
        `In the settings of the GitHub repository, open \`Environments\` and create ${names}. Store the secret${plural} ${keys} in each of them and, for the other workflows, in the repository.`,
      ];
    case 'gitlab':
      return [
        `In the CI/CD settings of the GitLab project, add the variable${plural} ${keys} once with each of these environment scopes: ${names}. For reviews and drift checks, also add the variable${plural} with the scope "*".`,
      ];
    case 'none':
      return [];
  }
}

/** Lists the variables that may contain a key, so that promptsync does not pass them on to git. */
function makeInitGitSettings({ apiKeyEnv }: InitOptions, { workingDirectory }: System): GitSettings {
  const defaults = Object.values(PROVIDERS).map(({ keys }) => keys.secret.defaultVariable);
  return {
    root: findRepositoryRoot(workingDirectory),
    keyVariables: apiKeyEnv === undefined ? defaults : [apiKeyEnv, ...defaults],
  };
}

/** Guesses from the host of the remote. Returns `github` for an unknown host, because most teams use GitHub. */
async function guessCi(gitSettings: GitSettings): Promise<CiSystem> {
  const address = await openRemote(gitSettings)
    .readAddress()
    .catch(() => '');
  const host = /^(?:[a-z+]+:\/\/)?(?:[^@/]*@)?([^/:]*)/.exec(address)?.[1] ?? '';
  return /gitlab/i.test(host) ? 'gitlab' : 'github';
}

/** Ignores PROMPTSYNC_BASE_URL. It would override the address in the answers, which would then not be checked. */
function parseAnswers(answers: InitAnswers, { workingDirectory, environment }: System): ConfigResult {
  return parseConfig(renderConfig(answers), {
    file: join(workingDirectory, CONFIG_NAME),
    shownPath: CONFIG_NAME,
    root: findRepositoryRoot(workingDirectory),
    environment: { ...environment, PROMPTSYNC_BASE_URL: '' },
  });
}

/**
 * Refuses paths with a special meaning in the new files. A line break would start a new line, for example in
 * .prettierignore. GitHub evaluates `${{ … }}` and GitLab replaces `$NAME`, even inside YAML quotes.
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

const MAX_LISTED_ENVIRONMENTS = 20;

/** Returns null if the list cannot be read, which is no error, because `init` also works without the service. */
async function listExistingPrompts(
  answers: InitAnswers,
  options: ServiceOptions,
  system: System,
): Promise<readonly ListedPrompt[] | null> {
  if (answers.url === null) return [];
  const { config } = parseAnswers(answers, system);
  if (config === null) return null;
  const opened = await openProvider({ config, files: [], allFiles: [], repository: null }, system, options);
  if (!opened.isSuccess) return null;
  const { provider, close } = opened.value;
  try {
    return (await provider.list?.()) ?? null;
  } catch (error) {
    if (error instanceof ProblemError) return null;
    throw error;
  } finally {
    await close();
  }
}

/** Lists the environments in which prompts are active, in quotes. The most frequent environments come first. */
function listEnvironmentNames(prompts: readonly ListedPrompt[]): readonly string[] {
  const names = prompts.flatMap(({ environments }) => environments);
  const byFrequency = [...Map.groupBy(names, (name) => name)].toSorted(([, a], [, b]) => b.length - a.length);
  return byFrequency.slice(0, MAX_LISTED_ENVIRONMENTS).map(([name]) => `"${showHidden(name)}"`);
}

/** Prints the environments that exist in the service, so that the user can add missing ones to promptsync.yaml. */
function printEnvironments(prompts: readonly ListedPrompt[], config: Config, system: System): void {
  const names = listEnvironmentNames(prompts);
  if (names.length === 0) return;
  const { service, environment } = getProviderWords(config);
  system.printNotice(`Existing ${environment}s in ${service}: ${names.join(', ')}`);
}

type FirstPrompt = {
  /** Empty if a problem prevents the import, or if the workspace needs no example. */
  readonly files: readonly InitFile[];
  /** Whether promptsync knows that the service has no prompts. */
  readonly isServiceEmpty: boolean;
  /** The name of the service in reports. Null if `init` did not contact the service. */
  readonly service: string | null;
  readonly problems: readonly Problem[];
};

/**
 * Makes examples only for a service without prompts. If the service has prompts, or if promptsync cannot list them, the
 * first sync would add prompts that nobody asked for. In the latter case, `existingPrompts` is null.
 */
function makeExamples(
  answers: InitAnswers,
  config: Config,
  existingPrompts: readonly ListedPrompt[] | null,
): FirstPrompt {
  const { paths } = findPromptPaths(config);
  const isServiceEmpty = existingPrompts?.length === 0;
  const examples = isServiceEmpty ? makeExamplePrompts(answers) : [];
  const files = examples.filter(({ path }) => paths.length === 0 || paths.includes(path));
  return { files, isServiceEmpty, service: null, problems: [] };
}

/** Returns no file if the import fails or conflicts with an existing file. */
async function importFirstPrompt(
  id: string,
  folder: string,
  config: Config,
  options: ServiceOptions,
  system: System,
): Promise<FirstPrompt> {
  const environments = config.environments ?? [];
  const { files } = await readPrompts({ ...config, environments: null });
  const rules = { config, folder, environments, ownEnvironment: null };
  const chosen = { ids: [id], existing: [] };
  // A service that can list its prompts does not distinguish a prompt without an active version from a missing prompt.
  const observed = await observePromptsToImport(
    async (provider) =>
      isPattern(id) ? makeSuccess({ ...chosen, refused: new Map() }) : expandPatterns(chosen, [], provider),
    files,
    rules,
    options,
    system,
  );
  const result = { files: [], isServiceEmpty: false };
  if (!observed.isSuccess) return { ...result, service: null, problems: observed.problems };
  const { prompt, file, warnings } = makeImport(id, observed.value.observation, rules);
  const otherFiles = files.filter(({ path }) => path !== prompt.path);
  const conflict = file === null ? null : findIdentityConflict(prompt, indexByIdentity(otherFiles));
  const problems = [...prompt.problems, ...warnings, ...(conflict === null ? [] : [conflict])];
  const newFiles = file === null || conflict !== null ? [] : [makePromptInitFile(prompt.path, file.source)];
  return { ...result, files: newFiles, service: observed.value.service, problems };
}
