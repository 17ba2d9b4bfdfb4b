import pLimit from 'p-limit';
import type { PromptOutcome } from '../domain/outcome.ts';
import type { Plan } from '../domain/plan.ts';
import { applyPrompt } from './apply-prompt.ts';
import type { ApplyDependencies } from './deps.ts';

/** Writes a plan. Prompts are independent: a failure never stops or hides the others. Never throws. */
export async function applyPlan(plan: Plan, dependencies: ApplyDependencies): Promise<readonly PromptOutcome[]> {
  let done = 0;
  return pLimit(dependencies.concurrency).map(plan.prompts, async (prompt) => {
    const outcome = await applyPrompt(prompt, dependencies);
    dependencies.onApplied?.(outcome, ++done);
    return outcome;
  });
}
