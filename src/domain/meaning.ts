import type { Observed } from './observed.ts';
import { contentAtRef, type ContentsAtRefs, type NewVersionRef } from './plan.ts';
import { followsLatest, type Content, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import { asHeld, findContent, findNamed, holds, type KnownVersion } from './versions.ts';

/** What a pin asks for: nothing, a known version, a content that no known version holds, or what nobody knows. */
export type Meaning =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'known'; readonly version: KnownVersion }
  | { readonly kind: 'new'; readonly target: NewVersionRef }
  | { readonly kind: 'unknown' };

/** Compares a pin with what its environment serves. Equal content is in sync whatever its id: such pins name content. */
export function meaningOf(
  { environment, pin }: EnvironmentPin,
  file: PromptFile,
  { active, known, metadata }: Observed,
  atRefs: ContentsAtRefs,
): Meaning {
  const serves = active.get(environment) ?? null;
  const content = wantedContent(pin, file, atRefs);
  const sought = content === null ? null : asHeld(content, metadata);
  const isServed =
    serves !== null && (sought === null ? findNamed([serves], pin) !== undefined : holds(serves, sought));
  if (isServed) return { kind: 'in-sync' };
  const version = sought === null ? findNamed(known, pin) : findContent(known, sought);
  if (version !== undefined) return { kind: 'known', version };
  if (content === null) return { kind: 'unknown' };
  return { kind: 'new', target: { new: content, ...(pin.kind === 'git' && { ref: pin.ref }) } };
}

/** The content that a pin names; null for numbers and ids, and for refs that have none. */
function wantedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : null;
}

/**
 * Whether a version of the file's own content is to be made. It is made even when no pin follows it; then somebody
 * else's version of equal content does not stand in for it, unless it is found again later.
 */
export function wantsOwnVersion(file: PromptFile, observed: Observed, meanings: readonly Meaning[]): boolean {
  if (followsLatest(file)) return meanings.some((one) => one.kind === 'new' && one.target.new === file.content);
  const left = file.pins.filter(({ pin }, at) => leaves(meanings[at], pin, observed));
  return !observed.remembers(file.content, new Set(left.map(({ environment }) => environment)));
}

/** Whether an environment is to serve something else. An id is a promise by itself: unknown ones are planned for. */
function leaves(meaning: Meaning | undefined, pin: Pin, { missing }: Observed): boolean {
  if (meaning?.kind === 'unknown') return pin.kind === 'version' && !missing.includes(pin.id);
  return meaning?.kind === 'known' || meaning?.kind === 'new';
}
