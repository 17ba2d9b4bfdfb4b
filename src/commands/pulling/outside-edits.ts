import { entryOf, findNamed, knownVersions } from '../../domain/known-versions.ts';
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
  const scope = environment === undefined ? file.pins.map((pin) => pin.environment) : [environment];
  return scope.flatMap((name): readonly OutsideEdit[] => {
    const version = observed?.active.get(name) ?? null;
    if (version === null || wasAskedFor(version, former.get(name) ?? [])) return [];
    const pin = file.pins.find((one) => one.environment === name) ?? null;
    if (pin !== null && !changing.has(name) && !isOtherNumber(pin, version)) return [];
    return [{ environment: name, version, pin, own: entryOf(version).outside === undefined }];
  });
}

/** Nothing is planned for a number that is not known, as one is not that the file has from an earlier pull. */
function isOtherNumber({ pin }: EnvironmentPin, { number }: Version): boolean {
  return pin.kind === 'number' && pin.number !== number;
}

function wasAskedFor(version: Version, former: readonly FormerPin[]): boolean {
  const entry = entryOf(version);
  return former.some((pin) => means(pin, entry));
}

/** A version of promptsync's, and itself where it was read. */
export type Original = Pick<Stamp, 'digest' | 'metadataDigest' | 'commit' | 'path'> & {
  readonly version?: Version | null;
};

/**
 * The version that an outside one was made from: the one whose record it has copied, which no ledger need remember; else
 * what the file says that its environment served before: an older one than was edited does no harm, because what both
 * sides have is no conflict. Where the file follows no number, it is the newest of promptsync's before it. Null where
 * that version is not known, and undefined where none of promptsync's is.
 */
export function originOf(
  { version, pin }: Pick<OutsideEdit, 'version' | 'pin'>,
  { observed }: PromptPlan,
): Original | null | undefined {
  if (observed === null) return undefined;
  const known = knownVersions(observed);
  const own = known.filter((one) => one.outside === undefined && one.number < version.number);
  const { stamp } = version;
  const copied = own.find(({ digest }) => digest === stamp?.digest) ?? stamp;
  if (copied !== null) return copied;
  if (pin?.pin.kind === 'number' || pin?.pin.kind === 'version') return findNamed(known, pin.pin) ?? null;
  return own[0];
}

/** The newest version of promptsync's that is known. */
export function newestOrigin({ observed }: PromptPlan): Original | undefined {
  return observed === null ? undefined : knownVersions(observed).find(({ outside }) => outside === undefined);
}

/** Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. */
export function hadOneText(files: readonly PromptFile[], { content }: PromptFile): boolean {
  return files.length > 0 && files.every((file) => file.content.digest === content.digest);
}
