import type { ContentsByEnvironment, DesiredState, PlanningHistory } from '../domain/desired-state.ts';
import { type FormerPin, type FormerPinsByEnvironment, mayHoldContent, meansVersion } from '../domain/history.ts';
import { type Change, isNewVersionRef, listChangingEnvironments, type NewVersionRef } from '../domain/plan.ts';
import { type Content, isEqualContent, toStoredContent } from '../domain/content.ts';
import { findPinnedContent } from '../domain/pin-target.ts';
import { isSameVersion, type VersionRef, type VersionTraits } from '../domain/versions.ts';
import {
  type EnvironmentPin,
  findPin,
  formatPin,
  locatePin,
  mustStoreText,
  type PromptFile,
} from '../domain/prompt-file.ts';
import type { PinContext } from './plan-changes.ts';
import {
  beganAsPromotion,
  beganAsSkip,
  findCurrentRun,
  findEarlierRuns,
  type FormerPinStates,
  type PinRun,
} from './former-pins.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/** A pin, with the version that it would activate. */
type PinActivation = { readonly pin: EnvironmentPin; readonly after: VersionRef | NewVersionRef };

/**
 * Returns a problem for each checked activation of a version that the source environment does not serve. Three cases are
 * allowed, because they are not promotions:
 * - a rollback
 * - restoring a version that went through the environments in promotion order
 * - restoring the version that `promptsync import` pinned
 *
 * If another configuration manages the source environment, promptsync cannot ask its service. A commit before HEAD must
 * then have wanted the content of the version there.
 *
 * The decision depends only on the service and on the history of the file up to HEAD. It does not depend on the base,
 * or on whether HEAD itself changed the file.
 * @param activations all activations of the plan; the decision can depend on activations in other environments
 * @param mustCheck returns true if the activations in this environment must be checked
 */
export function checkPromotions(
  activations: readonly PinActivation[],
  mustCheck: (environment: string) => boolean,
  context: PinContext,
  { promotionSources, otherPromotionSources }: Pick<DesiredState, 'promotionSources' | 'otherPromotionSources'>,
  history: Pick<PlanningHistory, 'formerPins' | 'firstAges' | 'alwaysPinned' | 'otherWants'>,
): readonly Problem[] {
  const { formerPins, firstAges, alwaysPinned, otherWants } = history;
  const { id } = context.file;
  const pins = formerPins.get(id) ?? new Map<string, readonly FormerPin[]>();
  const former: FormerPinStates = { pins, firstAge: firstAges.get(id) ?? null };
  const isPinnedSinceImport = ({ environment, pin: { kind } }: EnvironmentPin): boolean => {
    // A prompt without a ledger was never synced, so its numbers and ids are those that an import wrote. A prompt whose
    // text the service need not store may be synced without ever getting a ledger.
    const wasNeverSynced = context.observed.lacksLedger && mustStoreText(context.file);
    const namesVersion = kind === 'version' || kind === 'number';
    return namesVersion && (wasNeverSynced || alwaysPinned.get(id)?.has(environment) === true);
  };
  return activations.flatMap(({ pin, after }) => {
    const ownSource = promotionSources.get(pin.environment);
    const from = ownSource ?? otherPromotionSources.get(pin.environment);
    if (from === undefined || !mustCheck(pin.environment)) return [];
    const target = makeTraits(after, context);
    const step = { environment: pin.environment, from, isOtherSource: ownSource === undefined, target };
    const situation = { activations, context, former, otherWants: otherWants.get(id) ?? new Map() };
    const isAllowed =
      wentThroughSource(step, pin, situation) || isPinnedSinceImport(pin) || isNoPromotion(step, situation);
    return isAllowed ? [] : [makeRefusalProblem(pin, step, situation)];
  });
}

