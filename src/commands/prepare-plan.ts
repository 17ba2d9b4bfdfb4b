import type { Config } from '../config/config.ts';
import type { Observation } from '../domain/observed.ts';
import type { Plan, Provenance } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { Repository } from '../git/repository.ts';
import { observe } from '../observing/observe.ts';
import { makePlan, type PlanRules } from '../planning/make-plan.ts';
import { pathsToCreate, withProvenance } from '../planning/with-provenance.ts';
import { isError, type Problem } from '../problem.ts';
import type { CallReport } from '../service/client.ts';
import { readContentsAtRefs } from './contents-at-refs.ts';
import { observeRequests } from './observe-files.ts';
import { openService, type OpenService } from './open-service.ts';
import { openRepositoryOf, openWorkspace, type WorkspaceOptions } from './workspace.ts';
import type { World } from './world.ts';

export type PrepareOptions = WorkspaceOptions & { readonly onCall?: ((call: CallReport) => void) | undefined };

/** A plan with everything that it was made from. */
export type Prepared = {
  readonly config: Config;
  readonly files: readonly PromptFile[];
  readonly repository: Repository | null;
  readonly service: OpenService;
  readonly rules: PlanRules;
  readonly plan: Plan;
  /** What git knows of the files that a version is to be made of, by path. */
  readonly provenance: ReadonlyMap<string, Provenance>;
  /** Paths of files that differ from HEAD: all those that may be written from. Empty outside of git. */
  readonly uncommitted: ReadonlySet<string>;
  /** Warnings. */
  readonly problems: readonly Problem[];
};

/** Why there is no plan. */
export type NotPrepared = { readonly files: readonly PromptFile[]; readonly problems: readonly Problem[] };

/**
 * Reads files, git and service, plans, and hands the plan over; the service is closed afterwards. With an error in
 * files or configuration nothing is asked of the service.
 */
export async function withPlan<Result>(
  options: PrepareOptions,
  world: World,
  use: (prepared: Prepared) => Promise<Result>,
  giveUp: (reason: NotPrepared) => Result,
): Promise<Result> {
  const { config, files, problems } = await openWorkspace(options, world);
  if (config === null || problems.some(isError)) return giveUp({ files, problems });
  const { opened, problems: serviceProblems } = await openService(config, files, world, options.onCall);
  if (opened === null) return giveUp({ files, problems: [...problems, ...serviceProblems] });
  try {
    const repository = await openRepositoryOf(config);
    return await use({ ...(await preparePlan(config, files, repository, opened, world)), problems });
  } finally {
    await opened.close();
  }
}

async function preparePlan(
  config: Config,
  files: readonly PromptFile[],
  repository: Repository | null,
  service: OpenService,
  world: World,
): Promise<Omit<Prepared, 'problems'>> {
  const contentsAtRefs = await readContentsAtRefs(files, repository);
  const rules = rulesOf(config, contentsAtRefs);
  const observation = await observeFiles(config, files, contentsAtRefs, service, world);
  const plan = makePlan(files, observation, rules);
  const paths = plan.prompts.filter(({ status }) => status !== 'unchanged').map(({ file }) => file.path);
  const uncommitted =
    paths.length === 0 ? new Set<string>() : ((await repository?.uncommitted(paths)) ?? new Set<string>());
  const committed = pathsToCreate(plan).filter((path) => !uncommitted.has(path));
  const provenance = (await repository?.lastCommits(committed)) ?? new Map<string, Provenance>();
  const described = withProvenance(plan, provenance);
  return { config, files, repository, service, rules, plan: described, provenance, uncommitted };
}

async function observeFiles(
  { trackingEnvironment, concurrency }: Config,
  files: readonly PromptFile[],
  contentsAtRefs: PlanRules['contentsAtRefs'],
  { service }: OpenService,
  { onProgress, stop }: World,
): Promise<Observation> {
  return observe(service, observeRequests(files, contentsAtRefs), {
    trackingEnvironment,
    concurrency,
    stop,
    onObserved: (done, all) => onProgress({ what: 'Observing', done, all }),
  });
}

function rulesOf(
  { environments, trackingEnvironment }: Config,
  contentsAtRefs: PlanRules['contentsAtRefs'],
): PlanRules {
  return {
    environmentOrder: environments?.map(({ name }) => name) ?? null,
    latestForbidden: (environments ?? []).filter(({ allowLatest }) => !allowLatest).map(({ name }) => name),
    trackingEnvironment,
    contentsAtRefs,
  };
}
