import { parseChatText } from '../domain/chat.ts';
import type { StoredContent } from '../domain/content.ts';
import { findPlace } from '../text.ts';

/** Explains in a sentence why no file can hold the text. Names the line, because the fault is often invisible. */
export function findUnwritableReason({ type, text }: Pick<StoredContent, 'type' | 'text'>): string | null {
  if (text.trim() === '') return type === 'chat' ? 'It has no messages.' : 'It has no text.';
  const lineReason = findUnwritableLine(text);
  if (lineReason !== null || type === 'text') return lineReason;
  const [fault] = parseChatText(text).faults;
  return fault === undefined
    ? null
    : `The marker on line ${fault.line} of its text has a name that cannot be written in a prompt file.`;
}

/** Describes the first line of the text that no prompt file can preserve. Returns null if there is none. */
function findUnwritableLine(text: string): string | null {
  const match = /\p{Surrogate}|\0|\r(?=\n|$)/u.exec(text);
  if (match === null) return null;
  const { line } = findPlace(text, match.index);
  switch (match[0]) {
    case '\r':
      return `Line ${line} of its text ends with a lone carriage return.`;
    case '\0':
      return `Line ${line} of its text contains a NUL character.`;
    default:
      return `Line ${line} of its text contains a lone surrogate, which is half of a surrogate pair.`;
  }
}
