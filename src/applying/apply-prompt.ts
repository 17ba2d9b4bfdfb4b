import type { ChangeOutcome, OutcomeStatus, PromptOutcome } from '../domain/outcome.ts';
import { isNew, type PromptPlan } from '../domain/plan.ts';
import { ServiceError } from '../domain/prompt-service.ts';
import { makeProblem, problemOf, type Problem } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { lookUp } from './looking.ts';
import { beginWriting, makeChange, type Writing } from './make-change.ts';

/** Writes one prompt's changes in order and stops at the first that fails. Never throws. */
export async function applyPrompt(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptOutcome> {
  if (dependencies.stop.aborted) return untouched(plan, isIdle(plan) ? plan.status : 'not_attempted');
  try {
    const current = await withLookups(plan, dependencies);
    return isIdle(current) ? untouched(current, current.status) : await makeChanges(current, dependencies);
  } catch (error) {
    const problem = pinProblem(error, plan) ?? problemOf(error);
    const status = problem.code.startsWith('pin/') ? 'blocked' : 'failed';
    return { ...untouched(plan, status), problems: [...withoutPinProblems(plan), problem] };
  }
}

/** Whether there is nothing to write: planned already, refused, or not observed. */
function isIdle(plan: PromptPlan): plan is PromptPlan & { status: Exclude<PromptPlan['status'], 'pending'> } {
  return plan.status !== 'pending' && plan.lookups.length === 0;
}

/** The plan made afresh from what looking at the versions that it names has shown. */
async function withLookups(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptPlan> {
  if (plan.lookups.length === 0 || plan.observed === null) return plan;
  const observed = await lookUp(dependencies, plan.observed, plan.lookups);
  return { ...dependencies.replan(plan, observed), lookups: [] };
}

async function makeChanges(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptOutcome> {
  const writing = beginWriting(plan, dependencies);
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  for (const change of plan.changes) {
    if (dependencies.stop.aborted && problems.length === 0) problems.push(makeProblem('apply/interrupted'));
    if (problems.length > 0) outcomes.push({ change, status: 'not_made' });
    else outcomes.push(await attempt(writing, change, problems));
  }
  return { plan, status: statusOf(outcomes, problems), changes: outcomes, problems: [...plan.problems, ...problems] };
}

async function attempt(
  writing: Writing,
  change: PromptPlan['changes'][number],
  problems: Problem[],
): Promise<ChangeOutcome> {
  try {
    const made = await makeChange(writing, change);
    problems.push(...made.problems);
    return made.outcome;
  } catch (error) {
    const problem = problemOf(error);
    const unknown = error instanceof ServiceError && error.effect === 'unknown';
    problems.push(problem);
    if (unknown && change.kind === 'create-version') {
      problems.push(makeProblem('apply/outcome-unknown', { reason: problem.message }));
    }
    return { change, status: unknown ? 'unknown' : 'not_made' };
  }
}

function statusOf(outcomes: readonly ChangeOutcome[], problems: readonly Problem[]): OutcomeStatus {
  if (problems.length === 0) return 'applied';
  const interrupted = problems.every(({ code }) => code === 'apply/interrupted');
  return interrupted && outcomes.every(({ status }) => status === 'not_made') ? 'not_attempted' : 'failed';
}

function untouched(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

/** A version that was pinned by id and is not this prompt's is an unresolvable pin. */
function pinProblem(error: unknown, plan: PromptPlan): Problem | null {
  if (!(error instanceof ServiceError) || error.problem.code !== 'service/version-not-found') return null;
  for (const change of plan.changes) {
    if (change.kind !== 'set-active' || isNew(change.after) || change.after.number !== null) continue;
    const { environment, after } = change;
    return makeProblem('pin/unknown-version', { environment, id: after.id }, { path: plan.file.path });
  }
  return null;
}

function withoutPinProblems(plan: PromptPlan): readonly Problem[] {
  return plan.problems.filter((problem) => !problem.code.startsWith('pin/'));
}
