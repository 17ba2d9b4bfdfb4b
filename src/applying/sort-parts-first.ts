import type { ProviderRules } from '../domain/provider.ts';
import type { PromptPlan } from '../domain/plan.ts';

/**
 * Sorts plans so that every composed prompt comes after its parts and the parts of these. Otherwise keeps the order of
 * the plans, also among prompts that contain each other.
 */
export function sortPartsFirst(
  plans: readonly PromptPlan[],
  listParts: ProviderRules['listParts'],
): readonly PromptPlan[] {
  const directParts = new Map(plans.map((plan) => [plan.file.id, listPartIds(plan, listParts)]));
  if ([...directParts.values()].every((parts) => parts.length === 0)) return plans;
  const allParts = new Map(plans.map(({ file: { id } }) => [id, findAllParts(id, directParts)]));
  const waiting = new Map(plans.map((plan) => [plan.file.id, plan]));
  // Two prompts that contain each other do not wait for each other.
  const waits = (id: string): boolean =>
    [...(allParts.get(id) ?? [])].some((part) => waiting.has(part) && allParts.get(part)?.has(id) !== true);
  const sorted: PromptPlan[] = [];
  while (waiting.size > 0) {
    const remaining = [...waiting.values()];
    const next = remaining.find(({ file: { id } }) => !waits(id)) ?? remaining[0];
    if (next === undefined) break;
    sorted.push(next);
    waiting.delete(next.file.id);
  }
  return sorted;
}

/**
 * Returns the parts of a prompt, the parts of these parts, and so on. Contains the prompt itself if it is in a cycle.
 */
function findAllParts(id: string, directParts: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set(directParts.get(id));
  for (const part of found) for (const next of directParts.get(part) ?? []) found.add(next);
  return found;
}

/** Returns the ids of the prompts that a sync of this plan needs: the parts of the file and of each new version. */
export function listPartIds(
  { file, changes }: Pick<PromptPlan, 'file' | 'changes'>,
  listParts: ProviderRules['listParts'],
): readonly string[] {
  const newContents = changes.flatMap((change) => (change.kind === 'create-version' ? [change.content] : []));
  const texts = [file.content, ...newContents].map(({ text }) => text);
  return texts.flatMap((text) => listParts(text).map(({ promptId }) => promptId));
}
