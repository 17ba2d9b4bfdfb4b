import type { JsonValue } from './json.ts';
import type { SetActive } from './plan.ts';

/** A content that an environment serves, or would serve. */
export type Side = {
  readonly text: string;
  /** Absent where the file does not manage metadata, or where it is not known. */
  readonly metadata?: JsonValue;
};

/** One environment's text before and after; null: nothing is active; `unknown`: it was never read. */
export type TextChange = {
  readonly environment: string;
  readonly before: Side | 'unknown' | null;
  readonly after: Side | 'unknown';
};

/** The same with the planned change that it comes from. */
export type ServedTexts = TextChange & { readonly change: SetActive };

/** By prompt id. */
export type Texts = ReadonlyMap<string, readonly ServedTexts[]>;

/** A variable that an environment's text would have and has not now, or the other way round. */
type VariableChange = { readonly variable: string; readonly kind: 'added' | 'removed' };

/** Compares what an environment serves with what it would serve; where one of the two is not known nothing is said. */
export function variableChanges({ before, after }: Pick<TextChange, 'before' | 'after'>): readonly VariableChange[] {
  if (before === null || before === 'unknown' || after === 'unknown') return [];
  const [then, now] = [placeholdersOf(before.text), placeholdersOf(after.text)];
  const added = now.filter((variable) => !then.includes(variable));
  const removed = then.filter((variable) => !now.includes(variable));
  return [
    ...added.map((variable) => ({ variable, kind: 'added' as const })),
    ...removed.map((variable) => ({ variable, kind: 'removed' as const })),
  ];
}

const PLACEHOLDER = /\{\{[ \t]*([\p{L}\p{M}\p{N}_.-]+)[ \t]*\}\}/gu;

/** The names of a text's `{{placeholders}}`, each once, in order of first use. */
export function placeholdersOf(text: string): readonly string[] {
  return [...new Set([...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? ''))];
}
