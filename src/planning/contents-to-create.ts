import { wantsOwnVersion, type ContentsAtRefs, type Meaning } from '../domain/known-versions.ts';
import { serves, type CreateVersion, type Provenance } from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { PinContext } from './resolve-pin.ts';

/**
 * The versions to make: those of `git:` pins first, so that the file's own is the newest. Equal contents are made once.
 * @param provenance of the file's own content
 */
export function contentsToCreate(
  { file, observed, contentsAtRefs }: PinContext,
  meanings: readonly Meaning[],
  provenance: Provenance,
): readonly CreateVersion[] {
  const followed = meanings.flatMap((one) => (one.kind === 'new' ? [one.content] : []));
  const wanted = [...followed, ...(wantsOwnVersion(file, observed, meanings) ? [file.content] : [])];
  return wanted
    .filter((content, index) => !wanted.some((other, at) => replaces(other, at, content, index)))
    .map((content) => ({ ...create(content, contentsAtRefs, provenance), ...othersOf(content, wanted) }));
}

/** Of two that serve each other the later one is made: the file's own rather than an equal one of a ref. */
function replaces(other: Content, at: number, content: Content, index: number): boolean {
  return serves(other, content) && (!serves(content, other) || at > index);
}

function othersOf(content: Content, wanted: readonly Content[]): Pick<CreateVersion, 'others'> {
  const others = [...new Set(wanted)].filter((other) => other !== content && serves(content, other));
  return others.length > 0 ? { others } : {};
}

/** The file's own content is at no ref, however equal: contents are told apart by identity here. */
function create(content: Content, refs: ContentsAtRefs, provenance: Provenance): CreateVersion {
  for (const [ref, at] of refs) {
    if ('content' in at && at.content === content) {
      return { kind: 'create-version', content, ref, provenance: at.provenance };
    }
  }
  return { kind: 'create-version', content, provenance };
}
