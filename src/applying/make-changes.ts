import type { ChangeOutcome, OutcomeStatus, PromptOutcome } from '../domain/outcome.ts';
import { isNew, type Change, type PromptPlan } from '../domain/plan.ts';
import { ServiceError } from '../domain/prompt-service.ts';
import { refOf } from '../domain/version.ts';
import { during, isError, makeProblem, problemOf, type Problem } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { makeChange } from './make-change.ts';
import { beginWriting, findMade, type Writing } from './writing.ts';

/** Makes a plan's changes in order, up to the first that fails. What fails is told in the outcome. */
export async function makeChanges(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptOutcome> {
  const writing = beginWriting(plan, dependencies);
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  for (const change of plan.changes) {
    if (problems.some(isError)) outcomes.push(notMade(writing, change));
    else outcomes.push(await attempt(writing, change, problems));
  }
  const status = statusOf(outcomes, problems.filter(isError));
  return { plan, status, changes: outcomes, problems: [...plan.problems, ...problems] };
}

/** The outcome of a plan that nothing was done for. */
export function untouched(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

async function attempt(writing: Writing, change: Change, problems: Problem[]): Promise<ChangeOutcome> {
  try {
    const made = await makeChange(writing, change);
    problems.push(...made.problems);
    return made.outcome;
  } catch (error) {
    const problem = problemOf(error);
    const unknown = error instanceof ServiceError && error.effect === 'unknown';
    const lost = unknown && change.kind === 'create-version';
    problems.push(
      lost ? makeProblem('apply/outcome-unknown', { reason: problem.message }) : during(stepOf(change), problem),
    );
    return unknown ? { change, status: 'unknown' } : notMade(writing, change);
  }
}

function stepOf(change: Change): string {
  const steps = { 'create-version': 'Creating the version', 'update-prompt': 'Updating the prompt' } as const;
  return change.kind === 'set-active' ? `Setting "${change.environment}"` : steps[change.kind];
}

/** An activation that was not made still names the version that was made for it. */
function notMade(writing: Writing, change: Change): ChangeOutcome {
  const target = change.kind === 'set-active' && isNew(change.after) ? change.after : null;
  const version = target === null ? undefined : findMade(writing, target);
  return { change, status: 'not_made', ...(version !== undefined && { version: refOf(version) }) };
}

/** Where nothing was written, an interruption is no failure. */
function statusOf(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  return errors.every(({ code }) => code === 'apply/interrupted') ? 'not_attempted' : 'failed';
}
