import { makeStoppedResult } from '../commands/result.ts';
import { syncPrompts, type SyncOptions } from '../commands/sync.ts';
import type { Repository } from '../git/open-repository.ts';
import { makeProblem, type Problem, toProblem, ProblemError } from '../problem.ts';
import { DEFAULT_KEY_VARIABLE } from '../providers/list.ts';
import { chooseBase, openFullRepository } from './checkout.ts';
import { readBranchTip } from './client.ts';
import { makeAccessOptions, makeContext, type ActionContext } from './context.ts';
import { chooseMode, type PullRequest } from './event.ts';
import { makeNewestCommitReader, makeReviewGuard } from './review-guard.ts';
import { proposeEdits } from './propose-edits.ts';
import { publishRun, type ActionRun } from './publish-run.ts';
import { makeSafeAction, readInputs, type ActionHost, type SafeActionHost } from './runner.ts';

/** Runs the action once and resolves to its exit code. */
export async function runAction(given: ActionHost): Promise<number> {
  const host = makeSafeAction(given);
  return publishRun(await runMode(host), host);
}

async function runMode(host: SafeActionHost): Promise<ActionRun> {
  let begun: Omit<ActionRun, 'result'> = { mode: 'plan', context: null };
  try {
    const inputs = readInputs(host.runner, host.secrets);
    const context = await makeContext(inputs, host);
    begun = { ...begun, context };
    const mode = chooseMode(inputs.mode, context.event, context.branch);
    begun = { mode, context };
    if (mode === 'plan' || mode === 'sync' || mode === 'drift') {
      return { ...begun, ...(await { plan: makeReviewPlan, sync: applyChanges, drift: reportDrift }[mode](context)) };
    }
    return { ...begun, ...(await proposeEdits(mode, context, host, (pull) => reviewPullRequest(pull, context))) };
  } catch (error) {
    return { ...begun, result: makeStoppedResult('dry-run', toProblem(error)) };
  }
}

type ActionOutcome = Pick<ActionRun, 'result' | 'merged' | 'pulls'>;

/** Reviews a pull request of the run's own, whose merge is checked out, as the workflow for pull requests would. */
async function reviewPullRequest(pull: PullRequest, { event, ...rest }: ActionContext): Promise<ActionRun> {
  const context = { ...rest, event: { ...event, pull } };
  const came = await makeReviewPlan(context, pull.base).catch((error) => ({
    result: makeStoppedResult('dry-run', toProblem(error)),
  }));
  return { mode: 'plan', context, ...came };
}

async function makeReviewPlan(context: ActionContext, known?: string): Promise<ActionOutcome> {
  const { event, world } = context;
  const target = event.name === 'pull_request_target';
  if (target && hasKey(context)) throw new ProblemError(makeProblem('guard/key-on-pull-request-target'));
  const never = target || (event.pull?.isForeign === true && !hasKey(context));
  const base = known ?? (await chooseBase(event, await openFullRepository(context)));
  const askPolicy = never ? 'keyless' : 'trusted';
  const result = await syncPrompts({ ...makeSyncOptions(context), dryRun: true, yes: false, base, askPolicy }, world);
  const { run } = result;
  const problems = [...run.problems, ...(await warnAboutStaleBase(base, context))];
  return { result: { ...result, run: { ...run, problems } } };
}

/** What is merged meanwhile may make another plan of the same files. */
async function warnAboutStaleBase(
  base: string | undefined,
  { event: { pull }, github }: ActionContext,
): Promise<readonly Problem[]> {
  if (pull === null || github === null || base === undefined) return [];
  const tip = await readBranchTip(github, pull.into).catch(() => base);
  return tip === base ? [] : [makeProblem('action/stale-base', { branch: pull.into, base, tip })];
}

async function applyChanges(context: ActionContext): Promise<ActionOutcome> {
  const { event, world, inputs } = context;
  const mustBeReviewed = inputs['require-reviewed-plan'];
  let pulls: ReadonlySet<number> = new Set();
  const makeRefusal: SyncOptions['makeRefusal'] = async (walked) => {
    const gate = await makeReviewGuard(context, walked);
    pulls = gate.shownBy;
    return gate.refuse;
  };
  const repository = await openFullRepository(context);
  const base = await chooseBase(event, repository);
  const guards: Partial<SyncOptions> = {
    anyCommit: inputs['any-commit'],
    readNewestFromForge: makeNewestCommitReader(context),
    ...(mustBeReviewed && { onlyThisPlan: true, makeRefusal }),
  };
  const merged = await listMergesSince(event.before, repository);
  const result = await syncPrompts({ ...makeSyncOptions(context), dryRun: false, yes: true, base, ...guards }, world);
  return { result, merged, pulls };
}

/** So many merges a queue puts into one push at most. */
const MAX_MERGES = 100;

/** What a push has brought to the branch: of a merge queue several merges. Without one it is the newest commit alone. */
async function listMergesSince(
  before: string | null,
  { head, listBranchCommits }: Repository,
): Promise<readonly string[]> {
  if (head === null) return [];
  const commits = await listBranchCommits(head, MAX_MERGES + 1);
  return commits.slice(0, Math.max(1, commits.indexOf(before ?? head)));
}

/** What differs is reported; how much may change at once, and what is done about drift, does not matter. */
async function reportDrift(context: ActionContext): Promise<ActionOutcome> {
  await openFullRepository(context);
  const unguarded = { onDrift: 'overwrite', maxChanges: { kind: 'percent', percent: 100 } } as const;
  const options = { ...makeSyncOptions(context), ...unguarded, dryRun: true, yes: false, base: 'HEAD' };
  return { result: await syncPrompts(options, context.world) };
}

function makeSyncOptions(context: ActionContext): Omit<SyncOptions, 'dryRun' | 'yes'> {
  const { 'on-drift': onDrift, 'max-changes': maxChanges } = context.inputs;
  const always = { only: [], exitCode: false, allowDirty: false };
  return { ...always, ...makeAccessOptions(context), onDrift, maxChanges };
}

/** That of the input, or of the variable that is read without it. */
function hasKey({ inputs, world, git }: ActionContext): boolean {
  const [variable = DEFAULT_KEY_VARIABLE] = git.keyVariables;
  return Boolean(inputs['api-key'] ?? world.environment[variable]);
}
