import { NO_ACCEPTED_WARNINGS } from '../domain/accepted-warnings.ts';
import type { OutcomeStatus, PlanStatus } from '../domain/plan.ts';
import { isError, type Problem } from '../problem.ts';
import type { Run } from '../report/make-report.ts';
import type { Report } from '../report/schema.ts';
import type { World } from '../domain/world.ts';

/** What a command hands to the entry: what happened, and the exit code. */
export type CommandResult = {
  readonly run: Run;
  readonly exitCode: number;
  /** What a question has shown: the plan, with the texts of its changes, and the warnings. */
  readonly asked?: Report | undefined;
};

/**
 * What a command hands over that came to its end, or was interrupted.
 * @param reportPending whether the exit code tells of pending changes: `--exit-code` on a dry run
 */
export function resultOf(run: Run, { stop }: Pick<World, 'stop'>, reportPending = false): CommandResult {
  return { run, exitCode: exitCodeOf(run, { reportPending, interrupted: stop.aborted }) };
}

/** A run that came to no plan, and why. */
export function notRun(mode: Run['mode'], run: Pick<Run, 'files' | 'acceptedWarnings' | 'problems'>): Run {
  const { files, acceptedWarnings, problems } = run;
  return { mode, service: null, commit: null, files, acceptedWarnings, plan: null, outcomes: null, problems };
}

/** A command that was not even begun. */
export function refused(mode: Run['mode'], ...problems: readonly Problem[]): CommandResult {
  return { run: notRun(mode, { files: [], acceptedWarnings: NO_ACCEPTED_WARNINGS, problems }), exitCode: 1 };
}

type Conditions = { readonly reportPending?: boolean; readonly interrupted?: boolean };

/** The exit code of a run, the same in every format. Where several hold: 4, 3, 1, 2 in that order. */
export function exitCodeOf(run: Run, { reportPending, interrupted }: Conditions): number {
  if (interrupted) return 130;
  const statuses = statusesOf(run);
  const observed = anyObserved(run);
  if (observed && statuses.has('failed')) return 4;
  // What was edited could not be committed: that is more than nothing, and less than all.
  if (statuses.has('applied') && run.edited !== undefined && run.problems.some(isError)) return 4;
  if (statuses.has('blocked')) return 3;
  if (!observed || run.problems.some(isError)) return 1;
  return reportPending && statuses.has('pending') ? 2 : 0;
}

function statusesOf({ edited, outcomes, plan, histories }: Run): ReadonlySet<PlanStatus | OutcomeStatus> {
  const statuses = (edited ?? outcomes ?? plan?.prompts ?? []).map(({ status }) => status);
  // A history is asked for as it is: what a plan refuses does not matter to it.
  return new Set(statuses.filter((status) => histories === undefined || status === 'failed'));
}

/** Where nothing was planned there was nothing to observe either, but for files that a command makes. */
function anyObserved({ plan, edited = [] }: Run): boolean {
  if (plan === null && edited.length > 0) return edited.some(({ status }) => status !== 'failed');
  return plan === null || plan.prompts.length === 0 || plan.prompts.some(({ observed }) => observed !== null);
}
