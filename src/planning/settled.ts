import type { Observed } from '../domain/observed.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { withoutText } from '../domain/version.ts';

/** Whether nothing is to be done for a prompt, whatever else may be learnt of it. */
export function isSettled({ status, drift, lookups }: PromptPlan): boolean {
  return status === 'unchanged' && drift.length + lookups.length === 0;
}

/**
 * The plan of a settled prompt without what nobody asks for any more: texts and ledgers of thousands of prompts are
 * most of what a run would hold.
 */
export function withoutTexts(plan: PromptPlan): PromptPlan {
  return plan.observed === null ? plan : { ...plan, observed: forgetTexts(plan.observed) };
}

/** What was read of a prompt without its texts and ledgers. */
export function forgetTexts({ prompt, active, looked, missing }: Observed): Observed {
  const versions = [...active].map(
    ([environment, version]) => [environment, version === null ? null : withoutText(version)] as const,
  );
  return { prompt, active: new Map(versions), looked: looked.map(withoutText), missing };
}
