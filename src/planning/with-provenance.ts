import type { Change, Plan, PromptPlan, Provenance } from '../domain/plan.ts';

/**
 * The plan with what git knows of each file whose content is to be made. It is asked after planning, because most
 * plans make few versions; it changes nothing of what is done, nor the plan's digest.
 */
export function withProvenance(plan: Plan, byPath: ReadonlyMap<string, Provenance>): Plan {
  return { ...plan, prompts: plan.prompts.map((prompt) => promptWithProvenance(prompt, byPath)) };
}

export function promptWithProvenance(prompt: PromptPlan, byPath: ReadonlyMap<string, Provenance>): PromptPlan {
  const provenance = byPath.get(prompt.file.path);
  return { ...prompt, changes: prompt.changes.map((change) => describe(change, provenance)) };
}

/** The paths of the files whose own content the plan makes a version of. */
export function pathsToCreate(plan: Pick<Plan, 'prompts'>): readonly string[] {
  return plan.prompts.filter(({ changes }) => changes.some(isOwn)).map(({ file }) => file.path);
}

function describe(change: Change, provenance: Provenance | undefined): Change {
  return provenance !== undefined && isOwn(change) ? { ...change, provenance } : change;
}

function isOwn(change: Change): change is Change & { kind: 'create-version' } {
  return change.kind === 'create-version' && change.ref === undefined;
}
