import pLimit from 'p-limit';
import {
  type Change,
  type ChangeOutcome,
  type CreateVersion,
  createFor,
  digestsOfCreated,
  isNew,
  isVisible,
  type NewVersionRef,
  type OutcomeStatus,
  type Plan,
  type PromptOutcome,
  type PromptPlan,
  serves,
} from '../domain/plan.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { Observed, Wanted } from '../domain/observed.ts';
import type { Created, Provider, Writer, Written } from '../domain/provider.ts';
import type { VersionRef } from '../domain/versions.ts';
import { isError, makeProblem, type Problem, problemOf, ProblemError } from '../problem.ts';

type ApplyOptions = {
  /** What was asked of the service for each prompt. */
  readonly wantedFor: (plan: PromptPlan) => Wanted;
  /** Plans one prompt once more from another observation, with the same rules and guards. */
  readonly planAgain: (plan: PromptPlan, observed: Observed) => Promise<PromptPlan>;
  /**
   * Whether a review has shown the plan. Then a version that is adopted in place of a new one must have the planned
   * metadata. Otherwise any version that promptsync has created with the text is used.
   */
  readonly isReviewed: boolean;
  readonly concurrency: number;
  /** Once aborted, no prompt is begun. */
  readonly stop: AbortSignal;
  readonly onApplied?: (outcome: PromptOutcome, done: number) => void;
};

/** Writes a plan. Prompts are independent: a failure never stops or hides the others. Never throws. */
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
  if (isIdle(plan)) return untouched(plan, plan.status);
  if (options.stop.aborted) return untouched(plan, 'not_attempted');
  try {
    const writer = provider.begin(options.wantedFor(plan));
    const current = await withFound(await refresh(plan, writer, options), writer, options);
    return isIdle(current) ? untouched(current, current.status) : await makeChanges(current, writer, options);
  } catch (error) {
    const problem = problemOf(error);
    const status = problem.code === 'apply/interrupted' ? 'not_attempted' : 'failed';
    // The plan's own problems said what an apply might find: they are answered by why it did not look.
    return { ...untouched(plan, status), problems: [problem] };
  }
}

/** Whether there is nothing to write: planned already, refused, or not observed. */
function isIdle(plan: PromptPlan): plan is PromptPlan & { status: Exclude<PromptPlan['status'], 'pending'> } {
  return plan.status !== 'pending' && plan.finds.length === 0;
}

/**
 * The plan, provided that the prompt is still what it was planned from; otherwise one made afresh. It is for right
 * before the first write. Throws a `ProblemError` when the prompt cannot be read, or changes once more meanwhile.
 */
async function refresh(plan: PromptPlan, writer: Writer, { planAgain }: ApplyOptions): Promise<PromptPlan> {
  const now = await writer.observe();
  if (plan.observed?.state === now.state) return plan;
  const fresh = await planAgain(plan, now);
  if ((await writer.observe()).state === now.state) return fresh;
  throw new ProblemError(makeProblem('apply/keeps-changing'));
}

/** The plan made afresh once the versions that it names were looked for. */
async function withFound(plan: PromptPlan, writer: Writer, { planAgain }: ApplyOptions): Promise<PromptPlan> {
  if (plan.finds.length === 0) return plan;
  const fresh = await planAgain(plan, await writer.find(plan.finds));
  return { ...fresh, finds: [] };
}

const NOT_MADE: Created = { status: 'not_made', problems: [] };

/** What the writes so far have brought about. */
type Done = {
  readonly made: Made[];
  /** Environments that a create has moved as well, each with what became of that. */
  readonly set: Map<string, Written>;
};

type Made = { readonly content: Content; readonly version: VersionRef };

