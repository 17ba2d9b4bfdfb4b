import pLimit from 'p-limit';
import type { PromptOutcome } from '../domain/outcome.ts';
import type { Plan } from '../domain/plan.ts';
import { untilStopped } from '../domain/prompt-service.ts';
import { applyPrompt } from './apply-prompt.ts';
import type { ApplyDependencies } from './deps.ts';

/** Writes a plan. Prompts are independent: a failure never stops or hides the others. Never throws. */
export async function applyPlan(plan: Plan, dependencies: ApplyDependencies): Promise<readonly PromptOutcome[]> {
  const { service, stop, concurrency, onApplied } = dependencies;
  const stoppable = { ...dependencies, service: untilStopped(service, stop) };
  let done = 0;
  return pLimit(concurrency).map(plan.prompts, async (prompt) => {
    const outcome = await applyPrompt(prompt, stoppable);
    onApplied?.(outcome, ++done);
    return outcome;
  });
}
