import type { Report, ReportChange, ReportPrompt } from '../report/schema.ts';

/**
 * Counts prompts by status and changes by kind, with baselines counted separately. For an apply, counts only the
 * changes that were made. Otherwise, counts the changes of pending prompts.
 */
export function makeReportSummary(prompts: readonly ReportPrompt[], mode: Report['mode']): Report['summary'] {
  const countedChanges = prompts.flatMap(({ status, changes }) =>
    changes.filter((change) => (mode === 'apply' ? change.status === 'made' : status === 'pending')),
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
