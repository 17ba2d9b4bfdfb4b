import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../workspace/config.ts';
import { getProviderWords } from '../workspace/service-settings.ts';
import { NO_ACCEPTED_WARNINGS, collectAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { DesiredState } from '../domain/desired-state.ts';
import {
  makePlainReadRequest,
  type Observation,
  type ObservedPrompt,
  type ReadRequest,
  NO_OBSERVATION,
} from '../domain/observed-prompt.ts';
import type { Provider } from '../providers/provider-interface.ts';
import type { Plan, PromptPlan } from '../domain/plan.ts';
import { type EnvironmentPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import { makeFailure, makeSuccess, type Result } from '../domain/result.ts';
import type { System } from '../domain/system.ts';
import { type DefaultBase, type DefaultBaseKind, openDefaultBase } from '../desired-state/open-default-base.ts';
import {
  readDesiredState,
  type DesiredOptions,
  type DesiredWorkspace,
  type LeftManagement,
} from '../desired-state/read-desired-state.ts';
import type { PlanningHistory } from '../history/prompt-history.ts';
import { readPlanningHistory } from '../desired-state/read-planning-history.ts';
import { openWorkspace, type Workspace, type WorkspaceOptions } from '../desired-state/open-workspace.ts';
import { assumeObservation, UNAVAILABLE_PROVIDER } from '../observing/assume-observation.ts';
import { type ReadNeeds, NO_READ_NEEDS, observePrompts, makeReadRequest } from '../observing/observe-prompts.ts';
import { makePlan, planPrompt } from '../planning/make-plan.ts';
import { isError, makeProblem, type Problem, wordProblem } from '../problem.ts';
import { joinWords } from '../text.ts';
import { capitalize, type Words } from '../service-words.ts';
import { checkBranchSetting } from './check-merged-and-up-to-date.ts';
import {
  type ContactPolicyOptions,
  makeObserveOptions,
  type OpenedService,
  openProvider,
  findReasonNotToContact,
  type ServiceOptions,
  checkServiceAccess,
} from './open-service.ts';
import {
  type DefaultBaseReading,
  describeReadFailure,
  NO_DEFAULT_BASE,
  readBaseNames,
  readDefaultBase,
} from './read-default-base.ts';
import { selectEnvironments } from './require-environment.ts';
import { type CommandResult, type CommandRun, makeRunWithoutPlan } from './command-result.ts';
import { makeCommandResult } from './exit-code.ts';

export type PlanningOptions = WorkspaceOptions &
  DesiredOptions &
  ServiceOptions &
  ContactPolicyOptions & {
    /**
     * Validates the options, and returns what to read besides the pinned environments. If it returns problems, the
     * command stops before it contacts the service.
     */
    readonly findNeeds?:
      | ((config: Config, files: readonly PromptFile[]) => ReadNeeds & { readonly problems: readonly Problem[] })
      | undefined;
    /** The environments that the command is limited to. Absent or empty: all environments. */
    readonly environments?: readonly string[] | undefined;
    /** The base to use if the user specified none. Undefined: no base. */
    readonly defaultBase?: DefaultBaseKind | undefined;
  };

/** A plan, and everything that the plan is based on. */
export type PlannedWorkspace = DesiredWorkspace & {
  /** The name of the service in reports. Null if promptsync did not contact the service. */
  readonly service: string | null;
  readonly provider: Provider;
  readonly makeRequestFor: (file: PromptFile) => ReadRequest;
  readonly observation: Observation;
  readonly history: PlanningHistory;
  /** The default base, at which promptsync reads a prompt when it plans the prompt again. Null if there is none. */
  readonly defaultBase: DefaultBase | null;
  readonly baseName: CommandRun['baseName'];
  readonly liveBranch: CommandRun['liveBranch'];
  /** True if a prompt differs from its file, but promptsync had no base to compare with and so could not find drift. */
  readonly lacksBase: boolean;
  readonly plan: Plan;
};

/**
 * Creates a plan and passes it to `finish`, which does the work of the command. Then closes the connection to the
 * service. If the files, the configuration or the base commit have an error, the command stops before it contacts the
 * service.
 */
export async function runWithPlan(
  mode: CommandRun['mode'],
  options: PlanningOptions,
  system: System,
  finish: (workspace: PlannedWorkspace) => Promise<CommandResult>,
): Promise<CommandResult> {
  const opening = await openWorkspace(options, system);
  // Omit the warning about a placeholder id, because the plan blocks such a prompt.
  const problems = opening.problems.filter(({ code }) => code !== 'prompt/placeholder-id');
  const workspace = { ...opening, problems };
  const { config, files } = workspace;
  const stop = (...reasons: readonly Problem[]) => {
    // With `--base`, only the base commit decides which warnings are accepted, and promptsync has not read it yet.
    const acceptedWarnings = options.base === undefined ? collectAcceptedWarnings(files, config) : NO_ACCEPTED_WARNINGS;
    const run = { config, files, acceptedWarnings, problems: [...problems, ...reasons] };
    return makeCommandResult(makeRunWithoutPlan(mode, run), system);
  };
  if (config === null || problems.some(isError)) return stop();
  const input = await readCheckedInput({ ...workspace, config }, options, system);
  if (!input.isSuccess) return stop(...input.problems);
  const { desired, needs } = input.value;
  const reason = await findReasonNotToContact(options, desired, system);
  if (reason !== null) return finish(await planFromAssumption(desired, reason, system));
  const opened = await openProvider(desired, system, options);
  if (!opened.isSuccess) return stop(...opened.problems);
  try {
    return await finish(await planFromObservation(desired, opened.value, { ...options, needs }, system));
  } finally {
    await opened.value.close();
  }
}

type CheckedInput = { readonly desired: DesiredWorkspace; readonly needs: ReadNeeds };

/** Checks the options and the access to the service, and reads the desired state. Sends no requests. */
async function readCheckedInput(
  workspace: Workspace & { readonly config: Config },
  options: PlanningOptions,
  system: System,
): Promise<Result<CheckedInput>> {
  const { config, allFiles } = workspace;
  const { contactPolicy = 'always', environments = [] } = options;
  const needs = options.findNeeds?.(config, allFiles) ?? { ...NO_READ_NEEDS, problems: [] };
  const selection = selectEnvironments(environments, config, allFiles);
  const obstacles = [
    ...needs.problems,
    ...(await checkBranchSetting(config)),
    ...(selection.isSuccess ? [] : selection.problems),
    ...(contactPolicy === 'always' ? checkServiceAccess(config, options, system) : []),
  ];
  if (!selection.isSuccess || obstacles.length > 0) return makeFailure(...obstacles);
  const read = await readDesiredState(workspace, { ...options, environmentSelection: selection.value });
  return read.isSuccess ? makeSuccess({ desired: read.value, needs }) : read;
}

async function planFromObservation(
  desired: DesiredWorkspace,
  opened: OpenedService,
  { needs, defaultBase: kind }: Pick<PlanningOptions, 'defaultBase'> & { readonly needs: ReadNeeds },
  system: System,
): Promise<PlannedWorkspace> {
  const { provider, name: service } = opened;
  const { files, base, config } = desired;
  const makeRequestFor = (file: PromptFile) => makeReadRequest(file, desired, needs);
  const listEnvironments = ({ pins }: PromptFile) => pins.map(({ environment }) => environment);
  const removedRequests = (base?.removedFiles ?? []).map((file) =>
    makePlainReadRequest(file.id, listEnvironments(file)),
  );
  const defaultBase = base !== null || kind === undefined ? null : openDefaultBase(desired, kind);
  // Look for missing files while promptsync waits for the service. If promptsync looked for them after a failed read,
  // other large responses could arrive in the meantime and fill the memory.
  const [observation, leftSinceDefaultBase] = await Promise.all([
    observePrompts(provider, [...files.map(makeRequestFor), ...removedRequests], makeObserveOptions(config, system)),
    defaultBase === null ? null : defaultBase.readLeftManagement().catch(() => null),
  ]);
  // promptsync sends no requests about prompts and environments that were managed only at the default base, so pass no
  // observation.
  const problems = [
    ...desired.problems,
    ...warnAboutLeftManagement(base, desired, observation),
    ...warnAboutLeftManagement(leftSinceDefaultBase, desired, NO_OBSERVATION),
  ];
  return {
    ...(await makePlanWithHistory({ ...desired, problems }, observation, defaultBase, system)),
    service,
    provider,
    makeRequestFor,
  };
}

/** Plans as if the service were in sync with the base commit. `reason` is the warning that explains why. */
async function planFromAssumption(
  desired: DesiredWorkspace,
  reason: Problem,
  system: System,
): Promise<PlannedWorkspace> {
  // Only the service knows which versions are active, so promptsync cannot check promotions here. Even a promotion from
  // an environment of another configuration could be an import of a version that is already active.
  const unchecked = {
    ...desired,
    promotionSources: new Map<string, string>(),
    otherPromotionSources: new Map<string, string>(),
    problems: [...desired.problems, reason, ...warnAboutLeftManagement(desired.base, desired, NO_OBSERVATION)],
  };
  const makeRequestFor = (file: PromptFile) => makeReadRequest(file, unchecked);
  const observation = assumeObservation(unchecked, unchecked.config.rules);
  const workspace = await makePlanWithHistory(unchecked, observation, null, system);
  return { ...workspace, service: null, provider: UNAVAILABLE_PROVIDER, makeRequestFor };
}

async function makePlanWithHistory(
  desired: DesiredWorkspace,
  observation: Observation,
  defaultBase: DefaultBase | null,
  { printNotice }: Pick<System, 'printNotice'>,
): Promise<Omit<PlannedWorkspace, 'service' | 'provider' | 'makeRequestFor'>> {
  const reading = defaultBase === null ? NO_DEFAULT_BASE : await readDefaultBase(defaultBase, desired, observation);
  const { compared, history, reason } = await readHistoryWithBase(desired, reading, observation);
  const consequence = defaultBase?.kind === 'head' ? 'pulls every difference' : 'cannot show drift';
  if (reason !== null) printNotice(`promptsync ${consequence} because ${reason}.`);
  const plan = makePlan(compared, observation, history);
  return {
    ...desired,
    observation,
    history,
    defaultBase,
    ...(await readBaseNames(plan, reading, desired)),
    lacksBase: desired.base === null && (defaultBase === null || reason !== null),
    plan,
  };
}

/** The desired state with the base that a plan uses, and the git history that the plan is based on. */
type ComparedState = Pick<DefaultBaseReading, 'reason'> & {
  readonly compared: DesiredState;
  readonly history: PlanningHistory;
};

/**
 * If git cannot read the history of the default base, continues without this base and returns the reason. A plan is
 * possible without this base, because the base only adds drift to the plan.
 */
async function readHistoryWithBase(
  desired: DesiredWorkspace,
  { found, reason }: Pick<DefaultBaseReading, 'found' | 'reason'>,
  observation: Pick<Observation, 'observed'>,
): Promise<ComparedState> {
  if (found === null) {
    return { compared: desired, history: await readPlanningHistory(desired.files, observation, desired), reason };
  }
  const compared = { ...desired, base: found.base, contentsAtRefs: found.contentsAtRefs };
  try {
    return { compared, history: await readPlanningHistory(desired.files, observation, compared), reason };
  } catch (error) {
    return readHistoryWithBase(desired, { found: null, reason: describeReadFailure(error) }, observation);
  }
}

/** Creates the run of a command that has a plan and has not written to the service. */
export function makePlannedRun(mode: CommandRun['mode'], workspace: PlannedWorkspace): CommandRun {
  const { config, service, repository, files, acceptedWarnings, plan, skipped, problems } = workspace;
  const { baseName, liveBranch, environmentOrder, environmentSelection } = workspace;
  const commit = repository?.head ?? null;
  const run = {
    mode,
    folder: config.folder,
    vocabulary: getProviderWords(config),
    service,
    commit,
    baseName,
    liveBranch,
    files,
    acceptedWarnings,
    plan,
    outcomes: null,
    environmentOrder,
    portablePins: config.portablePins,
    selectedEnvironments: environmentSelection?.selected ?? null,
    problems,
  };
  return skipped === null ? run : { ...run, narrowed: { since: skipped.since, notLookedAt: skipped.prompts.length } };
}

export type PromptReplan = { readonly plan: PromptPlan; readonly history: PlanningHistory };

/** Plans one prompt again. `file` may be its edited content that promptsync has not written yet. */
export async function replanPrompt(
  file: PromptFile,
  observed: ObservedPrompt,
  workspace: PlannedWorkspace,
): Promise<PromptReplan> {
  const { defaultBase } = workspace;
  const desired = { ...workspace, files: [file] };
  const observation = { observed: new Map([[file.id, observed]]) };
  const reading = defaultBase === null ? NO_DEFAULT_BASE : await readDefaultBase(defaultBase, desired, observation);
  const { compared, history } = await readHistoryWithBase(desired, reading, observation);
  return { plan: planPrompt(file, observed, compared, history.get(file.id)), history };
}

/**
 * Warns about the prompts and environments that only the base commit managed. promptsync no longer changes them. It
 * cannot delete a prompt, because the service's API has no call for that.
 */
function warnAboutLeftManagement(
  left: LeftManagement | null,
  { config, allFiles }: Pick<DesiredWorkspace, 'config' | 'allFiles'>,
  observation: Observation,
): readonly Problem[] {
  if (left === null) return [];
  const { ref: base, removedFiles, newPaths, removedPins } = left;
  const words = getProviderWords(config);
  const currentPaths = new Set(allFiles.map(({ path }) => path));
  const findFileState = (path: string): 'deleted' | 'unmatched' | 'other-id' => {
    if (currentPaths.has(path)) return 'other-id';
    return existsSync(join(dirname(config.file), path)) ? 'unmatched' : 'deleted';
  };
  return [
    ...removedFiles.map(({ id, key, path, pins }) => {
      const serves = describeServedVersions(id, pins, observation, words);
      const newPath = newPaths.get(id) ?? null;
      const evidence = { id, key, base, file: findFileState(path), newPath, pins: pins.map(describePin), serves };
      return makeProblem('prompt/gone', evidence, { path });
    }),
    ...removedPins.map(({ file: { id, path }, pins }) => {
      const serves = describeServedVersions(id, pins, observation, words);
      return makeProblem('pin/gone', { base, pins: pins.map(describePin), serves }, { path });
    }),
  ];
}

function describePin({ environment, pin }: EnvironmentPin): string {
  return `"${environment}" to "${formatPin(pin)}"`;
}

/** Returns a sentence, or an empty string if promptsync did not request the prompt. */
function describeServedVersions(
  id: string,
  pins: readonly EnvironmentPin[],
  observation: Observation,
  words: Words,
): string {
  const { service, environment: noun } = words;
  const failure = observation.failed.get(id);
  if (failure?.code === 'service/prompt-not-found') return `${capitalize(service)} no longer has the prompt.`;
  if (failure !== undefined) {
    const { message } = wordProblem(failure, words);
    return `promptsync cannot determine which versions ${service} still serves: ${message}`;
  }
  const observed = observation.observed.get(id);
  if (observed === undefined) return '';
  const active = pins.flatMap(({ environment }) => {
    const version = observed.active.get(environment) ?? null;
    return version === null ? [] : [`v${version.number} in "${environment}"`];
  });
  return active.length === 0
    ? `${capitalize(service)} serves no version in these ${noun}s.`
    : `${capitalize(service)} still serves ${joinWords(active, 'and')}.`;
}
