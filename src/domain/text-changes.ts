import type { StoredContent } from './content.ts';
import type { SetActive } from './plan.ts';

/** The content of an environment before and after a change. */
export type TextChange = {
  readonly environment: string;
  /** The content before the change. Null if no version is active, `unknown` if promptsync has not read the version. */
  readonly before: StoredContent | 'unknown' | null;
  /** The content after the change. `unknown` if promptsync has not read the version. */
  readonly after: StoredContent | 'unknown';
};

/** A change of the content of an environment, with the planned activation that causes it. */
export type PlannedTextChange = TextChange & { readonly change: SetActive };

/** The planned changes of the contents of environments, by prompt id. */
export type TextChangesByPrompt = ReadonlyMap<string, readonly PlannedTextChange[]>;

/** A variable that the text of an environment gains (`added`) or loses (`removed`). */
type VariableChange = { readonly variable: string; readonly kind: 'added' | 'removed' };

/** Compares the variables in the texts before and after a change. Returns no changes if one of the texts is unknown. */
export function compareVariables({ before, after }: Pick<TextChange, 'before' | 'after'>): readonly VariableChange[] {
  if (before === null || before === 'unknown' || after === 'unknown') return [];
  const oldVariables = listPlaceholders(before.text);
  const newVariables = listPlaceholders(after.text);
  const added = newVariables.filter((variable) => !oldVariables.includes(variable));
  const removed = oldVariables.filter((variable) => !newVariables.includes(variable));
  return [
    ...added.map((variable) => ({ variable, kind: 'added' as const })),
    ...removed.map((variable) => ({ variable, kind: 'removed' as const })),
  ];
}

const PLACEHOLDER = /\{\{[ \t]*([\p{L}\p{M}\p{N}_.-]+)[ \t]*\}\}/gu;

/** Returns the names of the `{{placeholders}}` in a text, without duplicates and in the order of their first use. */
export function listPlaceholders(text: string): readonly string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}
