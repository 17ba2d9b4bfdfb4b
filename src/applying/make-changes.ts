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
    const problem = unknownVersion(error, change, writing.plan) ?? problemOf(error);
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

/** Where nothing is looked at, an id that is not this prompt's comes to light when it is set: an unresolvable pin. */
function unknownVersion(error: unknown, change: Change, { file }: PromptPlan): Problem | null {
  if (problemOf(error).code !== 'service/version-not-found') return null;
  if (change.kind !== 'set-active' || isNew(change.after) || change.after.number !== null) return null;
  const { environment, after } = change;
  const { line, column } = file.pins.find((pin) => pin.environment === environment) ?? {};
  const place = { path: file.path, ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
  return makeProblem('pin/unknown-version', { environment, id: after.id }, place);
}

/** Where nothing was written, an unresolvable pin is a refusal and an interruption no failure. */
function statusOf(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  if (errors.every(({ code }) => code === 'apply/interrupted')) return 'not_attempted';
  return errors.every(({ code }) => code === 'pin/unknown-version') ? 'blocked' : 'failed';
}
