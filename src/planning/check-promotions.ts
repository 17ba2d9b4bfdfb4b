import type { DesiredState, PlanningHistory } from '../domain/desired-state.ts';
import type { FormerPin, FormerPins } from '../domain/history.ts';
import { isNewVersionRef, type NewVersionRef } from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { EnvironmentPin, PromptFile } from '../domain/prompt-file.ts';
import type { PinContext } from './plan-changes.ts';
import {
  beganAsPromotion,
  beganAsSkip,
  findCurrentRun,
  findEarlierRuns,
  type FormerPinStates,
  meansVersion,
  type PinRun,
  type VersionTraits,
} from './former-pins.ts';
import { isSameContent } from '../domain/content.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

type PinActivation = { readonly pin: EnvironmentPin; readonly after: VersionRef | NewVersionRef };

/**
 * Returns a problem for each version that would go live in an environment although its source environment does not
 * serve it. Three cases are no promotion: a rollback, putting back a version that was promoted in order, and putting
 * back the version that an import found. The decision depends on the service and on the file's states up to HEAD. It
 * does not depend on a base, or on whether HEAD itself changed the file.
 */
export function checkPromotions(
  activations: readonly PinActivation[],
  context: PinContext,
  { promotionSources }: Pick<DesiredState, 'promotionSources'>,
  { formerPins, firstAges, alwaysPinned }: Pick<PlanningHistory, 'formerPins' | 'firstAges' | 'alwaysPinned'>,
): readonly Problem[] {
  const { id } = context.file;
  const pins = formerPins.get(id) ?? new Map<string, readonly FormerPin[]>();
  const former: FormerPinStates = { pins, firstAge: firstAges.get(id) ?? null };
  const isFound = ({ environment, pin: { kind } }: EnvironmentPin): boolean => {
    const isNamed = kind === 'version' || kind === 'number';
    return isNamed && (context.observed.lacksLedger || alwaysPinned.get(id)?.has(environment) === true);
  };
  return activations.flatMap(({ pin, after }) => {
    const from = promotionSources.get(pin.environment);
    if (from === undefined) return [];
    const target = makeTraits(after, context);
    const step = { environment: pin.environment, from, target };
    const situation = { activations, context, former };
    const allowed = isActive(target, from, context) || isFound(pin) || isNoPromotion(step, situation);
    return allowed ? [] : [makeRefusalProblem(pin, step, situation)];
  });
}

/** A version that is about to go live in an environment, and the source environment that must serve it first. */
type PromotionStep = { readonly environment: string; readonly from: string; readonly target: VersionTraits };

type PromotionSituation = {
  readonly activations: readonly PinActivation[];
  readonly context: PinContext;
  readonly former: FormerPinStates;
};

/**
 * Whether the step is a rollback or a put-back. A version that does not exist was never active anywhere, so it can be
 * neither.
 */
function isNoPromotion(step: PromotionStep, situation: PromotionSituation): boolean {
  if (step.target.id === undefined) return false;
  return isRollback(step, situation) || isPutBack(step, situation);
}

/**
 * Whether the environment goes back to a version that the file pinned there before. A pin that a guard refused and
 * somebody reverted was never live. So a newer version than the served one counts only if git shows that the file
 * pinned the source environment to it right before, or that the earlier pin is as old as the file.
 */
