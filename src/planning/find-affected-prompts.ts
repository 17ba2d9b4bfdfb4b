import { listChangingEnvironments, type PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { FileRules } from '../providers/provider-interface.ts';

/**
 * Finds the composed prompts whose text includes, directly or through others, the active version of an environment that
 * moves, or the newest version if the plan creates one. Returns their files by the id of the changed prompt.
 * @param files all prompt files of the workspace, including those that the user did not select
 */
export function findAffectedPrompts(
  plans: readonly PromptPlan[],
  files: readonly PromptFile[],
  listParts: FileRules['listParts'],
): ReadonlyMap<string, readonly PromptFile[]> {
  const includersById = Map.groupBy(
    files.flatMap((file) => listParts(file.content.text).map((part) => ({ file, ...part }))),
    ({ promptId }) => promptId,
  );
  const entries = plans.map(({ file: { id }, changes }): readonly [string, readonly PromptFile[]] => {
    const moving = listChangingEnvironments(changes);
    const isCreating = changes.some(({ kind }) => kind === 'create-version');
    const direct = (includersById.get(id) ?? []).filter(
      ({ environment, isNewest }) => (isNewest && isCreating) || (environment !== null && moving.has(environment)),
    );
    const affected = new Set(direct.map(({ file }) => file));
    // The loop also visits the files that it adds.
    for (const part of affected) for (const { file } of includersById.get(part.id) ?? []) affected.add(file);
    return [id, files.filter((file) => affected.has(file) && file.id !== id)];
  });
  return new Map(entries.filter(([, affected]) => affected.length > 0));
}
