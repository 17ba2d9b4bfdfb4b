import { findDriftOfChange } from './describe-drift.ts';
import { listTextChanges, type NamedTexts, type ShowText } from './describe-report.ts';
import type { ReportChange, ReportPrompt } from './schema/report-schema.ts';

/** Describes what callers must adapt to: a changed key, and added variables and placeholders. */
export function describeBreakingChanges(prompt: ReportPrompt, show: ShowText): readonly string[] {
  const keys = listIntendedChanges(prompt).flatMap((change) =>
    change.kind === 'update-prompt' ? (change.fields.key ?? []) : [],
  );
  return [
    ...keys.map(({ before, after }) => {
      return `the key changes from ${show(before)} to ${show(after)}. Callers that use the old key must be updated.`;
    }),
    ...describeInputs(prompt, 'added', 'Callers must supply it.', show),
  ];
}

/** Describes the removed variables and placeholders. Callers can still supply them, so nothing breaks. */
export function describeUnusedInputs(prompt: ReportPrompt, show: ShowText): readonly string[] {
  return describeInputs(prompt, 'removed', 'Callers no longer need to supply it.', show);
}

function describeInputs(
  prompt: ReportPrompt,
  kind: 'added' | 'removed',
  consequence: string,
  show: ShowText,
): readonly string[] {
  const changes = listIntendedChanges(prompt);
  const inputs = listTextChanges({ ...prompt, changes }).flatMap(({ environment, texts }) => {
    const ofKind = texts.breaking.filter((input) => input.kind === kind);
    return ofKind.map((input) => ({ name: describeInput(input, show), environment }));
  });
  return Array.from(
    Map.groupBy(inputs, ({ name }) => name),
    ([name, group]) => {
      const where = group.map(({ environment }) => show(environment)).join(', ');
      return `${where}: the ${name} is ${kind}. ${consequence}`;
    },
  );
}

/** Omits changes that only undo somebody's change in the service, because callers never had to adapt to these. */
function listIntendedChanges({ changes, drift }: ReportPrompt): readonly ReportChange[] {
  const undone = drift.filter(
    ({ kind, restores, ...place }) => kind === 'outside' && restores && (!('field' in place) || place.field === 'key'),
  );
  return changes.filter((change) => findDriftOfChange(change, undone).length === 0);
}

function describeInput(input: NamedTexts['texts']['breaking'][number], show: ShowText): string {
  return 'variable' in input ? `variable ${show(`{{${input.variable}}}`)}` : `placeholder ${show(input.placeholder)}`;
}
