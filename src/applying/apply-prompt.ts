import type { ChangeOutcome, OutcomeStatus, PromptOutcome } from '../domain/outcome.ts';
import { isNew, type Change, type PromptPlan } from '../domain/plan.ts';
import { ServiceError } from '../domain/prompt-service.ts';
import { refOf } from '../domain/version.ts';
import { during, makeProblem, problemOf, type Problem } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { lookUp } from './looking.ts';
import { makeChange } from './make-change.ts';
import { beginWriting, findMade, type Writing } from './writing.ts';

/** Writes one prompt's changes in order and stops at the first that fails. Never throws. */
export async function applyPrompt(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptOutcome> {
  if (isIdle(plan)) return untouched(plan, plan.status);
  if (dependencies.stop.aborted) return untouched(plan, 'not_attempted');
  try {
    const current = await withLookups(plan, dependencies);
    return isIdle(current) ? untouched(current, current.status) : await makeChanges(current, dependencies);
  } catch (error) {
    const problem = problemOf(error);
    const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
    // The plan's own problems said what looking might solve: they are answered by why there was no looking.
    return { ...untouched(plan, status), problems: [problem] };
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
    if (problems.length > 0) outcomes.push(notMade(writing, change));
    else outcomes.push(await attempt(writing, change, problems));
  }
  return { plan, status: statusOf(outcomes, problems), changes: outcomes, problems: [...plan.problems, ...problems] };
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
function statusOf(outcomes: readonly ChangeOutcome[], problems: readonly Problem[]): OutcomeStatus {
  if (problems.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  if (problems.every(({ code }) => code === 'apply/interrupted')) return 'not_attempted';
  return problems.every(({ code }) => code === 'pin/unknown-version') ? 'blocked' : 'failed';
}

function untouched(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}
