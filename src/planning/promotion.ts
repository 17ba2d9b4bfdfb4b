import type { Desired, History } from '../domain/desired.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isNew, type NewVersionRef } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { PinContext } from './changes.ts';
import { cameThrough, isSameContent, means, type Target, wasPinned, wasPinnedLast } from './former-pins.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

type Activation = { readonly pin: EnvironmentPin; readonly after: VersionRef | NewVersionRef };

/**
 * Why a version may not go live in an environment: it is not active in the one before. Three things are no promotion: a
 * rollback to what this environment was pinned to before, putting back what it has been pinned to all along, where the
 * environment before was pinned to it first, and putting back the version that an import has found there. And one that
 * was allowed stays so when a run was cut short between the two environments: the one before has moved on then, as the
 * file wants it.
 */
export function promotionProblems(
  activations: readonly Activation[],
  context: PinContext,
  { promotedFrom }: Pick<Desired, 'promotedFrom'>,
  { formerPins, pinnedAlways }: Pick<History, 'formerPins' | 'pinnedAlways'>,
): readonly Problem[] {
  const { id } = context.file;
  const former = formerPins.get(id) ?? new Map<string, readonly FormerPin[]>();
  const isFound = ({ environment, pin: { kind } }: EnvironmentPin): boolean => {
    const isNamed = kind === 'version' || kind === 'number';
    return isNamed && (context.observed.recordDue || pinnedAlways.get(id)?.has(environment) === true);
  };
  return activations.flatMap(({ pin, after }) => {
    const from = promotedFrom.get(pin.environment);
    if (from === undefined) return [];
    const target = targetOf(after, context);
    const step = { environment: pin.environment, from, target };
    const situation = { activations, context, former };
    const allowed = isActive(target, from, context) || isFound(pin) || isNoPromotion(step, situation);
    return allowed ? [] : [refusal(pin, step, situation)];
  });
}

/** A version that is to go live in an environment, and the one that it has to come from. */
type Step = { readonly environment: string; readonly from: string; readonly target: Target };

type Situation = {
  readonly activations: readonly Activation[];
  readonly context: PinContext;
  readonly former: FormerPins;
};

function isNoPromotion(step: Step, situation: Situation): boolean {
  const { environment, from, target } = step;
  const { former } = situation;
  if (wasPinned(target, environment, former)) return true;
  // What was never made has never been active anywhere: there is nothing to put back, nor to finish.
  if (target.id === undefined) return false;
  if (hasMovedOn(step, situation) && wasPinnedLast(target, from, former)) return true;
  return cameThrough(target, from, environment, former) && !goesThroughNow(step, situation);
}

function targetOf(after: VersionRef | NewVersionRef, { observed }: PinContext): Target {
  if (isNew(after)) return after.new;
  const { id, number } = after;
  const version = observed.known.find((one) => one.id === id);
  return version ?? (number === null ? { id } : { id, number });
}

function isActive(target: Target, environment: string, { observed }: PinContext): boolean {
  const active = observed.active.get(environment) ?? null;
  return active !== null && isSameVersion(active, target);
}

/** Whether the environment before serves what the file asks for: a newer version, for which no file has asked before. */
function hasMovedOn({ from, target }: Step, { activations, context, former }: Situation): boolean {
  const { file, observed } = context;
  const isIn = (pins: readonly EnvironmentPin[]) => pins.some(({ environment }) => environment === from);
  const active = observed.active.get(from) ?? null;
  if (active === null || !isIn(file.pins) || isIn(activations.map(({ pin }) => pin))) return false;
  const isNewer = target.number !== undefined && active.number > target.number;
  return isNewer && !(former.get(from) ?? []).some((state) => means(state, active));
}

/**
 * Whether both environments would be set to a version that no run has brought to either: the second one serves nothing,
 * or what it was pinned to before. Then commits that were refused have asked for it, and are no proof.
 */
function goesThroughNow({ environment, from, target }: Step, situation: Situation): boolean {
  if (!comesTo(from, target, situation)) return false;
  const active = situation.context.observed.active.get(environment) ?? null;
  return active === null || wasPinned(active, environment, situation.former);
}

/** Whether a sync would set an environment to that very version, if nothing were refused. */
function comesTo(environment: string, target: Target, { activations, context }: Situation): boolean {
  const first = activations.find(({ pin }) => pin.environment === environment);
  return first !== undefined && isSameVersion(targetOf(first.after, context), target);
}

function isSameVersion(one: Target, other: Target): boolean {
  return (one.id !== undefined && one.id === other.id) || isSameContent(one, other);
}

function refusal({ line, column }: EnvironmentPin, { environment, from, target }: Step, situation: Situation) {
  const { context } = situation;
  const { key, path, pins } = context.file;
  const { number, id } = target;
  const evidence = {
    ...{ environment, from, key },
    version: number === undefined ? (id ?? 'a version that is not made yet') : `v${number}`,
    serves: servedIn(from, context),
    current: servedIn(environment, context),
    liveIn: liveIn(target, context),
    sourcePinned: pins.some((one) => one.environment === from),
    sourceComes: comesTo(from, target, situation),
  };
  return makeProblem('guard/promotion-order', evidence, { path, line, column });
}

function servedIn(environment: string, { observed }: PinContext): string | null {
  const active = observed.active.get(environment) ?? null;
  return active === null ? null : `v${active.number}`;
}

/** A pinned environment in which the version is active already: it can be promoted from there. */
function liveIn(target: Target, context: PinContext): string | null {
  return context.file.pins.map(({ environment }) => environment).find((one) => isActive(target, one, context)) ?? null;
}

export function latestProblems(file: PromptFile, forbidden: readonly string[]): readonly Problem[] {
  return file.pins
    .filter(({ pin, environment }) => pin.kind === 'latest' && forbidden.includes(environment))
    .map(({ environment, line, column }) =>
      makeProblem('guard/latest-not-allowed', { environment }, { path: file.path, line, column }),
    );
}

/** A pin to a number that the environment before is not pinned to by its own number. */
type Skip = {
  readonly environment: string;
  readonly from: string;
  readonly number: number;
  readonly place: Place;
};

/** Pins that may be promotions out of order; git knows more. */
export function possibleSkips({ pins, path }: PromptFile, promotedFrom: ReadonlyMap<string, string>): readonly Skip[] {
  return pins.flatMap(({ environment, pin, line, column }): readonly Skip[] => {
    const from = pins.find((one) => one.environment === promotedFrom.get(environment));
    if (from === undefined || pin.kind !== 'number' || from.pin.kind !== 'number') return [];
    const { number } = pin;
    return number === from.pin.number
      ? []
      : [{ environment, from: from.environment, number, place: { path, line, column } }];
  });
}

/**
 * Warnings of promotions of which git does not know that the environment before ever had the version. Only the service
 * knows what it serves, so nothing is refused here; and what is pinned from the first commit on was not promoted.
 */
export function skipWarnings(skips: readonly Skip[], former: FormerPins): readonly Problem[] {
  return skips.flatMap(({ environment, from, number, place }) => {
    const [states, before] = [former.get(environment) ?? [], former.get(from) ?? []];
    const hadAny = [...states, ...before].some(({ pin }) => pin.kind !== 'number' || pin.number === number);
    return hadAny || states.length === 0 ? [] : [makeProblem('pin/not-promoted', { environment, from, number }, place)];
  });
}