/** A version that is about to go live in an environment, and the source environment that must serve it first. */
type PromotionStep = {
  readonly environment: string;
  readonly from: string;
  /** Whether another configuration manages the source environment. */
  readonly isOtherSource: boolean;
  readonly target: VersionTraits;
};

/** The data that determines whether a promotion step is allowed. */
type PromotionSituation = {
  readonly activations: readonly PinActivation[];
  readonly context: PinContext;
  readonly former: FormerPinStates;
  /** The contents that earlier commits wanted in promotion sources that another configuration manages. */
  readonly otherWants: ContentsByEnvironment;
};

/**
 * Returns true if the source environment serves the version. If another configuration manages the source environment,
 * returns true if an earlier commit wanted the pinned content there.
 */
function wentThroughSource(step: PromotionStep, pin: EnvironmentPin, situation: PromotionSituation): boolean {
  const { context, otherWants } = situation;
  if (!step.isOtherSource) return isActive(step.target, step.from, context);
  const { file, observed, contentsAtRefs } = context;
  const store = (content: Content) => toStoredContent(content, observed.metadata);
  const pinned = findPinnedContent(pin.pin, file, contentsAtRefs);
  // Compare exactly if the content is known. Otherwise, a commit without metadata would approve any metadata.
  const isWanted = (content: Content): boolean =>
    pinned === null ? mayHoldContent(step.target, store(content)) : isEqualContent(store(content), store(pinned));
  return (otherWants.get(step.environment) ?? []).some(isWanted);
}

/**
 * Returns true if the step is a rollback, or if it restores a version that went through the environments in promotion
 * order. Returns false for a version that does not exist yet, because it was never active anywhere.
 */
function isNoPromotion(step: PromotionStep, situation: PromotionSituation): boolean {
  if (step.target.id === undefined) return false;
  return isRollback(step, situation) || isPutBack(step, situation);
}

/**
 * Returns true if the step is a rollback to a version that the file pinned in the environment before. If the
 * environment now serves a newer version, any earlier pin is enough. In all other cases, a guard may have refused the
 * earlier pin, so the version may never have been live. The earlier pin then counts only if one of these conditions is
 * met:
 * - According to git, the source environment was pinned to the version right before.
 * - The earlier pin was already in the first state of the file.
 */
function isRollback({ environment, from, target }: PromotionStep, { context, former }: PromotionSituation): boolean {
  const earlier = findEarlierRuns(target, environment, former.pins);
  const served = context.observed.active.get(environment) ?? null;
  if (served !== null && isNewer(served, target)) return earlier.length > 0;
  return earlier.some((run) => !beganAsSkip(run, target, from, former));
}

/**
 * Returns true if the file pinned the version in promotion order, and the source environment has moved to a newer
 * version since then. Such a step finishes an interrupted sync, or restores a version that somebody replaced in the
 * service. The move to a newer version is necessary as evidence that the source environment served this version. The
 * pin alone is no evidence, because a guard may have refused it.
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

/**
 * Returns true if the environment serves a version that the file wants there. This is the case if the planned file, or
 * any state since the start of the run, pins the environment to that version.
 */
function isWantedSince(
  { since }: PinRun,
  environment: string,
  served: VersionTraits,
  situation: PromotionSituation,
): boolean {
  const { activations, context, former } = situation;
  const isPinned = context.file.pins.some((pin) => pin.environment === environment);
  const changes = activations.some(({ pin }) => pin.environment === environment);
  if (isPinned && !changes) return true;
  return (former.pins.get(environment) ?? []).some((state) => state.age <= since && meansVersion(state, served));
}

/**
 * Returns true if somebody seems to have activated a newer version directly in the service. All three conditions must
 * be met:
 * - The file already pinned the environment before it pinned the target there (before `run` began).
 * - The environment serves a version that is newer than the target.
 * - The file never pinned the environment to the version that it serves.
 */
