import { entryOf, knownVersions } from '../domain/known-versions.ts';
import type { PromptPlan } from '../domain/plan.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { Stamp, Version } from '../domain/version.ts';
import { means, type FormerPin, type FormerPins } from '../planning/former-pins.ts';

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
 * The version that an outside one was made from: the one whose record it has copied, which no ledger need remember,
 * else the newest of promptsync's before it. Undefined where none is known.
 */
export function originOf({ number, stamp }: Pick<Version, 'number' | 'stamp'>, { observed }: PromptPlan) {
  if (observed === null) return undefined;
  const own = knownVersions(observed).filter((one) => one.outside === undefined && one.number < number);
  const original: Original | undefined = own.find(({ digest }) => digest === stamp?.digest) ?? stamp ?? own[0];
  return original;
}

/** Whether a file has had one text only, as far as git knows: then whatever differs was changed outside. */
export function hadOneText(files: readonly PromptFile[], { content }: PromptFile): boolean {
  return files.length > 0 && files.every((file) => file.content.digest === content.digest);
}
