import type { PromptOutcome } from '../domain/outcome.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { problemOf } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';
import { lookUp } from './looking-up.ts';
import { makeChanges, untouched } from './make-changes.ts';
import { refresh } from './refresh.ts';

/** Writes one prompt's changes in order and stops at the first that fails. Never throws. */
export async function applyPrompt(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptOutcome> {
  if (isIdle(plan)) return untouched(plan, plan.status);
  if (dependencies.stop.aborted) return untouched(plan, 'not_attempted');
  try {
    const current = await withLookups(await refresh(plan, dependencies), dependencies);
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
  return { ...(await dependencies.replan(plan, observed)), lookups: [] };
}
