import { isError } from '../problem.ts';
import { isInterrupted } from '../report/problems-in.ts';
import { isPlanned } from '../report/shards.ts';
import type { Report } from '../report/schema.ts';

/**
 * The exit code of what a report tells, for plan, sync and status: that of the run, as `exitCodeOf` has it, and of all
 * shards as of one run. Where several hold: 130, 4, 3, 1, 2 in that order.
 */
export function exitCodeOfReport(report: Report, { tellPending }: { readonly tellPending: boolean }): number {
  if (isInterrupted(report)) return 130;
  const statuses = new Set(report.prompts.map(({ status }) => status));
  const observed = anyObserved(report);
  const errors = report.problems.some(isError);
  if ((observed && statuses.has('failed')) || (errors && othersWereHandled(report))) return 4;
  if (statuses.has('blocked')) return 3;
  if (!observed || errors) return 1;
  return tellPending && report.mode === 'dry-run' && statuses.has('pending') ? 2 : 0;
}

/** Where one shard could not run: 1 would say that nothing was written. */
function othersWereHandled(report: Report): boolean {
  return report.shards !== undefined && isPlanned(report);
}

/** Where prompts were observed there is a plan; without one they have failed for no other reason. */
function anyObserved(report: Report): boolean {
  const { prompts } = report;
  const unread = prompts.every(({ status }) => status === 'failed' || status === 'not_attempted');
  return isPlanned(report) || !unread || prompts.every(({ status }) => status !== 'failed');
}
