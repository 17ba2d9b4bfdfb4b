import { isSameFileContent } from '../domain/compare-content.ts';
import type { PinTarget } from '../domain/pin-target.ts';
import type { ContentsAtRefs, Provenance } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import { findStartOfSeries } from './line-of-states.ts';
import type { ChangeSummariesByRef } from './prompt-history.ts';
import type { PromptRepository } from './read-at-commit.ts';
import { readPlannedLine } from './read-line-of-states.ts';

/** Uses the commit of the newest state of the line. Returns an empty provenance for uncommitted edits. */
export async function readProvenance(file: PromptFile, repository: PromptRepository): Promise<Provenance> {
  const [newest] = (await readPlannedLine(file, repository, 1)).states;
  if (newest === undefined || newest.commit === null) return {};
  const { commit } = newest;
  const { path } = newest.file;
  return { commit, path, ...(await readChangeSummary(commit, repository)) };
}

/**
 * Only refs from whose content a sync would create a version get a summary: that of the commit that introduced the
 * content on the line or, if the line does not have the content, of the commit that the ref points to.
 */
export async function readChangeSummaries(
  file: PromptFile,
  targets: readonly PinTarget[],
  atRefs: ContentsAtRefs,
  repository: PromptRepository,
): Promise<ChangeSummariesByRef> {
  const newContents = new Set(targets.flatMap((target) => (target.kind === 'new' ? [target.target.newContent] : [])));
  // Several refs can have the same content. The plan names only the first of them.
  const summaries = [...atRefs].map(async ([ref, at]): Promise<readonly (readonly [string, Provenance])[]> => {
    if (!at.isSuccess || !newContents.has(at.value.content)) return [];
    const { content, provenance } = at.value;
    const line = await readPlannedLine(file, repository);
    const start = findStartOfSeries(line, (state) => isSameFileContent(state.file.content, content));
    const changeCommit = start?.commit ?? provenance.commit;
    return changeCommit === undefined
      ? []
      : [[ref, { changeCommit, ...(await readChangeSummary(changeCommit, repository)) }]];
  });
  return new Map((await Promise.all(summaries)).flat());
}

/** Reads the subject of a commit, or the title of the pull request that it merged. */
async function readChangeSummary(
  commit: string,
  repository: PromptRepository,
): Promise<Pick<Provenance, 'changeSummary'>> {
  const { subject = '' } = (await repository.readCommits([commit])).get(commit) ?? {};
  return subject === '' ? {} : { changeSummary: subject };
}
