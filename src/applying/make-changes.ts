import {
  type Change,
  type ChangeOutcome,
  isNew,
  type NewVersionRef,
  type OutcomeStatus,
  type PromptOutcome,
  type PromptPlan,
  serves,
  type SetActive,
} from '../domain/plan.ts';
import type { VersionRef } from '../domain/versions.ts';
import type { Content } from '../domain/prompt-file.ts';
import type { Writer, Written } from '../domain/provider.ts';
import { isError, makeProblem, type Problem } from '../problem.ts';

type Made = { readonly content: Content; readonly version: VersionRef };

/** Makes a plan's changes in order, up to the first that fails. What fails is in the outcome. */
export async function makeChanges(plan: PromptPlan, writer: Writer): Promise<PromptOutcome> {
  const made: Made[] = [];
  const outcomes: ChangeOutcome[] = [];
  const problems: Problem[] = [];
  for (const change of plan.changes) {
    if (problems.some(isError)) {
      outcomes.push(notMade(change, made));
      continue;
    }
    const written = await makeChange(change, plan, writer, made);
    problems.push(...written.problems.map((one) => (isError(one) ? one : { ...one, path: plan.file.path })));
    outcomes.push(outcomeOf(change, written, made));
    if (change.kind === 'create-version' && written.version !== undefined) {
      made.push({ content: change.content, version: written.version });
    }
  }
  const status = statusOf(outcomes, problems.filter(isError));
  return { plan, status, changes: outcomes, problems: [...plan.problems, ...problems] };
}

/** The outcome of a plan that nothing was done for. */
export function untouched(plan: PromptPlan, status: OutcomeStatus): PromptOutcome {
  const changes = plan.changes.map((change): ChangeOutcome => ({ change, status: 'not_made' }));
  return { plan, status, changes, problems: plan.problems };
}

async function makeChange(change: Change, plan: PromptPlan, writer: Writer, made: readonly Made[]): Promise<Written> {
  switch (change.kind) {
    case 'create-version':
      return writer.create(change, activatedBy(plan));
    case 'update-prompt':
      return writer.update(change);
    case 'set-active': {
      const version = isNew(change.after) ? findMade(made, change.after) : change.after;
      return version === undefined ? neverMade() : writer.activate(change.environment, version);
    }
  }
}

/** Versions that were there already and that the plan makes active. */
function activatedBy({ changes }: PromptPlan): readonly VersionRef[] {
  const activations = changes.filter((change): change is SetActive => change.kind === 'set-active');
  return activations.flatMap(({ after }) => (isNew(after) ? [] : [after]));
}

function findMade(made: readonly Made[], target: NewVersionRef): VersionRef | undefined {
  return made.find(({ content }) => serves(content, target.new))?.version;
}

function neverMade(): Written {
  const reason = 'a planned version was not made';
  return { status: 'not_made', problems: [makeProblem('internal/unexpected', { reason })] };
}

function outcomeOf(change: Change, { status, version }: Written, made: readonly Made[]): ChangeOutcome {
  if (status === 'not_made' && version === undefined) return notMade(change, made);
  return { change, status, ...(version !== undefined && { version }) };
}

/** An activation that was not made still names the version that was made for it. */
function notMade(change: Change, made: readonly Made[]): ChangeOutcome {
  const target = change.kind === 'set-active' && isNew(change.after) ? change.after : null;
  const version = target === null ? undefined : findMade(made, target);
  return { change, status: 'not_made', ...(version !== undefined && { version }) };
}

/** Where nothing was written, an interruption is no failure. */
function statusOf(outcomes: readonly ChangeOutcome[], errors: readonly Problem[]): OutcomeStatus {
  if (errors.length === 0) return 'applied';
  if (outcomes.some(({ status }) => status !== 'not_made')) return 'failed';
  return errors.every(({ code }) => code === 'apply/interrupted') ? 'not_attempted' : 'failed';
}
