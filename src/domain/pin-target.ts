import type { ObservedPrompt } from './observed-prompt.ts';
import { contentAtRef, type ContentsAtRefs, type NewVersionRef } from './plan.ts';
import { followsLatest, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import { toStoredContent, type Content, holdsContent, isInSync } from './content.ts';
import { findVersionWithContent, findPinnedVersion, type KnownVersion } from './versions.ts';

/** What a pin asks for: nothing, a known version, a content that no known version holds, or what nobody knows. */
export type PinTarget =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'known'; readonly version: KnownVersion }
  | { readonly kind: 'new'; readonly target: NewVersionRef }
  | { readonly kind: 'unknown' };

/** Compares a pin with what its environment serves. Equal content is in sync whatever its id: such pins name content. */
export function findPinTarget(
  { environment, pin }: EnvironmentPin,
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): PinTarget {
  const { active, known, metadata } = observed;
  const serves = active.get(environment) ?? null;
  const content = findPinnedContent(pin, file, atRefs);
  const sought = content === null ? null : toStoredContent(content, metadata);
  const isServed =
    serves !== null && (sought === null ? findPinnedVersion([serves], pin) !== undefined : isInSync(serves, sought));
  if (isServed) return { kind: 'in-sync' };
  const version =
    sought === null ? findPinnedVersion(known, pin) : findVersionWithContent(listReusableVersions(observed), sought);
  if (version !== undefined) return { kind: 'known', version };
  if (content === null) return { kind: 'unknown' };
  return { kind: 'new', target: { newContent: content, ...(pin.kind === 'git' && { ref: pin.ref }) } };
}

export function findPinTargets(
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): readonly PinTarget[] {
  return file.pins.map((pin) => findPinTarget(pin, file, observed, atRefs));
}

/** What was only looked at is known by its number and its id, but may be forgotten: its content is made again. */
function listReusableVersions({ known, active }: ObservedPrompt): readonly KnownVersion[] {
  const served = new Set([...active.values()].map((version) => version?.id));
  return known.filter(({ id, staysKnown }) => staysKnown || served.has(id));
}

/** The content that a pin names; null for numbers and ids, and for refs that have none. */
function findPinnedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : null;
}

/** The version of the file's own content that a sync creates: an ordinary one, a baseline, or none. */
export type DueVersion = 'content' | 'baseline' | null;

/**
 * Decides which version of the file's own content a sync creates. It creates a baseline only if it creates no other
 * version. It creates a version even if no pin follows it. Then an equal version by somebody else replaces it only if
 * promptsync can find that version again later.
 */
export function chooseVersionToCreate(
  file: PromptFile,
  observed: ObservedPrompt,
  meanings: readonly PinTarget[],
): DueVersion {
  if (isContentDue(file, observed, meanings)) return 'content';
  return observed.lacksLedger && !createsAnyVersion(meanings) ? 'baseline' : null;
}

function createsAnyVersion(meanings: readonly PinTarget[]): boolean {
  return meanings.some(({ kind }) => kind === 'new');
}

function isContentDue(file: PromptFile, observed: ObservedPrompt, meanings: readonly PinTarget[]): boolean {
  if (followsLatest(file)) return meanings.some((one) => one.kind === 'new' && one.target.newContent === file.content);
  const { active, metadata, lacksLedger } = observed;
  const content = toStoredContent(file.content, metadata);
  // A baseline has the file's text itself; any other version that is made names what is served.
  const isFound = createsAnyVersion(meanings) ? holdsContent : isInSync;
  if (lacksLedger && [...active.values()].some((version) => version !== null && isFound(version, content)))
    return false;
  // An id is a promise by itself: unknown ones are planned for.
  const stays = ({ pin }: EnvironmentPin, at: number) =>
    meanings[at]?.kind === 'in-sync' || (meanings[at]?.kind === 'unknown' && pin.kind !== 'version');
  const left = file.pins.filter((pin, at) => !stays(pin, at));
  return !observed.willKnowContent(file.content, new Set(left.map(({ environment }) => environment)));
}
