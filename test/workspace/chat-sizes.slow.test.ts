import { describe, expect, test } from 'vitest';
import { parseChatText, renderChatText } from '../../src/domain/chat.ts';
import { applyEdits } from '../editing/support.ts';

describe('large chat prompts', () => {
  test.each([
    { part: '{{role "', messages: 0, faults: 1 },
    { part: '{{role "\\', messages: 0, faults: 1 },
    { part: '{{placeholder "a"}}\n', messages: 50_001, faults: 0 },
    { part: "{{role 'a'}}\n", messages: 0, faults: 76_924 },
    { part: '\n', messages: 0, faults: 1 },
  ])('The chat prompt parser can read a megabyte that repeats $part', ({ part, messages, faults }) => {
    const parsed = parseChatText(part.repeat(Math.ceil(1_000_001 / part.length)));
    expect([parsed.messages.length, parsed.faults.length]).toEqual([messages, faults]);
  });

  test.each([
    [
      'The chat prompt parser can read a million blank lines inside a message',
      `{{role "a"}}\nx${'\n'.repeat(1_000_000)}y`,
    ],
    ['The chat prompt parser can read a role with ten million characters', `{{role "${'x'.repeat(10_000_000)}"}}`],
    [
      'The chat prompt parser can read ten million characters after an opening quotation mark',
      `{{role "a"}}\n\\{{role "${'x'.repeat(10_000_000)}`,
    ],
  ])('%s', (_, text) => {
    const { messages, faults } = parseChatText(text);
    expect([messages.length, faults]).toEqual([1, []]);
    expect(renderChatText(messages.map(({ message }) => message))).toBe(text);
  });

  const makeMany = (content: string) => renderChatText(Array.from({ length: 50_000 }, () => ({ role: 'a', content })));
  const gap = '\n'.repeat(200_000);
  test.each([
    ['The file editor can replace the content of 50,000 messages', makeMany('One.'), makeMany('Two.')],
    [
      'The file editor can replace a message with a long run of blank lines',
      `{{role "a"}}\nx${gap}y`,
      `{{role "a"}}\nx${gap}z`,
    ],
  ])('%s', (_, before, text) => {
    const edited = applyEdits(`---\nid: a\ntype: chat\n---\n${before}`, { text });
    expect(edited).toBe(`---\nid: a\ntype: chat\n---\n${text}`);
  });
});
