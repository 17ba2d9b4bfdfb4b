import { isDeepStrictEqual } from 'node:util';
import { type ChatMessage, type LocatedMessage, parseChatText, renderContent } from '../domain/chat.ts';

/**
 * Replaces the messages in the body of a chat prompt with the messages of another text. If the sequence of roles and
 * placeholders stays the same, replaces only the content that differs, so that all other lines stay as the user wrote
 * them. Otherwise returns the new text.
 * @param body the body, with LF line endings and without line breaks at the end
 * @param text the new text, in canonical form
 */
export function replaceMessages(body: string, text: string): string {
  const before = parseChatText(body).messages;
  const after = parseChatText(text).messages;
  const isSameSequence = isDeepStrictEqual(before.map(omitContent), after.map(omitContent));
  if (!isSameSequence) return text;
  // Replace the content of the last message first, so that the offsets of the earlier messages stay valid.
  return before.reduceRight((edited, old, index) => {
    const content = getContent(after[index]?.message);
    if (content === getContent(old.message)) return edited;
    const { start, end } = old.section;
    const section = replaceContent(body.slice(start, end), content, index === before.length - 1);
    return edited.slice(0, start) + section + edited.slice(end);
  }, body);
}

function omitContent({ message }: LocatedMessage): ChatMessage {
  return 'role' in message ? { ...message, content: '' } : message;
}

/** Returns the content of a message. Empty for a placeholder. */
function getContent(message: ChatMessage | undefined): string {
  return message !== undefined && 'role' in message ? message.content : '';
}

/**
 * Replaces the content between a marker and the next marker. Keeps the blank lines around the old content.
 * @param isLast whether the section is the last one of the body and therefore does not end with a line break
 */
function replaceContent(section: string, content: string, isLast: boolean): string {
  const isEmpty = section.replaceAll('\n', '') === '';
  if (isEmpty) return isLast ? `\n${renderContent(content)}` : `${renderContent(content)}\n\n`;
  const blankLine = section.startsWith('\n') ? '\n' : '';
  const lineBreaks = /\n*$/.exec(section)?.[0] ?? '';
  // Parsing drops one blank line after the marker, so `renderContent` adds one to content that begins with a line break.
  // If the old section already begins with a blank line, drop the added one.
  const rendered = blankLine === '' ? renderContent(content) : renderContent(content).replace(/^\n(?=\n)/, '');
  return blankLine + rendered + lineBreaks;
}
