import { chooseVersionToCreate, mayGetBaseline, type PinTarget } from '../domain/pin-target.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import type { ContentsAtRefs, Provenance } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { ChangeSummariesByRef } from '../history/prompt-history.ts';
import type { PromptRepository } from '../history/read-at-commit.ts';

/**
 * Finds the last commit of a file from which a sync would create a version. Returns an empty provenance if a sync creates
 * none.
 */
export async function readProvenance(
  file: PromptFile,
  observed: ObservedPrompt,
  targets: readonly PinTarget[],
  repository: PromptRepository,
): Promise<Provenance> {
  // A run for selected environments may need a baseline even if the plan for all environments has none.
  const mayCreate = chooseVersionToCreate(file, observed, targets) !== null || mayGetBaseline(file, observed);
  const { head } = repository;
  if (!mayCreate || head === null) return {};
  return (await repository.findLastCommit(head, repository.toRootPath(file.path))) ?? {};
}

/**
 * Reads the change summaries of the contents at refs from which a sync would create a version. Reads no others, because
 * git has to search the history of each ref.
 */
export async function readChangeSummaries(
  targets: readonly PinTarget[],
  atRefs: ContentsAtRefs,
  repository: PromptRepository,
): Promise<ChangeSummariesByRef> {
  const newContents = new Set(targets.flatMap((target) => (target.kind === 'new' ? [target.target.newContent] : [])));
  // Several refs can have the same content. The plan names only the first of them.
  const summaries = [...atRefs].map(async ([ref, at]): Promise<readonly (readonly [string, Provenance])[]> => {
    if (!at.isSuccess || !newContents.has(at.value.content)) return [];
    const { commit, path } = at.value.provenance;
    if (commit === undefined || path === undefined) return [];
    const last = await repository.findLastCommit(commit, path);
    if (last?.commit === undefined) return [];
    const { commit: changeCommit, changeSummary } = last;
    return [[ref, { changeCommit, ...(changeSummary !== undefined && { changeSummary }) }]];
  });
  return new Map((await Promise.all(summaries)).flat());
}
