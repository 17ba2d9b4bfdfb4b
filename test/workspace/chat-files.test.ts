import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatMessage, parseChatText, renderChatText } from '../../src/domain/chat.ts';
import { digestChat } from '../../src/domain/content.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { renderNewFile } from '../../src/editing/render-new-file.ts';
import { langfuseFileRules } from '../../src/providers/langfuse/file-rules.ts';
import { messageLists } from '../domain/chat-messages.ts';
import { applyEdits } from '../editing/support.ts';
import { runs } from '../support/seed.ts';
import { parse, messages as messagesOf, PATH, summarizeProblems } from './support.ts';

const makeChat = (body: string, further = ''): string => `---\nid: a\ntype: chat\n${further}---\n${body}`;
const parseChat = (source: string) =>
  parsePromptFile(Buffer.from(source), PATH, { ...LENIENT_SETTINGS, rules: langfuseFileRules });

describe('the parser on chat prompts', () => {
  test('The prompt file parser converts the body of a chat prompt to canonical form', () => {
    const { file, problems } = parseChat(
      makeChat('\n{{role "system"}} \n\nBe kind.\n\n\n{{placeholder "history"}}\n\n'),
    );
    expect(problems).toEqual([]);
    expect(file).toMatchObject({ type: 'chat', content: { type: 'chat' } });
    expect(file?.content.text).toBe('{{role "system"}}\nBe kind.\n\n{{placeholder "history"}}');
  });

  test('The prompt file parser gives two layouts of the same messages the same digest', () => {
    const digests = ['{{role "a"}}\nHi', '\n{{role "a"}}\t\r\n\r\nHi\r\n\r\n'].map(
      (body) => parseChat(makeChat(body)).file?.content.digest,
    );
    expect(digests).toEqual(Array(2).fill(digestChat([{ role: 'a', content: 'Hi' }]).digest));
  });

  // test/domain/chat.test.ts proves which markers are invalid.
  test.each<[string, string, readonly string[]]>([
    ['The prompt file parser rejects a chat prompt without text', '', ['prompt/no-messages 5:1']],
    [
      'The prompt file parser rejects text above the first marker',
      '\n  Hi.\n{{role "a"}}\n',
      ['prompt/text-outside-message 6:3'],
    ],
    [
      'The prompt file parser rejects a placeholder that shares its name with a variable',
      '{{role "a"}}\n{{{h}}}\n{{placeholder "g"}}\n{{placeholder "h"}}\n{{placeholder "h"}}\n',
      ['prompt/placeholder-is-variable 8:1'],
    ],
    [
      'The prompt file parser warns about a marker without quotation marks',
      '{{role "a"}}\n{{role b}}\n',
      ['prompt/possible-marker 6:1'],
    ],
    [
      'The prompt file parser accepts {{role: b}} and variables like {{ role }} as content',
      '{{role "a"}}\n{{role: b}}\n{{ role }}\n{{role}}\n{{ roles "b"}}\n',
      [],
    ],
    [
      'The prompt file parser accepts a placeholder with the name of {{ h }}',
      '{{role "a"}}\n{{ h }}\n{{placeholder "h"}}\n',
      [],
    ],
    [
      'The prompt file parser warns once about a misspelled first marker',
      '{{role user}}\n{{role "u"}}\nHi.\n',
      ['prompt/text-outside-message 5:1'],
    ],
    [
      'The prompt file parser reports all errors in a chat prompt at once',
      'Hi.\n{{role \'a\'}}\n{{role "b"}}\n{{Role "c"}}\n',
      ['prompt/text-outside-message 5:1', 'prompt/invalid-marker 6:1', 'prompt/possible-marker 8:1'],
    ],
  ])('%s', (_, body, expected) => {
    const { file, problems } = parseChat(makeChat(body));
    expect(summarizeProblems(problems)).toEqual(expected);
    expect(file === null).toBe(problems.some(({ severity }) => severity === 'error'));
  });

  test.each([
    ['the prompt file parser warns about a marker with a no-break space before it', '\u00a0{{role "user"}}'],
    ['the prompt file parser warns about a marker with a no-break space after the kind', '{{role\u00a0"user"}}'],
    ['the prompt file parser warns about a marker with a zero-width space within the kind', '{{ro\u200ble "user"}}'],
    [
      'the prompt file parser warns about a marker with a Braille blank and curly quotation marks',
      '{{placeholder\u2800“history”}}',
    ],
    ['the prompt file parser warns about a marker with a carriage return before it', 'Bye.\r{{role "user"}}'],
    ['the prompt file parser warns about a marker with a form feed before it', 'Bye.\f{{role "user"}}'],
    ['the prompt file parser warns about a marker with indentation and a capital letter', '  {{ Role "user" }}'],
  ])('%s', (_, line) => {
    const { problems } = parseChat(makeChat(`{{role "system"}}\nHi.\n${line}\nDo it.\n`));
    const warnings = problems.filter(({ code }) => code === 'prompt/possible-marker');
    expect(warnings).toMatchObject([{ line: 7 }]);
    if (line.includes('role\u00a0')) expect(warnings[0]?.message).toContain('U+00A0 (no-break space)');
  });

  test('the prompt file parser warns about an ideographic space inside a role, but not about an ordinary or an escaped space', () => {
    const line = '{{role "end\u3000user"}}';
    const { problems } = parseChat(makeChat(`{{role "system"}}\nHi.\n${line}\nDo it.\n`));
    expect(problems).toMatchObject([{ code: 'prompt/possible-marker', severity: 'warning', line: 7, column: 1 }]);
    expect(problems[0]?.message).toContain(
      `The role in the marker \`${line}\` contains the character U+3000 (ideographic space)`,
    );
    const accepted = String.raw`{{role "end user"}}${'\n'}{{role "user\u00a0"}}${'\n'}`;
    expect(parseChat(makeChat(accepted)).problems).toEqual([]);
  });

  test.each([
    { line: "{{role 'system'}}", marker: '{{role "system"}}', escaped: String.raw`\{{role 'system'}}` },
    { line: '  {{ role "user" }}', marker: '{{role "user"}}', escaped: String.raw`  \{{ role "user" }}` },
    { line: '{{role "user"}} Hi.', marker: '{{role "user"}}', escaped: String.raw`\{{role "user"}} Hi.` },
    { line: '{{placeholder "a b"}}', marker: '{{placeholder "a_b"}}', escaped: String.raw`\{{placeholder "a b"}}` },
    { line: '{{placeholder "1"}}', marker: '{{placeholder "history"}}', escaped: String.raw`\{{placeholder "1"}}` },
  ])('The hint for the invalid marker $line shows both corrections', ({ line, marker, escaped }) => {
    const { problems } = parseChat(makeChat(`{{role "a"}}\n${line}\n`));
    expect(messagesOf(problems)).toContain(`write \`${marker}\` on`);
    expect(messagesOf(problems)).toContain(`write \`${escaped}\`.`);
    for (const correction of [marker, escaped]) {
      expect(parseChat(makeChat(`{{role "a"}}\n${correction}\n`)).problems).toEqual([]);
    }
  });

  test('The prompt file parser reports at most 100 problems of one kind in a chat prompt', () => {
    expect(parseChat(makeChat("{{role 'a'}}\n".repeat(5000))).problems).toHaveLength(100);
    const names = Array.from({ length: 1000 }, (_, index) => `a${index}`);
    const variables = names.map((name) => `{{${name}}}`).join(' ');
    const body = `{{role "a"}}\n${variables}\n${names.map((name) => `{{placeholder "${name}"}}\n`).join('')}`;
    expect(parseChat(makeChat(body)).problems).toHaveLength(100);
  });

  test('The prompt file parser ignores variables in roles even if the chat prompt has other errors', () => {
    const { problems } = parseChat(makeChat('Hi {{x}}\n{{role "{{y}}"}} \n{{z}}\n', 'variables: [x, z]\n'));
    expect(problems.map(({ code }) => code)).toEqual(['prompt/text-outside-message']);
  });

  test('The prompt file parser compares `variables` with the content of the messages, and ignores roles and placeholders', () => {
    const body = '{{role "{{no}}"}}\n{{yes}}\n\n{{placeholder "history"}}\n';
    expect(parseChat(makeChat(body, 'variables: [yes]\n')).problems).toEqual([]);
    expect(messagesOf(parseChat(makeChat(body, 'variables: [no]\n')).problems)).toMatch(
      /is missing "yes"; and lists "no", /,
    );
  });

  test('The prompt file parser rejects an unknown type and does not check the markers', () => {
    const { problems } = parseChat(makeChat("{{role 'a'}}\n").replace('chat', 'Chat'));
    expect(summarizeProblems(problems)).toEqual(['prompt/invalid-field 3:7']);
  });

  test('If the service does not support chat prompts, the parser rejects `type: chat`, explains how to store the markers as text, and accepts markers in a text prompt', () => {
    const { problems } = parse(makeChat("{{role 'a'}}\n", 'key: k\nname: n\n'));
    expect(summarizeProblems(problems)).toEqual(['prompt/unsupported-type 3:7']);
    expect(messagesOf(problems)).toContain('Dotprompt');
    expect(parse('---\nid: a\nkey: k\nname: n\n---\n{{role "a"}}\nHi.\n').problems).toEqual([]);
  });

  test.each(['', 'type: text\n'])(
    'The prompt file parser warns about the first marker in a text prompt (%j)',
    (type) => {
      const { file, problems } = parseChat(`---\nid: a\n${type}---\n\nHi.\n{{role "a"}}\n{{role "b"}}\n`);
      expect(summarizeProblems(problems)).toEqual([`prompt/marker-in-text ${type === '' ? 6 : 7}:1`]);
      expect(file?.content.text).toBe('Hi.\n{{role "a"}}\n{{role "b"}}');
    },
  );
});

