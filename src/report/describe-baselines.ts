import { formatCount, joinNames } from '../text.ts';
import { isCountedInSummary } from './describe-report.ts';
import type { Report, ReportChange, ReportPrompt } from './schema/report-schema.ts';

/** The maximum number of baselines to show like other changes. More baselines share one line. */
const MAX_SEPARATE_BASELINES = 3;

/** Returns the prompts whose baselines share one line, without those that the summary does not count. */
export function listBaselinePrompts({ prompts }: Pick<Report, 'prompts'>): readonly ReportPrompt[] {
  const listed = prompts.filter((prompt) => prompt.changes.some((change) => isCountedBaseline(change, prompt)));
  return listed.length > MAX_SEPARATE_BASELINES ? listed : [];
}

/** Returns the prompt without its baseline if the report lists all baselines on one line. */
export function omitListedBaseline(prompt: ReportPrompt, listed: readonly ReportPrompt[]): ReportPrompt {
  if (!listed.includes(prompt)) return prompt;
  return { ...prompt, changes: prompt.changes.filter((change) => !isCountedBaseline(change, prompt)) };
}

function isCountedBaseline(change: ReportChange, prompt: ReportPrompt): boolean {
  return change.kind === 'create-version' && change.baseline === true && isCountedInSummary(change, prompt);
}

/** Describes baselines in one line with at most `limit` names, which are escaped and possibly styled. */
export function describeBaselines(names: readonly string[], mode: Report['mode'], limit: number): string {
  const count = formatCount(names.length, 'baseline');
  const title = mode === 'apply' ? `created ${count}` : `${count} (versions for promptsync's records)`;
  return `${title}: ${joinNames(names, limit)}`;
}
