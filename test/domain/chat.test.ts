import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatMessage, parseChatText, renderChatText } from '../../src/domain/chat.ts';
import { digestChat } from '../../src/domain/content.ts';
import { computeDigest } from '../../src/domain/digest.ts';
import { runs } from '../support/seed.ts';
import { messageLists } from './chat-messages.ts';

const parseMessages = (text: string): readonly ChatMessage[] =>
  parseChatText(text).messages.map(({ message }) => message);

const user = (content: string): ChatMessage => ({ role: 'user', content });
const history: ChatMessage = { type: 'placeholder', name: 'history' };

describe('the canonical form of chat prompts', () => {
  test('Any messages that a file can hold survive rendering and parsing', () => {
    fc.assert(
      fc.property(messageLists, (messages) => {
        const text = renderChatText(messages);
        expect(parseChatText(text).faults).toEqual([]);
        expect(parseMessages(text)).toEqual(messages);
        expect(digestChat(messages).text).toBe(text);
      }),
      { numRuns: runs(4_000) },
    );
  });

  test.each<[title: string, messages: readonly ChatMessage[], text: string]>([
    [
      'The canonical form separates messages with one blank line',
      [user('a'), user('b')],
      '{{role "user"}}\na\n\n{{role "user"}}\nb',
    ],
    [
      'The canonical form of an empty message is its marker alone',
      [user(''), history],
      '{{role "user"}}\n\n{{placeholder "history"}}',
    ],
    [
      'The canonical form writes a role as a JSON string',
      [{ role: 'a "b"\n', content: '' }],
      String.raw`{{role "a \"b\"\n"}}`,
    ],
    [
      'The canonical form adds a backslash to a line like a marker',
      [user('{{role "x"}}')],
      '{{role "user"}}\n\\{{role "x"}}',
    ],
    [
      'The canonical form does not add a backslash to the variable {{role}}',
      [user('{{role}}')],
      '{{role "user"}}\n{{role}}',
    ],
  ])('%s', (_, messages, text) => {
    expect(renderChatText(messages)).toBe(text);
    expect(parseMessages(text)).toEqual(messages);
  });

  test('The digest of a chat prompt covers its type and the canonical JSON of its messages', () => {
    const { digest } = digestChat([{ role: 'user', content: 'a\r\nb\n\n' }, history]);
    const json = String.raw`[{"content":"a\nb","role":"user"},{"name":"history","type":"placeholder"}]`;
    expect(digest).toBe(computeDigest(`chat\0${json}`));
  });
});

describe('parseChatText', () => {
  test.each<[string, string, string]>([
    ['The chat prompt parser rejects empty text', '', 'no-messages 1'],
    ['The chat prompt parser rejects text without markers', '\nHello.', 'no-messages 2'],
    ['The chat prompt parser rejects text above the first marker', '\n \nHi\n{{role "a"}}', 'text-before-marker 3'],
    [
      'The chat prompt parser rejects text below a placeholder',
      '{{placeholder "h"}}\n\nHi\n{{role "a"}}',
      'text-after-placeholder 3',
    ],
    [
      'The chat prompt parser rejects every marker with single quotes',
      "{{role 'a'}}\n{{role 'b'}}",
      'invalid-marker 1, invalid-marker 2',
    ],
    ['The chat prompt parser rejects an indented marker', '{{role "a"}}\n  {{role "b"}}', 'invalid-marker 2'],
    [
      'The chat prompt parser rejects a marker with two spaces in front of its name',
      '{{role  "a"}}',
      'invalid-marker 1',
    ],
    ['The chat prompt parser rejects text after a marker on the same line', '{{role "a"}} Hi', 'invalid-marker 1'],
    ['The chat prompt parser rejects a role that is not valid JSON', String.raw`{{role "\x"}}`, 'invalid-marker 1'],
    [
      'The chat prompt parser rejects a role that contains a NUL character',
      String.raw`{{role "\u0000"}}`,
      'invalid-marker 1',
    ],
    [
      'The chat prompt parser rejects a role that contains a lone surrogate',
      String.raw`{{role "\ud800"}}`,
      'invalid-marker 1',
    ],
    [
      'The chat prompt parser rejects a placeholder whose name contains a space',
      '{{placeholder "my history"}}',
      'invalid-marker 1',
    ],
  ])('%s', (_, text, expected) => {
    const { faults } = parseChatText(text);
    expect(faults.map(({ kind, line }) => `${kind} ${line}`).join(', ')).toBe(expected);
  });

  test.each<[title: string, text: string]>([
    ['The chat prompt parser ignores blank lines above the first marker', '\n \n{{role "user"}}\nHi.'],
    ['The chat prompt parser ignores spaces and tabs after a marker', '{{role "user"}} \t\nHi.'],
    ['The chat prompt parser ignores a blank line below a marker', '{{role "user"}}\n\nHi.'],
    ['The chat prompt parser ignores line breaks at the end of the text', '{{role "user"}}\nHi.\n\n\n'],
    ['The chat prompt parser resolves a JSON escape sequence in a role', String.raw`{{role "us\u0065r"}}` + '\nHi.'],
  ])('%s', (_, text) => {
    expect(parseChatText(text)).toMatchObject({ messages: [{ message: user('Hi.') }], faults: [] });
  });
});
