import { applyPlan } from '../applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../domain/plan.ts';
import type { MaxChanges, OnDrift } from '../domain/policy.ts';
import { isContinuousIntegration, type World } from '../domain/world.ts';
import { guardPlan, guardFreshPlan, type GuardSettings, type RefusePrompt } from '../planning/guard-plan.ts';
import { collectTextChanges } from '../planning/collect-text-changes.ts';
import { sortByPlace, makeProblem, type Problem } from '../problem.ts';
import type { Report } from '../report/schema.ts';
import { makeReport } from './make-report.ts';
import { checkMergedAndUpToDate, type MergeCheckOptions, checkUpToDate } from './check-merged-and-up-to-date.ts';
import { type CommandResult, type CommandRun, makeStoppedResult, makeCommandResult } from './result.ts';
import {
  replanPrompt,
  makePlannedRun,
  runWithPlan,
  type PlannedWorkspace,
  type PlanningOptions,
} from './run-with-plan.ts';

export type SyncOptions = PlanningOptions &
  MergeCheckOptions & {
    readonly dryRun: boolean;
    /** Applies the plan without asking the user for confirmation. */
    readonly yes: boolean;
    /** A dry run with pending changes exits with 2. */
    readonly exitCode: boolean;
    /** The digest of the plan that the user expects. promptsync applies no other plan. Undefined allows any plan. */
    readonly expectPlan?: string | undefined;
    /** Refuses to write a prompt if its plan, made again right before the write, differs from the plan of this run. */
    readonly onlyThisPlan?: boolean | undefined;
    /** Overrides `max_changes` of the configuration. */
    readonly maxChanges?: MaxChanges | undefined;
    /** Overrides `on_drift` of the configuration. */
    readonly onDrift?: OnDrift | undefined;
    /** Allows prompt files that differ from HEAD. */
    readonly allowDirty: boolean;
    /** Makes an additional guard, such as the review check of the GitHub Action. A dry run does not use the guard. */
    readonly makeRefusal?: ((workspace: PlannedWorkspace) => Promise<RefusePrompt>) | undefined;
    /** Renders the plan for the confirmation question. Without it, the question shows no plan. */
    readonly renderPlan?: ((plan: PlanToConfirm) => Promise<string>) | undefined;
  };

/** The report of a plan that the user should confirm. Its paths are relative to the folder. */
export type PlanToConfirm = { readonly report: Report; readonly folder: string };

/** Makes a plan, and applies it unless this is a dry run. */
export async function syncPrompts(options: SyncOptions, world: World): Promise<CommandResult> {
  const mode = options.dryRun ? 'dry-run' : 'apply';
  if (options.askPolicy === 'offline' && !(options.dryRun && options.base !== undefined)) {
    return makeStoppedResult(mode, makeProblem('usage/invalid', { reason: '--offline needs a dry run and --base.' }));
  }
  const cannotAsk = !options.dryRun && mustConfirm(options, world) && world.confirm === null;
  if (cannotAsk) return makeStoppedResult(mode, makeProblem('usage/confirmation-needed'));
  return runWithPlan(mode, options, world, (workspace) => guardAndApply(workspace, options, world));
}

/**
 * Guards the plan. A dry run ends there. Otherwise asks the user for confirmation, if necessary, and applies the plan.
 */
async function guardAndApply(workspace: PlannedWorkspace, options: SyncOptions, world: World): Promise<CommandResult> {
  const guards = makeGuardSettings(workspace, options);
  const plan = guardPlan(workspace.plan, guards);
  // Without a base there is no drift to find, so the guard `on_drift: fail` would have no effect.
  const lacksBase = guards.onDrift === 'fail' && options.base === undefined;
  const baseWarnings = lacksBase ? [makeProblem('config/drift-needs-base')] : [];
  const warnings = [...warnAboutUncommittedFiles(workspace, options), ...baseWarnings];
  const problems = sortByPlace([...workspace.problems, ...warnings]);
  const texts = collectTextChanges(plan.prompts, workspace, workspace.history);
  const plannedRun = { ...makePlannedRun('dry-run', { ...workspace, plan, problems }), texts };
  if (options.dryRun) return makeCommandResult(plannedRun, world, options.exitCode);
  const mustAsk = hasChangesToApply(plan) && mustConfirm(options, world);
  const { folder } = workspace.config;
  const shownReport = mustAsk ? makeReport(plannedRun) : undefined;
  if (shownReport !== undefined && !(await askToApply({ report: shownReport, folder }, options, world))) {
    const declined = [...problems, makeProblem('usage/declined')];
    const run = { ...plannedRun, mode: 'apply', plan: null, problems: declined } as const;
    return { ...makeCommandResult(run, world), shownReport };
  }
  const applied = await applyIfUpToDate(plan, guards, workspace, options, world);
  const run = { ...plannedRun, mode: 'apply', ...applied, problems: [...problems, ...applied.problems] } as const;
  return { ...makeCommandResult(run, world), shownReport };
}

