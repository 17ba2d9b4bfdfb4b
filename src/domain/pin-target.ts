import type { ObservedPrompt } from './observed-prompt.ts';
import { findContentAtRef, type ContentsAtRefs, type NewVersionRef } from './plan.ts';
import { followsLatest, mustStoreText, type EnvironmentPin, type Pin, type PromptFile } from './prompt-file.ts';
import { canReuseVersion, isInSync } from './compare-content.ts';
import { toStoredContent, type Content } from './content.ts';
import { findVersionWithContent, findPinnedVersion, type KnownVersion } from './versions.ts';

/**
 * The target of a pin, which is the version that the environment should serve:
 * - `in-sync`: The environment already serves the target.
 * - `known`: The environment does not serve the target, but promptsync knows the target.
 * - `new`: No version that promptsync can reuse has the pinned content, so the plan must create one.
 * - `unknown`: promptsync does not know the version or the content that the pin refers to.
 */
export type PinTarget =
  | { readonly kind: 'in-sync' }
  | { readonly kind: 'known'; readonly version: KnownVersion }
  | { readonly kind: 'new'; readonly target: NewVersionRef }
  | { readonly kind: 'unknown' };

/** If the pin refers to content, any version with this content is in sync. */
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

export function findPinTargets(
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): readonly PinTarget[] {
  return file.pins.map((pin) => findPinTarget(pin, file, observed, atRefs));
}

/**
 * Returns the versions that later runs will know, too, and the versions that an environment serves. Omits others that
 * promptsync knows only from probing. If a pin needs the content of such a version, the plan creates a new version.
 */
function listReusableVersions({ known, active }: ObservedPrompt): readonly KnownVersion[] {
  const servedIds = new Set([...active.values()].map((version) => version?.id));
  return known.filter(({ id, staysKnown }) => staysKnown || servedIds.has(id));
}

/** Returns null if the pin specifies a version number or id, or if its git ref does not contain the prompt. */
export function findPinnedContent(pin: Pin, file: PromptFile, atRefs: ContentsAtRefs): Content | null {
  if (pin.kind === 'latest') return file.content;
  return pin.kind === 'git' ? findContentAtRef(atRefs, pin.ref) : null;
}

/** What a sync creates from the file's own content: an ordinary version, a baseline, or nothing (null). */
export type VersionToCreate = 'content' | 'baseline' | null;

/**
 * Chooses what a sync creates from the file's own content:
 * - The service must store this content even if no pin is `latest`. For the exception, see `mustStoreText`.
 * - An existing version with this content is enough only if later runs will still know it.
 * - A prompt with versions but no ledger gets a baseline, but only if the sync creates no other version.
 */
export function chooseVersionToCreate(
  file: PromptFile,
  observed: ObservedPrompt,
  targets: readonly PinTarget[],
): VersionToCreate {
  if (!mustStoreText(file)) return null;
  if (isContentDue(file, observed, targets)) return 'content';
  return mayGetBaseline(file, observed) && !createsAnyVersion(targets) ? 'baseline' : null;
}

/** Returns true if a sync creates a baseline of the prompt, provided that it creates no other version. */
export function mayGetBaseline(file: PromptFile, { lacksLedger }: Pick<ObservedPrompt, 'lacksLedger'>): boolean {
  return lacksLedger && mustStoreText(file);
}

function createsAnyVersion(targets: readonly PinTarget[]): boolean {
  return targets.some(({ kind }) => kind === 'new');
}

/** Returns true if a sync must create an ordinary version with the file's own content. */
function isContentDue(file: PromptFile, observed: ObservedPrompt, targets: readonly PinTarget[]): boolean {
  if (followsLatest(file)) return targets.some((one) => one.kind === 'new' && one.target.newContent === file.content);
  const { active, metadata, lacksLedger } = observed;
  const content = toStoredContent(file.content, metadata);
  // Without a ledger, a served version that is in sync is enough if the sync creates a baseline, which contains the
  // file's text. If the sync creates another version, its ledger does not contain that text, so a served version must
  // pass the stricter check `canReuseVersion`.
  const isUsable = createsAnyVersion(targets) ? canReuseVersion : isInSync;
  const isServed = [...active.values()].some((version) => version !== null && isUsable(version, content));
  if (lacksLedger && isServed) return false;
  // If a pinned number or content is unknown, the plan activates nothing, so the environment keeps its version. A
  // pinned id is activated even if it is unknown, because an id refers to exactly one version.
  const keepsVersion = ({ pin }: EnvironmentPin, target: PinTarget | undefined): boolean =>
    target?.kind === 'in-sync' || (target?.kind === 'unknown' && pin.kind !== 'version');
  const movingPins = file.pins.filter((pin, index) => !keepsVersion(pin, targets[index]));
  return !observed.willKnowContent(file.content, new Set(movingPins.map(({ environment }) => environment)));
}
