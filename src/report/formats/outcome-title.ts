import { isError } from '../../problem.ts';
import { hasAppliedSection } from './comment-sections.ts';
import { isInterrupted } from '../problem-list.ts';
import type { Report } from '../schema/report-schema.ts';

/** The reason why a run failed, in one word. Empty if the run succeeded. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/** Warnings do not count, because a run with a warning such as `guard/overtaken` completed its work. */
export function chooseFailureReason(report: Pick<Report, 'prompts' | 'problems'>): FailureReason {
  const statuses = new Set(report.prompts.map(({ status }) => status));
  if (statuses.has('failed')) return 'failed';
  if (statuses.has('blocked')) return chooseRefusal(report);
  const errors = report.problems.filter(isError);
  if (errors.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // If promptsync could not make a plan, every prompt has the status `not_attempted`.
  const isUnplanned = report.prompts.every(({ status }) => status === 'not_attempted');
  if (errors.length > 0 && isUnplanned && !isInterrupted(report)) return 'invalid';
  return errors.length > 0 || statuses.has('not_attempted') ? 'failed' : '';
}

/**
 * Returns `superseded` if a guard found a newer commit on the branch, `drift` if only the drift guard blocked prompts,
 * and `refused` in all other cases.
 */
function chooseRefusal({ prompts }: Pick<Report, 'prompts'>): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(isError));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/** Returns true if an apply succeeded without any change, because an earlier run already made the changes. */
export function hasChangedNothing({ prompts }: Report, failureReason: FailureReason): boolean {
  return failureReason === '' && prompts.every(({ status }) => status === 'unchanged');
}

/** The first word of the title if the run applied something. `reportsApply` recognizes such notes by it. */
const APPLIED_TITLE = 'applied';

/** Makes the title of the note after an apply. `now` is the time when it ended, in milliseconds since 1970. */
export function makeOutcomeTitle(report: Report, failureReason: FailureReason, now: number): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return `${describeRunOutcome(report, failureReason)}, ${time} UTC`;
}

function describeRunOutcome({ problems, prompts }: Report, failureReason: FailureReason): string {
  const isOvertaken = problems.some(({ code }) => code === 'guard/overtaken');
  if (failureReason === '') return `${APPLIED_TITLE}${isOvertaken ? ' and overtaken' : ''}`;
  return prompts.some(({ status }) => status === 'applied')
    ? `${APPLIED_TITLE} in part (${failureReason})`
    : failureReason;
}

/** Whether a comment or one of its sections reports an apply. A later no-op run must not overwrite it. */
export function reportsApply(text: string): boolean {
  return text.split(/\r?\n/)[1]?.startsWith(`### promptsync ${APPLIED_TITLE}`) === true || hasAppliedSection(text);
}

export function isAppliedTitle(title: string): boolean {
  return title.startsWith(APPLIED_TITLE);
}
