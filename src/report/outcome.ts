import { isError } from '../problem.ts';
import type { Report } from './schema.ts';

// What became of a plan, in the words that the note on its pull request or merge request begins with.

/** In one word why an apply is no success; empty when all went well. */
type Failure = 'refused' | 'drift' | 'failed' | 'superseded' | '';

/** What an apply is no success for, by its report alone. */
export function failureIn(report: Report): Failure {
  const having = (...wanted: readonly string[]) => report.prompts.some(({ status }) => wanted.includes(status));
  if (having('failed', 'not_attempted')) return 'failed';
  if (having('blocked')) return refusalOf(report);
  const errors = report.problems.filter(isError);
  if (errors.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  return errors.length > 0 ? 'failed' : '';
}

/** What a run is refused for; the drift guard has a word of its own where nothing else stands in the way. */
export function refusalOf({ prompts }: Report): Failure {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(isError));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

const APPLIED = 'applied';

/** The title of a note after an apply that ended now, in milliseconds since 1970. */
export function outcomeTitle(report: Report, failure: string, now: number): string {
  const time = new Date(now).toISOString().slice(0, 16).replace('T', ' ');
  return `${outcomeOf(report, failure)}, ${time} UTC`;
}

function outcomeOf({ problems, prompts }: Report, failure: string): string {
  const overtaken = problems.some(({ code }) => code === 'guard/overtaken');
  if (failure === '') return `${APPLIED}${overtaken ? ' and overtaken' : ''}`;
  return prompts.some(({ status }) => status === 'applied') ? `${APPLIED} in part (${failure})` : failure;
}

/** Whether a note, below its marker, says that something was applied: a later run that did nothing takes it not back. */
export function saysApplied(body: string | undefined): boolean {
  return body?.split(/\r?\n/)[1]?.startsWith(`### promptsync ${APPLIED}`) === true;
}
