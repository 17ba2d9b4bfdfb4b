import { type DesiredState, sortPins } from '../domain/desired-state.ts';
import type { Observation, ObservedPrompt } from '../domain/observed-prompt.ts';
import {
  type Change,
  type Plan,
  type PlanStatus,
  type PromptPlan,
  computePlanDigest,
  isNewVersionRef,
} from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import { mayGetBaseline } from '../domain/pin-target.ts';
import { type Pin, findPin, formatPin, type PromptFile } from '../domain/prompt-file.ts';
import { makeProblem, type Problem } from '../problem.ts';
import {
  NO_PLANNING_HISTORY,
  NO_PROMPT_HISTORY,
  type PlanningHistory,
  type PromptHistory,
} from '../history/prompt-history.ts';
import { makeBaseline, type PinContext, type PromptChanges, type ResolvedPin } from './plan-changes.ts';
import { type ComparedPrompt, comparePrompt } from './compare-prompt.ts';
import { findDrift, NO_DRIFT } from './find-drift.ts';
import { checkFixedPins, checkPromotions, warnAboutUnaskedSources } from './check-promotions.ts';
import { listUsers, makePlanScope, type PlanScope, selectChanges, selectDrift } from './make-plan-scope.ts';

type PlanInput = Omit<DesiredState, 'files'>;

/** This function is pure: equal input yields an equal plan. */
export function makePlan(
  desired: DesiredState,
  observation: Observation,
  history: PlanningHistory = NO_PLANNING_HISTORY,
): Plan {
  const plans = desired.files.map((file) => {
    const observed = observation.observed.get(file.id);
    return observed === undefined
      ? makeUnobservedPlan(file, observation.failed)
      : planPrompt(file, observed, desired, history.get(file.id));
  });
  const prompts = plans.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1));
  return { prompts, digest: computePlanDigest(prompts) };
}

/** Sorts pins in promotion order and changes in the order of an apply. Keeps only the parts that the run includes. */
export function planPrompt(
  written: PromptFile,
  observed: ObservedPrompt,
  desired: PlanInput,
  history: PromptHistory = NO_PROMPT_HISTORY,
): PromptPlan {
  const file = { ...written, pins: sortPins(written.pins, desired) };
  const compared = comparePrompt(file, observed, desired, history);
  const scope = makePlanScope(file, desired.environmentSelection);
  const { pins, changes } = selectInScope(compared, scope, desired, history);
  const allPins = compared.head.pins;
  const refusals = [
    ...checkType(file, observed),
    ...checkFixedPins({ ...file, pins: pins.map(({ pin }) => pin) }, desired),
    ...checkPromotions(compared.head.changes, scope.includesEnvironment, compared, desired, history),
  ];
  const problems = [...pins.flatMap((pin) => pin.problems), ...refusals];
  const status = choosePlanStatus(problems, changes);
  const pinsToFind = refusals.length > 0 ? [] : listPinsToFind(pins, allPins, changes);
  const isDefaultBase = desired.base?.isDefault === true;
  const { drift, annotations } = selectDrift(findDrift(compared, history, isDefaultBase), scope);
  const warnings = [
    ...warnAboutUnaskedSources(changes, file, desired),
    ...observed.problems.map((problem) => ({ ...problem, path: file.path })),
  ];
  return {
    file,
    observed,
    status,
    changes,
    drift,
    annotations,
    problems: [...problems, ...warnings],
    pinsToFind,
    pinnedVersions: listPinnedVersions(allPins),
  };
}

function selectInScope(
  compared: ComparedPrompt,
  scope: PlanScope,
  desired: PlanInput,
  history: PromptHistory,
): Pick<PromptChanges, 'pins' | 'changes'> {
  const { file, head } = compared;
  const pins = head.pins.filter(({ pin }) => scope.includesEnvironment(pin.environment));
  const selectedChanges = selectChanges(head.changes, scope);
  const mustAddBaseline = needsBaselineOfItsOwn(selectedChanges, head.changes, compared, scope);
  const baselines = mustAddBaseline ? [makeBaseline(file, history.provenance)] : [];
  const changes = selectedChanges.map((change) => addMissingPin(change, selectedChanges, file, desired));
  return { pins, changes: markPromptCreation([...baselines, ...changes], compared.observed) };
}

