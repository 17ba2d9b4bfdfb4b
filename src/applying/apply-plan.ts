import pLimit from 'p-limit';
import type { Observed, Wanted } from '../domain/observed.ts';
import type { Plan, PromptOutcome, PromptPlan } from '../domain/plan.ts';
import type { Provider, Writer } from '../domain/provider.ts';
import { makeProblem, problemOf, ProblemError } from '../problem.ts';
import { makeChanges, untouched } from './make-changes.ts';

/** What writing needs besides plan and provider. */
export type ApplyOptions = {
  /** What was asked of the service for each prompt. */
  readonly wantedFor: (plan: PromptPlan) => Wanted;
  /** Plans one prompt once more from another observation, with the same rules and guards. */
  readonly planAgain: (plan: PromptPlan, observed: Observed) => Promise<PromptPlan>;
  /** How many prompts are written at the same time. */
  readonly concurrency: number;
  /** Once aborted, no prompt is begun. */
  readonly stop: AbortSignal;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

/** Writes a plan. Prompts are independent: a failure never stops or hides the others. Never throws. */
export async function applyPlan(
  plan: Plan,
  provider: Provider,
  options: ApplyOptions,
): Promise<readonly PromptOutcome[]> {
  let done = 0;
  return pLimit(options.concurrency).map(plan.prompts, async (prompt) => {
    const outcome = await applyPrompt(prompt, provider, options);
    options.onApplied?.(outcome, ++done);
    return outcome;
  });
}

async function applyPrompt(plan: PromptPlan, provider: Provider, options: ApplyOptions): Promise<PromptOutcome> {
  if (isIdle(plan)) return untouched(plan, plan.status);
  if (options.stop.aborted) return untouched(plan, 'not_attempted');
  try {
    const writer = provider.begin(options.wantedFor(plan));
    const current = await withFound(await refresh(plan, writer, options), writer, options);
    return isIdle(current) ? untouched(current, current.status) : await makeChanges(current, writer);
  } catch (error) {
    const problem = problemOf(error);
    const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
    // The plan's own problems said what an apply might find: they are answered by why it did not look.
    return { ...untouched(plan, status), problems: [problem] };
  }
}

/** Whether there is nothing to write: planned already, refused, or not observed. */
function isIdle(plan: PromptPlan): plan is PromptPlan & { status: Exclude<PromptPlan['status'], 'pending'> } {
  return plan.status !== 'pending' && plan.finds.length === 0;
}

/**
 * The plan, provided that the prompt is still what it was planned from; otherwise one made afresh. It is for right
 * before the first write. Throws a `ProblemError` when the prompt cannot be read, or changes once more meanwhile.
 */
async function refresh(plan: PromptPlan, writer: Writer, { planAgain }: ApplyOptions): Promise<PromptPlan> {
  const now = await writer.observe();
  if (plan.observed?.state === now.state) return plan;
  const fresh = await planAgain(plan, now);
  if ((await writer.observe()).state === now.state) return fresh;
  throw new ProblemError(makeProblem('apply/keeps-changing'));
}

/** The plan made afresh once the versions that it names were looked for. */
async function withFound(plan: PromptPlan, writer: Writer, { planAgain }: ApplyOptions): Promise<PromptPlan> {
  if (plan.finds.length === 0) return plan;
  const fresh = await planAgain(plan, await writer.find(plan.finds));
  return { ...fresh, finds: [] };
}
