import { makeGitSettings } from '../../workspace/config.ts';
import type { FileEdit } from '../../domain/edits.ts';
import { computePlanDigest, isObserved, type Plan, type PromptOutcome, type PromptPlan } from '../../domain/plan.ts';
import type { PromptFile } from '../../domain/prompt-file.ts';
import type { System } from '../../domain/system.ts';
import type { WorkspaceLock } from '../../workspace/lock-workspace.ts';
import { openCommitter } from '../../git/open-committer.ts';
import type { Repository } from '../../git/open-repository.ts';
import { NO_PLANNING_HISTORY } from '../../history/prompt-history.ts';
import { readContentsAtRefs } from '../../history/read-at-commit.ts';
import { collectTextChanges } from '../../planning/collect-text-changes.ts';
import { findAffectedPrompts } from '../../planning/find-affected-prompts.ts';
import { guardPlan, type GuardSettings, makeUncommittedEvidence } from '../../planning/guard-plan.ts';
import { isError, makeProblem, type Problem } from '../../problem.ts';
import { checkForNewerFiles } from '../../run/check-merged-and-up-to-date.ts';
import { commitRollback, type CommittedRollback, type RollbackTarget } from './commit-rollback.ts';
import {
  draftPrompt,
  type EditCommand,
  type EditOptions,
  makeDraftWithoutEdits,
  type PromptDraft,
  refuseUncommitted,
} from '../../editing/edit-files.ts';
import { makeReport } from '../../report/make-report.ts';
import { type CommandResult, type CommandRun, makeStoppedResult } from '../../run/command-result.ts';
import { makeCommandResult } from '../../run/exit-code.ts';
import { makeRollbackBranchName, readRollbackSteps } from './rollback-branch.ts';
import {
  makePlannedRun,
  type PlannedWorkspace,
  type PromptReplan,
  replanPrompt,
  runWithPlan,
} from '../../run/run-with-plan.ts';
import {
  applyGuardedPlan,
  askToApply,
  hasChangesToApply,
  mustConfirm,
  type SyncOptions,
  warnAboutMissingBase,
} from '../sync.ts';
import { withWorkspaceLock } from '../../run/with-workspace-lock.ts';

type RollbackNowOptions = EditOptions &
  Pick<SyncOptions, 'yes' | 'renderPlan'> & {
    readonly environment: string;
    readonly to?: number | undefined;
  };

/**
 * Edits the pins of one environment, commits them on a new branch, and activates the versions. Changes nothing before
 * the user has confirmed the plan, and never another environment or a field. Creates no version.
 */
export async function rollBackNow(
  command: EditCommand,
  options: RollbackNowOptions,
  system: System,
): Promise<CommandResult> {
  if (!options.dryRun && mustConfirm(options, system) && system.confirm === null) {
    return makeStoppedResult('rollback', makeProblem('usage/confirmation-needed'));
  }
  const { findNeeds } = command;
  return withWorkspaceLock('rollback', options, system, (configuration, lock) => {
    const planningOptions = { ...options, configuration, findNeeds, defaultBase: 'live' } as const;
    return runWithPlan('rollback', planningOptions, system, async (workspace) => {
      const rollback = await planRollback(command, options, workspace);
      return finishRollback(rollback, command, { options, lock }, system);
    });
  });
}

type PlannedRollback = {
  /** The workspace, limited to activations in the environment. Its plan is the guarded plan of the edited files. */
  readonly workspace: PlannedWorkspace;
  readonly guards: GuardSettings;
  readonly drafts: readonly PromptDraft[];
  readonly run: CommandRun;
};

/** Drafts the edits, and plans the activations that the edited files would cause. Writes nothing. */
async function planRollback(
  command: EditCommand,
  options: RollbackNowOptions,
  planned: PlannedWorkspace,
): Promise<PlannedRollback> {
  const { config, repository, uncommitted } = planned;
  // Newer commits affect only which version is the previous one, so do not look for them if the user chose the version.
  const remoteProblems = options.to === undefined ? await checkForNewerFiles(planned, options) : [];
  const drafts = await draftRollbacks(command, remoteProblems.filter(isError), planned);
  const limited = await limitToActivations(options.environment, drafts, planned);
  const replans = await Promise.all(
    planned.plan.prompts.map((prompt) => planDraft(prompt, findDraft(prompt, drafts), limited)),
  );
  const prompts = replans.map(({ plan }) => plan);
  const unguarded = { prompts, digest: computePlanDigest(prompts) };
  const guards: GuardSettings = {
    onDrift: config.onDrift,
    portablePins: config.portablePins,
    maxChanges: config.maxChanges,
    isRollback: true,
    expectedPlan: unguarded.digest,
    uncommitted: new Set(),
    // Refuses uncommitted files here, because the usual guard would suggest a flag that `rollback` does not have.
    refuse: ({ file }) => (uncommitted.has(file.path) ? [makeUncommittedProblem(file, repository)] : []),
  };
  const plan = guardPlan(unguarded, guards);
  const warnings = [...remoteProblems.filter((one) => !isError(one)), ...warnAboutMissingBase(planned, guards)];
  const history = new Map(replans.flatMap((replan) => [...replan.history]));
  const workspace = { ...limited, plan, problems: [...planned.problems, ...warnings], history };
  const acceptedDrafts = keepPendingDrafts(drafts, plan);
  return {
    workspace,
    guards,
    drafts: acceptedDrafts,
    run: {
      ...makePlannedRun('rollback', workspace),
      edits: mapEdits(acceptedDrafts),
      texts: collectTextChanges(plan.prompts, workspace, history),
      affected: findAffectedPrompts(plan.prompts, workspace.allFiles, config.rules.listParts),
    },
  };
}