/** Marks the first new version of a prompt that does not exist yet. */
function markPromptCreation(changes: readonly Change[], { isMissing }: ObservedPrompt): readonly Change[] {
  const first = changes.find(({ kind }) => kind === 'create-version');
  if (isMissing !== true) return changes;
  return changes.map((change) =>
    change === first && change.kind === 'create-version' ? { ...change, createsPrompt: true } : change,
  );
}

/**
 * If no pin uses a new version, stores in it the first environment in promotion order, provided that the file does not
 * pin this environment and may pin it to `latest`. Without such a pin, an edit to the file does not go live anywhere.
 */
function addMissingPin(
  change: Change,
  changes: readonly Change[],
  { pins }: PromptFile,
  { environmentOrder, environmentsWithoutLatest }: PlanInput,
): Change {
  const first = environmentOrder?.[0];
  if (first === undefined || environmentsWithoutLatest.includes(first) || findPin(pins, first)) return change;
  if (change.kind !== 'create-version' || change.baseline || listUsers(change, changes).length > 0) return change;
  return { ...change, missingPin: first };
}

/**
 * If only another environment's job creates the version that carries the ledger, this run needs a baseline. Otherwise,
 * it would move environments away from unrecorded versions.
 */
function needsBaselineOfItsOwn(
  changes: readonly Change[],
  allChanges: readonly Change[],
  { file, observed }: PinContext,
  { includesUnusedVersions }: PlanScope,
): boolean {
  const mayNeedBaseline = includesUnusedVersions && mayGetBaseline(file, observed);
  return mayNeedBaseline && createsVersion(allChanges) && !createsVersion(changes);
}

function createsVersion(changes: readonly Change[]): boolean {
  return changes.some(({ kind }) => kind === 'create-version');
}

function listPinnedVersions(pins: readonly ResolvedPin[]): readonly VersionRef[] {
  return pins.flatMap(({ pin, after }) =>
    after === null || isNewVersionRef(after) || pin.pin.kind === 'latest' ? [] : [after],
  );
}

/** Refuses to write a prompt that has a different type in the service, because the type of a prompt never changes. */
function checkType({ path, type }: PromptFile, { type: stored }: ObservedPrompt): readonly Problem[] {
  if (stored === null || stored === type) return [];
  return [makeProblem('prompt/other-type', { type, stored }, { path })];
}

function choosePlanStatus(problems: readonly Problem[], changes: readonly Change[]): PlanStatus {
  if (problems.length > 0) return 'blocked';
  return changes.length > 0 ? 'pending' : 'unchanged';
}

function makeUnobservedPlan(file: PromptFile, failed: Observation['failed']): PromptPlan {
  const problem =
    failed.get(file.id) ?? makeProblem('internal/unexpected', { reason: 'promptsync did not read the prompt' });
  const status = chooseUnobservedStatus(problem);
  return {
    file,
    observed: null,
    status,
    changes: [],
    ...NO_DRIFT,
    problems: [problem],
    pinsToFind: [],
    pinnedVersions: [],
  };
}

function chooseUnobservedStatus({ code }: Problem): PlanStatus {
  if (code === 'apply/interrupted') return 'not_attempted';
  return code === 'guard/placeholder-id' ? 'blocked' : 'failed';
}

/**
 * Returns none if a pin of the run has a problem that no search can solve: promptsync blocks such a prompt, and must
 * not write probes for it. If the run creates a version, its ledger must list the versions of all pins of the file.
 */
function listPinsToFind(
  pins: readonly ResolvedPin[],
  allPins: readonly ResolvedPin[],
  changes: readonly Change[],
): readonly Pin[] {
  if (pins.some(({ problems, needsSearch }) => problems.length > 0 && !needsSearch)) return [];
  const searched = createsVersion(changes) ? allPins : pins;
  const pinsToFind = searched.filter(({ needsSearch }) => needsSearch).map(({ pin }) => pin.pin);
  return [...new Map(pinsToFind.map((pin) => [formatPin(pin), pin])).values()];
}
