import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { findPinTarget } from '../domain/pin-target.ts';
import type { ContentsAtRefs } from '../domain/plan.ts';
import { findPin, type PromptFile } from '../domain/prompt-file.ts';
import type { VersionFacts } from '../domain/versions.ts';

/** A version that an environment serves or that the file pins there. */
export type NewerVersion = {
  readonly verb: 'serves' | 'pins';
  /** Null if the version does not exist yet. */
  readonly number: number | null;
};

/** A version that does not exist yet is newer than every version that exists. */
export function findNewerVersion(
  environment: string,
  { number: promoted }: Pick<VersionFacts, 'number'>,
  file: PromptFile,
  observed: ObservedPrompt,
  atRefs: ContentsAtRefs,
): NewerVersion | null {
  const served = observed.active.get(environment) ?? null;
  if (served !== null && served.number > promoted) return { verb: 'serves', number: served.number };
  const pin = findPin(file.pins, environment);
  if (pin === undefined) return null;
  if (pin.pin.kind === 'number') return pin.pin.number > promoted ? { verb: 'pins', number: pin.pin.number } : null;
  const target = findPinTarget(pin, file, observed, atRefs);
  if (target.kind === 'new') return { verb: 'pins', number: null };
  const isNewer = target.kind === 'known' && target.version.number > promoted;
  return isNewer ? { verb: 'pins', number: target.version.number } : null;
}
