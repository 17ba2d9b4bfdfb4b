import { isDeepStrictEqual } from 'node:util';
import { type ChatMessage, type LocatedMessage, parseChatText, renderContent } from '../domain/chat.ts';

/**
 * Returns the body of a chat prompt with the messages of another text. If the sequence of roles and placeholders stays
 * the same, replaces only the contents that differ, so that the blank lines around the others stay as the user wrote
 * them. Otherwise returns the new text.
 * @param body the body, with LF line endings and without line breaks at the end
 * @param text the new text, in canonical form
 */
export function replaceMessages(body: string, text: string): string {
  const before = parseChatText(body).messages;
  const after = parseChatText(text).messages;
  const isSameSequence = isDeepStrictEqual(before.map(omitContent), after.map(omitContent));
  if (!isSameSequence) return text;
  // Replace the last content first, so that the positions of the earlier ones stay valid.
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
 * @param isLast whether this is the end of the body, which has no line break after its last line
 */
function replaceContent(section: string, content: string, isLast: boolean): string {
  const isEmpty = section.replaceAll('\n', '') === '';
  if (isEmpty) return isLast ? `\n${renderContent(content)}` : `${renderContent(content)}\n\n`;
  const blankLine = section.startsWith('\n') ? '\n' : '';
  const lineBreaks = /\n*$/.exec(section)?.[0] ?? '';
  // Parsing drops the blank line. So a content that begins with a line break needs no second one.
  const rendered = blankLine === '' ? renderContent(content) : renderContent(content).replace(/^\n(?=\n)/, '');
  return blankLine + rendered + lineBreaks;
}