describe('the file editor on chat prompts', () => {
  const edit = (body: string, text: string) => applyEdits(makeChat(body), { text }).slice(makeChat('').length);

  const TWO = '{{role "a"}}\nX\n\n{{role "b"}}\nY';
  test.each([
    [
      'In a chat prompt with LF or CRLF, the file editor replaces only the content that differs',
      '\n{{role "a"}} \n\nOne.\n\n\n{{role "b"}}\n\\{{role "x"}}\n\n\n',
      '{{role "a"}}\nTwo.\n\n{{role "b"}}\n\\{{role "x"}}',
      '\n{{role "a"}} \n\nTwo.\n\n\n{{role "b"}}\n\\{{role "x"}}\n\n\n',
    ],
    [
      'In a chat prompt with LF or CRLF, the file editor writes new content into an empty message',
      '{{role "a"}}\n{{role "b"}}',
      TWO,
      TWO,
    ],
    [
      'In a chat prompt with LF or CRLF, the file editor can empty a message',
      '{{role "a"}}\n\nX\n\n{{role "b"}}\n',
      '{{role "a"}}\n\n{{role "b"}}',
      '{{role "a"}}\n\n\n\n{{role "b"}}\n',
    ],
  ])('%s', (_, before, text, after) => {
    expect(edit(before, text)).toBe(after);
    const crlf = (body: string) => makeChat(body).replaceAll('\n', '\r\n');
    expect(applyEdits(crlf(before), { text })).toBe(crlf(after));
  });

  test('The file editor writes exactly the given messages, and leaves the file untouched if no message has changed', () => {
    const sameRoles = messageLists.chain((before) =>
      fc.tuple(...before.map((message) => mapContent(message))).map((after) => ({ before, after })),
    );
    const pairs = fc.oneof(sameRoles, fc.record({ before: messageLists, after: messageLists }));
    fc.assert(
      fc.property(pairs, fc.constantFrom('\n', '\n\n', '\n\n\n'), ({ before, after }, gap) => {
        fc.pre([before, after].every(isValid));
        const body = `\n${before.map((message) => renderChatText([message])).join(gap)}\n`;
        const edited = edit(body, renderChatText(after));
        expect(
          parseChatText(edited.trimEnd() === '' ? '' : edited.replace(/^\n/, '')).messages.map(
            ({ message }) => message,
          ),
        ).toEqual(after);
        expect(edit(body, renderChatText(before))).toBe(body);
      }),
      { numRuns: runs(600) },
    );
  });

  test('The file editor rejects invalid messages', () => {
    const text = '{{role "a"}}\n{{h}}\n\n{{placeholder "h"}}';
    expect(() => edit('{{role "a"}}\n', text)).toThrow('promptsync cannot edit the file in place');
  });
});

