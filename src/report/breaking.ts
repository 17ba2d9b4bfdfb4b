import { type TextChange, type VariableChange, variableChanges } from '../domain/text-changes.ts';
import type { ReportPrompt } from './schema.ts';

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

function together(group: readonly VariableChange[]): Breaking {
  const { kind = 'added', variable = '' } = group[0] ?? {};
  return { kind, variable, environments: group.map(({ environment }) => environment) };
}

/** In a sentence or two; `show` makes what comes from outside inert. */
export function breakingText(breaking: Breaking, show: (text: string) => string): string {
  if (breaking.kind === 'key') {
    const [from, to] = [breaking.before, breaking.after].map(show);
    return `the key changes from ${from} to ${to}. Whoever reads it by key has to follow.`;
  }
  const { kind, variable, environments } = breaking;
  const then = kind === 'added' ? 'Callers have to supply it.' : 'Callers need not supply it any more.';
  return `${environments.map(show).join(', ')}: the variable ${show(`{{${variable}}}`)} is ${kind}. ${then}`;
}
