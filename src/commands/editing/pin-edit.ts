import type { FileEdit } from '../../domain/edits.ts';
import type { PromptPlan } from '../../domain/plan.ts';
import { pinText, type Pin } from '../../domain/prompt-file.ts';
import type { Version } from '../../domain/version.ts';
import { isError } from '../../problem.ts';
import type { FrontMatterEdit } from '../../files/edit.ts';
import { draftEdits, stays, type Draft } from './draft-edits.ts';
import { planEdited } from './plan-edited.ts';
import type { Prepared } from '../preparing/prepare-plan.ts';

/** A pin to write: an environment and the number of the version that it is to serve. */
export type WantedPin = { readonly environment: string; readonly number: number };

/**
 * Pins one environment of a prompt to a version. The edited file is planned for like any other: what a sync would refuse
 * is refused here, and the text that the environment would serve is shown.
 */
export async function draftPin(wanted: WantedPin, prompt: PromptPlan, prepared: Prepared): Promise<Draft> {
  const { file } = prompt;
  const { environment, number } = wanted;
  const before = file.pins.find((one) => one.environment === environment)?.pin ?? null;
  if (before?.kind === 'number' && before.number === number) return stays(file, 'unchanged');
  const { edit, change } = pinEdit(wanted, before);
  const draft = await draftEdits(file, [edit], { frontMatter: [change] }, prepared);
  const edited = draft.change?.file ?? null;
  if (edited === null) return draft;
  const { problems, serves } = await planEdited(edited, environment, prompt, prepared);
  const refused = problems.some(isError);
  const edits = serves === null ? draft.edits : [{ ...edit, serves }];
  return { ...draft, edits, problems, status: refused ? 'blocked' : 'pending', change: refused ? null : draft.change };
}

/** An edit of a file, as it is told and as it is made. */
export type PinEdit = {
  readonly edit: Extract<FileEdit, { readonly kind: 'set-pin' }>;
  readonly change: FrontMatterEdit;
};

/** What pins an environment to a number instead of what it was pinned to; null: it was not. */
export function pinEdit({ environment, number }: WantedPin, before: Pin | null): PinEdit {
  return {
    edit: { kind: 'set-pin', environment, before: before && pinText(before), after: String(number) },
    change: { kind: 'set', path: ['pins', environment], value: number },
  };
}

/** What an environment serves now; null where nothing is active or nothing was read. */
export function servedIn({ observed }: PromptPlan, environment: string): Version | null {
  return observed?.active.get(environment) ?? null;
}
