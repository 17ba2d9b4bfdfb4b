import type { StoredContent } from './content.ts';
import type { SetActive } from './plan.ts';

/** The content that an environment serves before and after a change. */
export type TextChange = {
  readonly environment: string;
  /** The content before the change. Null if no version is active. `unknown` if promptsync has not read the version. */
  readonly before: StoredContent | 'unknown' | null;
  /** The content after the change. `unknown` if promptsync has not read the version. */
  readonly after: StoredContent | 'unknown';
};

/** A change to the content that an environment serves, and the planned activation that causes it. */
export type PlannedTextChange = TextChange & { readonly change: SetActive };

/** The planned content changes in all environments, by prompt id. */
export type TextChangesByPrompt = ReadonlyMap<string, readonly PlannedTextChange[]>;

/** A variable that a change adds to or removes from the prompt text that an environment serves. */
type VariableChange = { readonly variable: string; readonly kind: 'added' | 'removed' };

/**
 * Returns the variables that a change adds to or removes from the text. Returns none if no version is active before the
 * change, or if one of the two texts is unknown.
 */
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

/** Returns the names of the `{{placeholders}}` in the text, without duplicates and in the order of their first use. */
export function listPlaceholders(text: string): readonly string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}