/** @param refusals the problems that block every prompt; empty if nothing blocks all of them */
async function draftRollbacks(
  { makeDraft }: EditCommand,
  refusals: readonly Problem[],
  workspace: PlannedWorkspace,
): Promise<readonly PromptDraft[]> {
  const refuse: EditCommand['makeDraft'] = async ({ file }) => makeDraftWithoutEdits(file, 'blocked', refusals);
  const drafting = { makeDraft: refusals.length > 0 ? refuse : makeDraft };
  const drafts = workspace.plan.prompts.map((prompt) => draftPrompt(prompt, workspace, drafting));
  return refuseUncommitted(await Promise.all(drafts), workspace.repository);
}

function findDraft({ file }: PromptPlan, drafts: readonly PromptDraft[]): PromptDraft | undefined {
  return drafts.find((draft) => draft.file.id === file.id);
}

/** Returns the drafts that neither an error of their own nor a guard of the plan blocks. */
function keepPendingDrafts(drafts: readonly PromptDraft[], { prompts }: Plan): readonly PromptDraft[] {
  const pending = new Set(prompts.filter(({ status }) => status === 'pending').map(({ file }) => file.id));
  return drafts.filter(({ status, file }) => status === 'pending' && pending.has(file.id));
}

/** Limits a workspace to activations in one environment, and adds the contents of refs that only the drafts pin. */
async function limitToActivations(
  environment: string,
  drafts: readonly PromptDraft[],
  workspace: PlannedWorkspace,
): Promise<PlannedWorkspace> {
  const editedFiles = drafts.flatMap(({ change }) => change?.file ?? []);
  const newContents = await readContentsAtRefs(editedFiles, workspace.repository);
  const filesAsRead = new Map(workspace.plan.prompts.map(({ file }) => [file.id, file]));
  return {
    ...workspace,
    environmentSelection: { selected: [environment], known: [environment], activationsOnly: true },
    contentsAtRefs: new Map([...workspace.contentsAtRefs, ...newContents]),
    // Use the same request as the first read, so that a later read shows whether the prompt has changed since then.
    makeRequestFor: (file) => workspace.makeRequestFor(filesAsRead.get(file.id) ?? file),
  };
}

/** Plans the activation that the edited file of a prompt would cause. A refused draft has no changes. */
async function planDraft(
  prompt: PromptPlan,
  draft: PromptDraft | undefined,
  workspace: PlannedWorkspace,
): Promise<PromptReplan> {
  if (!isObserved(prompt) || draft === undefined) return { plan: prompt, history: NO_PLANNING_HISTORY };
  const { status, problems, change } = draft;
  if (status === 'blocked' || status === 'failed') {
    const unplanned = { changes: [], drift: [], annotations: [], pinsToFind: [] };
    return { plan: { ...prompt, ...unplanned, status, problems }, history: NO_PLANNING_HISTORY };
  }
  const { plan, history } = await replanPrompt(change?.file ?? prompt.file, prompt.observed, workspace);
  if (plan.changes.some(({ kind }) => kind === 'create-version'))
    return { plan: refuseNewVersion(plan, workspace), history };
  // If the environment already serves the version, only the pin in the file has to change.
  const isEditOnly = plan.status === 'unchanged' && change !== null;
  return { plan: isEditOnly ? { ...plan, status: 'pending' } : plan, history };
}

function refuseNewVersion(plan: PromptPlan, { environmentSelection }: PlannedWorkspace): PromptPlan {
  const environment = environmentSelection?.selected[0] ?? '';
  const problem = makeProblem('rollback/new-version', { environment }, { path: plan.file.path });
  return { ...plan, status: 'blocked', changes: [], problems: [...plan.problems, problem], pinsToFind: [] };
}

function makeUncommittedProblem(file: PromptFile, repository: Repository | null): Problem {
  const evidence = makeUncommittedEvidence(file, repository?.findSubmodule);
  return makeProblem('guard/uncommitted-edit', evidence, { path: file.path });
}

/** Returns the edits for the report, by prompt id. Omits their texts, because the planned activations contain them. */
function mapEdits(drafts: readonly PromptDraft[]): ReadonlyMap<string, readonly FileEdit[]> {
  const omitTexts = (edit: FileEdit): FileEdit => {
    if (edit.kind !== 'set-pin') return edit;
    const { serves: _, ...rest } = edit;
    return rest;
  };
  return new Map(drafts.flatMap(({ file, edits }) => (edits.length === 0 ? [] : [[file.id, edits.map(omitTexts)]])));
}

