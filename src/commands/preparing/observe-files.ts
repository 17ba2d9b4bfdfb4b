import type { ObserveRequest } from '../../domain/observed.ts';
import { followsLatest, type PromptFile } from '../../domain/prompt-file.ts';
import type { PlanRules } from '../../planning/make-plan.ts';
import { contentsIn } from '../past/contents-at-refs.ts';

/**
 * What has to be read of the service to plan for these files, and for those of the base commit where drift is told. The
 * environment before one that is pinned is read as well: promotions are judged by it.
 */
export function observeRequests(
  files: readonly PromptFile[],
  { contentsAtRefs, base, promotedFrom }: Pick<PlanRules, 'contentsAtRefs' | 'base' | 'promotedFrom'>,
  alsoRead: readonly string[] = [],
): readonly ObserveRequest[] {
  return files.map((file) => {
    const { id } = file;
    const then = base?.files.get(id);
    const both = then === undefined ? [file] : [file, then];
    const pins = both.flatMap((one) => one.pins);
    const pinned = pins.map(({ environment }) => environment);
    const before = file.pins.flatMap(({ environment }) => promotedFrom.get(environment) ?? []);
    return {
      promptId: id,
      environments: [...new Set([...pinned, ...before, ...alsoRead])],
      contents: [...both.map(({ content }) => content), ...contentsIn(contentsAtRefs.get(id))],
      numbers: pins.flatMap(({ pin }) => (pin.kind === 'number' ? [pin.number] : [])),
      followsLatest: followsLatest(file),
    };
  });
}
