import { isRemembered } from '../domain/known-versions.ts';
import { withoutMetadata } from '../domain/ownership.ts';
import { isNew, serves, type ContentAtRef, type CreateVersion } from '../domain/plan.ts';
import { followsLatest, type Content } from '../domain/prompt-file.ts';
import type { PinContext, Resolution } from './resolve-pin.ts';

/**
 * The versions to make: those of `git:` pins first, so that the file's own is the newest. Equal contents are made
 * once. The file's own is made even when no pin follows it, provided that the tracking environment can hold on to it:
 * then somebody else's version of equal content does not stand in for it, unless a ledger names that.
 */
export function contentsToCreate(
  { file, observed, contentsAtRefs, mayLook, head, forgets }: PinContext,
  resolutions: readonly Resolution[],
): readonly CreateVersion[] {
  const own = file.content;
  const followed = resolutions.flatMap((one) => (one.kind === 'set' && isNew(one.after) ? [one.after.new] : []));
  const wantsOwn = followsLatest(file)
    ? followed.includes(own)
    : mayLook && !isRemembered(observed, forgets ? withoutMetadata(own) : own, head);
  const wanted = [...followed.filter((content) => content !== own), ...(wantsOwn ? [own] : [])];
  return wanted
    .filter((content, index) => !wanted.some((other, at) => replaces(other, at, content, index)))
    .map((content) => create(content, own, contentsAtRefs));
}

/** Of two that serve each other the later one is made: the file's own rather than an equal one of a ref. */
function replaces(other: Content, at: number, content: Content, index: number): boolean {
  return serves(other, content) && (!serves(content, other) || at > index);
}

function create(content: Content, own: Content, refs: PinContext['contentsAtRefs']): CreateVersion {
  if (content === own) return { kind: 'create-version', content, provenance: {} };
  const found = [...refs].find((entry): entry is [string, ContentAtRef] => isAt(entry[1], content));
  const [ref, at] = found ?? [];
  return { kind: 'create-version', content, ...(ref === undefined ? {} : { ref }), provenance: at?.provenance ?? {} };
}

function isAt(at: ContentAtRef | object, content: Content): boolean {
  return 'content' in at && at.content === content;
}
