import type { CommandResult } from '../commands/result.ts';
import type { Report } from '../report/schema.ts';
import type { Mode } from './choose-mode.ts';

/** The output `failure-reason`; empty when all went well. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/** Says in one word why a run is no success. */
export function failureOf(mode: Mode, { run, exitCode }: Pick<CommandResult, 'run' | 'exitCode'>, report: Report) {
  if (exitCode === 0) return mode === 'drift' && differing(report) > 0 ? 'drift' : '';
  if (exitCode === 3) return refusalOf(report);
  if (report.problems.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // Without a plan it could not even begin; with one no prompt could be observed.
  return exitCode === 1 && run.plan === null ? 'invalid' : 'failed';
}

/** What a run is refused for; the drift guard has a word of its own where nothing else stands in the way. */
function refusalOf({ prompts }: Report): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const codes = blocked.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  if (codes.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return codes.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/** How many prompts the service holds otherwise than the files want; of those that could not be read nothing is known. */
export function differing({ prompts }: Report): number {
  return prompts.filter(({ status }) => status === 'pending' || status === 'blocked').length;
}
