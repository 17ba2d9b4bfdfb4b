import type { FileRules } from '../providers/provider-interface.ts';
import type { PromptPlan } from '../domain/plan.ts';

/** A plan, and the prompts that must be written before its prompt. */
export type OrderedPlan = {
  readonly plan: PromptPlan;
  readonly partIds: readonly string[];
};

/** Sorts plans so that composed prompts come after all their parts. Otherwise keeps the order, also in cycles. */
export function sortPartsFirst(
  plans: readonly PromptPlan[],
  listParts: FileRules['listParts'],
): readonly OrderedPlan[] {
  const ordered = plans.map((plan): OrderedPlan => ({ plan, partIds: listPartIds(plan, listParts) }));
  if (ordered.every(({ partIds }) => partIds.length === 0)) return ordered;
  const directParts = new Map(ordered.map(({ plan, partIds }) => [plan.file.id, partIds]));
  const allParts = new Map([...directParts.keys()].map((id) => [id, findAllParts(id, directParts)]));
  const waiting = new Map(ordered.map((one) => [one.plan.file.id, one]));
  // Two prompts that contain each other do not wait for each other, so one of the waiting prompts is always ready.
  const isReady = ({ plan: { file } }: OrderedPlan): boolean =>
    [...(allParts.get(file.id) ?? [])].every((part) => !waiting.has(part) || allParts.get(part)?.has(file.id) === true);
  const findReady = (): OrderedPlan | undefined => [...waiting.values()].find(isReady);
  const sorted: OrderedPlan[] = [];
  for (let next = findReady(); next !== undefined; next = findReady()) {
    sorted.push(next);
    waiting.delete(next.plan.file.id);
  }
  return sorted;
}

/** Returns the direct and the indirect parts of a prompt. Contains the prompt itself if it is in a cycle. */
function findAllParts(id: string, directParts: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set(directParts.get(id));
  for (const part of found) for (const next of directParts.get(part) ?? []) found.add(next);
  return found;
}

/** Returns the ids of the prompts that a sync of this plan needs: the parts of the file and of each new version. */
function listPartIds(
  { file, changes }: Pick<PromptPlan, 'file' | 'changes'>,
  listParts: FileRules['listParts'],
): readonly string[] {
  const newContents = changes.flatMap((change) => (change.kind === 'create-version' ? [change.content] : []));
  const texts = [file.content, ...newContents].map(({ text }) => text);
  return texts.flatMap((text) => listParts(text).map(({ promptId }) => promptId));
}
