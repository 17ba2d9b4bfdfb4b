import type { Config } from '../config/config.ts';
import { NO_ACCEPTED_WARNINGS, ownAcceptedWarnings } from '../domain/accepted-warnings.ts';
import type { History } from '../domain/desired.ts';
import { readingOnly, type Observation, type Observed, type Wanted } from '../domain/observed.ts';
import { type Provider } from '../domain/provider.ts';
import type { Plan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { World } from '../domain/world.ts';
import { readDesired, type DesiredOptions, type ReadDesired } from '../desired/read-desired.ts';
import { recall } from '../desired/recall.ts';
import { openWorkspace, type WorkspaceOptions } from '../desired/workspace.ts';
import { assumeObservation, NO_PROVIDER } from '../observing/assume.ts';
import { type Needs, NO_NEEDS, observe, wantedOf } from '../observing/observe.ts';
import { makePlan, planPrompt } from '../planning/make-plan.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import {
  type AskingOptions,
  observing,
  type OpenProvider,
  openProvider,
  reasonNotToAsk,
  type ServiceOptions,
  serviceProblems,
} from './open-service.ts';
import { type CommandResult, notRun, resultOf } from './result.ts';

export type WalkOptions = WorkspaceOptions &
  DesiredOptions &
  ServiceOptions &
  AskingOptions & {
    /** What a command asks for beyond its prompts' pins; with a problem nothing is asked of the service. */
    readonly needs?: ((config: Config) => Needs & { readonly problems: readonly Problem[] }) | undefined;
  };

/** A plan with everything that it was made from. */
export type Walked = ReadDesired & {
  /** How reports call the service; null when it was not asked. */
  readonly service: string | null;
  readonly provider: Provider;
  readonly wantedFor: (file: PromptFile) => Wanted;
  readonly observation: Observation;
  readonly history: History;
  readonly plan: Plan;
};

/**
 * Reads files and git, observes the service, recalls the history of what differs, plans, and hands the plan over; the
 * service is closed afterwards. With an error in files, configuration or base nothing is asked of the service.
 */
export async function walk(
  mode: Run['mode'],
  options: WalkOptions,
  world: World,
  finish: (walked: Walked) => Promise<CommandResult>,
): Promise<CommandResult> {
  const workspace = await openWorkspace(options, world);
  const { config, files, problems } = workspace;
  const stop = (...reasons: readonly Problem[]) => {
    // A review that stops here has not read its base, so it silences no warning.
    const acceptedWarnings = options.base === undefined ? ownAcceptedWarnings(files, config) : NO_ACCEPTED_WARNINGS;
    return resultOf(notRun(mode, { files, acceptedWarnings, problems: [...problems, ...reasons] }), world);
  };
  if (config === null || problems.some(isError)) return stop();
  const { asking = 'always' } = options;
  const needs = options.needs?.(config) ?? { ...NO_NEEDS, problems: [] };
  const obstacles = [...needs.problems, ...(asking === 'always' ? serviceProblems(config, options, world) : [])];
  if (obstacles.length > 0) return stop(...obstacles);
  const desired = await readDesired({ ...workspace, config }, options);
  if ('code' in desired) return stop(desired);
  const reason = await reasonNotToAsk(options, desired, world);
  if (reason !== null) return finish(await planAssumed(desired, reason));
  const opened = await openProvider(desired, world, options);
  if ('problems' in opened) return stop(...opened.problems);
  try {
    return await finish(await planObserved(desired, opened, needs, world));
  } finally {
    await opened.close();
  }
}

async function planObserved(desired: ReadDesired, opened: OpenProvider, needs: Needs, world: World): Promise<Walked> {
  const { provider, name: service } = opened;
  const { files, base, config } = desired;
  const wantedFor = (file: PromptFile) => wantedOf(file, desired, needs);
  const namesIn = ({ pins }: PromptFile) => pins.map(({ environment }) => environment);
  const gone = (base?.gone ?? []).map((file) => readingOnly(file.id, namesIn(file)));
  const observation = await observe(provider, [...files.map(wantedFor), ...gone], observing(config, world));
  const problems = [...desired.problems, ...noneFound(files, observation, service)];
  return { ...(await planFrom({ ...desired, problems }, observation)), service, provider, wantedFor };
}

/** What is said of each prompt may be true; where it is said of all, it is more likely that the address is wrong. */
function noneFound(files: readonly PromptFile[], { failed }: Observation, service: string): readonly Problem[] {
  const all = files.length > 0 && files.every(({ id }) => failed.get(id)?.code === 'service/prompt-not-found');
  return all ? [makeProblem('service/none-found', { service })] : [];
}

/** Plans against what the service would hold were the base's files all in sync. */
async function planAssumed(read: ReadDesired, reason: Problem): Promise<Walked> {
  // Which number an environment serves is known only where the service is asked.
  const desired = { ...read, promotedFrom: new Map<string, string>(), problems: [...read.problems, reason] };
  const wantedFor = (file: PromptFile) => wantedOf(file, desired);
  const walked = await planFrom(desired, assumeObservation(desired, desired.config.rules));
  return { ...walked, service: null, provider: NO_PROVIDER, wantedFor };
}

async function planFrom(desired: ReadDesired, observation: Observation) {
  const history = await recall(desired.files, observation, desired);
  const plan = makePlan(desired, observation, history);
  return {
    ...desired,
    problems: [...desired.problems, ...goneProblems(desired, observation)],
    observation,
    history,
    plan,
  };
}

/** A run that has a plan and has written nothing so far. */
export function plannedRun(mode: Run['mode'], walked: Walked): Run {
  const { service, repository, files, acceptedWarnings, plan, narrowed, problems } = walked;
  const commit = repository?.head ?? null;
  const run = { mode, service, commit, files, acceptedWarnings, plan, outcomes: null, problems };
  return narrowed === null ? run : { ...run, narrowed: { since: narrowed.since, notLookedAt: narrowed.left.length } };
}

/** The plan of a file, of now or as it would be, once more from another observation. */
export async function planAgain(file: PromptFile, observed: Observed, walked: Walked) {
  const history = await recall([file], { observed: new Map([[file.id, observed]]) }, walked);
  return { plan: planPrompt(file, observed, walked, history), history };
}

/**
 * Warnings of prompts whose files are gone, with what is served of them still: the interface has no call that deletes a
 * prompt.
 */
function goneProblems({ base }: ReadDesired, observation: Observation): readonly Problem[] {
  if (base === null) return [];
  return base.gone.map(({ id, path }) => {
    return makeProblem('prompt/gone', { id, base: base.ref, serves: servedBy(id, observation) }, { path });
  });
}

function servedBy(id: string, observation: Observation): string {
  const failure = observation.failed.get(id);
  if (failure !== undefined) return `what it serves cannot be read: ${failure.message}`;
  const observed = observation.observed.get(id);
  if (observed === undefined) return 'the service keeps what it serves.';
  const active = [...observed.active].flatMap(([environment, version]) =>
    version === null ? [] : [`v${version.number} in "${environment}"`],
  );
  return active.length === 0
    ? 'no environment of it serves anything.'
    : `the service still serves ${active.join(', ')}.`;
}
