import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatMessage, parseChatText, renderChatText } from '../../src/domain/chat.ts';
import { digestChat } from '../../src/domain/content.ts';
import { computeDigest } from '../../src/domain/digest.ts';
import { runs } from '../support/seed.ts';
import { makeLayouts, messageLists } from './chat-messages.ts';

const parseMessages = (text: string): readonly ChatMessage[] =>
  parseChatText(text).messages.map(({ message }) => message);

const user = (content: string): ChatMessage => ({ role: 'user', content });
const history: ChatMessage = { type: 'placeholder', name: 'history' };

describe('the canonical form of chat prompts', () => {
  test('parsing the canonical form returns the same messages for all messages that a file can hold', () => {
    fc.assert(
      fc.property(messageLists, (messages) => {
        const text = renderChatText(messages);
        expect(parseChatText(text).faults).toEqual([]);
        expect(parseMessages(text)).toEqual(messages);
        expect(digestChat(messages).text).toBe(text);
      }),
      { numRuns: runs(100_000) },
    );
  });

  test('blank lines around a content and spaces after a marker never change the messages', () => {
    const written = messageLists.chain((messages) =>
      makeLayouts(messages.map((message) => renderChatText([message]))).map((text) => ({ messages, text })),
    );
    fc.assert(
      fc.property(written, ({ messages, text }) => {
        expect(parseMessages(text)).toEqual(messages);
      }),
      { numRuns: runs(20_000) },
    );
  });

  test('rendering the messages of any text without faults gives a text that renders to itself', () => {
    const lines = fc.constantFrom('{{role "a"}}', '{{placeholder "h"}}', '\\{{role "a"}}', '', 'x', " \\\\{{role 'a");
    fc.assert(
      fc.property(fc.array(lines, { maxLength: 8 }), (parts) => {
        const { messages, faults } = parseChatText(parts.join('\n'));
        fc.pre(faults.length === 0);
        const canonical = renderChatText(messages.map(({ message }) => message));
        expect(renderChatText(parseMessages(canonical))).toBe(canonical);
      }),
      { numRuns: runs(10_000) },
    );
  });

  test.each<[title: string, messages: readonly ChatMessage[], text: string]>([
    ['a content starts on the line below its marker', [user('Hi.')], '{{role "user"}}\nHi.'],
    ['one blank line separates messages', [user('a'), user('b')], '{{role "user"}}\na\n\n{{role "user"}}\nb'],
    ['a content that begins with a line break follows a blank line', [user('\na')], '{{role "user"}}\n\n\na'],
    ['an empty message is only its marker', [user(''), history], '{{role "user"}}\n\n{{placeholder "history"}}'],
    ['a role is a JSON string', [{ role: 'a "b"\n', content: '' }], String.raw`{{role "a \"b\"\n"}}`],
    [
      'a content line that looks like a marker gets a backslash',
      [user('{{role "x"}}')],
      '{{role "user"}}\n\\{{role "x"}}',
    ],
    [
      'a content line that looks like an escaped marker gets one more backslash',
      [user(" \\{{ role 'x")],
      '{{role "user"}}\n \\\\{{ role \'x',
    ],
    ['a variable with the name of a marker needs no backslash', [user('{{role}}')], '{{role "user"}}\n{{role}}'],
  ])('In canonical form, %s', (_, messages, text) => {
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
  test.each<[title: string, text: string, faults: readonly string[]]>([
    ['an empty text', '', ['no-messages 1']],
    ['a text without markers', '\nHello.', ['no-messages 2']],
    ['text above the first marker', '\n \nHi\n{{role "a"}}', ['text-before-marker 3']],
    ['text below a placeholder', '{{placeholder "h"}}\n\nHi\n{{role "a"}}', ['text-after-placeholder 3']],
    ['a marker with single quotes', "{{role 'a'}}\nHi", ['invalid-marker 1']],
    ['an indented marker', '{{role "a"}}\n  {{role "b"}}', ['invalid-marker 2']],
    ['a marker with spaces inside its braces', '{{ role "a" }}', ['invalid-marker 1']],
    ['a marker with two spaces', '{{role  "a"}}', ['invalid-marker 1']],
    ['text on the line of a marker', '{{role "a"}} Hi', ['invalid-marker 1']],
    ['a name that is not JSON', String.raw`{{role "\x"}}`, ['invalid-marker 1']],
    ['a name with NUL', String.raw`{{role "\u0000"}}`, ['invalid-marker 1']],
    ['a name with a lone surrogate', String.raw`{{role "\ud800"}}`, ['invalid-marker 1']],
    ['a placeholder with an invalid name', '{{placeholder "my history"}}', ['invalid-marker 1']],
    ['every invalid marker', "{{role 'a'}}\n{{role 'b'}}", ['invalid-marker 1', 'invalid-marker 2']],
  ])('The parser of chat prompts reports %s', (_, text, faults) => {
    expect(parseChatText(text).faults.map(({ kind, line }) => `${kind} ${line}`)).toEqual(faults);
  });

  test.each<[title: string, text: string]>([
    ['blank lines above the first marker', '\n \n{{role "user"}}\nHi.'],
    ['spaces and tabs after a marker', '{{role "user"}} \t\nHi.'],
    ['a blank line below a marker', '{{role "user"}}\n\nHi.'],
    ['line breaks at the end', '{{role "user"}}\nHi.\n\n\n'],
    ['a role with an escaped character', String.raw`{{role "us\u0065r"}}` + '\nHi.'],
  ])('The parser of chat prompts accepts %s', (_, text) => {
    expect(parseChatText(text)).toMatchObject({ messages: [{ message: user('Hi.') }], faults: [] });
  });

  test.each<[part: string, messages: number, faults: number]>([
    ['{{role "', 0, 1],
    ['{{role "\\', 0, 1],
    ['{{role "a"}}\n', 76_924, 0],
    ['{{placeholder "a"}}\n', 50_001, 0],
    ["{{role 'a'}}\n", 0, 76_924],
    ['\n', 0, 1],
  ])('The parser of chat prompts reads a text of a megabyte that repeats %j', (part, messages, faults) => {
    const parsed = parseChatText(part.repeat(Math.ceil(1_000_001 / part.length)));
    expect([parsed.messages.length, parsed.faults.length]).toEqual([messages, faults]);
  });
});
