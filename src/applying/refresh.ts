import { canonicalJson } from '../domain/json.ts';
import type { Observed } from '../domain/observed.ts';
import type { PromptPlan } from '../domain/plan.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ApplyDependencies } from './deps.ts';

/**
 * The plan, provided that the prompt is still what it was planned from; otherwise one made afresh. It is for right
 * before the first write. Throws a `ProblemError` when the prompt cannot be read, or changes once more meanwhile.
 */
export async function refresh(plan: PromptPlan, dependencies: ApplyDependencies): Promise<PromptPlan> {
  const { observe, replan, service } = dependencies;
  const now = await observe(service, plan);
  if (plan.observed !== null && isSame(plan.observed, now)) return plan;
  const fresh = await replan(plan, now);
  if (isSame(now, await observe(service, plan))) return fresh;
  throw new ProblemError(makeProblem('apply/keeps-changing'));
}

function isSame(one: Observed, other: Observed): boolean {
  return fingerprint(one) === fingerprint(other);
}

/** Versions never change, but their ids are the service's word: texts are compared as well. */
function fingerprint({ prompt, active }: Observed): string {
  const environments = [...active].map(([environment, version]) => [
    environment,
    version === null ? null : [version.id, version.number, version.digest, version.metadataDigest],
  ]);
  return canonicalJson([{ ...prompt }, environments]);
}
