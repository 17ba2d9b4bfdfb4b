import { placeholdersOf } from '../domain/placeholders.ts';
import type { ReportPrompt } from '../schemas/report.ts';
import type { TextChange } from './texts.ts';

/** What callers of a prompt have to follow: another key, or other variables in an environment. */
export type Breaking =
  | { readonly kind: 'key'; readonly before: string; readonly after: string }
  | { readonly kind: 'added' | 'removed'; readonly variable: string; readonly environments: readonly string[] };

/** Compares what environments serve with what they would serve; where one of the two is not known nothing is said. */
export function findBreaking({ changes }: ReportPrompt, texts: readonly TextChange[]): readonly Breaking[] {
  const key = changes.flatMap((change) => (change.kind === 'update-prompt' ? (change.fields.key ?? []) : []));
  const variables = texts.flatMap(variableChanges);
  const groups = Map.groupBy(variables, ({ kind, variable }) => `${kind} ${variable}`);
  return [
    ...key.map(({ before, after }): Breaking => ({ kind: 'key', before, after })),
    ...[...groups.values()].map(together),
  ];
}

type VariableChange = {
  readonly kind: 'added' | 'removed';
  readonly variable: string;
  readonly environment: string;
};

function variableChanges({ environment, before, after }: TextChange): readonly VariableChange[] {
  if (before === null || before === 'unknown' || after === 'unknown') return [];
  const [then, now] = [placeholdersOf(before.text), placeholdersOf(after.text)];
  const added = now.filter((variable) => !then.includes(variable));
  const removed = then.filter((variable) => !now.includes(variable));
  return [
    ...added.map((variable) => ({ kind: 'added' as const, variable, environment })),
    ...removed.map((variable) => ({ kind: 'removed' as const, variable, environment })),
  ];
}

function together(group: readonly VariableChange[]): Breaking {
  const { kind = 'added', variable = '' } = group[0] ?? {};
  return { kind, variable, environments: group.map(({ environment }) => environment) };
}
