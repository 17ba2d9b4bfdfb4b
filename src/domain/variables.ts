import { placeholdersOf } from './placeholders.ts';
import type { TextChange } from './texts.ts';

/** A variable that an environment's text would have and has not now, or the other way round. */
export type VariableChange = { readonly variable: string; readonly kind: 'added' | 'removed' };

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
