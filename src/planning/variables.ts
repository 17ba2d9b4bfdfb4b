import type { PromptPlan } from '../domain/plan.ts';
import type { PromptFile } from '../domain/prompt-file.ts';
import type { TextChange } from '../domain/texts.ts';
import { variableChanges } from '../domain/variables.ts';
import { makeProblem, type Place, type Problem } from '../problem.ts';

/**
 * Why a plan is refused where callers have to follow, and the file does not say that this is meant.
 */
export function unmeantBreaking({ file, lookups }: PromptPlan, texts: readonly TextChange[]): readonly Problem[] {
  if (file.allowBreaking === true) return [];
  return texts.flatMap((text): readonly Problem[] => {
    const place = placeOf(file, text.environment);
    const changed = variableChanges(text);
    if (changed.length > 0) return [makeProblem('guard/breaking', { changed }, place)];
    // What is looked at before it goes live is planned once more then.
    const unseen = text.after === 'unknown' && text.before !== null && lookups.length === 0;
    return unseen ? [makeProblem('guard/unknown-variables', { environment: text.environment }, place)] : [];
  });
}

/** A leave to break that nothing needs would let the next change pass unseen. Texts never read may need it. */
export function needlessLeave({ file }: PromptPlan, texts: readonly TextChange[]): readonly Problem[] {
  if (file.allowBreaking !== true || texts.some((text) => isUnread(text) || variableChanges(text).length > 0)) {
    return [];
  }
  return [makeProblem('prompt/needless-allow-breaking', {}, { path: file.path })];
}

function isUnread({ before, after }: TextChange): boolean {
  return before === 'unknown' || after === 'unknown';
}

function placeOf({ pins, path }: PromptFile, environment: string): Place {
  const { line = 1, column = 1 } = pins.find((pin) => pin.environment === environment) ?? {};
  return { path, line, column };
}
