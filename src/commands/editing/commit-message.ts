import type { EditedPrompt, FileEdit } from '../../domain/edits.ts';
import { codePoint, showHidden } from '../../domain/text.ts';

/** What GitHub takes for a word to itself: not to run the workflows (`[skip ci]`), or to call somebody (`@name`). */
const ADDRESSED = /\[(?=\s*(?:skip|no|ci|actions)\b)|(?<!\w)@(?=[a-z0-9])/gi;

/** The message of a commit of edits: one prompt in the subject, of several each in a line of its own. */
export function commitMessage(edited: readonly EditedPrompt[], subject: (names: string) => string): string {
  // Keys come from strangers, and so may the rest.
  return showHidden(messageOf(edited, subject)).replaceAll(ADDRESSED, codePoint);
}

function messageOf(edited: readonly EditedPrompt[], subject: (names: string) => string): string {
  const [first, ...rest] = edited;
  if (first === undefined) return subject('no prompt');
  if (rest.length === 0) return `${subject(first.key)}${versionNote(first.edits)}`;
  const lines = edited.map(({ key, edits }) => `- ${key}${versionNote(edits)}`);
  return `${subject(`${edited.length} prompts`)}\n\n${lines.join('\n')}`;
}

function versionNote(edits: readonly FileEdit[]): string {
  const pin = edits.find((edit) => edit.kind === 'set-pin');
  if (pin === undefined) return '';
  return pin.before === null ? ` (v${pin.after})` : ` (${named(pin.before)} → ${named(pin.after)})`;
}

function named(pin: string): string {
  return /^[0-9]+$/.test(pin) ? `v${pin}` : pin;
}