function isChangedOutside(
  run: PinRun,
  { environment, target }: PromotionStep,
  { context, former }: PromotionSituation,
): boolean {
  const served = context.observed.active.get(environment) ?? null;
  if (served === null || !isNewer(served, target)) return false;
  if (listStatesBefore(run, environment, former).length === 0) return false;
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

/** Returns true if the sync would activate this version in the environment, provided that no guard refuses it. */
function becomesActive(
  environment: string,
  target: VersionTraits,
  { activations, context }: PromotionSituation,
): boolean {
  const activation = activations.find(({ pin }) => pin.environment === environment);
  return activation !== undefined && isSameVersion(makeTraits(activation.after, context), target);
}

function makeRefusalProblem(
  pin: EnvironmentPin,
  { environment, from, isOtherSource, target }: PromotionStep,
  situation: PromotionSituation,
): Problem {
  const { context } = situation;
  const { key, pins } = context.file;
  const { number, id } = target;
  const evidence = {
    environment,
    from,
    isOtherSource,
    key,
    version: number === undefined ? (id ?? 'a version that does not exist yet') : `v${number}`,
    isNewFromCommit: pin.pin.kind === 'git' && number === undefined && id === undefined,
    serves: describeServed(from, context),
    current: describeServed(environment, context),
    liveIn: findLiveEnvironment(target, context),
    sourcePinned: pins.some((one) => one.environment === from),
    sourceComes: becomesActive(from, target, situation),
  };
  return makeProblem('guard/promotion-order', evidence, locatePin(pin, context.file));
}

function describeServed(environment: string, { observed }: PinContext): string | null {
  const active = observed.active.get(environment) ?? null;
  return active === null ? null : `v${active.number}`;
}

/**
 * Returns the first pinned environment that serves the version, for use in a hint. Returns null if no environment does.
 */
function findLiveEnvironment(target: VersionTraits, context: PinContext): string | null {
  return context.file.pins.map(({ environment }) => environment).find((one) => isActive(target, one, context)) ?? null;
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

/**
 * Returns a problem for each pin that `allow_latest: false` forbids: `latest` and moving refs. An edit of the text or a
 * new commit can change what such a pin resolves to, although nobody changed the pin.
 */
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

/**
 * A pin to a different version number than the pin of the source environment. Example: `production: 7` while `staging:
 * 6`.
 */
type SkippedPromotion = {
  readonly environment: string;
  readonly from: string;
  readonly number: number;
  readonly place: Place;
};

/** Returns the pins that seem to skip the source environment. Only the git history can show whether they really do. */
export function findSkippedPromotions(
  { pins, path }: PromptFile,
  promotionSources: ReadonlyMap<string, string>,
): readonly SkippedPromotion[] {
  return pins.flatMap(({ environment, pin, line, column }): readonly SkippedPromotion[] => {
    const source = findPin(pins, promotionSources.get(environment));
    if (source === undefined || pin.kind !== 'number' || source.pin.kind !== 'number') return [];
    if (pin.number === source.pin.number) return [];
    return [{ environment, from: source.environment, number: pin.number, place: { path, line, column } }];
  });
}

/**
 * Returns a warning for each pin that skips the source environment, according to git. A pin counts as a skip if no
 * former pin of the two environments can refer to its version. This is not an error, because only the service knows
 * which version the source environment serves. The first pin of an environment is not a promotion, so it causes no
 * warning.
 */
export function warnAboutSkips(
  skips: readonly SkippedPromotion[],
  former: FormerPinsByEnvironment,
): readonly Problem[] {
  return skips.flatMap(({ environment, from, number, place }) => {
    const states = former.get(environment) ?? [];
    const sourceStates = former.get(from) ?? [];
    const mayHaveServed = [...states, ...sourceStates].some(
      ({ pin }) => pin.kind !== 'number' || pin.number === number,
    );
    return mayHaveServed || states.length === 0
      ? []
      : [makeProblem('pin/not-promoted', { environment, from, number }, place)];
  });
}