function isRollback({ environment, from, target }: PromotionStep, { context, former }: PromotionSituation): boolean {
  const earlier = findEarlierRuns(target, environment, former.pins);
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
function isPutBack(step: PromotionStep, situation: PromotionSituation): boolean {
  const { environment, from, target } = step;
  const { context, former } = situation;
  const run = findCurrentRun(target, environment, former.pins);
  const source = context.observed.active.get(from) ?? null;
  if (!beganAsPromotion(run, target, from, former) || source === null || !isNewer(source, target)) return false;
  if (listStatesBefore(run, from, former).some((state) => meansVersion(state, source))) return false;
  return isWantedSince(run, from, source, situation) || isChangedOutside(run, step, situation);
}

function isNewer(one: VersionRef, other: VersionTraits): boolean {
  return other.number !== undefined && one.number !== null && one.number > other.number;
}

function listStatesBefore({ since }: PinRun, environment: string, { pins }: FormerPinStates): readonly FormerPin[] {
  return (pins.get(environment) ?? []).filter(({ age }) => age > since);
}

/** Whether the planned file, or a state of the file since the run began, wants what the environment serves. */
function isWantedSince(
  { since }: PinRun,
  environment: string,
  served: VersionTraits,
  situation: PromotionSituation,
): boolean {
  const { activations, context, former } = situation;
  const isIn = (pins: readonly EnvironmentPin[]) => pins.some((one) => one.environment === environment);
  if (isIn(context.file.pins) && !isIn(activations.map(({ pin }) => pin))) return true;
  return (former.pins.get(environment) ?? []).some((state) => state.age <= since && meansVersion(state, served));
}

/** Whether an environment that the file pinned before the run serves a newer version that the file never pinned there. */
function isChangedOutside(
  run: PinRun,
  { environment, target }: PromotionStep,
  { context, former }: PromotionSituation,
): boolean {
  const served = context.observed.active.get(environment) ?? null;
  if (served === null || !isNewer(served, target) || listStatesBefore(run, environment, former).length === 0)
    return false;
  return !(former.pins.get(environment) ?? []).some((state) => meansVersion(state, served));
}

function makeTraits(after: VersionRef | NewVersionRef, { observed }: PinContext): VersionTraits {
  if (isNewVersionRef(after)) return after.newContent;
  const { id, number } = after;
  const version = observed.known.find((one) => one.id === id);
  return version ?? (number === null ? { id } : { id, number });
}

function isActive(target: VersionTraits, environment: string, { observed }: PinContext): boolean {
  const active = observed.active.get(environment) ?? null;
  return active !== null && isSameVersion(active, target);
}

/** Whether the sync would activate this version in an environment if no guard refused it. */
function becomesActive(
  environment: string,
  target: VersionTraits,
  { activations, context }: PromotionSituation,
): boolean {
  const first = activations.find(({ pin }) => pin.environment === environment);
  return first !== undefined && isSameVersion(makeTraits(first.after, context), target);
}

function isSameVersion(one: VersionTraits, other: VersionTraits): boolean {
  return (one.id !== undefined && one.id === other.id) || isSameContent(one, other);
}

function makeRefusalProblem(
  { line, column }: EnvironmentPin,
  { environment, from, target }: PromotionStep,
  situation: PromotionSituation,
): Problem {
  const { context } = situation;
  const { key, path, pins } = context.file;
  const { number, id } = target;
  const evidence = {
    environment,
    from,
    key,
    version: number === undefined ? (id ?? 'a version that is not made yet') : `v${number}`,
    serves: describeServed(from, context),
    current: describeServed(environment, context),
    liveIn: describeLiveEnvironments(target, context),
    sourcePinned: pins.some((one) => one.environment === from),
    sourceComes: becomesActive(from, target, situation),
  };
  return makeProblem('guard/promotion-order', evidence, { path, line, column });
}

function describeServed(environment: string, { observed }: PinContext): string | null {
  const active = observed.active.get(environment) ?? null;
  return active === null ? null : `v${active.number}`;
}

/** Returns a pinned environment that already serves the version, so that a hint can name it; null if there is none. */
function describeLiveEnvironments(target: VersionTraits, context: PinContext): string | null {
  return context.file.pins.map(({ environment }) => environment).find((one) => isActive(target, one, context)) ?? null;
}

/** Returns a problem for each pin `latest` in an environment with `allow_latest: false`. */
export function checkLatestPins(file: PromptFile, forbidden: readonly string[]): readonly Problem[] {
  return file.pins
    .filter(({ pin, environment }) => pin.kind === 'latest' && forbidden.includes(environment))
    .map(({ environment, line, column }) =>
      makeProblem('guard/latest-not-allowed', { environment }, { path: file.path, line, column }),
    );
}

/** A pin to a version number while the source environment is pinned to another number. */
type SkippedPromotion = {
  readonly environment: string;
  readonly from: string;
  readonly number: number;
  readonly place: Place;
};

/** Returns pins that may skip an environment. Only the git history tells whether they really do. */
export function findSkippedPromotions(
  { pins, path }: PromptFile,
  promotionSources: ReadonlyMap<string, string>,
): readonly SkippedPromotion[] {
  return pins.flatMap(({ environment, pin, line, column }): readonly SkippedPromotion[] => {
    const from = pins.find((one) => one.environment === promotionSources.get(environment));
    if (from === undefined || pin.kind !== 'number' || from.pin.kind !== 'number') return [];
    const { number } = pin;
    return number === from.pin.number
      ? []
      : [{ environment, from: from.environment, number, place: { path, line, column } }];
  });
}

/**
 * Returns a warning for each promotion whose source environment never had the version, according to git. It is not an
 * error, because only the service knows what the source environment serves. A pin that is as old as the file is not a
 * promotion.
 */
export function warnAboutSkips(skips: readonly SkippedPromotion[], former: FormerPins): readonly Problem[] {
  return skips.flatMap(({ environment, from, number, place }) => {
    const [states, before] = [former.get(environment) ?? [], former.get(from) ?? []];
    const hadAny = [...states, ...before].some(({ pin }) => pin.kind !== 'number' || pin.number === number);
    return hadAny || states.length === 0 ? [] : [makeProblem('pin/not-promoted', { environment, from, number }, place)];
  });
}
