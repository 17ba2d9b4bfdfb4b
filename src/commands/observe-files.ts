import type { ObserveRequest } from '../domain/observed.ts';
import type { PlanRules } from '../planning/make-plan.ts';
import { followsLatest, type PromptFile } from '../domain/prompt-file.ts';

/** What has to be read of the service to plan for these files. */
export function observeRequests(
  files: readonly PromptFile[],
  contentsAtRefs: PlanRules['contentsAtRefs'],
): readonly ObserveRequest[] {
  return files.map((file) => {
    const { id, pins, content } = file;
    const atRefs = [...(contentsAtRefs.get(id)?.values() ?? [])];
    return {
      promptId: id,
      environments: pins.map(({ environment }) => environment),
      contents: [content, ...atRefs.flatMap((at) => ('content' in at ? [at.content] : []))],
      numbers: pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
      followsLatest: followsLatest(file),
    };
  });
}
