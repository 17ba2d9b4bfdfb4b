import { formatCount, joinNames } from '../text.ts';
import type { Report, ReportChange, ReportPrompt } from './schema/report-schema.ts';

/**
 * The maximum number of baselines that the report shows individually, like other changes. If there are more, it lists
 * all of them on one line.
 */
const MAX_SEPARATE_BASELINES = 3;

/**
 * Returns the prompts whose baselines the report lists on one line. Returns an empty list if there are at most three
 * baselines. Like the summary, this function omits baselines of blocked prompts and baselines that were not created.
 */
export function listBaselinePrompts({ prompts }: Pick<Report, 'prompts'>): readonly ReportPrompt[] {
  const listed = prompts.filter((prompt) => prompt.changes.some((change) => isCountedBaseline(change, prompt)));
  return listed.length > MAX_SEPARATE_BASELINES ? listed : [];
}

/** Returns the prompt without its baseline if the report lists all baselines on one line. */
export function omitListedBaseline(prompt: ReportPrompt, listed: readonly ReportPrompt[]): ReportPrompt {
  if (!listed.includes(prompt)) return prompt;
  return { ...prompt, changes: prompt.changes.filter((change) => !isCountedBaseline(change, prompt)) };
}

function isCountedBaseline(change: ReportChange, { status }: ReportPrompt): boolean {
  if (change.kind !== 'create-version' || change.baseline !== true) return false;
  return change.status === undefined ? status === 'pending' : change.status === 'made';
}

/**
 * Describes baselines in one line.
 * @param names the names of the prompts, escaped and possibly styled
 * @param limit the maximum number of names to show
 */
export function describeBaselines(names: readonly string[], mode: Report['mode'], limit: number): string {
  const count = formatCount(names.length, 'baseline');
  const title = mode === 'apply' ? `created ${count}` : `${count} (versions for promptsync's records)`;
  return `${title}: ${joinNames(names, limit)}`;
}
