import type { Observed } from './observed.ts';
import { contentAtRef, type ContentsAtRefs, type NewVersionRef } from './plan.ts';
import { followsLatest, type Content, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import { asHeld, findContent, findNamed, holds, isInSync, type KnownVersion } from './versions.ts';

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
  observed: Observed,
  atRefs: ContentsAtRefs,
): Meaning {
  const { active, known, metadata } = observed;
  const serves = active.get(environment) ?? null;
  const content = wantedContent(pin, file, atRefs);
  const sought = content === null ? null : asHeld(content, metadata);
  const isServed =
    serves !== null && (sought === null ? findNamed([serves], pin) !== undefined : isInSync(serves, sought));
  if (isServed) return { kind: 'in-sync' };
  const version = sought === null ? findNamed(known, pin) : findContent(existing(observed), sought);
  if (version !== undefined) return { kind: 'known', version };
  if (content === null) return { kind: 'unknown' };
  return { kind: 'new', target: { new: content, ...(pin.kind === 'git' && { ref: pin.ref }) } };
}

export function meaningsOf(file: PromptFile, observed: Observed, atRefs: ContentsAtRefs): readonly Meaning[] {
  return file.pins.map((pin) => meaningOf(pin, file, observed, atRefs));
}

/** What was only looked at is known by its number and its id, but may be forgotten: its content is made again. */
function existing({ known, active }: Observed): readonly KnownVersion[] {
  const served = new Set([...active.values()].map((version) => version?.id));
  return known.filter(({ id, lasting }) => lasting || served.has(id));
}

/** The content that a pin names; null for numbers and ids, and for refs that have none. */
function wantedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : null;
}

/**
 * Which version of the file's own content is to be made: a baseline only where the sync makes no other version. One is
 * made even when no pin follows it; then somebody else's version of equal content does not stand in for it, unless it
 * is found again later.
 */
export function dueVersion(file: PromptFile, observed: Observed, meanings: readonly Meaning[]) {
  if (isContentDue(file, observed, meanings)) return 'content';
  return observed.recordDue && !makesAny(meanings) ? 'baseline' : null;
}

function makesAny(meanings: readonly Meaning[]): boolean {
  return meanings.some(({ kind }) => kind === 'new');
}

function isContentDue(file: PromptFile, observed: Observed, meanings: readonly Meaning[]): boolean {
  if (followsLatest(file)) return meanings.some((one) => one.kind === 'new' && one.target.new === file.content);
  const { active, metadata, recordDue } = observed;
  const content = asHeld(file.content, metadata);
  // A baseline has the file's text itself; any other version that is made names what is served.
  const isFound = makesAny(meanings) ? holds : isInSync;
  if (recordDue && [...active.values()].some((version) => version !== null && isFound(version, content))) return false;
  // An id is a promise by itself: unknown ones are planned for.
  const stays = ({ pin }: EnvironmentPin, at: number) =>
    meanings[at]?.kind === 'in-sync' || (meanings[at]?.kind === 'unknown' && pin.kind !== 'version');
  const left = file.pins.filter((pin, at) => !stays(pin, at));
  return !observed.remembers(file.content, new Set(left.map(({ environment }) => environment)));
}
