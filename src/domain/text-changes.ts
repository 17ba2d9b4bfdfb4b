import type { StoredContent } from './content.ts';
import type { SetActive } from './plan.ts';

/** The content of one environment before and after a change. Null if nothing is active, `unknown` if nobody has read it. */
export type TextChange = {
  readonly environment: string;
  readonly before: StoredContent | 'unknown' | null;
  readonly after: StoredContent | 'unknown';
};

/** The same with the planned change that it comes from. */
export type PlannedTextChange = TextChange & { readonly change: SetActive };

/** By prompt id. */
export type TextChangesByPrompt = ReadonlyMap<string, readonly PlannedTextChange[]>;

/** A variable that an environment's text would have and has not now, or the other way round. */
type VariableChange = { readonly variable: string; readonly kind: 'added' | 'removed' };

/** Compares what an environment serves with what it would serve; where one of the two is not known nothing is said. */
export function compareVariables({ before, after }: Pick<TextChange, 'before' | 'after'>): readonly VariableChange[] {
  if (before === null || before === 'unknown' || after === 'unknown') return [];
  const [then, now] = [listPlaceholders(before.text), listPlaceholders(after.text)];
  const added = now.filter((variable) => !then.includes(variable));
  const removed = then.filter((variable) => !now.includes(variable));
  return [
    ...added.map((variable) => ({ variable, kind: 'added' as const })),
    ...removed.map((variable) => ({ variable, kind: 'removed' as const })),
  ];
}

const PLACEHOLDER = /\{\{[ \t]*([\p{L}\p{M}\p{N}_.-]+)[ \t]*\}\}/gu;

/** The names of a text's `{{placeholders}}`, each once, in order of first use. */
export function listPlaceholders(text: string): readonly string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}