function mapContent(message: ChatMessage): fc.Arbitrary<ChatMessage> {
  if (!('role' in message)) return fc.constant(message);
  return fc
    .constantFrom(message.content, '', '\nX', '{{role "x"}}', 'a\n\nb')
    .map((content) => ({ ...message, content }));
}

/** Returns true if a file with these messages has no error, such as a placeholder with the name of a variable. */
function isValid(messages: readonly ChatMessage[]): boolean {
  return parseChat(makeChat(`${renderChatText(messages)}\n`)).file !== null;
}

describe('new files of chat prompts', () => {
  const makeNew = (messages: readonly ChatMessage[]) => {
    const { type, text } = digestChat(messages);
    const content = { type, text, metadata: {} } as const;
    const newFile = { path: PATH, id: 'a', key: 'a', name: undefined, description: '', content, pins: [] };
    return renderNewFile(newFile, { ...LENIENT_SETTINGS, rules: langfuseFileRules });
  };

  test('A new file for a chat prompt contains `type: chat` and exactly the messages of the prompt', () => {
    fc.assert(
      fc.property(messageLists, (messages) => {
        fc.pre(isValid(messages));
        const { source } = makeNew(messages);
        expect(source).toContain('\ntype: chat\n');
        expect(parseChat(source ?? '').file?.content.text).toBe(renderChatText(messages));
      }),
      { numRuns: runs(400) },
    );
  });

  const user = (content: string): ChatMessage => ({ role: 'user', content });
  test.each<[string, readonly ChatMessage[], string]>([
    ['promptsync refuses to write a file for a chat prompt with no messages', [], 'It has no messages.'],
    [
      'promptsync refuses to write a file for a chat prompt with a lone surrogate in a role',
      [user('x'), { role: '\ud800', content: '' }],
      'The marker on line 4',
    ],
  ])('%s', (_, messages, reason) => {
    const { source, problems } = makeNew(messages);
    expect([source, messagesOf(problems)]).toEqual([null, expect.stringContaining(reason)]);
  });
});
