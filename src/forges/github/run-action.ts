import { addNamedEnvironments, makeRunWithoutPlan, makeStoppedResult } from '../../run/command-result.ts';
import { makeCommandResult } from '../../run/exit-code.ts';
import { syncPrompts, type SyncOptions } from '../../commands/sync.ts';
import { NO_ACCEPTED_WARNINGS } from '../../domain/accepted-warnings.ts';
import type { Repository } from '../../git/open-repository.ts';
import { makeProblem, type Problem, toProblem, ProblemError } from '../../problem.ts';
import { DEFAULT_KEY_VARIABLE } from '../../providers/provider-list.ts';
import { chooseBase, openFullRepository } from './checkout.ts';
import { readBranchTip } from './github-client.ts';
import { makeAccessOptions, makeContext, type ActionContext } from './action-context.ts';
import { type ActionMode, chooseMode, type PullRequest } from './action-event.ts';
import { makeNewestCommitReader, makeReviewGuard } from './review-guard.ts';
import { proposeEdits } from './propose-edits.ts';
import { publishRun, type ActionRun } from './publish-run.ts';
import { makeSafeActionProcess, readInputs, type ActionProcess, type SafeActionProcess } from './action-runner.ts';

/** Runs the action, publishes the result and returns the exit code. */
export async function runAction(host: ActionProcess): Promise<number> {
  const safeHost = makeSafeActionProcess(host);
  return publishRun(await runMode(safeHost), safeHost);
}

/** If this fails, the result of the run contains the error as a problem. */
async function runMode(host: SafeActionProcess): Promise<ActionRun> {
  let start: Omit<ActionRun, 'result'> = { mode: 'plan', context: null };
  try {
    const inputs = readInputs(host.runner, host.secrets);
    const context = await makeContext(inputs, host);
    start = { mode: 'plan', context };
    const mode = chooseMode(inputs.mode, context.event, context.branch);
    start = { mode, context };
    return { ...start, ...(await runCommand(mode, context, host)) };
  } catch (error) {
    const environments = start.mode === 'plan' ? [] : start.context?.inputs.environments;
    return { ...start, result: addNamedEnvironments(makeStoppedResult('dry-run', toProblem(error)), { environments }) };
  }
}

type ActionOutcome = Omit<ActionRun, 'mode' | 'context'>;

async function runCommand(mode: ActionMode, context: ActionContext, host: SafeActionProcess): Promise<ActionOutcome> {
  switch (mode) {
    case 'plan':
      return makeReviewPlan(context);
    case 'sync':
      return applyChanges(context);
    case 'drift':
      return reportDrift(context);
    case 'pull':
    case 'promote':
    case 'rollback':
      return proposeEdits(mode, context, host, (pull) => reviewPullRequest(pull, context));
  }
}

/** Reviews a pull request that the run itself proposed. The work tree must have the state that its merge produces. */
async function reviewPullRequest(pull: PullRequest, { event, ...rest }: ActionContext): Promise<ActionRun> {
  const context = { ...rest, event: { ...event, pull } };
  const outcome = await makeReviewPlan(context, pull.base).catch((error) => ({
    result: makeStoppedResult('dry-run', toProblem(error)),
  }));
  return { mode: 'plan', context, ...outcome };
}

/** Creates the plan for a review. Without `knownBase`, the event and the checkout determine the base. */
async function makeReviewPlan(context: ActionContext, knownBase?: string): Promise<ActionOutcome> {
  const { event, system } = context;
  if (event.pull !== null && event.pull.state !== 'open') return skipReview(event.pull, context);
  const isPullRequestTarget = event.name === 'pull_request_target';
  if (isPullRequestTarget && hasKey(context)) throw new ProblemError(makeProblem('guard/key-on-pull-request-target'));
  const isKeyless = isPullRequestTarget || (event.pull?.isForeign === true && !hasKey(context));
  const base = knownBase ?? (await chooseBase(event, await openFullRepository(context)));
  const contactPolicy = isKeyless ? 'keyless' : 'trusted';
  const result = await syncPrompts(
    // A review covers all environments, because the check of the pull request is a single one.
    { ...makeSyncOptions(context), environments: [], dryRun: true, yes: false, base, contactPolicy },
    system,
  );
  const { run } = result;
  const problems = [...run.problems, ...(await warnAboutStaleBase(base, context))];
  return { result: { ...result, run: { ...run, problems } } };
}

