import { isError } from '../../problem.ts';
import { hasAppliedSection } from './comment-sections.ts';
import { isInterrupted } from '../problem-list.ts';
import type { Report } from '../schema/report-schema.ts';

/** The reason why a run failed, in one word. Empty if the run succeeded. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/**
 * Returns the reason why a run failed. The rule is the same for runs on GitHub and on GitLab. Warnings do not count as
 * failures, because a run with a warning such as `guard/overtaken` completed its work.
 */
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
 * Returns the reason why prompts are blocked:
 * - `superseded`: a guard found a newer commit on the branch.
 * - `drift`: only the drift guard blocked prompts.
 * - `refused`: all other cases.
 */
function chooseRefusal({ prompts }: Pick<Report, 'prompts'>): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(isError));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/**
 * Returns true if an apply changed nothing, because an earlier run already applied the changes.
 * @param failureReason empty if the apply succeeded
 */
export function hasChangedNothing({ prompts }: Report, failureReason: FailureReason): boolean {
  return failureReason === '' && prompts.every(({ status }) => status === 'unchanged');
}

/**
 * The first word of the outcome title if the run applied something. `reportsApply` recognizes the notes of such runs by
 * this word.
 */
const APPLIED_TITLE = 'applied';

/**
 * Creates the title of the note that promptsync posts on a pull request or merge request after an apply.
 * @param failureReason empty if the apply succeeded
 * @param now the time when the apply ended, in milliseconds since 1970
 */
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

/**
 * Returns true if a comment, or one of its sections, already reports an apply. A later run that changes nothing must not
 * overwrite it.
 */
export function reportsApply(text: string | undefined): boolean {
  if (text === undefined) return false;
  return text.split(/\r?\n/)[1]?.startsWith(`### promptsync ${APPLIED_TITLE}`) === true || hasAppliedSection(text);
}

/** Returns true if the title of an apply says that the run applied something. */
export function isAppliedTitle(title: string): boolean {
  return title.startsWith(APPLIED_TITLE);
}
