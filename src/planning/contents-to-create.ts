import { isRemembered } from '../domain/known-versions.ts';
import type { Observed } from '../domain/observed.ts';
import { asKept } from '../domain/ownership.ts';
import { isNew, serves, type ContentAtRef, type CreateVersion } from '../domain/plan.ts';
import { followsLatest, type Content, type PromptFile } from '../domain/prompt-file.ts';
import type { PinContext, Resolution } from './resolve-pin.ts';

/**
 * The versions to make: those of `git:` pins first, so that the file's own is the newest. Equal contents are made
 * once. The file's own is made even when no pin follows it:
 * somebody else's version of equal content does not stand in for it, unless a ledger names that.
 */
export function contentsToCreate(
  { file, observed, contentsAtRefs, head, forgets }: PinContext,
  resolutions: readonly Resolution[],
): readonly CreateVersion[] {
  const own = file.content;
  const sought = asKept(own, forgets);
  const followed = resolutions.flatMap((one) => (one.kind === 'set' && isNew(one.after) ? [one.after.new] : []));
  const wantsOwn = followsLatest(file)
    ? followed.includes(own)
    : !isRemembered(withoutLeft(file, observed, resolutions), sought, head);
  const wanted = [...followed, ...(wantsOwn ? [own] : [])];
  return wanted
    .filter((content, index) => !wanted.some((other, at) => replaces(other, at, content, index)))
    .map((content) => ({ ...create(content, contentsAtRefs), ...othersOf(content, wanted) }));
}

/** What an environment is moved away from is not read again: its ledger is not what a content can be found in. */
function withoutLeft({ pins }: PromptFile, observed: Observed, resolutions: readonly Resolution[]): Observed {
  const left = new Set(pins.flatMap(({ environment }, at) => (resolutions[at]?.kind === 'set' ? [environment] : [])));
  return { ...observed, active: new Map([...observed.active].filter(([environment]) => !left.has(environment))) };
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
function create(content: Content, refs: PinContext['contentsAtRefs']): CreateVersion {
  const found = [...refs].find((entry): entry is [string, ContentAtRef] => isAt(entry[1], content));
  if (found === undefined) return { kind: 'create-version', content, provenance: {} };
  const [ref, { provenance }] = found;
  return { kind: 'create-version', content, ref, provenance };
}

function isAt(at: ContentAtRef | object, content: Content): boolean {
  return 'content' in at && at.content === content;
}
