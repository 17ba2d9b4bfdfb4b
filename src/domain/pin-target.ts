import type { ObservedPrompt } from './observed-prompt.ts';
import { contentAtRef, type ContentsAtRefs, type NewVersionRef } from './plan.ts';
import { followsLatest, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import { toStoredContent, type Content, holdsContent, isInSync } from './content.ts';
import { findVersionWithContent, findPinnedVersion, type KnownVersion } from './versions.ts';

/**
 * The target of a pin. `in-sync`: the environment serves the target already. `known`: a known version is the target.
 * `new`: the pin names a content that no known version holds, so the plan has to create a version. `unknown`:
 * promptsync does not know the version that the pin names.
 */
export type PinTarget =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'known'; readonly version: KnownVersion }
  | { readonly kind: 'new'; readonly target: NewVersionRef }
  | { readonly kind: 'unknown' };

/**
 * Finds the target of a pin and compares it with the version that the environment serves. If the pin names a content,
 * any served version with this content is in sync, whatever its id.
 */
export function findPinTarget(
  { environment, pin }: EnvironmentPin,
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): PinTarget {
  const { active, known, metadata } = observed;
  const served = active.get(environment) ?? null;
  const content = findPinnedContent(pin, file, atRefs);
  if (content === null) {
    if (served !== null && findPinnedVersion([served], pin) !== undefined) return { kind: 'in-sync' };
    const version = findPinnedVersion(known, pin);
    return version === undefined ? { kind: 'unknown' } : { kind: 'known', version };
  }
  const storedContent = toStoredContent(content, metadata);
  if (served !== null && isInSync(served, storedContent)) return { kind: 'in-sync' };
  const version = findVersionWithContent(listReusableVersions(observed), storedContent);
  if (version !== undefined) return { kind: 'known', version };
  return { kind: 'new', target: { newContent: content, ...(pin.kind === 'git' && { ref: pin.ref }) } };
}

/** Finds the targets of all pins of a file, in the order of the pins. */
export function findPinTargets(
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): readonly PinTarget[] {
  return file.pins.map((pin) => findPinTarget(pin, file, observed, atRefs));
}

/**
 * Returns the known versions that the plan may use for a content: those that later runs will know, and those that an
 * environment serves. A version that promptsync only probed may be unknown to the next run, so its content is created
 * again.
 */
function listReusableVersions({ known, active }: ObservedPrompt): readonly KnownVersion[] {
  const servedIds = new Set([...active.values()].map((version) => version?.id));
  return known.filter(({ id, staysKnown }) => staysKnown || servedIds.has(id));
}

/** Returns the content that a pin names. Null for a pin by number or id, and for a ref without a content. */
function findPinnedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? contentAtRef(atRefs, pin.ref) : null;
}

/** The version of the file's own content that a sync creates: an ordinary version, a baseline, or none (null). */
export type DueVersion = 'content' | 'baseline' | null;

/**
 * Chooses the version of the file's own content that a sync creates. A sync creates a baseline only if it creates no
 * other version. It creates the file's own content even if no pin follows that content. It uses an existing version
 * instead only if later runs will still know that version.
 * @param targets the targets of the file's pins, in the order of the pins
 */
export function chooseVersionToCreate(
  file: PromptFile,
  observed: ObservedPrompt,
  targets: readonly PinTarget[],
): DueVersion {
  if (isContentDue(file, observed, targets)) return 'content';
  return observed.lacksLedger && !createsAnyVersion(targets) ? 'baseline' : null;
}

function createsAnyVersion(targets: readonly PinTarget[]): boolean {
  return targets.some(({ kind }) => kind === 'new');
}

/** Whether a sync has to create an ordinary version with the file's own content. */
function isContentDue(file: PromptFile, observed: ObservedPrompt, targets: readonly PinTarget[]): boolean {
  if (followsLatest(file)) return targets.some((one) => one.kind === 'new' && one.target.newContent === file.content);
  const { active, metadata, lacksLedger } = observed;
  const content = toStoredContent(file.content, metadata);
  // A baseline holds the file's text itself, so a served version only has to be in sync with the file. Any other new
  // version merely lists the served versions in its ledger, so one of them must hold the content.
  const isUsable = createsAnyVersion(targets) ? holdsContent : isInSync;
  const isServed = [...active.values()].some((version) => version !== null && isUsable(version, content));
  if (lacksLedger && isServed) return false;
  // An environment also keeps its version if its pin names an unknown number. An unknown id is planned all the same.
  const keepsVersion = ({ pin }: EnvironmentPin, target: PinTarget | undefined): boolean =>
    target?.kind === 'in-sync' || (target?.kind === 'unknown' && pin.kind !== 'version');
  const movingPins = file.pins.filter((pin, index) => !keepsVersion(pin, targets[index]));
  return !observed.willKnowContent(file.content, new Set(movingPins.map(({ environment }) => environment)));
}
