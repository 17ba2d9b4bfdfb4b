import type { DesiredState } from '../domain/desired-state.ts';
import { computeNewVersionDigests } from '../domain/content.ts';
import type { ObservedPrompt } from '../domain/observed-prompt.ts';
import { type Change, isNewVersionRef, listChangingEnvironments, type NewVersionRef } from '../domain/plan.ts';
import { isSameVersion, type VersionRef, type VersionTraits } from '../domain/versions.ts';
import {
  type EnvironmentPin,
  findPin,
  formatPin,
  locateEnvironment,
  locatePin,
  type PromptFile,
} from '../domain/prompt-file.ts';
import { type Line, listStatesBeforeRun, wantsVersion } from '../history/line-of-states.ts';
import type { PromptHistory } from '../history/prompt-history.ts';
import type { PinContext } from './plan-changes.ts';
import { makeProblem, type Problem } from '../problem.ts';

type PromotionRules = Pick<DesiredState, 'promotionSources' | 'otherPromotionSources'>;

/** A version that is about to go live in an environment, and the source environment where it must go live first. */
export type Promotion = {
  readonly environment: string;
  readonly from: string;
  /** Whether another configuration manages the source environment, so that promptsync cannot ask its service. */
  readonly isOtherSource: boolean;
  readonly target: VersionTraits;
};

export function listPlannedPromotions(
  changes: readonly Change[],
  observed: ObservedPrompt,
  { promotionSources, otherPromotionSources }: PromotionRules,
): readonly Promotion[] {
  return changes.flatMap((change): readonly Promotion[] => {
    if (change.kind !== 'set-active') return [];
    const { environment, after } = change;
    const ownSource = promotionSources.get(environment);
    const from = ownSource ?? otherPromotionSources.get(environment);
    if (from === undefined) return [];
    return [{ environment, from, isOtherSource: ownSource === undefined, target: makeTraits(after, observed) }];
  });
}

/**
 * Returns true if at least one of these conditions is met:
 * 1. The source environment serves the version, or a version with its content.
 * 2. The environment serves a version with a higher number. This is a rollback.
 * 3. Before the environment's current run, a state of the line wanted the version there or in the source.
 * 4. The environment has wanted the version since the first state of a complete line: the file was adopted with this
 *    pin. A default pin never counts, because all states of a line have the default pins of the newest commit.
 *
 * A version that does not exist yet can only meet the first condition, unless another configuration manages the source.
 * promptsync cannot ask that source, so it applies the others to the content that the version will have.
 * @param line the line up to HEAD, with the planned file as its newest state
 */
export function isPromotionAllowed(
  { environment, from, isOtherSource, target }: Promotion,
  { active, metadata }: Pick<ObservedPrompt, 'active' | 'metadata'>,
  line: Line,
): boolean {
  if (!isOtherSource && serves(active, from, target)) return true;
  if (!isOtherSource && target.id === undefined) return false;
  const served = active.get(environment) ?? null;
  if (served !== null && target.number !== undefined && served.number > target.number) return true;
  const earlier = listStatesBeforeRun(line, environment);
  const wasWanted = (name: string) => earlier.some((state) => wantsVersion(state, name, target, metadata));
  return [environment, from].some(wasWanted) || (earlier.length === 0 && wasAdopted(environment, line));
}

/** Returns true if the file was added with this pin. The caller checks that the run covers the whole line. */
function wasAdopted(environment: string, { isComplete, states }: Line): boolean {
  const pin = findPin(states[0]?.file.pins ?? [], environment);
  return isComplete && pin?.path === undefined;
}

/** The decisions depend only on the observation and on the line. All `changes` of the plan determine the hint. */
export function checkPromotions(
  changes: readonly Change[],
  mustCheck: (environment: string) => boolean,
  context: PinContext,
  rules: PromotionRules,
  { line, isShallow }: Pick<PromptHistory, 'line' | 'isShallow'>,
): readonly Problem[] {
  return listPlannedPromotions(changes, context.observed, rules)
    .filter(({ environment }) => mustCheck(environment))
    .filter((promotion) => !isPromotionAllowed(promotion, context.observed, line))
    .map((promotion) => makeRefusalProblem(promotion, changes, isShallow, context));
}

