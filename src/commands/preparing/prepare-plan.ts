import type { Config } from '../../config/config.ts';
import type { ObserveRequest } from '../../domain/observed.ts';
import type { Plan, Provenance } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { Repository } from '../../git/repository.ts';
import { assumedService, withoutAssumedNumbers } from '../../observing/assumed-service.ts';
import { joinPlans, planPrompt, type PlanRules } from '../../planning/make-plan.ts';
import { isSettled } from '../../planning/settled.ts';
import { pathsToCreate, withProvenance } from '../../planning/with-provenance.ts';
import { isError, type Problem } from '../../problem.ts';
import { goneProblems } from './gone-prompts.ts';
import { observeAndPlan } from './observe-and-plan.ts';
import { observeRequests } from './observe-files.ts';
import { rulesOf, withHistory } from './plan-rules.ts';
import type { AskingOptions } from './may-ask.ts';
import { readSources, type Sources } from './read-sources.ts';
import {
  openService,
  serviceProblems,
  type OpenService,
  type OpenServiceResult,
  type ServiceOptions,
} from '../open-service.ts';
import type { Narrowed } from '../changed-since.ts';
import { openWorkspace, type WorkspaceOptions } from '../workspace.ts';
import type { World } from '../world.ts';

export type PrepareOptions = WorkspaceOptions &
  ServiceOptions &
  AskingOptions & {
    /** The ref that drift is told by. */
    readonly base?: string | undefined;
    /** What a command asks for beyond its prompts' pins; with a problem nothing is asked of the service. */
    readonly needs?: ((config: Config) => Needs) | undefined;
    /** Whether the plan is to be written: then it is asked early which files are committed. */
    readonly applies?: boolean | undefined;
    /** Whether texts and ledgers of prompts are kept that nothing is to be done for. */
    readonly keepsAll?: boolean | undefined;
  };

export type Needs = {
  readonly problems: readonly Problem[];
  /** Environments that are read of every prompt, pinned or not. */
  readonly alsoRead: readonly string[];
};

/** A plan with everything that it was made from. */
export type Prepared = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly repository: Repository | null;
  readonly service: OpenService;
  readonly rules: PlanRules;
  /** By prompt id: what was asked of the service. */
  readonly requests: ReadonlyMap<string, ObserveRequest>;
  readonly plan: Plan;
  /** What git knows of the files that a version is to be made of, by path. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** Paths of files that differ from HEAD, of all selected prompts. Empty outside of git, and on a dry run without changes. */
  readonly uncommitted: ReadonlySet<string>;
  /** What was left out as unchanged; null where nothing was to be left out. */
  readonly narrowed: Narrowed | null;
  /** Warnings. */
  readonly problems: readonly Problem[];
};

/** Why there is no plan. */
export type NotPrepared = { readonly files: readonly PromptFile[]; readonly problems: readonly Problem[] };

/**
 * Reads files, git and service, plans, and hands the plan over; the service is closed afterwards. With an error in
 * files, configuration or base nothing is asked of the service.
 */
export async function withPlan<Result>(
  options: PrepareOptions,
  world: World,
  use: (prepared: Prepared) => Promise<Result>,
  giveUp: (reason: NotPrepared) => Result,
): Promise<Result> {
  const { config, files, problems, narrowed } = await openWorkspace({ ...options, late: lateOf(options) }, world);
  if (config === null || problems.some(isError)) return giveUp({ files, problems });
  const needs = options.needs?.(config) ?? { problems: [], alsoRead: [] };
  const unanswerable = (options.asking ?? 'always') === 'always' ? serviceProblems(config, options, world) : [];
  const early = [...needs.problems, ...unanswerable];
  if (early.length > 0) return giveUp({ files, problems: [...problems, ...early] });
  const sources = await readSources({ config, files, problems, narrowed, alsoRead: needs.alsoRead }, options, world);
  if ('code' in sources) return giveUp({ files, problems: [...problems, sources] });
  const rules = await rulesOf(sources);
  const { opened, problems: obstacles } = sources.asked
    ? await openService(config, files, world, options)
    : assumeService(sources, rules);
  if (opened === null) return giveUp({ files, problems: [...problems, ...obstacles] });
  try {
    return await use(await preparePlan({ ...sources, applies: options.applies === true }, rules, opened, world));
  } finally {
    await opened.close();
  }
}

/** What edits files needs their texts while it changes them. */
function lateOf({ keepsAll }: PrepareOptions): PrepareOptions['late'] {
  return keepsAll === true ? undefined : 'text';
}

/** What there is to plan against where the service is not asked. */
function assumeService(
  { files, base }: Sources,
  { contentsAtRefs, trackingEnvironment }: PlanRules,
): OpenServiceResult {
  const known = { files, base: base?.files ?? new Map(), contentsAtRefs, trackingEnvironment };
  return { opened: { service: assumedService(known), name: null, close: async () => {} }, problems: [] };
}

async function preparePlan(
  sources: Sources & { readonly applies: boolean },
  given: PlanRules,
  service: OpenService,
  world: World,
): Promise<Prepared> {
  const { config, files, repository, narrowed, problems, applies } = sources;
  // While the service answers, a file may be put back as it was committed: what counts is what was read.
  const early = applies ? uncommittedOf(sources) : null;
  early?.catch(() => {});
  const { plan, rules, requests } = await makeRuledPlan(sources, given, service, world);
  const writes = plan.prompts.some(({ status }) => status !== 'unchanged');
  const uncommitted = await (early ?? (writes ? uncommittedOf(sources) : new Set<string>()));
  const committed = pathsToCreate(plan).filter((path) => !uncommitted.has(path));
  const provenance = (await repository?.lastCommits(committed)) ?? new Map<string, Provenance>();
  const described = withProvenance(sources.asked ? plan : withoutAssumedNumbers(plan), provenance);
  const byId = new Map(requests.map((request) => [request.promptId, request]));
  return {
    config,
    files,
    repository,
    service,
    rules,
    requests: byId,
    plan: described,
    provenance,
    uncommitted,
    narrowed,
    problems: [...problems, ...(await goneSince(sources, service, world))],
  };
}

async function uncommittedOf({ files, repository }: Sources): Promise<ReadonlySet<string>> {
  if (repository === null || files.length === 0) return new Set();
  return repository.uncommitted(files.map(({ path }) => path));
}

async function goneSince({ base, asked, config }: Sources, { service }: OpenService, { stop }: World) {
  if (base === null) return [];
  const { concurrency } = config;
  return goneProblems(base.gone, { service: asked ? service : null, base: base.ref, concurrency, stop });
}

/** The rules may ask for what git knows, once a first plan shows of which prompts; the others stay as they were planned. */
async function makeRuledPlan(sources: Sources, rules: PlanRules, { service }: OpenService, world: World) {
  const requests = observeRequests(sources.files, rules, sources.alsoRead);
  const first = await observeAndPlan({ ...sources, requests, rules }, service, world);
  const told = await withHistory(first, rules, sources);
  if (told === rules) return { plan: first, rules, requests };
  const again = first.prompts.map((prompt) => {
    const { file, observed } = prompt;
    return observed === null || isSettled(prompt) ? prompt : planPrompt(file, observed, told);
  });
  return { plan: joinPlans(again), rules: told, requests };
}
