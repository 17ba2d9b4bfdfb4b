import { type Drift, type Plan, type PromptPlan, digestPlan, isVisibleChange } from '../domain/plan.ts';
import { countAllowedChanges, type MaxChanges, type OnDrift } from '../domain/policy.ts';
import { makeProblem, type Problem } from '../problem.ts';

/** The limits that a plan must keep before promptsync may apply it. */
export type GuardSettings = {
  readonly onDrift: OnDrift;
  readonly maxChanges: MaxChanges | null;
  /** The number of selected prompts that were not observed. They count when `maxChanges` is a percentage. */
  readonly notLookedAt?: number;
  /** The digest of the plan that was reviewed. */
  readonly expectedPlan: string | null;
  /** Paths of prompt files with uncommitted changes; empty if they may be applied. */
  readonly uncommitted: ReadonlySet<string>;
  /** A further check of the caller, such as whether a review approved the prompt. */
  readonly refuse?: RefusePrompt;
};

export type RefusePrompt = (prompt: PromptPlan) => readonly Problem[];

/** Returns the plan with each refused prompt blocked. Blocked prompts keep their changes, so that reports can show them. */
export function guardPlan(plan: Plan, guards: GuardSettings): Plan {
  const { refuse = () => [] } = guards;
  const forAll = [...checkMaxChanges(plan, guards), ...checkExpectedPlan(plan, guards)];
  const prompts = plan.prompts.map((prompt) =>
    blockPrompt(prompt, [
      ...refuse(prompt),
      ...forAll,
      ...checkCommitted(prompt, guards),
      ...checkDrift(prompt, guards),
    ]),
  );
  return { ...plan, prompts: guards.expectedPlan === null ? prompts : prompts.map(omitAddedChanges) };
}

function blockPrompt(prompt: PromptPlan, problems: readonly Problem[]): PromptPlan {
  // Pins that an apply still has to find may lead to changes, too.
  const mayChange = prompt.changes.length + prompt.pinsToFind.length > 0;
  if (!mayChange || problems.length === 0) return prompt;
  // A refused prompt is not searched for versions, because a probe writes to the service.
  return { ...prompt, status: 'blocked', problems: [...prompt.problems, ...problems], pinsToFind: [] };
}

/** Keeps a blocked prompt blocked: the reviewed plan does not contain the changes that a search might add. */
function omitAddedChanges(prompt: PromptPlan): PromptPlan {
  return prompt.status === 'blocked' ? { ...prompt, pinsToFind: [] } : prompt;
}

function checkMaxChanges({ prompts }: Plan, { maxChanges, notLookedAt = 0 }: GuardSettings): readonly Problem[] {
  if (maxChanges === null) return [];
  const changing = prompts.filter(
    ({ changes, pinsToFind }) => pinsToFind.length > 0 || changes.some(isVisibleChange),
  ).length;
  const allowed = countAllowedChanges(maxChanges, prompts.length + notLookedAt);
  return changing > allowed ? [makeProblem('guard/max-changes', { changing, allowed })] : [];
}

function checkExpectedPlan({ digest }: Plan, { expectedPlan }: GuardSettings): readonly Problem[] {
  if (expectedPlan === null || expectedPlan === digest) return [];
  return [makeProblem('guard/stale-plan', { expected: expectedPlan, actual: digest })];
}

function checkCommitted({ file }: PromptPlan, guards: GuardSettings): readonly Problem[] {
  return guards.uncommitted.has(file.path) ? [makeProblem('guard/uncommitted', {}, { path: file.path })] : [];
}

/**
 * Guards the plan that promptsync made again right before the first write of a prompt. Its changes must still be those
 * that were reviewed, and the drift guard also refuses new drift.
 */
export function guardFreshPlan(fresh: PromptPlan, planned: PromptPlan, guards: GuardSettings): PromptPlan {
  const [expected, actual] = [digestPlan([planned]), digestPlan([omitFoundProblems(fresh, planned)])];
  const reviewed = guards.expectedPlan !== null && expected !== actual;
  const surprise = reviewed ? [makeProblem('guard/stale-plan', { expected, actual })] : [];
  return blockPrompt(fresh, [...surprise, ...checkDrift(fresh, guards)]);
}

/**
 * Returns a fresh plan without the details of the versions that promptsync searched for. The first plan names these
 * versions only by id, so their details would make its digest stale.
 */
export function omitFoundProblems(fresh: PromptPlan, { pinsToFind }: Pick<PromptPlan, 'pinsToFind'>): PromptPlan {
  if (fresh.observed === null) return fresh;
  const ids = new Set(pinsToFind.flatMap((pin) => (pin.kind === 'version' ? [pin.id] : [])));
  const known = fresh.observed.known.filter(({ id }) => !ids.has(id));
  return { ...fresh, observed: { ...fresh.observed, known } };
}

function checkDrift({ drift, file }: PromptPlan, { onDrift }: GuardSettings): readonly Problem[] {
  const outside = drift.filter(({ kind }) => kind === 'outside');
  if (onDrift === 'overwrite' || outside.length === 0) return [];
  return [makeProblem('guard/drift', { what: outside.map(describeDriftForGuard) }, { path: file.path })];
}

function describeDriftForGuard(drift: Drift): string {
  if (drift.subject === 'field') return `${drift.field} is "${drift.observed}"`;
  const { environment, observed } = drift;
  const number = observed === null || observed.number === null ? 'a version' : `v${observed.number}`;
  return `"${environment}" serves ${number} (id ${observed?.id ?? 'none'})`;
}