function makeTraits(after: VersionRef | NewVersionRef, { known, metadataFrom }: ObservedPrompt): VersionTraits {
  if (isNewVersionRef(after)) return computeNewVersionDigests(after.newContent, metadataFrom);
  const { id, number } = after;
  const version = known.find((one) => one.id === id);
  return version ?? (number === null ? { id } : { id, number });
}

/** Returns true if an environment serves the given version, or another version with the same content. */
function serves(active: ObservedPrompt['active'], environment: string, target: VersionTraits): boolean {
  const served = active.get(environment) ?? null;
  return served !== null && isSameVersion(served, target);
}

/** Returns true if the sync would activate this version in the environment, provided that no guard refuses it. */
function becomesActive(
  environment: string,
  target: VersionTraits,
  changes: readonly Change[],
  { observed }: PinContext,
): boolean {
  return changes.some((change) => {
    const isActivation = change.kind === 'set-active' && change.environment === environment;
    return isActivation && isSameVersion(makeTraits(change.after, observed), target);
  });
}

function makeRefusalProblem(
  { environment, from, isOtherSource, target }: Promotion,
  changes: readonly Change[],
  isShallow: boolean,
  context: PinContext,
): Problem {
  const { file } = context;
  const { number, id } = target;
  const pin = findPin(file.pins, environment)?.pin;
  const evidence = {
    environment,
    from,
    isOtherSource,
    isShallow,
    key: file.key,
    version: number === undefined ? (id ?? 'a version that does not exist yet') : `v${number}`,
    isNewFromCommit: pin?.kind === 'git' && id === undefined,
    serves: describeServed(from, context),
    age: compareWithServed(target, from, context),
    current: describeServed(environment, context),
    liveIn: findLiveEnvironment(target, context),
    sourcePinned: file.pins.some((one) => one.environment === from),
    sourceComes: becomesActive(from, target, changes, context),
  };
  return makeProblem('guard/promotion-order', evidence, locateEnvironment(environment, file));
}

function compareWithServed(
  { id, number }: VersionTraits,
  environment: string,
  { observed }: PinContext,
): 'older' | 'newer' | null {
  const served = observed.active.get(environment) ?? null;
  if (served === null || (number === undefined && id !== undefined)) return null;
  return number !== undefined && number < served.number ? 'older' : 'newer';
}

function describeServed(environment: string, { observed }: PinContext): string | null {
  const active = observed.active.get(environment) ?? null;
  return active === null ? null : `v${active.number}`;
}

/** Returns the first pinned environment that serves the version, for use in a hint. */
function findLiveEnvironment(target: VersionTraits, context: PinContext): string | null {
  return (
    context.file.pins
      .map(({ environment }) => environment)
      .find((one) => serves(context.observed.active, one, target)) ?? null
  );
}

/** Returns a warning for each activation whose source environment promptsync did not ask for the active version. */
export function warnAboutUnaskedSources(
  changes: readonly Change[],
  file: PromptFile,
  { otherPromotionSources }: Pick<DesiredState, 'otherPromotionSources'>,
): readonly Problem[] {
  const changing = listChangingEnvironments(changes);
  return file.pins.flatMap((pin) => {
    const from = otherPromotionSources.get(pin.environment);
    if (from === undefined || !changing.has(pin.environment)) return [];
    return [makeProblem('pin/source-not-asked', { from }, locatePin(pin, file))];
  });
}

/** `allow_latest: false` forbids `latest` and moving refs: what they refer to can change without an edit of the pin. */
export function checkFixedPins(
  { pins, path }: Pick<PromptFile, 'pins' | 'path'>,
  { environmentsWithoutLatest, movingRefs }: Pick<DesiredState, 'environmentsWithoutLatest' | 'movingRefs'>,
): readonly Problem[] {
  const isFixed = ({ pin }: EnvironmentPin): boolean =>
    pin.kind === 'git' ? !movingRefs.has(pin.ref) : pin.kind !== 'latest';
  return pins
    .filter((pin) => environmentsWithoutLatest.includes(pin.environment) && !isFixed(pin))
    .map((pin) => {
      const evidence = { environment: pin.environment, pin: formatPin(pin.pin) };
      return makeProblem('guard/latest-not-allowed', evidence, locatePin(pin, { path }));
    });
}
