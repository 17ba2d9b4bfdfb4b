import type { Desired, History } from '../domain/desired.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isNew, type NewVersionRef } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { PinContext } from './changes.ts';
import {
  beganAsPromotion,
  beganAsSkip,
  currentRun,
  earlierRuns,
  type FormerStates,
  isSameContent,
  means,
  type PinRun,
  type Target,
} from './former-pins.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

type Activation = { readonly pin: EnvironmentPin; readonly after: VersionRef | NewVersionRef };

/**
 * Returns a problem for each version that would go live in an environment although its source environment does not
 * serve it. Three cases are no promotion: a rollback, putting back a version that was promoted in order, and putting
 * back the version that an import found. The decision depends on the service and on the file's states up to HEAD. It
 * does not depend on a base, or on whether HEAD itself changed the file.
 */
export function promotionProblems(
  activations: readonly Activation[],
  context: PinContext,
  { promotedFrom }: Pick<Desired, 'promotedFrom'>,
  { formerPins, firstAges, pinnedAlways }: Pick<History, 'formerPins' | 'firstAges' | 'pinnedAlways'>,
): readonly Problem[] {
  const { id } = context.file;
  const pins = formerPins.get(id) ?? new Map<string, readonly FormerPin[]>();
  const former: FormerStates = { pins, firstAge: firstAges.get(id) ?? null };
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
  readonly former: FormerStates;
};

/**
 * Whether the step is a rollback or a put-back. A version that does not exist was never active anywhere, so it can be
 * neither.
 */
function isNoPromotion(step: Step, situation: Situation): boolean {
  if (step.target.id === undefined) return false;
  return isRollback(step, situation) || isPutBack(step, situation);
}

/**
 * Whether the environment goes back to a version that the file pinned there before. A pin that a guard refused and
 * somebody reverted was never live. So a newer version than the served one counts only if git shows that the file
 * pinned the source environment to it right before, or that the earlier pin is as old as the file.
 */
function isRollback({ environment, from, target }: Step, { context, former }: Situation): boolean {
  const earlier = earlierRuns(target, environment, former.pins);
  const served = context.observed.active.get(environment) ?? null;
  if (served !== null && isNewer(served, target)) return earlier.length > 0;
  return earlier.some((run) => !beganAsSkip(run, target, from, former));
}

/**
 * Whether the file pinned the version in promotion order, and the source environment has moved on since then. This
 * finishes an interrupted run, and it puts back what somebody changed in the service. If the source environment serves
 * nothing newer than the version, nothing shows that it ever served the version: the commit that asked for it may have
 * been refused.
 */
function isPutBack(step: Step, situation: Situation): boolean {
  const { environment, from, target } = step;
  const { context, former } = situation;
  const run = currentRun(target, environment, former.pins);
  const source = context.observed.active.get(from) ?? null;
  if (!beganAsPromotion(run, target, from, former) || source === null || !isNewer(source, target)) return false;
  if (statesBefore(run, from, former).some((state) => means(state, source))) return false;
  return isWantedSince(run, from, source, situation) || isChangedOutside(run, step, situation);
}

function isNewer(one: VersionRef, other: Target): boolean {
  return other.number !== undefined && one.number !== null && one.number > other.number;
}

function statesBefore({ since }: PinRun, environment: string, { pins }: FormerStates): readonly FormerPin[] {
  return (pins.get(environment) ?? []).filter(({ age }) => age > since);
}

/** Whether the planned file, or a state of the file since the run began, wants what the environment serves. */
function isWantedSince({ since }: PinRun, environment: string, served: Target, situation: Situation): boolean {
  const { activations, context, former } = situation;
  const isIn = (pins: readonly EnvironmentPin[]) => pins.some((one) => one.environment === environment);
  if (isIn(context.file.pins) && !isIn(activations.map(({ pin }) => pin))) return true;
  return (former.pins.get(environment) ?? []).some((state) => state.age <= since && means(state, served));
}

/** Whether an environment that the file pinned before the run serves a newer version that the file never pinned there. */
function isChangedOutside(run: PinRun, { environment, target }: Step, { context, former }: Situation): boolean {
  const served = context.observed.active.get(environment) ?? null;
  if (served === null || !isNewer(served, target) || statesBefore(run, environment, former).length === 0) return false;
  return !(former.pins.get(environment) ?? []).some((state) => means(state, served));
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
