import pLimit from 'p-limit';
import {
  type Change,
  type ChangeOutcome,
  type CreateVersion,
  findCreateFor,
  computeCreatedDigests,
  isNewVersionRef,
  isVisibleChange,
  type NewVersionRef,
  type OutcomeStatus,
  type Plan,
  type PromptOutcome,
  type PromptPlan,
  type SetActive,
} from '../domain/plan.ts';
import { isInSync } from '../domain/compare-content.ts';
import type { Content } from '../domain/content.ts';
import type { ObservedPrompt, ReadRequest } from '../domain/observed-prompt.ts';
import type {
  CreateOutcome,
  Provider,
  FileRules,
  PromptWriter,
  WriteOutcome,
} from '../providers/provider-interface.ts';
import type { VersionRef } from '../domain/versions.ts';
import { isError, makeProblem, type Problem, toProblem, ProblemError } from '../problem.ts';
import { sortPartsFirst } from './sort-parts-first.ts';

type ApplyOptions = {
  /** Returns the read request on which the plan of a prompt is based. */
  readonly getReadRequest: (plan: PromptPlan) => ReadRequest;
  /** Plans a prompt again with the same rules and guards, but from a new observation. */
  readonly planAgain: (plan: PromptPlan, observed: ObservedPrompt) => Promise<PromptPlan>;
  /** Whether the apply is bound to one plan. If so, adopting a version with different metadata is an error. */
  readonly isReviewed: boolean;
  /** Returns the prompts that a text includes, which are written first. By default, no prompt has parts. */
  readonly listParts?: FileRules['listParts'];
  /** The maximum number of prompts that promptsync writes at the same time. */
  readonly concurrency: number;
  /**
   * Waits for a random time of up to a second before promptsync plans a prompt again because somebody else created a
   * version of it. Without the pause, two runs could collide repeatedly. Rejects if the user interrupts promptsync.
   */
  readonly pause: () => Promise<void>;
  /** The signal that stops the apply. After it aborts, promptsync does not start to write any other prompts. */
  readonly stop: AbortSignal;
  /** Called after each prompt with its outcome and the number of prompts that are done. */
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

/** Writes a plan to the service. A failed prompt does not stop the other prompts. Never throws. */
export async function applyPlan(
  plan: Plan,
  provider: Provider,
  options: ApplyOptions,
): Promise<readonly PromptOutcome[]> {
  const { listParts = () => [] } = options;
  let done = 0;
  const runLimited = pLimit(options.concurrency);
  const outcomes = new Map<string, Promise<PromptOutcome>>();
  const apply = async (prompt: PromptPlan, parts: readonly Promise<PromptOutcome>[]): Promise<PromptOutcome> => {
    await Promise.all(parts);
    const outcome = await applyPrompt(prompt, provider, options);
    options.onApplied?.(outcome, ++done);
    return outcome;
  };
  for (const { plan: prompt, partIds } of sortPartsFirst(plan.prompts, listParts)) {
    // A prompt waits only for prompts that have already started, so two prompts cannot wait for each other.
    const parts = partIds.flatMap((id) => outcomes.get(id) ?? []);
    outcomes.set(
      prompt.file.id,
      runLimited(() => apply(prompt, parts)),
    );
  }
  return Promise.all(plan.prompts.flatMap(({ file }) => outcomes.get(file.id) ?? []));
}

/** The maximum number of new plans for a prompt after somebody else created a version at the same time. */
const MAX_REPLANS = 5;

async function applyPrompt(plan: PromptPlan, provider: Provider, options: ApplyOptions): Promise<PromptOutcome> {
  if (isIdle(plan)) return makeUntouchedOutcome(plan, plan.status);
  if (options.stop.aborted) return makeUntouchedOutcome(plan, 'not_attempted');
  try {
    const writer = provider.makeWriter(options.getReadRequest(plan));
    const current = await replanWithFoundVersions(await replanFromFreshRead(plan, writer, options), writer, options);
    let attempt = await attemptChanges(current, writer, options);
    for (let replans = 0; attempt.mustPlanAgain && replans < MAX_REPLANS; replans += 1) {
      attempt = await attemptAgain(attempt.outcome, writer, options);
    }
    return attempt.outcome;
  } catch (error) {
    const problem = toProblem(error);
    const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
    // Report only the problem that stopped this prompt. The problems of the plan are only predictions.
    return { ...makeUntouchedOutcome(plan, status), problems: [problem] };
  }
}

type Attempt = {
  readonly outcome: PromptOutcome;
  /** Whether the plan is out of date, because somebody else created a version at the same time. */
  readonly mustPlanAgain: boolean;
};

async function attemptChanges(plan: PromptPlan, writer: PromptWriter, options: ApplyOptions): Promise<Attempt> {
  if (isIdle(plan)) return { outcome: makeUntouchedOutcome(plan, plan.status), mustPlanAgain: false };
  return makeChanges(plan, writer, options);
}

/** Plans a prompt again and makes the new changes. The outcome keeps the changes of the earlier attempts. */
async function attemptAgain(earlier: PromptOutcome, writer: PromptWriter, options: ApplyOptions): Promise<Attempt> {
  try {
    await options.pause();
    const plan = await replanFromFreshRead(earlier.plan, writer, options);
    const { outcome, mustPlanAgain } = await attemptChanges(plan, writer, options);
    const madeBefore = earlier.changes.filter(({ status }) => status !== 'not_made');
    if (outcome.status === 'blocked' && madeBefore.length > 0) {
      // promptsync could not write all changes of the prompt, because a guard refused the new plan.
      const problems = [...earlier.problems, ...outcome.problems.filter(isError)];
      return { outcome: { ...earlier, problems }, mustPlanAgain };
    }
    const status = outcome.status === 'unchanged' && madeBefore.length > 0 ? 'applied' : outcome.status;
    return { outcome: { ...outcome, status, changes: [...madeBefore, ...outcome.changes] }, mustPlanAgain };
  } catch (error) {
    const problem = toProblem(error);
    const earlierProblems = earlier.problems.filter(({ code }) => code !== problem.code);
    const outcome = { ...earlier, problems: [...earlierProblems, problem] };
    return { outcome, mustPlanAgain: problem.code === 'apply/keeps-changing' };
  }
}

/** Returns true if there is nothing to write: the prompt is in sync, was refused, or was not observed. */
export function isIdle(plan: PromptPlan): plan is PromptPlan & { status: Exclude<PromptPlan['status'], 'pending'> } {
  return plan.status !== 'pending' && plan.pinsToFind.length === 0;
}

/**
 * Reads the prompt again right before its first write, and plans it again if it has changed in the service. Throws a
 * `ProblemError` if the prompt cannot be read, or if it changes once more while promptsync makes the new plan.
 */
async function replanFromFreshRead(
  plan: PromptPlan,
  writer: PromptWriter,
  { planAgain }: ApplyOptions,
): Promise<PromptPlan> {
  const observed = await writer.observe();
  if (plan.observed?.fingerprint === observed.fingerprint) return plan;
  const newPlan = await planAgain(plan, observed);
  // There is nothing to write, for example because somebody else has synced the same commit in the meantime.
  if (isIdle(newPlan)) return newPlan;
  if ((await writer.observe()).fingerprint === observed.fingerprint) return newPlan;
  throw new ProblemError(makeProblem('apply/keeps-changing'));
}

/** Searches the service for pinned versions that promptsync does not know yet, and then plans the prompt again. */
async function replanWithFoundVersions(
  plan: PromptPlan,
  writer: PromptWriter,
  { planAgain }: ApplyOptions,
): Promise<PromptPlan> {
  if (plan.pinsToFind.length === 0) return plan;
  const newPlan = await planAgain(plan, await writer.find(plan.pinsToFind));
  return { ...newPlan, pinsToFind: [] };
}

const NOT_MADE: CreateOutcome = { status: 'not_made', problems: [] };

type WriteProgress = {
  /** The versions that this apply created or adopted. */
  readonly createdVersions: CreatedVersion[];
  /** The outcomes of the activations that were part of an earlier request, by environment. */
  readonly activations: Map<string, WriteOutcome>;
};

/** A created or adopted version with the planned content. */
type CreatedVersion = { readonly content: Content; readonly version: VersionRef };

/** Makes the changes of a plan in order until one fails. Reports failures in the outcome instead of throwing them. */
async function makeChanges(plan: PromptPlan, writer: PromptWriter, { isReviewed }: ApplyOptions): Promise<Attempt> {
  const progress: WriteProgress = { createdVersions: [], activations: new Map() };
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  let mustPlanAgain = false;
  for (const change of plan.changes) {
    let outcome: CreateOutcome | undefined = findEarlierActivation(change, progress);
    if (outcome === undefined) {
      outcome = problems.some(isError) ? NOT_MADE : await makeChange(change, plan, writer, progress);
    }
    mustPlanAgain ||= outcome.hasConcurrentVersion === true;
    // If the service drops metadata, no version has the planned metadata, and the plan already says so.
    if (isReviewed && plan.observed?.metadata !== 'dropped') problems.push(...findUnreviewedMetadata(change, outcome));
    problems.push(...outcome.problems.map((one) => (isError(one) ? one : { ...one, path: plan.file.path })));
    outcomes.push(makeChangeOutcome(change, outcome, progress.createdVersions));
  }
  const status = chooseOutcomeStatus(outcomes, problems.filter(isError));
  const outcome = { plan, status, changes: outcomes, problems: [...plan.problems, ...problems] };
  return { outcome, mustPlanAgain };
}

/** Returns a problem if an adopted version has other metadata than the plan, because no guard has checked it. */
function findUnreviewedMetadata(change: Change, { adoptedMetadataDigest, version }: CreateOutcome): readonly Problem[] {
  if (change.kind !== 'create-version' || adoptedMetadataDigest === undefined || !isVisibleChange(change)) return [];
  if (adoptedMetadataDigest === computeCreatedDigests(change).metadataDigest) return [];
  return [makeProblem('apply/unreviewed-metadata', { version: `v${version?.number ?? '?'}` })];
}

/** Returns the outcome of an activation that was already part of an earlier request. Otherwise returns undefined. */
function findEarlierActivation(change: Change, { activations }: WriteProgress): WriteOutcome | undefined {
  return change.kind === 'set-active' ? activations.get(change.environment) : undefined;
}

function makeUntouchedOutcome(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

async function makeChange(
  change: Change,
  plan: PromptPlan,
  writer: PromptWriter,
  progress: WriteProgress,
): Promise<CreateOutcome> {
  switch (change.kind) {
    case 'create-version':
      return createVersionForPlan(change, plan, writer, progress);
    case 'update-prompt':
      return writer.update(change);
    case 'set-active': {
      const version = resolveVersion(change.after, progress);
      if (version !== undefined) return activateVersion(change, version, plan, writer, progress);
      const reason = 'the version to activate was not created';
      return { status: 'not_made', problems: [makeProblem('internal/unexpected', { reason })] };
    }
  }
}

function resolveVersion(after: SetActive['after'], { createdVersions }: WriteProgress): VersionRef | undefined {
  return isNewVersionRef(after) ? findCreatedVersion(createdVersions, after) : after;
}

/**
 * Activates a version in an environment, and in those of the next activations that need the same version, because some
 * services can do this in one request. Adds each outcome to `progress`.
 */
async function activateVersion(
  change: SetActive,
  version: VersionRef,
  { changes }: PromptPlan,
  writer: PromptWriter,
  progress: WriteProgress,
): Promise<WriteOutcome> {
  const environments = [change.environment];
  for (const next of changes.slice(changes.indexOf(change) + 1)) {
    if (next.kind !== 'set-active' || progress.activations.has(next.environment)) break;
    if (resolveVersion(next.after, progress)?.id !== version.id) break;
    environments.push(next.environment);
  }
  const outcomes = await writer.activate(environments, version);
  for (const [index, environment] of environments.entries()) {
    const outcome = outcomes[index];
    if (outcome !== undefined) progress.activations.set(environment, outcome);
  }
  return findEarlierActivation(change, progress) ?? NOT_MADE;
}

/** Adds the created or adopted version to `progress`, and the environments that the create request moved. */
async function createVersionForPlan(
  change: CreateVersion,
  plan: PromptPlan,
  writer: PromptWriter,
  progress: WriteProgress,
): Promise<CreateOutcome> {
  const environments = findEnvironmentsToActivate(change, plan);
  const { pinnedVersions } = plan;
  const { movedEnvironments = [], ...outcome } = await writer.create(change, { environments, pinnedVersions });
  const { status, version } = outcome;
  if (version !== undefined) progress.createdVersions.push({ content: change.content, version });
  const activation: WriteOutcome = {
    status: status === 'unknown' ? 'unknown' : 'made',
    problems: [],
    ...(version && { version }),
  };
  for (const environment of movedEnvironments) progress.activations.set(environment, activation);
  return outcome;
}

/**
 * Returns the environments that the create request can also activate: those of the activations that directly follow the
 * creation. Later activations must wait for the changes before them.
 */
function findEnvironmentsToActivate(change: CreateVersion, { changes }: PromptPlan): readonly string[] {
  const environments: string[] = [];
  for (const next of changes.slice(changes.indexOf(change) + 1)) {
    if (next.kind !== 'set-active' || !isNewVersionRef(next.after)) break;
    if (findCreateFor(next.after, changes) !== change) break;
    environments.push(next.environment);
  }
  return environments;
}

function findCreatedVersion(createdVersions: readonly CreatedVersion[], target: NewVersionRef): VersionRef | undefined {
  return createdVersions.find(({ content }) => isInSync(content, target.newContent))?.version;
}

/** Makes an outcome that contains a newly created version even if its activation did not happen. */
function makeChangeOutcome(
  change: Change,
  outcome: CreateOutcome,
  createdVersions: readonly CreatedVersion[],
): ChangeOutcome {
  const { status, isRecovered } = outcome;
  let { version } = outcome;
  if (version === undefined && status === 'not_made' && change.kind === 'set-active' && isNewVersionRef(change.after)) {
    version = findCreatedVersion(createdVersions, change.after);
  }
  return { change, status, ...(version !== undefined && { version }), ...(isRecovered && { isRecovered }) };
}

/** An interrupt before the first write to the prompt does not count as a failure. */
function chooseOutcomeStatus(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  return errors.every(({ code }) => code === 'apply/interrupted') ? 'not_attempted' : 'failed';
}
