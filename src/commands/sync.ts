import { applyPlan, isIdle } from '../applying/apply-plan.ts';
import type { Plan, PromptOutcome } from '../domain/plan.ts';
import type { MaxChanges, OnDrift } from '../domain/policy.ts';
import { isContinuousIntegration, type System } from '../domain/system.ts';
import {
  guardPlan,
  guardFreshPlan,
  type GuardSettings,
  makeUncommittedEvidence,
  type RefusePrompt,
} from '../planning/guard-plan.ts';
import { findAffectedPrompts } from '../planning/find-affected-prompts.ts';
import { collectTextChanges } from '../planning/collect-text-changes.ts';
import { sortByPlace, makeProblem, type Problem } from '../problem.ts';
import type { Report } from '../report/schema/report-schema.ts';
import { describeApplyQuestion } from '../report/apply-question.ts';
import { joinCodeNames } from '../text.ts';
import { makeReport } from '../report/make-report.ts';
import { checkMergedAndUpToDate, type MergeCheckOptions, checkUpToDate } from '../run/check-merged-and-up-to-date.ts';
import { addNamedEnvironments, type CommandResult, type CommandRun, makeStoppedResult } from '../run/command-result.ts';
import { makeCommandResult } from '../run/exit-code.ts';
import {
  replanPrompt,
  makePlannedRun,
  runWithPlan,
  type PlannedWorkspace,
  type PlanningOptions,
} from '../run/run-with-plan.ts';

export type SyncOptions = PlanningOptions &
  MergeCheckOptions & {
    readonly dryRun: boolean;
    /** Whether to apply the plan without asking the user for confirmation. */
    readonly yes: boolean;
    /** Whether a dry run with pending changes exits with code 2. */
    readonly exitCode: boolean;
    /** The digest of the only plan to apply, or at least its first 12 digits. Undefined accepts any plan. */
    readonly expectPlan?: string | undefined;
    /** Whether to refuse a write if the prompt changed in the service and its new plan differs from this run's. */
    readonly onlyThisPlan?: boolean | undefined;
    /** Overrides `max_changes` of the configuration. */
    readonly maxChanges?: MaxChanges | undefined;
    /** Overrides `on_drift` of the configuration. */
    readonly onDrift?: OnDrift | undefined;
    /** Whether prompt files may differ from HEAD. */
    readonly allowDirty: boolean;
    /** An additional guard of an apply, such as the review check of the GitHub Action. */
    readonly makeRefusal?: ((workspace: PlannedWorkspace) => Promise<RefusePrompt>) | undefined;
    /** Renders the plan for the confirmation question. If it is undefined, the question shows no plan. */
    readonly renderPlan?: ((plan: PlanToConfirm) => Promise<string>) | undefined;
  };

/** The report of a plan that the user must confirm. The paths in the report are relative to `folder`. */
export type PlanToConfirm = { readonly report: Report; readonly folder: string };

export async function syncPrompts(options: SyncOptions, system: System): Promise<CommandResult> {
  return addNamedEnvironments(await planAndApply(options, system), options);
}

async function planAndApply(options: SyncOptions, system: System): Promise<CommandResult> {
  const mode = options.dryRun ? 'dry-run' : 'apply';
  const missingFlags = options.contactPolicy === 'offline' ? listFlagsMissingOffline(options) : [];
  if (missingFlags.length > 0) {
    const reason = `\`--offline\` requires ${joinCodeNames(missingFlags, 'and')}.`;
    return makeStoppedResult(mode, makeProblem('usage/invalid', { reason }));
  }
  const cannotAsk = !options.dryRun && mustConfirm(options, system) && system.confirm === null;
  if (cannotAsk) return makeStoppedResult(mode, makeProblem('usage/confirmation-needed'));
  return runWithPlan(mode, { ...options, defaultBase: 'live' }, system, (workspace) =>
    guardAndApply(workspace, options, system),
  );
}

/** Returns the flags that `--offline` requires and that the user did not pass. `plan` is always a dry run. */
function listFlagsMissingOffline({ dryRun, base }: SyncOptions): readonly string[] {
  return [...(dryRun ? [] : ['--dry-run']), ...(base === undefined ? ['--base'] : [])];
}

