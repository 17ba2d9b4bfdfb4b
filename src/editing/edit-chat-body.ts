import { isDeepStrictEqual } from 'node:util';
import { type ChatMessage, type LocatedMessage, parseChatText, renderContent } from '../domain/chat.ts';
import { trimLineFeeds } from '../text.ts';

/**
 * Replaces the messages in the body of a chat prompt. If the sequence of roles and placeholders stays the same, all
 * lines outside the changed content stay as the user wrote them.
 * @param body the body, with LF line endings and without line breaks at the end
 * @param text the new text, in canonical form
 */
export function replaceMessages(body: string, text: string): string {
  const before = parseChatText(body).messages;
  const after = parseChatText(text).messages;
  const isSameSequence = isDeepStrictEqual(before.map(omitContent), after.map(omitContent));
  if (!isSameSequence) return text;
  const parts: string[] = [];
  let copiedUpTo = 0;
  for (const [index, { message, section }] of before.entries()) {
    const content = getContent(after[index]?.message);
    if (content === getContent(message)) continue;
    const oldSection = body.slice(section.start, section.end);
    parts.push(body.slice(copiedUpTo, section.start));
    parts.push(replaceContent(oldSection, content, index === before.length - 1));
    copiedUpTo = section.end;
  }
  return [...parts, body.slice(copiedUpTo)].join('');
}

function omitContent({ message }: LocatedMessage): ChatMessage {
  return 'role' in message ? { ...message, content: '' } : message;
}

function getContent(message: ChatMessage | undefined): string {
  return message !== undefined && 'role' in message ? message.content : '';
}

/**
 * Replaces the content between a marker and the next marker. Keeps the blank lines around the old content.
 * @param isLast whether the section is the last one of the body and therefore does not end with a line break
 */
function replaceContent(section: string, content: string, isLast: boolean): string {
  const withoutLineFeeds = trimLineFeeds(section);
  if (withoutLineFeeds === '') return isLast ? `\n${renderContent(content)}` : `${renderContent(content)}\n\n`;
  const blankLine = section.startsWith('\n') ? '\n' : '';
  const lineBreaks = section.slice(withoutLineFeeds.length);
  // Parsing drops one blank line after the marker, so `renderContent` adds one to text that begins with a line break.
  // If the old section already begins with a blank line, drop the added one.
  const rendered = blankLine === '' ? renderContent(content) : renderContent(content).replace(/^\n(?=\n)/, '');
  return blankLine + rendered + lineBreaks;
}
