import type { ProviderRules } from '../domain/provider.ts';
import type { PromptPlan } from '../domain/plan.ts';

/**
 * Sorts plans so that every composed prompt comes after its parts. Otherwise keeps the order of the plans, also among
 * prompts that contain each other.
 */
export function sortPartsFirst(
  plans: readonly PromptPlan[],
  listParts: ProviderRules['listParts'],
): readonly PromptPlan[] {
  const partIds = new Map(plans.map((plan) => [plan.file.id, listPartIds(plan, listParts)]));
  if ([...partIds.values()].every((parts) => parts.length === 0)) return plans;
  const waiting = new Map(plans.map((plan) => [plan.file.id, plan]));
  const waitsForPart = (id: string) => partIds.get(id)?.some((part) => part !== id && waiting.has(part)) ?? false;
  const sorted: PromptPlan[] = [];
  while (waiting.size > 0) {
    const [first = ''] = waiting.keys();
    const next = [...waiting.keys()].find((id) => !waitsForPart(id)) ?? first;
    sorted.push(...[waiting.get(next)].flatMap((plan) => plan ?? []));
    waiting.delete(next);
  }
  return sorted;
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
