import type { OutcomeStatus, PlanStatus } from '../domain/plan.ts';
import { isError } from '../problem.ts';
import type { System } from '../domain/system.ts';
import type { CommandResult, CommandRun } from './command-result.ts';

/** @param reportPending whether pending changes lead to exit code 2, as on a dry run with `--exit-code` */
export function makeCommandResult(
  run: CommandRun,
  { stopSignal }: Pick<System, 'stopSignal'>,
  reportPending = false,
): CommandResult {
  return { run, exitCode: chooseExitCode(run, { reportPending, interrupted: stopSignal.aborted }) };
}

type ExitConditions = { readonly reportPending?: boolean; readonly interrupted?: boolean };

/** An interrupted run always exits with 130. If several other exit codes apply, the first of 4, 3, 1 and 2 wins. */
export function chooseExitCode(run: CommandRun, { reportPending, interrupted }: ExitConditions): number {
  if (interrupted) return 130;
  const statuses = collectStatuses(run);
  const hasObserved = hasObservedPrompts(run);
  if (hasObserved && statuses.has('failed')) return 4;
  // The command failed after it edited files, for example during the commit, so only part of the work is done.
  if (statuses.has('applied') && run.edited !== undefined && run.problems.some(isError)) return 4;
  if (statuses.has('blocked')) return 3;
  if (!hasObserved || run.problems.some(isError)) return 1;
  return reportPending && statuses.has('pending') ? 2 : 0;
}

/** Takes the statuses from the edits, or else from the outcomes, or else from the plan. */
function collectStatuses({ edited, outcomes, plan, histories }: CommandRun): ReadonlySet<PlanStatus | OutcomeStatus> {
  const statuses = (edited ?? outcomes ?? plan?.prompts ?? []).map(({ status }) => status);
  // `history` applies nothing, so only the failed prompts in its plan affect its exit code.
  return new Set(statuses.filter((status) => histories === undefined || status === 'failed'));
}

/**
 * Returns true if promptsync observed a prompt, or if there was no prompt to observe. `import` has no plan and does not
 * observe unchanged prompts. Every other prompt of `import` counts as observed unless it failed.
 */
function hasObservedPrompts({ plan, edited = [] }: CommandRun): boolean {
  const imported = plan === null ? edited.filter(({ status }) => status !== 'unchanged') : [];
  if (imported.length > 0) return imported.some(({ status }) => status !== 'failed');
  return plan === null || plan.prompts.length === 0 || plan.prompts.some(({ observed }) => observed !== null);
}