/** Makes a plan's changes in order, up to the first that fails. What fails is in the outcome. */
async function makeChanges(plan: PromptPlan, writer: Writer, { isReviewed }: ApplyOptions): Promise<PromptOutcome> {
  const done: Done = { made: [], set: new Map() };
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  for (const change of plan.changes) {
    const written: Created =
      doneAlready(change, done) ?? (problems.some(isError) ? NOT_MADE : await makeChange(change, plan, writer, done));
    problems.push(...(isReviewed ? unreviewedProblems(change, written) : []));
    problems.push(...written.problems.map((one) => (isError(one) ? one : { ...one, path: plan.file.path })));
    outcomes.push(outcomeOf(change, written, done.made));
  }
  const status = statusOf(outcomes, problems.filter(isError));
  return { plan, status, changes: outcomes, problems: [...plan.problems, ...problems] };
}

/** A version can be adopted after the guards were asked, so its metadata is compared with the plan here. */
function unreviewedProblems(change: Change, { adoptedMetadata, version }: Created): readonly Problem[] {
  if (change.kind !== 'create-version' || adoptedMetadata === undefined || !isVisible(change)) return [];
  if (adoptedMetadata === digestsOfCreated(change).metadata) return [];
  return [makeProblem('apply/unreviewed-metadata', { version: `v${version?.number ?? '?'}` })];
}

function doneAlready(change: Change, { set }: Done): Written | undefined {
  return change.kind === 'set-active' ? set.get(change.environment) : undefined;
}

function untouched(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

async function makeChange(change: Change, plan: PromptPlan, writer: Writer, done: Done): Promise<Created> {
  switch (change.kind) {
    case 'create-version':
      return makeVersion(change, plan, writer, done);
    case 'update-prompt':
      return writer.update(change);
    case 'set-active': {
      const version = isNew(change.after) ? findMade(done.made, change.after) : change.after;
      if (version !== undefined) return writer.activate(change.environment, version);
      const reason = 'a planned version was not made';
      return { status: 'not_made', problems: [makeProblem('internal/unexpected', { reason })] };
    }
  }
}

async function makeVersion(change: CreateVersion, plan: PromptPlan, writer: Writer, done: Done): Promise<Created> {
  const into = environmentsFor(change, plan);
  const { set = [], ...written } = await writer.create(change, { into, activated: activatedBy(plan) });
  const { status, version } = written;
  if (version !== undefined) done.made.push({ content: change.content, version });
  const moved = {
    status: status === 'unknown' ? status : ('made' as const),
    problems: [],
    ...(version && { version }),
  };
  for (const environment of set) done.set.set(environment, moved);
  return written;
}

/** Those that are moved right after it: nothing is done before its turn because the same write could do it. */
function environmentsFor(change: CreateVersion, { changes }: PromptPlan): readonly string[] {
  const environments: string[] = [];
  for (const next of changes.slice(changes.indexOf(change) + 1)) {
    if (next.kind !== 'set-active' || !isNew(next.after) || createFor(next.after, changes) !== change) break;
    environments.push(next.environment);
  }
  return environments;
}

/** Versions that were there already and that pins other than `latest` make active. */
function activatedBy({ changes, file: { pins } }: PromptPlan): readonly VersionRef[] {
  const followed = new Set(pins.flatMap(({ environment, pin }) => (pin.kind === 'latest' ? [environment] : [])));
  return changes.flatMap((change) => {
    if (change.kind !== 'set-active' || isNew(change.after) || followed.has(change.environment)) return [];
    return [change.after];
  });
}

function findMade(made: readonly Made[], target: NewVersionRef): VersionRef | undefined {
  return made.find(({ content }) => serves(content, target.new))?.version;
}

/** An activation that was not made still names the version that was made for it. */
function outcomeOf(change: Change, { status, version: known }: Written, made: readonly Made[]): ChangeOutcome {
  const names = status === 'not_made' && change.kind === 'set-active' && isNew(change.after);
  const version = known ?? (names ? findMade(made, change.after) : undefined);
  return { change, status, ...(version !== undefined && { version }) };
}

/** Where nothing was written, an interruption is no failure. */
function statusOf(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  return errors.every(({ code }) => code === 'apply/interrupted') ? 'not_attempted' : 'failed';
}
