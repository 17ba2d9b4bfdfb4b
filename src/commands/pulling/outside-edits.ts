import { entryOf, findNamed, hasGap, knownVersions, type KnownVersion } from '../../domain/known-versions.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../../domain/prompt-file.ts';
import type { Stamp, Version } from '../../domain/version.ts';
import { means, type FormerPin, type FormerPins } from '../../planning/former-pins.ts';

/** An environment that serves what no commit has asked for: somebody has changed it in the service. */
export type OutsideEdit = {
  readonly environment: string;
  readonly version: Version;
  /** Null where the file does not pin the environment. */
  readonly pin: EnvironmentPin | null;
  /** Whether promptsync made the version: then there is no text to take over. */
  readonly own: boolean;
};

/** Which environments were changed in the service, of those asked for: an environment that only lags behind is not. */
export function findOutsideEdits(
  { file, observed, changes }: PromptPlan,
  environment: string | undefined,
  former: FormerPins,
): readonly OutsideEdit[] {
  const changing = new Set(changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])));
  const known = observed === null ? [] : knownVersions(observed);
  const scope = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return scope.flatMap((name): readonly OutsideEdit[] => {
    const version = observed?.active.get(name) ?? null;
    if (version === null || wasAskedFor(version, former.get(name) ?? [], known)) return [];
    const pin = file.pins.find((one) => one.environment === name) ?? null;
    if (pin !== null && !changing.has(name) && !isOtherNumber(pin, version)) return [];
    return [{ environment: name, version, pin, own: entryOf(version).outside === undefined }];
  });
}

/** Nothing is planned for a number that is not known, as one is not that the file has from an earlier pull. */
function isOtherNumber({ pin }: EnvironmentPin, { number }: Version): boolean {
  return pin.kind === 'number' && pin.number !== number;
}

/**
 * Whether a commit has asked for a version. Where promptsync had made one of that content before, it is no commit's:
 * somebody has gone back to an older text.
 */
function wasAskedFor(version: Version, former: readonly FormerPin[], known: readonly KnownVersion[]): boolean {
  const entry = entryOf(version);
  const before = entry.outside === undefined ? [] : ownBefore(version, known);
  const isRemade = (pin: FormerPin) => pin.content !== null && before.some((own) => means(pin, own));
  return former.some((pin) => means(pin, entry) && !isRemade(pin));
}

function ownBefore({ number }: Version, known: readonly KnownVersion[]): readonly KnownVersion[] {
  return known.filter((one) => one.outside === undefined && one.number < number);
}

/** A version of promptsync's, and itself where it was read; its number is missing where only a copied record is known. */
export type Original = Pick<Stamp, 'digest' | 'metadataDigest' | 'commit' | 'path'> & {
  readonly version?: Version | null;
  readonly number?: number;
};

/**
 * The version that an outside one was made from: the one whose record it has copied, which no ledger need remember; else
 * what the file says that its environment served before. Where the file follows no number, it is the newest of
 * promptsync's before it. Null where that version is not known, and undefined where none of promptsync's is.
 */
export function originOf(
  { version, pin }: Pick<OutsideEdit, 'version' | 'pin'>,
  { observed }: PromptPlan,
): Original | null | undefined {
  if (observed === null) return undefined;
  const known = knownVersions(observed);
  const own = ownBefore(version, known);
  const { stamp } = version;
  const copied = own.find(({ digest }) => digest === stamp?.digest) ?? stamp;
  if (copied !== null) return copied;
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') return findNamed(known, pin.pin) ?? null;
  return own[0];
}

/**
 * Whether an edit may come from a newer state of the file than its origin: one that was pulled leaves no trace in the
 * service, and what it holds of the origin may be an edit that somebody has taken back. So it is where there was a
 * version in between that nobody knows, or where the service has had the file's text already: `committed`, because
 * what no commit has is never synced.
 */
export function mayBeNewer(
  { version, pin }: Pick<OutsideEdit, 'version' | 'pin'>,
  origin: Original,
  { file, observed }: PromptPlan,
  committed: boolean,
): boolean {
  if (observed === null) return false;
  const known = knownVersions(observed).filter(({ number }) => number < version.number);
  const { number } = origin;
  if (number === undefined) return true;
  if (pin !== null && findNamed(known, pin.pin)?.number === number) return false;
  if (hasGap(known, number, version.number)) return true;
  // A copied record names the newest of promptsync's that the edit can come from.
  const met = known.filter((one) => (one.outside === true ? one.number > number : version.stamp === null));
  return committed && met.some(({ digest }) => digest === file.content.digest && digest !== origin.digest);
}

/** The newest version of promptsync's that is known. */
export function newestOrigin({ observed }: PromptPlan): Original | undefined {
  return observed === null ? undefined : knownVersions(observed).find(({ outside }) => outside === undefined);
}

/** Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. */
export function hadOneText(files: readonly PromptFile[], { content }: PromptFile): boolean {
  return files.length > 0 && files.every((file) => file.content.digest === content.digest);
}