/**
 * Applies a plan that passed the guards. Refuses to write if the commit is not merged and up to date. After the writes,
 * it warns if the branch got newer commits meanwhile.
 */
async function applyIfUpToDate(
  guardedPlan: Plan,
  guards: GuardSettings,
  workspace: PlannedWorkspace,
  options: SyncOptions,
  world: World,
): Promise<Pick<CommandRun, 'plan' | 'outcomes' | 'problems'>> {
  // This check comes after the confirmation, because the user may confirm hours later. If there are no changes to
  // apply, it is skipped, and promptsync does not contact the remote.
  const refuse = hasChangesToApply(guardedPlan) ? await makeWriteGuard(workspace, options) : undefined;
  const plan = guardPlan(workspace.plan, { ...guards, ...(refuse && { refuse }) });
  const outcomes = await applyGuardedPlan(plan, guards, workspace, world);
  const hasWritten = outcomes.some(({ changes }) => changes.some(({ status }) => status !== 'not_made'));
  const problems = hasWritten && !world.stopSignal.aborted ? await checkUpToDate(workspace, options) : [];
  return { plan, outcomes, problems };
}

/**
 * Makes the guard for writes. If the commit is not merged and up to date, the guard refuses all prompts. Otherwise it
 * is the guard of the caller, or undefined if the caller has none.
 */
async function makeWriteGuard(workspace: PlannedWorkspace, options: SyncOptions): Promise<RefusePrompt | undefined> {
  const problems = await checkMergedAndUpToDate(workspace, options);
  return problems.length > 0 ? () => problems : options.makeRefusal?.(workspace);
}

function makeGuardSettings(workspace: PlannedWorkspace, options: SyncOptions): GuardSettings {
  const { config, uncommitted, plan, skipped } = workspace;
  return {
    onDrift: options.onDrift ?? config.onDrift,
    maxChanges: options.maxChanges ?? config.maxChanges,
    notLookedAt: skipped?.prompts.length ?? 0,
    expectedPlan: options.expectPlan ?? (options.onlyThisPlan === true ? plan.digest : null),
    uncommitted: options.dryRun || options.allowDirty ? new Set() : uncommitted,
  };
}

/**
 * Returns the warnings of a dry run about files with uncommitted changes. A dry run does not refuse such files, because
 * users try their edits with it. An apply will refuse them.
 */
function warnAboutUncommittedFiles({ plan, uncommitted }: PlannedWorkspace, options: SyncOptions): readonly Problem[] {
  if (!options.dryRun || options.allowDirty) return [];
  return plan.prompts
    .filter(({ status, file }) => status === 'pending' && uncommitted.has(file.path))
    .map(({ file }) => makeProblem('git/uncommitted', {}, { path: file.path }));
}

/** True if an apply has work to do: changes to write, or pinned versions to find in the service. */
function hasChangesToApply({ prompts }: Plan): boolean {
  return prompts.some(({ status, pinsToFind }) => status === 'pending' || pinsToFind.length > 0);
}

function mustConfirm({ yes }: SyncOptions, world: World): boolean {
  return !yes && !isContinuousIntegration(world);
}

async function askToApply(plan: PlanToConfirm, { renderPlan }: SyncOptions, world: World): Promise<boolean> {
  if (renderPlan !== undefined) world.printNotice(await renderPlan(plan));
  return (await world.confirm?.('Apply these changes?')) ?? false;
}

async function applyGuardedPlan(
  plan: Plan,
  guards: GuardSettings,
  workspace: PlannedWorkspace,
  world: World,
): Promise<readonly PromptOutcome[]> {
  const { provider, makeRequestFor, config } = workspace;
  return applyPlan(plan, provider, {
    wantedFor: ({ file }) => makeRequestFor(file),
    planAgain: async (planned, observed) => {
      const fresh = await replanPrompt(planned.file, observed, workspace);
      return guardFreshPlan(fresh.plan, planned, guards);
    },
    isReviewed: guards.expectedPlan !== null,
    concurrency: config.concurrency,
    stop: world.stopSignal,
    onApplied: (_, done) => world.onProgress({ phase: 'Applying', done, total: plan.prompts.length }),
  });
}
