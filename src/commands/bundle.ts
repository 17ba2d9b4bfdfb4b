import { type BundledPrompt, makeBundle, type PromptBundle } from '../bundle/prompt-bundle.ts';
import type { Config } from '../workspace/config.ts';
import { getProviderWords } from '../workspace/service-settings.ts';
import { openWorkspace, openWorkspaceRepository, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import { readContentsAtRefs } from '../history/read-at-commit.ts';
import { collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { Content } from '../domain/content.ts';
import { type DesiredState, getContentsAtRefs } from '../domain/desired-state.ts';
import type { ContentsAtRefs } from '../domain/plan.ts';
import { type EnvironmentPin, findPin, formatPin, locatePin, type PromptFile } from '../domain/prompt-file.ts';
import { isNestedDeeper } from '../domain/json.ts';
import { failWithProblem, makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import { makePromptBody, type ServedPrompt } from '../domain/served-prompt.ts';
import type { Words } from '../service-words.ts';
import type { System } from '../domain/system.ts';
import { readServedPrompts } from '../observing/observe-prompts.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import { escapeLine } from '../report/escape.ts';
import type { ProblemSource } from '../report/problem-list.ts';
import { formatCount, joinNames } from '../text.ts';
import { makeProblemConverter } from '../report/make-report.ts';
import { checkServiceAccess, makeObserveOptions, openProvider, type ServiceOptions } from '../run/open-service.ts';
import { listKnownEnvironments, makeUnknownEnvironmentProblem } from '../run/require-environment.ts';

export type BundleOptions = WorkspaceOptions &
  ServiceOptions & {
    /** The environment to bundle. Undefined if the user did not specify it, which is an error. */
    readonly environment: string | undefined;
    /** Whether to take the prompts from the files and from git instead of the service. */
    readonly offline: boolean;
    /** Whether to omit the notice about prompts that the bundle leaves out. */
    readonly quiet: boolean;
  };

type BundleResult = ProblemSource & {
  /** The bundle. Null if the command failed or was interrupted. */
  readonly bundle: PromptBundle | null;
  readonly exitCode: number;
  /** The absolute path of the folder that contains the configuration. Null if there is no configuration. */
  readonly folder: string | null;
};

/** Reads each prompt once. If a pinned prompt cannot be read, there is no bundle. `offline` sends no request. */
export async function bundlePrompts(options: BundleOptions, system: System): Promise<BundleResult> {
  const workspace = await openWorkspace(options, system);
  const { config, files, allFiles } = workspace;
  // Omit the warning about a placeholder id, because the command refuses such a prompt.
  const problems = workspace.problems.filter(({ code }) => code !== 'prompt/placeholder-id');
  const convert = makeProblemConverter({
    acceptedWarnings: collectAcceptedWarnings(files, config),
    vocabulary: getProviderWords(config),
  });
  const finish = (outcome: Outcome): BundleResult => ({
    bundle: outcome.bundle,
    exitCode: system.stopSignal.aborted ? 130 : outcome.exitCode,
    folder: config?.folder ?? null,
    problems: convert([...problems, ...outcome.problems]),
    prompts: outcome.prompts.map(({ path, problems: reasons }) => ({
      path,
      problems: convert(reasons, path),
    })),
  });
  if (config === null || problems.some(isError)) return finish(makeUnreadOutcome([]));
  const environment = requireKnownEnvironment(options, allFiles, config);
  if (!environment.isSuccess) return finish(makeUnreadOutcome(environment.problems));
  const access = options.offline ? [] : checkServiceAccess(config, options, system);
  if (access.length > 0) return finish(makeUnreadOutcome(access));
  const { pinned, unpinned } = splitByPin(files, environment.value);
  if (pinned.length === 0) {
    return finish(makeUnreadOutcome([makeProblem('bundle/nothing-pinned', { environment: environment.value })]));
  }
  const refused = refusePlaceholders(pinned, config);
  if (refused !== null) return finish(refused);
  if (unpinned.length > 0 && !options.quiet) {
    system.printNotice(describeLeftOut(unpinned, environment.value, getProviderWords(config)));
  }
  const selection = { environment: environment.value, pinned, allFiles, config };
  return finish(await (options.offline ? bundleOffline(selection) : bundleServed(selection, options, system)));
}

/** The outcome of the command. `bundle` is null if a prompt has a problem, or if the command stopped before reading. */
type Outcome = {
  readonly bundle: PromptBundle | null;
  readonly exitCode: number;
  readonly problems: readonly Problem[];
  /** All prompts that the command tried to read. */
  readonly prompts: readonly ReadPrompt[];
};

/** The path of a prompt file, and the reasons why promptsync cannot bundle its prompt. */
type ReadPrompt = { readonly path: string; readonly problems: readonly Problem[] };

function makeUnreadOutcome(problems: readonly Problem[]): Outcome {
  return { bundle: null, exitCode: 1, problems, prompts: [] };
}

type PinnedSelection = {
  readonly environment: string;
  readonly pinned: readonly PinnedPrompt[];
  /** All valid prompt files, including those that are not selected. */
  readonly allFiles: readonly PromptFile[];
  readonly config: Config;
};

type PinnedPrompt = { readonly file: PromptFile; readonly pin: EnvironmentPin };

function requireKnownEnvironment(
  { environment }: BundleOptions,
  files: readonly PromptFile[],
  config: Config,
): Result<string> {
  const known = listKnownEnvironments(config, files);
  if (environment === undefined) {
    return makeFailure(makeProblem('usage/needs-environment', { option: '--environment', reason: null, known }));
  }
  if (known.includes(environment)) return makeSuccess(environment);
  return makeFailure(makeUnknownEnvironmentProblem('--environment', environment, known, config));
}

function splitByPin(
  files: readonly PromptFile[],
  environment: string,
): { readonly pinned: readonly PinnedPrompt[]; readonly unpinned: readonly PromptFile[] } {
  const pinned = files.flatMap((file) => {
    const pin = findPin(file.pins, environment);
    return pin === undefined ? [] : [{ file, pin }];
  });
  const pinnedFiles = new Set(pinned.map(({ file }) => file));
  return { pinned, unpinned: files.filter((file) => !pinnedFiles.has(file)) };
}

/** Refuses prompts with the placeholder id from `promptsync new`, because they have no id in the service yet. */
function refusePlaceholders(pinned: readonly PinnedPrompt[], { rules }: Config): Outcome | null {
  const prompts = pinned.map(({ file: { path, id } }) => {
    return { path, problems: id === rules.placeholderId ? [makeProblem('guard/placeholder-id')] : [] };
  });
  const isRefused = prompts.some(({ problems }) => problems.length > 0);
  return isRefused ? { bundle: null, exitCode: 3, problems: [], prompts } : null;
}

const MAX_NAMED_PROMPTS = 10;

function describeLeftOut(files: readonly PromptFile[], environment: string, words: Words): string {
  const keys = files.map(({ key }) => `"${escapeLine(key)}"`);
  const count = formatCount(files.length, 'prompt that does', 'prompts that do');
  return `The bundle leaves out ${count} not pin the ${words.environment} "${environment}": ${joinNames(keys, MAX_NAMED_PROMPTS)}.`;
}

/** Bundles what the environment serves now. */
async function bundleServed(
  { environment, pinned, allFiles, config }: PinnedSelection,
  options: ServiceOptions,
  system: System,
): Promise<Outcome> {
  const files = pinned.map(({ file }) => file);
  const opened = await openProvider({ config, files, allFiles, repository: null }, system, options);
  if (!opened.isSuccess) return makeUnreadOutcome(opened.problems);
  const { provider, close } = opened.value;
  const ids = files.map(({ id }) => id);
  const observeOptions = makeObserveOptions(config, system);
  const readings = await readServedPrompts(provider, ids, environment, observeOptions).finally(close);
  const { read: served, failed } = readings;
  const results = pinned.map(({ file, pin }) => {
    const prompt = served.get(file.id) ?? null;
    if (prompt !== null) return { file, result: bundleServedPrompt(file, prompt) };
    const problem = failed.get(file.id) ?? makeProblem('bundle/not-active', { environment }, locatePin(pin, file));
    return { file, result: makeFailure(problem) };
  });
  return makeReadOutcome(environment, results, served.size > 0 ? 4 : 1);
}

/**
 * The maximum nesting depth of lists and objects in the metadata of a bundled prompt. Python rejects brackets that are
 * nested about 200 deep, and TypeScript rejects types that are nested about 100 deep. Prompt files have the same limit.
 */
const MAX_CONFIG_DEPTH = 64;

function bundleServedPrompt({ key, id }: PromptFile, { number, ...served }: ServedPrompt): Result<BundledPrompt> {
  if (isNestedDeeper(served.config, MAX_CONFIG_DEPTH)) {
    return makeFailure(makeProblem('bundle/too-deep', { limit: MAX_CONFIG_DEPTH }));
  }
  return makeSuccess({ ...served, key, id, version: number });
}

/** Bundles what the files pin. Sends no request. */
async function bundleOffline({ environment, pinned, config }: PinnedSelection): Promise<Outcome> {
  const sources = await readOfflineSources(pinned, config);
  if (!sources.isSuccess) return makeUnreadOutcome(sources.problems);
  const { contentsAtRefs, uncommitted } = sources.value;
  const results = pinned.map((prompt) => {
    const atRefs = getContentsAtRefs({ contentsAtRefs }, prompt.file.id);
    return { file: prompt.file, result: bundlePinnedPrompt(prompt, atRefs, config) };
  });
  const outcome = makeReadOutcome(environment, results, 3);
  if (outcome.bundle === null) return outcome;
  return { ...outcome, problems: [...uncommitted].map((path) => makeProblem('bundle/uncommitted', {}, { path })) };
}

type OfflineSources = Pick<DesiredState, 'contentsAtRefs'> & {
  /** The paths of the prompt files with uncommitted changes. Empty outside a repository. */
  readonly uncommitted: ReadonlySet<string>;
};

/** Many container images lack git. If no pin refers to a commit, a failure of git only omits a warning. */
async function readOfflineSources(pinned: readonly PinnedPrompt[], config: Config): Promise<Result<OfflineSources>> {
  const files = pinned.map(({ file, pin }) => ({ ...file, pins: [pin] }));
  try {
    const repository = await openWorkspaceRepository(config);
    const uncommitted = (await repository?.findUncommitted(files.map(({ path }) => path))) ?? new Set<string>();
    return makeSuccess({ contentsAtRefs: await readContentsAtRefs(files, repository), uncommitted });
  } catch (error) {
    if (pinned.some(({ pin: { pin } }) => pin.kind === 'git')) return failWithProblem(error);
    return makeSuccess({ contentsAtRefs: new Map(), uncommitted: new Set() });
  }
}

/** Fails if only the service has the content, or if the service composes the text. */
function bundlePinnedPrompt(
  { file, pin }: PinnedPrompt,
  atRefs: ContentsAtRefs,
  { rules }: Config,
): Result<BundledPrompt> {
  const { key, id } = file;
  const { environment } = pin;
  const content = choosePinnedContent(file, pin, atRefs);
  if (!content.isSuccess) return content;
  const { text, metadata = null } = content.value;
  const [part] = rules.listParts(text);
  if (part !== undefined) {
    return makeFailure(makeProblem('bundle/composed', { part: part.promptId, environment }, locatePin(pin, file)));
  }
  return makeSuccess({ ...makePromptBody(content.value), key, id, version: null, config: metadata });
}

function choosePinnedContent(
  file: PromptFile,
  environmentPin: EnvironmentPin,
  atRefs: ContentsAtRefs,
): Result<Content> {
  const { environment, pin } = environmentPin;
  const place = locatePin(environmentPin, file);
  switch (pin.kind) {
    case 'latest':
      return makeSuccess(file.content);
    case 'git': {
      const atRef = atRefs.get(pin.ref) ?? makeFailure(makeProblem('pin/unknown-ref', { ref: pin.ref }, place));
      return atRef.isSuccess ? makeSuccess(atRef.value.content) : atRef;
    }
    case 'number':
    case 'version':
      return makeFailure(makeProblem('bundle/not-in-git', { environment, pin: formatPin(pin) }, place));
  }
}

/** Builds the outcome of reading all prompts. `failureCode` is the exit code to use if a prompt cannot be bundled. */
function makeReadOutcome(
  environment: string,
  results: readonly { readonly file: PromptFile; readonly result: Result<BundledPrompt> }[],
  failureCode: number,
): Outcome {
  const prompts = results.map(({ file, result }) => ({
    path: file.path,
    problems: result.isSuccess ? [] : result.problems,
  }));
  const bundled = results.flatMap(({ result }) => (result.isSuccess ? [result.value] : []));
  if (bundled.length < results.length) return { bundle: null, exitCode: failureCode, problems: [], prompts };
  return { bundle: makeBundle(environment, bundled), exitCode: 0, problems: [], prompts };
}