/** A dry run ends after the guards. Otherwise, asks for confirmation if necessary, and applies the plan. */
async function guardAndApply(
  workspace: PlannedWorkspace,
  options: SyncOptions,
  system: System,
): Promise<CommandResult> {
  const guards = makeGuardSettings(workspace, options, system);
  const plan = guardPlan(workspace.plan, guards);
  const warnings = [...warnAboutUncommittedFiles(workspace, options), ...warnAboutMissingBase(workspace, guards)];
  const problems = sortByPlace([...workspace.problems, ...warnings]);
  const texts = collectTextChanges(plan.prompts, workspace, workspace.history);
  const affected = findAffectedPrompts(plan.prompts, workspace.allFiles, workspace.config.rules.listParts);
  const plannedRun = { ...makePlannedRun('dry-run', { ...workspace, plan, problems }), texts, affected };
  if (options.dryRun) return makeCommandResult(plannedRun, system, options.exitCode);
  // The report comes after the changes. That is too late for a warning about a guard that does not work.
  if (hasChangesToApply(plan))
    warnAboutMissingBase(workspace, guards).forEach(({ message }) => system.printNotice(message));
  const mustAsk = hasChangesToApply(plan) && mustConfirm(options, system);
  const { folder } = workspace.config;
  const shownReport = mustAsk ? makeReport(plannedRun) : undefined;
  if (shownReport !== undefined && !(await askToApply({ report: shownReport, folder }, options, system))) {
    const declined = [...problems, makeProblem('usage/declined')];
    const run = { ...plannedRun, mode: 'apply', plan: null, problems: declined } as const;
    return { ...makeCommandResult(run, system), shownReport };
  }
  const applied = await applyIfUpToDate(plan, guards, workspace, options, system);
  const run = { ...plannedRun, mode: 'apply', ...applied, problems: [...problems, ...applied.problems] } as const;
  return { ...makeCommandResult(run, system), shownReport };
}

/** Refuses to write unless the commit is merged and up to date. Warns if newer commits arrived during the writes. */
async function applyIfUpToDate(
  guardedPlan: Plan,
  guards: GuardSettings,
  workspace: PlannedWorkspace,
  options: SyncOptions,
  system: System,
): Promise<Pick<CommandRun, 'plan' | 'outcomes' | 'problems'>> {
  // Run this check after the confirmation, because the user may take hours to confirm. Skip the check if there is
  // nothing to apply and no refusal that a stale clone could explain. promptsync then does not contact the remote.
  const problems = needsNewestCommit(guardedPlan) ? await checkMergedAndUpToDate(workspace, options) : [];
  const isStale = problems.some(({ code }) => code === 'guard/superseded');
  // In a stale clone, newer commits may explain the drift or a promotion problem. So report only the stale clone.
  const onDrift = isStale ? 'overwrite' : guards.onDrift;
  const unguardedPlan = isStale ? omitPromotionProblems(workspace.plan) : workspace.plan;
  const refuse = problems.length > 0 ? () => problems : await makeAdditionalRefusal(guardedPlan, workspace, options);
  const plan = guardPlan(unguardedPlan, { ...guards, onDrift, ...(refuse && { refuse }) });
  const outcomes = await applyGuardedPlan(plan, guards, workspace, system);
  const hasWritten = outcomes.some(({ changes }) => changes.some(({ status }) => status !== 'not_made'));
  const warnings = hasWritten && !system.stopSignal.aborted ? await checkUpToDate(workspace, options) : [];
  return { plan, outcomes, problems: warnings };
}

function needsNewestCommit(plan: Plan): boolean {
  return hasChangesToApply(plan) || plan.prompts.some(({ problems }) => problems.some(isRefusalOfStaleClone));
}

/** Whether a stale clone can be the reason for the refusal. */
function isRefusalOfStaleClone({ code }: Problem): boolean {
  return code === 'guard/drift' || code === PROMOTION_ORDER_CODE;
}

const PROMOTION_ORDER_CODE = 'guard/promotion-order';

/** Removes the problems with promotion order. The prompts keep their status, so they remain blocked. */
function omitPromotionProblems(plan: Plan): Plan {
  const prompts = plan.prompts.map((prompt) => {
    return { ...prompt, problems: prompt.problems.filter(({ code }) => code !== PROMOTION_ORDER_CODE) };
  });
  return { ...plan, prompts };
}