/** There is nothing to review, and the checkout may contain commits that do not belong to the pull request. */
function skipReview({ number, state }: PullRequest, { configuration, system }: ActionContext): ActionOutcome {
  const problems = [makeProblem('action/closed', { number, merged: state === 'merged' })];
  const { config } = configuration;
  const run = makeRunWithoutPlan('dry-run', { config, files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems });
  return { result: makeCommandResult(run, system) };
}

/** Warns if the target branch is newer than the base, because a newer base can lead to a different plan. */
async function warnAboutStaleBase(
  base: string | undefined,
  { event: { pull }, github }: ActionContext,
): Promise<readonly Problem[]> {
  if (pull === null || github === null || base === undefined) return [];
  const tip = await readBranchTip(github, pull.into).catch(() => base);
  return tip === base ? [] : [makeProblem('action/stale-base', { branch: pull.into, base, tip })];
}

async function applyChanges(context: ActionContext): Promise<ActionOutcome> {
  const { event, system, inputs } = context;
  const mustBeReviewed = inputs['require-reviewed-plan'];
  let pulls: ReadonlySet<number> = new Set();
  const makeRefusal: SyncOptions['makeRefusal'] = async (workspace) => {
    const guard = await makeReviewGuard(context, workspace);
    pulls = guard.shownBy;
    return guard.refuse;
  };
  const repository = await openFullRepository(context);
  const base = await chooseBase(event, repository);
  const options: SyncOptions = {
    ...makeSyncOptions(context),
    dryRun: false,
    yes: true,
    base,
    anyCommit: inputs['any-commit'],
    readNewestFromForge: makeNewestCommitReader(context),
    onlyThisPlan: mustBeReviewed,
    makeRefusal: mustBeReviewed ? makeRefusal : undefined,
  };
  const merged = await listMergesSince(event.before, repository);
  return { result: await syncPrompts(options, system), merged, pulls };
}

/** The maximum number of merges that a merge queue combines into one push. */
const MAX_MERGES = 100;

/**
 * Lists the commits that a push added to the branch, newest first. A merge queue can push several merges at once. If
 * `before` is null or not among the last `MAX_MERGES + 1` commits, the result is only the newest commit.
 */
async function listMergesSince(
  before: string | null,
  { head, listBranchCommits }: Repository,
): Promise<readonly string[]> {
  if (head === null) return [];
  const commits = await listBranchCommits(head, MAX_MERGES + 1);
  return commits.slice(0, Math.max(1, commits.indexOf(before ?? head)));
}

/** Disables the limits `on_drift` and `max_changes`, because the run must report such changes, not refuse them. */
async function reportDrift(context: ActionContext): Promise<ActionOutcome> {
  await openFullRepository(context);
  const unguarded = { onDrift: 'overwrite', maxChanges: { kind: 'percent', percent: 100 } } as const;
  const options = { ...makeSyncOptions(context), ...unguarded, dryRun: true, yes: false, base: 'HEAD' };
  return { result: await syncPrompts(options, context.system) };
}

function makeSyncOptions(context: ActionContext): Omit<SyncOptions, 'dryRun' | 'yes'> {
  const { 'on-drift': onDrift, 'max-changes': maxChanges, environments } = context.inputs;
  const fixedOptions = { only: [], exitCode: false, allowDirty: false };
  return { ...fixedOptions, ...makeAccessOptions(context), environments, onDrift, maxChanges };
}

/** The key comes from the input `api-key` or, without this input, from an environment variable. */
function hasKey({ inputs, system, git }: ActionContext): boolean {
  const [variable = DEFAULT_KEY_VARIABLE] = git.keyVariables;
  return Boolean(inputs['api-key'] ?? system.environment[variable]);
}