type RollbackSettings = { readonly options: RollbackNowOptions; readonly lock: WorkspaceLock };

/** Asks the user to confirm a planned rollback, and carries it out. On a dry run, does neither. */
async function finishRollback(
  rollback: PlannedRollback,
  command: EditCommand,
  { options, lock }: RollbackSettings,
  system: System,
): Promise<CommandResult> {
  const { run, drafts, workspace } = rollback;
  const { config, repository } = workspace;
  if (repository === null) return stopRollback(run, system, makeProblem('git/needs-repository', { what: '`--now`' }));
  const branch = options.branch ?? makeRollbackBranchName(options.environment, options.only, workspace.files);
  const target = { branch, config, repository };
  const obstacle = drafts.length === 0 ? null : await findNewBranchProblem(target);
  if (obstacle !== null) return stopRollback(run, system, obstacle);
  if (options.dryRun) return makeCommandResult(run, system);
  const mustAsk = mustConfirm(options, system) && hasChangesToApply(workspace.plan);
  if (!mustAsk) return carryOut(rollback, command, target, { options, lock }, system);
  const shownReport = makeReport(run);
  const isConfirmed = await askToApply({ report: shownReport, folder: config.folder }, options, system);
  const result = isConfirmed
    ? await carryOut(rollback, command, target, { options, lock }, system)
    : stopRollback(run, system, makeProblem('usage/declined'));
  return { ...result, shownReport };
}

/** Commits the edited pins and activates the versions. */
async function carryOut(
  rollback: PlannedRollback,
  command: EditCommand,
  target: RollbackTarget,
  { options, lock }: RollbackSettings,
  system: System,
): Promise<CommandResult> {
  const { run, drafts } = rollback;
  // The user may have taken hours to confirm.
  const obstacle = system.stopSignal.aborted ? makeProblem('apply/interrupted') : lock.findLossProblem();
  if (obstacle !== null) return stopRollback(run, system, obstacle);
  const committed = await commitRollback(drafts, command, target);
  if (!committed.isSuccess) return stopRollback(run, system, ...committed.problems);
  const { commit, failures } = committed.value;
  const outcomes = await activateVersions(failures, rollback, options, system);
  const hasActivated = outcomes.some(({ status }) => status === 'applied');
  const edits = mapEdits(drafts.filter(({ file }) => !failures.has(file.id)));
  const hasSteps = commit !== null || hasActivated;
  const nextSteps = hasSteps ? await readRollbackSteps(commit, [...edits.values()].flat(), target) : [];
  return makeCommandResult({ ...run, outcomes, edits, nextSteps, ...(commit && { committed: commit }) }, system);
}

function stopRollback(run: CommandRun, system: System, ...reasons: readonly Problem[]): CommandResult {
  return makeCommandResult({ ...run, plan: null, problems: [...run.problems, ...reasons] }, system);
}

async function findNewBranchProblem({ branch, config, repository }: RollbackTarget): Promise<Problem | null> {
  const exists = (await repository.resolveRef(`refs/heads/${branch}`)) !== null;
  if (exists) return makeProblem('rollback/branch-exists', { branch });
  return openCommitter(makeGitSettings(config)).findBranchProblem(branch);
}

/** Activates the versions of all prompts whose files have the pin. */
async function activateVersions(
  failures: CommittedRollback['failures'],
  { workspace, guards, drafts }: PlannedRollback,
  { environment }: RollbackNowOptions,
  system: System,
): Promise<readonly PromptOutcome[]> {
  const { plan } = workspace;
  const edited = new Set(drafts.map(({ file }) => file.id));
  const pinned: Plan = { ...plan, prompts: plan.prompts.filter(({ file }) => !failures.has(file.id)) };
  const outcomes = await applyGuardedPlan(pinned, guards, workspace, system);
  const outcomesById = new Map(outcomes.map((outcome) => [outcome.plan.file.id, outcome]));
  return plan.prompts.flatMap((prompt): readonly PromptOutcome[] => {
    const { id } = prompt.file;
    const problems = failures.get(id);
    if (problems !== undefined) {
      const changes = prompt.changes.map((change) => ({ change, status: 'not_made' }) as const);
      return [{ plan: prompt, status: 'failed', changes, problems }];
    }
    const outcome = outcomesById.get(id);
    if (outcome === undefined || prompt.status !== 'pending') return outcome === undefined ? [] : [outcome];
    if (outcome.status === 'unchanged' && edited.has(id)) return [{ ...outcome, status: 'applied' }];
    return [addRetryHint(outcome, prompt, environment)];
  });
}

/** Adds the command that activates the version if promptsync did not finish the planned activation. */
function addRetryHint(outcome: PromptOutcome, { file, changes }: PromptPlan, environment: string): PromptOutcome {
  if (outcome.status === 'applied' || outcome.status === 'unchanged') return outcome;
  const activation = changes.find((change) => change.kind === 'set-active');
  if (activation === undefined) return outcome;
  const number = 'newContent' in activation.after ? null : activation.after.number;
  const problem = makeProblem('rollback/not-live', { environment, key: file.key, number }, { path: file.path });
  return { ...outcome, problems: [...outcome.problems, problem] };
}
