import type { Report, ReportChange, ReportPrompt } from '../report/schema.ts';

/**
 * Counts prompts by status and changes by kind, with baselines counted separately. After an apply, counts only the
 * changes that were made. Before it, changes have no status, and only those of pending prompts count.
 */
export function makeReportSummary(prompts: readonly ReportPrompt[]): Report['summary'] {
  const countedChanges = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (change.status === undefined ? status === 'pending' : change.status === 'made')),
  );
  const countChanges = (kind: ReportChange['kind']) => countedChanges.filter((change) => change.kind === kind).length;
  const baselines = countedChanges.filter((change) => change.kind === 'create-version' && change.baseline).length;
  const countPrompts = (status: ReportPrompt['status']) => prompts.filter((prompt) => prompt.status === status).length;
  return {
    prompts: prompts.length,
    unchanged: countPrompts('unchanged'),
    create_version: countChanges('create-version') - baselines,
    baselines,
    update_prompt: countChanges('update-prompt'),
    set_active: countChanges('set-active'),
    blocked: countPrompts('blocked'),
    applied: countPrompts('applied'),
    failed: countPrompts('failed'),
    not_attempted: countPrompts('not_attempted'),
  };
}