/** Returns the guard from `makeRefusal`. Returns undefined if there is no such guard or nothing to write. */
async function makeAdditionalRefusal(
  plan: Plan,
  workspace: PlannedWorkspace,
  { makeRefusal }: SyncOptions,
): Promise<RefusePrompt | undefined> {
  return hasChangesToApply(plan) ? makeRefusal?.(workspace) : undefined;
}

function makeGuardSettings(workspace: PlannedWorkspace, options: SyncOptions, system: System): GuardSettings {
  const { config, repository, uncommitted, plan, skipped } = workspace;
  // The user's confirmation is valid only for the plan that the user saw.
  const isBoundToPlan = options.onlyThisPlan === true || (!options.dryRun && mustConfirm(options, system));
  return {
    onDrift: options.onDrift ?? config.onDrift,
    portablePins: config.portablePins,
    maxChanges: options.maxChanges ?? config.maxChanges,
    notLookedAt: skipped?.prompts.length ?? 0,
    expectedPlan: options.expectPlan ?? (isBoundToPlan ? plan.digest : null),
    uncommitted: options.dryRun || options.allowDirty ? new Set() : uncommitted,
    findSubmodule: repository?.findSubmodule,
  };
}

/** A dry run accepts uncommitted files, so that users can try out their edits, but an apply would refuse them. */
function warnAboutUncommittedFiles(
  { plan, uncommitted, repository }: PlannedWorkspace,
  options: SyncOptions,
): readonly Problem[] {
  if (!options.dryRun || options.allowDirty) return [];
  return plan.prompts
    .filter(({ status, file }) => status === 'pending' && uncommitted.has(file.path))
    .map(({ file }) => {
      const evidence = makeUncommittedEvidence(file, repository?.findSubmodule);
      return makeProblem('git/uncommitted', evidence, { path: file.path });
    });
}

/** Warns if `on_drift` is `fail` but there is no base, because the guard then has no effect. */
export function warnAboutMissingBase(
  { lacksBase }: PlannedWorkspace,
  { onDrift }: Pick<GuardSettings, 'onDrift'>,
): readonly Problem[] {
  return onDrift === 'fail' && lacksBase ? [makeProblem('config/drift-needs-base')] : [];
}

/** Returns true if an apply has work to do: changes to write, or pinned versions to find in the service. */
export function hasChangesToApply({ prompts }: Plan): boolean {
  return !prompts.every(isIdle);
}

export function mustConfirm({ yes }: Pick<SyncOptions, 'yes'>, system: Pick<System, 'environment'>): boolean {
  return !yes && !isContinuousIntegration(system);
}

/** Shows a plan and asks the user to confirm it. Returns false if the user declines or interrupts the question. */
export async function askToApply(
  plan: PlanToConfirm,
  { renderPlan }: Pick<SyncOptions, 'renderPlan'>,
  system: System,
): Promise<boolean> {
  if (renderPlan !== undefined) system.printNotice(await renderPlan(plan));
  return (await system.confirm?.(describeApplyQuestion(plan.report))) ?? false;
}

/** The maximum pause, in milliseconds, after another run has created a version of the same prompt. */
const MAX_PAUSE_MS = 1_000;

/** Writes a guarded plan to the service. Plans a prompt again with the same guards if it has changed meanwhile. */
export async function applyGuardedPlan(
  plan: Plan,
  guards: GuardSettings,
  workspace: PlannedWorkspace,
  system: System,
): Promise<readonly PromptOutcome[]> {
  const { provider, makeRequestFor, config } = workspace;
  return applyPlan(plan, provider, {
    getReadRequest: ({ file }) => makeRequestFor(file),
    planAgain: async (planned, observed) => {
      const fresh = await replanPrompt(planned.file, observed, workspace);
      return guardFreshPlan(fresh.plan, planned, guards);
    },
    isReviewed: guards.expectedPlan !== null,
    listParts: config.rules.listParts,
    concurrency: config.concurrency,
    pause: () => system.sleep(system.random() * MAX_PAUSE_MS),
    stop: system.stopSignal,
    onApplied: (_, done) => system.onProgress({ phase: 'Applying', done, total: plan.prompts.length }),
  });
}
