import { isError } from '../problem.ts';
import { isInterrupted } from './problems.ts';
import type { Report } from './schema.ts';

/** The reason why a run failed, in one word. Empty if the run succeeded. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/**
 * Returns why a run failed. GitHub and GitLab runs share this rule. Warnings do not count, because a run with a warning
 * such as `guard/overtaken` completed its work.
 */
export function chooseFailureReason(report: Pick<Report, 'prompts' | 'problems'>): FailureReason {
  const statuses = new Set(report.prompts.map(({ status }) => status));
  if (statuses.has('failed')) return 'failed';
  if (statuses.has('blocked')) return chooseRefusal(report);
  const errors = report.problems.filter(isError);
  if (errors.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // If promptsync made no plan, all prompts are `not_attempted`.
  const isUnplanned = report.prompts.every(({ status }) => status === 'not_attempted');
  if (errors.length > 0 && isUnplanned && !isInterrupted(report)) return 'invalid';
  return errors.length > 0 || statuses.has('not_attempted') ? 'failed' : '';
}

/**
 * Returns why prompts are blocked: `superseded`, `drift` if only the drift guard blocked them, or `refused` in all
 * other cases.
 */
function chooseRefusal({ prompts }: Pick<Report, 'prompts'>): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(isError));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/**
 * The word that the title of a note begins with if the run applied anything. `reportsApply` recognizes such notes by
 * this word.
 */
const APPLIED_TITLE = 'applied';

/**
 * Creates the title of the note that promptsync posts on a pull request or merge request after an apply.
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

/** Returns true if a note already reports an apply. A later run that changes nothing must not overwrite such a note. */
export function reportsApply(body: string | undefined): boolean {
  return body?.split(/\r?\n/)[1]?.startsWith(`### promptsync ${APPLIED_TITLE}`) === true;
}
