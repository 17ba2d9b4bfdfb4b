import { findDriftOfChange } from './describe-drift.ts';
import { formatCount } from '../text.ts';
import { getWords } from './describe-report.ts';
import { escapeLine } from './escape.ts';
import type { Report, ReportChange, ReportPrompt } from './schema/report-schema.ts';

/** Returns the question before an apply, for example `Apply? 3 prompts change in staging, 1 in production.` */
export function describeApplyQuestion(report: Report): string {
  const isPending = (_: ReportChange, { status }: ReportPrompt): boolean => status === 'pending';
  return `Apply? ${describeEnvironments(report)}${describeOverwrites(report, 'overwrites', isPending)}`;
}

/** Counts the prompts that change in each environment, in the order in which the changes first mention them. */
function describeEnvironments(report: Report): string {
  const pending = report.prompts.filter(({ status }) => status === 'pending');
  const changing = pending.flatMap(({ changes }) =>
    changes.flatMap((change) => (change.kind === 'set-active' ? [change.environment] : [])),
  );
  const [first, ...others] = [...Map.groupBy(changing, (environment) => environment)];
  if (first === undefined) return `No ${getWords(report).environment} will serve a different version.`;
  const [environment, { length }] = first;
  const counts = [
    `${formatCount(length, 'prompt changes', 'prompts change')} in ${escapeLine(environment)}`,
    ...others.map(([name, list]) => `${list.length} in ${escapeLine(name)}`),
  ];
  return `${counts.join(', ')}.`;
}

/** Counts the changes in the service that a run overwrites, as a sentence after a space. Empty if there are none. */
export function describeOverwrites(
  report: Report,
  verb: 'overwrites' | 'overwrote',
  isCounted: (change: ReportChange, prompt: ReportPrompt) => boolean,
): string {
  const overwritten = report.prompts.flatMap((prompt) => {
    const outside = prompt.drift.filter(({ kind }) => kind === 'outside');
    const changes = prompt.changes.filter((change) => isCounted(change, prompt));
    return changes.flatMap((change) => findDriftOfChange(change, outside));
  });
  if (overwritten.length === 0) return '';
  const changes = formatCount(overwritten.length, 'change that was', 'changes that were');
  return ` This ${verb} ${changes} made in ${getWords(report).service}.`;
}
