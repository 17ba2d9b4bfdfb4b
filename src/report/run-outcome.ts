import { isError } from '../problem.ts';
import { isInterrupted } from './problems.ts';
import type { Report } from './schema.ts';

/** The reason why a run failed, in one word. Empty if the run succeeded. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/**
 * Returns why a run failed. Both forges use this rule. Only errors count: a warning such as `guard/overtaken`
 * accompanies runs that have done their work.
 */
export function chooseFailureReason(report: Pick<Report, 'prompts' | 'problems'>): FailureReason {
  const statuses = new Set(report.prompts.map(({ status }) => status));
  if (statuses.has('failed')) return 'failed';
  if (statuses.has('blocked')) return chooseRefusal(report);
  const errors = report.problems.filter(isError);
  if (errors.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // Without a plan, no prompt was attempted.
  const isUnplanned = report.prompts.every(({ status }) => status === 'not_attempted');
  if (errors.length > 0 && isUnplanned && !isInterrupted(report)) return 'invalid';
  return errors.length > 0 || statuses.has('not_attempted') ? 'failed' : '';
}

/** Returns `drift` if the drift guard is the only reason why prompts are blocked. */
function chooseRefusal({ prompts }: Pick<Report, 'prompts'>): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(isError));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/** The first word of the title of a note if the run applied anything. `reportsApply` recognizes such notes by it. */
const APPLIED_TITLE = 'applied';

/**
 * Makes the title of the note on a pull request or merge request after an apply.
 * @param failureReason empty if the apply succeeded
 * @param now the time when the apply ended, in milliseconds since 1970
 */
export function makeOutcomeTitle(report: Report, failureReason: string, now: number): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return `${describeRunOutcome(report, failureReason)}, ${time} UTC`;
}

function describeRunOutcome({ problems, prompts }: Report, failureReason: string): string {
  const isOvertaken = problems.some(({ code }) => code === 'guard/overtaken');
  if (failureReason === '') return `${APPLIED_TITLE}${isOvertaken ? ' and overtaken' : ''}`;
  return prompts.some(({ status }) => status === 'applied')
    ? `${APPLIED_TITLE} in part (${failureReason})`
    : failureReason;
}

/** Returns true if a note already reports an apply. A later run that changes nothing must not overwrite that. */
export function reportsApply(body: string | undefined): boolean {
  return body?.split(/\r?\n/)[1]?.startsWith(`### promptsync ${APPLIED_TITLE}`) === true;
}
