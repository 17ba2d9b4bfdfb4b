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
} from '../domain/plan.ts';
import { type Content, canServeContent } from '../domain/content.ts';
import type { ObservedPrompt, ReadRequest } from '../domain/observed-prompt.ts';
import type { CreateOutcome, Provider, PromptWriter, WriteOutcome } from '../domain/provider.ts';
import type { VersionRef } from '../domain/versions.ts';
import { isError, makeProblem, type Problem, toProblem, ProblemError } from '../problem.ts';

type ApplyOptions = {
  /** Returns the request with which the prompt of a plan was read. */
  readonly wantedFor: (plan: PromptPlan) => ReadRequest;
  /** Plans one prompt again from a fresh observation, with the same rules and guards. */
  readonly planAgain: (plan: PromptPlan, observed: ObservedPrompt) => Promise<PromptPlan>;
  /**
   * Whether reviewers approved this plan. If so, promptsync adopts an existing version in place of a new one only if it
   * has the planned metadata. Otherwise it adopts any managed version with the text.
   */
  readonly isReviewed: boolean;
  readonly concurrency: number;
  /** After an abort, promptsync starts no further prompt. */
  readonly stop: AbortSignal;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

/** Writes a plan to the service. Prompts are independent: a failure never stops or hides the others. Never throws. */
export async function applyPlan(
  plan: Plan,
  provider: Provider,
  options: ApplyOptions,
): Promise<readonly PromptOutcome[]> {
  let done = 0;
  return pLimit(options.concurrency).map(plan.prompts, async (prompt) => {
    const outcome = await applyPrompt(prompt, provider, options);
    options.onApplied?.(outcome, ++done);
    return outcome;
  });
}

async function applyPrompt(plan: PromptPlan, provider: Provider, options: ApplyOptions): Promise<PromptOutcome> {
  if (isIdle(plan)) return makeUntouchedOutcome(plan, plan.status);
  if (options.stop.aborted) return makeUntouchedOutcome(plan, 'not_attempted');
  try {
    const writer = provider.makeWriter(options.wantedFor(plan));
    const current = await replanWithFoundVersions(await replanFromFreshRead(plan, writer, options), writer, options);
    return isIdle(current)
      ? makeUntouchedOutcome(current, current.status)
      : await makeChanges(current, writer, options);
  } catch (error) {
    const problem = toProblem(error);
    const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
    // The problems of the plan say what an apply might find. The apply did not get that far, so its own problem replaces them.
    return { ...makeUntouchedOutcome(plan, status), problems: [problem] };
  }
}

/** Whether promptsync writes nothing for this prompt: it is in sync, refused, or was not observed. */
function isIdle(plan: PromptPlan): plan is PromptPlan & { status: Exclude<PromptPlan['status'], 'pending'> } {
  return plan.status !== 'pending' && plan.pinsToFind.length === 0;
}

/**
 * Reads the prompt again right before its first write. Returns the plan unchanged if the service is still as it was
 * planned from, and otherwise a fresh plan. Throws a `ProblemError` if the prompt cannot be read, or if it changes again
 * while promptsync plans.
 */
async function replanFromFreshRead(
  plan: PromptPlan,
  writer: PromptWriter,
  { planAgain }: ApplyOptions,
): Promise<PromptPlan> {
  const now = await writer.observe();
  if (plan.observed?.fingerprint === now.fingerprint) return plan;
  const fresh = await planAgain(plan, now);
  if ((await writer.observe()).fingerprint === now.fingerprint) return fresh;
  throw new ProblemError(makeProblem('apply/keeps-changing'));
}

/** Searches the service for the versions that the plan only names, and plans again with the result. */
async function replanWithFoundVersions(
  plan: PromptPlan,
  writer: PromptWriter,
  { planAgain }: ApplyOptions,
): Promise<PromptPlan> {
  if (plan.pinsToFind.length === 0) return plan;
  const fresh = await planAgain(plan, await writer.find(plan.pinsToFind));
  return { ...fresh, pinsToFind: [] };
}

const NOT_MADE: CreateOutcome = { status: 'not_made', problems: [] };

/** What the writes of one prompt have done so far. */
type WriteProgress = {
  readonly made: CreatedContent[];
  /** The environments that a create moved in the same request, each with its outcome. */
  readonly set: Map<string, WriteOutcome>;
};

type CreatedContent = { readonly content: Content; readonly version: VersionRef };

/** Makes the changes of a plan in order, and stops after the first failure. Failures are part of the outcome. */
async function makeChanges(
  plan: PromptPlan,
  writer: PromptWriter,
  { isReviewed }: ApplyOptions,
): Promise<PromptOutcome> {
  const done: WriteProgress = { made: [], set: new Map() };
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  for (const change of plan.changes) {
    const written: CreateOutcome =
      findEarlierWrite(change, done) ??
      (problems.some(isError) ? NOT_MADE : await makeChange(change, plan, writer, done));
    problems.push(...(isReviewed ? unreviewedProblems(change, written) : []));
    problems.push(...written.problems.map((one) => (isError(one) ? one : { ...one, path: plan.file.path })));
    outcomes.push(makeChangeOutcome(change, written, done.made));
  }
  const status = chooseOutcomeStatus(outcomes, problems.filter(isError));
  return { plan, status, changes: outcomes, problems: [...plan.problems, ...problems] };
}

/** Compares the metadata of an adopted version with the plan, because promptsync adopts it after the guards have run. */
function unreviewedProblems(change: Change, { adoptedMetadataDigest, version }: CreateOutcome): readonly Problem[] {
  if (change.kind !== 'create-version' || adoptedMetadataDigest === undefined || !isVisibleChange(change)) return [];
  if (adoptedMetadataDigest === computeCreatedDigests(change).metadataDigest) return [];
  return [makeProblem('apply/unreviewed-metadata', { version: `v${version?.number ?? '?'}` })];
}

function findEarlierWrite(change: Change, { set }: WriteProgress): WriteOutcome | undefined {
  return change.kind === 'set-active' ? set.get(change.environment) : undefined;
}

function makeUntouchedOutcome(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

async function makeChange(
  change: Change,
  plan: PromptPlan,
  writer: PromptWriter,
  done: WriteProgress,
): Promise<CreateOutcome> {
  switch (change.kind) {
    case 'create-version':
      return createOrReuseVersion(change, plan, writer, done);
    case 'update-prompt':
      return writer.update(change);
    case 'set-active': {
      const version = isNewVersionRef(change.after) ? findCreatedVersion(done.made, change.after) : change.after;
      if (version !== undefined) return writer.activate(change.environment, version);
      const reason = 'a planned version was not made';
      return { status: 'not_made', problems: [makeProblem('internal/unexpected', { reason })] };
    }
  }
}

async function createOrReuseVersion(
  change: CreateVersion,
  plan: PromptPlan,
  writer: PromptWriter,
  done: WriteProgress,
): Promise<CreateOutcome> {
  const environments = findEnvironmentsToActivate(change, plan);
  const { movedEnvironments = [], ...written } = await writer.create(change, {
    environments,
    pinnedVersions: findPinnedActivations(plan),
  });
  const { status, version } = written;
  if (version !== undefined) done.made.push({ content: change.content, version });
  const moved = {
    status: status === 'unknown' ? status : ('made' as const),
    problems: [],
    ...(version && { version }),
  };
  for (const environment of movedEnvironments) done.set.set(environment, moved);
  return written;
}

/**
 * Returns the environments that the plan activates for the new version right after it creates it. A later activation
 * waits for its turn, even if the service could do it in the same request, so that changes keep their planned order.
 */
function findEnvironmentsToActivate(change: CreateVersion, { changes }: PromptPlan): readonly string[] {
  const environments: string[] = [];
  for (const next of changes.slice(changes.indexOf(change) + 1)) {
    if (next.kind !== 'set-active' || !isNewVersionRef(next.after) || findCreateFor(next.after, changes) !== change)
      break;
    environments.push(next.environment);
  }
  return environments;
}

/** Returns the existing versions that the plan activates for pins other than `latest`. */
function findPinnedActivations({ changes, file: { pins } }: PromptPlan): readonly VersionRef[] {
  const followed = new Set(pins.flatMap(({ environment, pin }) => (pin.kind === 'latest' ? [environment] : [])));
  return changes.flatMap((change) => {
    if (change.kind !== 'set-active' || isNewVersionRef(change.after) || followed.has(change.environment)) return [];
    return [change.after];
  });
}

function findCreatedVersion(made: readonly CreatedContent[], target: NewVersionRef): VersionRef | undefined {
  return made.find(({ content }) => canServeContent(content, target.newContent))?.version;
}

/** Makes the outcome of a change. An activation that was not made still names the version that was created for it. */
function makeChangeOutcome(
  change: Change,
  { status, version: known }: WriteOutcome,
  made: readonly CreatedContent[],
): ChangeOutcome {
  const names = status === 'not_made' && change.kind === 'set-active' && isNewVersionRef(change.after);
  const version = known ?? (names ? findCreatedVersion(made, change.after) : undefined);
  return { change, status, ...(version !== undefined && { version }) };
}

/** Returns the status of a prompt. An interrupt is not a failure if promptsync had not written anything yet. */
function chooseOutcomeStatus(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  return errors.every(({ code }) => code === 'apply/interrupted') ? 'not_attempted' : 'failed';
}
