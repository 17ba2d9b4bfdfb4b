import type { Plan, PromptPlan } from '../domain/plan.ts';
import { allowedChanges, type MaxChanges } from '../domain/policy.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** What a plan must keep to before it may be written. */
export type Guards = {
  readonly maxChanges: MaxChanges | null;
  /** The digest of the plan that was reviewed. */
  readonly expectedPlan: string | null;
  /** Paths of prompt files that differ from the last commit; empty where that is allowed. */
  readonly uncommitted: ReadonlySet<string>;
};

/** The plan with every prompt blocked that a guard refuses. The changes stay: they say what was refused. */
export function refuse(plan: Plan, guards: Guards): Plan {
  const forAll = [...tooMany(plan, guards), ...stale(plan, guards)];
  const prompts = plan.prompts.map((prompt) => block(prompt, [...forAll, ...uncommitted(prompt, guards)]));
  return { ...plan, prompts: guards.expectedPlan === null ? prompts : prompts.map(withoutSurprises) };
}

function block(prompt: PromptPlan, problems: readonly Problem[]): PromptPlan {
  if (!mayChange(prompt) || problems.length === 0) return prompt;
  // What was refused is not looked at either: looking writes.
  return { ...prompt, status: 'blocked', problems: [...prompt.problems, ...problems], lookups: [] };
}

/** What was reviewed as blocked stays blocked: what looking would bring about is not in the reviewed plan. */
function withoutSurprises(prompt: PromptPlan): PromptPlan {
  return prompt.status === 'blocked' ? { ...prompt, lookups: [] } : prompt;
}

/** Whether the prompt has changes, or will have once its pins are found. */
function mayChange({ changes, lookups }: PromptPlan): boolean {
  return changes.length + lookups.length > 0;
}

function tooMany({ prompts }: Plan, { maxChanges }: Guards): readonly Problem[] {
  if (maxChanges === null) return [];
  const changing = prompts.filter(mayChange).length;
  const allowed = allowedChanges(maxChanges, prompts.length);
  return changing > allowed ? [makeProblem('guard/max-changes', { changing, allowed })] : [];
}

function stale({ digest }: Plan, { expectedPlan }: Guards): readonly Problem[] {
  if (expectedPlan === null || expectedPlan === digest) return [];
  return [makeProblem('guard/stale-plan', { expected: expectedPlan, actual: digest })];
}

function uncommitted({ file }: PromptPlan, guards: Guards): readonly Problem[] {
  return guards.uncommitted.has(file.path) ? [makeProblem('guard/uncommitted', {}, { path: file.path })] : [];
}
