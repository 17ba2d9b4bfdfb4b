import { normalize, sep } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { makeReport } from '../report/make-report.ts';
import type { MarkdownOptions } from '../report/markdown.ts';
import type { Report } from '../report/schema.ts';
import { partsOf } from '../review/reviewed-plan.ts';
import type { Context } from './context.ts';
import type { Mode } from './event.ts';

/** What a run has come to; without a context it could not even begin. */
export type Done = { readonly result: CommandResult; readonly mode: Mode; readonly context: Context | null };

/** The output `failure-reason`; empty when all went well. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/** What is published of a run, wherever that is. */
export type Conclusion = {
  readonly mode: Mode;
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** Of each changing prompt: see `partsOf`. */
  readonly parts: readonly string[];
  /** Takes secrets out. */
  readonly hide: (text: string) => string;
};

export function conclude(done: Done, hide: Conclusion['hide']): Conclusion {
  const { result, mode } = done;
  const { run } = result;
  // Before it is rendered as well: what marks and escapes would tear a secret apart.
  const [report, page] = mapStrings([makeReport(run), pageOf(done)] as const, hide);
  const parts = partsOf(run.plan ?? { prompts: [] });
  return { mode, report, failure: failureOf(mode, result, report), page, parts, hide };
}

/** What a page says besides the report; without a limit of length. */
function pageOf({ mode, context }: Done): MarkdownOptions {
  const folder = normalize(context?.inputs['working-directory'] ?? '.').replace(/[\\/]$/, '');
  return {
    ...{ title: mode, limit: null },
    folder: folder === '.' ? null : folder.split(sep).join('/'),
    // Readers know a pull request by its own commit, not by the merge that GitHub makes for a try.
    commit: context?.event.pull?.head ?? null,
    runUrl: context?.runUrl ?? null,
  };
}

/** Says in one word why a run is no success. */
export function failureOf(
  mode: Mode,
  { run, exitCode }: Pick<CommandResult, 'run' | 'exitCode'>,
  report: Report,
): FailureReason {
  if (exitCode === 0) return mode === 'drift' && differing(report) > 0 ? 'drift' : '';
  if (exitCode === 3) return refusalOf(report);
  if (report.problems.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // Without a plan it could not even begin; with one no prompt could be observed.
  return exitCode === 1 && run.plan === null ? 'invalid' : 'failed';
}

/** What a run is refused for; the drift guard has a word of its own where nothing else stands in the way. */
function refusalOf({ prompts }: Report): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/** How many prompts the service holds otherwise than the files want; of those that could not be read nothing is known. */
export function differing({ prompts }: Report): number {
  return prompts.filter(({ status }) => status === 'pending' || status === 'blocked').length;
}
