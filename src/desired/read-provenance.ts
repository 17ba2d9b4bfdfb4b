import type { ChangeSummariesByRef, PlanningHistory } from '../domain/desired-state.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { chooseVersionToCreate, mayGetBaseline, type PinTarget } from '../domain/pin-target.ts';
import type { ContentsAtRefs, Provenance } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { PromptRepository } from './open-workspace.ts';

/** A prompt file, the observed state of its prompt, and the targets of its pins. */
type ResolvedPrompt = {
  readonly file: PromptFile;
  readonly observed: ObservedPrompt;
  readonly targets: readonly PinTarget[];
};

/**
 * Finds the last commit of each file from which a sync would create a version. Returns the provenance by path. Leaves
 * out files with uncommitted changes, because no commit contains their content.
 */
export async function readProvenance(
  prompts: readonly ResolvedPrompt[],
  uncommitted: ReadonlySet<string>,
  repository: PromptRepository,
): Promise<PlanningHistory['provenance']> {
  // A run for selected environments may need a baseline even if the plan for all environments has none.
  const creating = prompts.filter(
    ({ file, observed, targets }) =>
      chooseVersionToCreate(file, observed, targets) !== null || mayGetBaseline(file, observed),
  );
  const paths = creating.map(({ file }) => file.path).filter((path) => !uncommitted.has(path));
  const { head } = repository;
  if (head === null) return new Map<string, Provenance>();
  const entries = paths.map(async (path): Promise<readonly [string, Provenance][]> => {
    const lastCommit = await repository.findLastCommit(head, repository.toRootPath(path));
    return lastCommit === null ? [] : [[path, lastCommit]];
  });
  return new Map((await Promise.all(entries)).flat());
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
