import { type Drift, type Plan, type PromptPlan, digestPlan, isVisible } from '../domain/plan.ts';
import { allowedChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** What a plan must keep to before it may be written. */
export type Guards = {
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  /** How many of the selected prompts were not looked at: they count in a percentage. */
  readonly notLookedAt?: number;
  /** The digest of the plan that was reviewed. */
  readonly expectedPlan: string | null;
  /** Paths of prompt files that differ from the last commit; empty where that is allowed. */
  readonly uncommitted: ReadonlySet<string>;
  /** What else forbids to write a prompt, where the caller knows of a reason. */
  readonly refuse?: Refuse;
};

export type Refuse = (prompt: PromptPlan) => readonly Problem[];

/** The plan with every prompt blocked that a guard refuses. The changes stay: they say what was refused. */
export function guard(plan: Plan, guards: Guards): Plan {
  const { refuse = () => [] } = guards;
  const forAll = [...tooMany(plan, guards), ...stale(plan, guards)];
  const prompts = plan.prompts.map((prompt) =>
    block(prompt, [...refuse(prompt), ...forAll, ...uncommitted(prompt, guards), ...drifted(prompt, guards)]),
  );
  return { ...plan, prompts: guards.expectedPlan === null ? prompts : prompts.map(withoutSurprises) };
}

function block(prompt: PromptPlan, problems: readonly Problem[]): PromptPlan {
  // It has changes, or will have once its pins are found.
  const mayChange = prompt.changes.length + prompt.finds.length > 0;
  if (!mayChange || problems.length === 0) return prompt;
  // Nor is anything searched for on behalf of a refused prompt: to find a version is to write to the service.
  return { ...prompt, status: 'blocked', problems: [...prompt.problems, ...problems], finds: [] };
}

/** What was reviewed as blocked stays blocked: what a search would bring about is not in the reviewed plan. */
function withoutSurprises(prompt: PromptPlan): PromptPlan {
  return prompt.status === 'blocked' ? { ...prompt, finds: [] } : prompt;
}

function tooMany({ prompts }: Plan, { maxChanges, notLookedAt = 0 }: Guards): readonly Problem[] {
  if (maxChanges === null) return [];
  const changing = prompts.filter(({ changes, finds }) => finds.length > 0 || changes.some(isVisible)).length;
  const allowed = allowedChanges(maxChanges, prompts.length + notLookedAt);
  return changing > allowed ? [makeProblem('guard/max-changes', { changing, allowed })] : [];
}

function stale({ digest }: Plan, { expectedPlan }: Guards): readonly Problem[] {
  if (expectedPlan === null || expectedPlan === digest) return [];
  return [makeProblem('guard/stale-plan', { expected: expectedPlan, actual: digest })];
}

function uncommitted({ file }: PromptPlan, guards: Guards): readonly Problem[] {
  return guards.uncommitted.has(file.path) ? [makeProblem('guard/uncommitted', {}, { path: file.path })] : [];
}

/**
 * A prompt that was planned once more, right before it is written: what was reviewed must still be what is done, and
 * new drift is refused as it was at first.
 */
export function guardAfresh(fresh: PromptPlan, planned: PromptPlan, guards: Guards): PromptPlan {
  const [expected, actual] = [digestPlan([planned]), digestPlan([withoutFound(fresh, planned)])];
  const reviewed = guards.expectedPlan !== null && expected !== actual;
  const surprise = reviewed ? [makeProblem('guard/stale-plan', { expected, actual })] : [];
  return block(fresh, [...surprise, ...drifted(fresh, guards)]);
}

/**
 * Returns a fresh plan that knows no more of the versions that were searched for than the first plan did. The first plan
 * names them by their ids alone, and finding one must not make its digest stale.
 */
export function withoutFound(fresh: PromptPlan, { finds }: Pick<PromptPlan, 'finds'>): PromptPlan {
  if (fresh.observed === null) return fresh;
  const ids = new Set(finds.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : [])));
  const known = fresh.observed.known.filter(({ id }) => !ids.has(id));
  return { ...fresh, observed: { ...fresh.observed, known } };
}

function drifted({ drift, file }: PromptPlan, { onDrift }: Guards): readonly Problem[] {
  const outside = drift.filter(({ kind }) => kind === 'outside');
  if (onDrift === 'overwrite' || outside.length === 0) return [];
  return [makeProblem('guard/drift', { what: outside.map(describe) }, { path: file.path })];
}

function describe(drift: Drift): string {
  if ('field' in drift) return `${drift.field} is "${drift.observed}"`;
  const { environment, observed } = drift;
  const number = observed === null || observed.number === null ? 'a version' : `v${observed.number}`;
  return `"${environment}" serves ${number} (id ${observed?.id ?? 'none'})`;
}
