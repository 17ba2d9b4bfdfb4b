import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { ProviderRules } from '../domain/provider.ts';

/**
 * Finds the composed prompts that a plan affects, even if their own files do not change. A composed prompt is affected
 * if its text includes the active version of an environment that moves, directly or through other composed prompts.
 * Returns the files of these prompts for each prompt that moves, by prompt id.
 * @param files all prompt files of the workspace, including those that the user did not select
 */
export function findAffectedPrompts(
  plans: readonly PromptPlan[],
  files: readonly PromptFile[],
  listParts: ProviderRules['listParts'],
): ReadonlyMap<string, readonly PromptFile[]> {
  const composed = files
    .map((file) => ({ file, parts: listParts(file.content.text) }))
    .filter(({ parts }) => parts.length > 0);
  if (composed.length === 0) return new Map();
  const entries = plans.map(({ file: { id }, changes }): readonly [string, readonly PromptFile[]] => {
    const moving = new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
    const affectedIds = new Set<string>();
    const includesAffected = ({ parts }: (typeof composed)[number]): boolean =>
      parts.some(({ promptId, environment }) => {
        return affectedIds.has(promptId) || (promptId === id && environment !== null && moving.has(environment));
      });
    let countBefore = -1;
    while (affectedIds.size > countBefore) {
      countBefore = affectedIds.size;
      for (const candidate of composed.filter(includesAffected)) affectedIds.add(candidate.file.id);
    }
    affectedIds.delete(id);
    return [id, composed.filter(({ file }) => affectedIds.has(file.id)).map(({ file }) => file)];
  });
  return new Map(entries.filter(([, affected]) => affected.length > 0));
}
