import type { ObserveRequest } from '../domain/observed.ts';
import { followsLatest, type PromptFile } from '../domain/prompt-file.ts';
import type { PlanRules } from '../planning/make-plan.ts';

/** What has to be read of the service to plan for these files, and for those of the base commit where drift is told. */
export function observeRequests(
  files: readonly PromptFile[],
  { contentsAtRefs, base }: Pick<PlanRules, 'contentsAtRefs' | 'base'>,
): readonly ObserveRequest[] {
  return files.map((file) => {
    const { id } = file;
    const then = base?.files.get(id);
    const both = then === undefined ? [file] : [file, then];
    const pins = both.flatMap((one) => one.pins);
    const atRefs = [...(contentsAtRefs.get(id)?.values() ?? [])];
    return {
      promptId: id,
      environments: [...new Set(pins.map(({ environment }) => environment))],
      contents: [
        ...both.map(({ content }) => content),
        ...atRefs.flatMap((at) => ('content' in at ? [at.content] : [])),
      ],
      numbers: pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
      followsLatest: followsLatest(file),
    };
  });
}
