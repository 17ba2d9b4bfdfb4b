import type { ChangeOutcome, PromptOutcome } from '../../domain/outcome.ts';
import { labelOf } from '../../domain/version.ts';
import type { TextChange, Texts } from '../../domain/texts.ts';

/** The texts of an apply, with versions that were new called by their numbers, which are known now. */
export function labelMade(texts: Texts, outcomes: readonly PromptOutcome[]): Texts {
  const changesOf = new Map(outcomes.map(({ plan, changes }) => [plan.file.id, changes]));
  return new Map([...texts].map(([id, all]) => [id, all.flatMap((one) => labelOne(one, changesOf.get(id) ?? []))]));
}

function labelOne(text: TextChange, changes: readonly ChangeOutcome[]): readonly TextChange[] {
  const { environment, after } = text;
  const made = changes.find(({ change }) => change.kind === 'set-active' && change.environment === environment);
  if (made?.version === undefined) return [text];
  // It was read and checked meanwhile, and not kept.
  if (after === 'unknown') return [];
  const label = labelOf(made.version);
  return label === after.label ? [text] : [{ ...text, after: { ...after, label } }];
}
