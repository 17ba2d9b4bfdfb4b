import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ChatMessage, parseChatText, renderChatText } from '../../src/domain/chat.ts';
import { digestChat, type StoredContent } from '../../src/domain/content.ts';
import { editPromptFile } from '../../src/editing/edit-prompt-file.ts';
import { LENIENT_SETTINGS, parsePromptFile } from '../../src/workspace/parse-prompt-file.ts';
import { findUnwritableReason } from '../../src/editing/find-unwritable-reason.ts';
import { renderNewFile } from '../../src/editing/render-new-file.ts';
import { langfuseFileRules } from '../../src/providers/langfuse/file-rules.ts';
import { messageLists } from '../domain/chat-messages.ts';
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

  test.each<[title: string, body: string, expected: readonly string[]]>([
    ['The prompt file parser rejects a chat prompt without text', '', ['prompt/no-messages 5:1']],
    ['The prompt file parser rejects a chat prompt without markers', '\nHi.\n', ['prompt/no-messages 6:1']],
    [
      'The prompt file parser rejects text above the first marker of a chat prompt',
      '\n  Hi.\n{{role "a"}}\n',
      ['prompt/text-outside-message 6:3'],
    ],
    [
      'The prompt file parser rejects text below a placeholder',
      '{{placeholder "h"}}\nHi.\n',
      ['prompt/text-outside-message 6:1'],
    ],
    [
      'The prompt file parser reports the line and column of an invalid marker',
      '{{role "a"}}\n  {{role \'b\'}}\n',
      ['prompt/invalid-marker 6:3'],
    ],
    [
      'The prompt file parser rejects a placeholder that shares its name with a variable',
      '{{role "a"}}\n{{{h}}}\n{{placeholder "g"}}\n{{placeholder "h"}}\n{{placeholder "h"}}\n',
      ['prompt/placeholder-is-variable 8:1'],
    ],
    [
      'The prompt file parser accepts the line {{role: b}} as content without a warning',
      '{{role "a"}}\n{{role: b}}\n',
      [],
    ],
    [
      'The prompt file parser warns about a marker without quotation marks',
      '{{role "a"}}\n{{role b}}\n',
      ['prompt/possible-marker 6:1'],
    ],
    [
      'The prompt file parser warns about a marker with a capital letter',
      '{{role "a"}}\n{{Role "b"}}\n',
      ['prompt/possible-marker 6:1'],
    ],
    [
      'The prompt file parser warns about a marker with typographic quotation marks',
      '{{role "a"}}\n{{placeholder “b”}}\n',
      ['prompt/possible-marker 6:1'],
    ],
    [
      'The prompt file parser accepts the variables {{ role }} and {{role}} as content without a warning',
      '{{role "a"}}\n{{ role }}\n{{role}}\n{{ roles "b"}}\n',
      [],
    ],
    [
      'The prompt file parser allows a placeholder to share its name with a variable that has spaces inside its braces',
      '{{role "a"}}\n{{ h }}\n{{placeholder "h"}}\n',
      [],
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
    ['a no-break space before it', '\u00a0{{role "user"}}'],
    ['an ideographic space after the braces', '{{\u3000role "user"}}'],
    ['a no-break space after the kind', '{{role\u00a0"user"}}'],
    ['a zero-width space within the kind', '{{ro\u200ble "user"}}'],
    ['a zero-width space between the braces', '{\u200b{role "user"}}'],
    ['a Braille blank and curly quotation marks', '{{placeholder\u2800“history”}}'],
    ['a carriage return before it', 'Bye.\r{{role "user"}}'],
    ['a line separator before it', 'Bye.\u2028{{role "user"}}'],
    ['a form feed before it', 'Bye.\f{{role "user"}}'],
    ['indentation and a capital letter', '  {{ Role "user" }}'],
  ])('the prompt file parser warns about content that looks like a marker with %s', (_, line) => {
    const { problems } = parseChat(makeChat(`{{role "system"}}\nHi.\n${line}\nDo it.\n`));
    const warnings = problems.filter(({ code }) => code === 'prompt/possible-marker');
    expect(warnings).toMatchObject([{ line: 7 }]);
  });

  test('the warning about a possible marker names a character that looks like a regular space', () => {
    const { problems } = parseChat(makeChat('{{role "system"}}\nHi.\n{{role\u00a0"user"}}\n'));
    expect(problems[0]?.message).toContain('U+00A0 (no-break space)');
  });

  test.each([
    ['at the end', '{{role "user\u00a0"}}', 'U+00A0 (no-break space)'],
    ['inside', '{{role "end\u3000user"}}', 'U+3000 (ideographic space)'],
  ])('the prompt file parser warns about a marker with a Unicode space %s of its role', (_, line, name) => {
    const { file, problems } = parseChat(makeChat(`{{role "system"}}\nHi.\n${line}\nDo it.\n`));
    expect(file).not.toBeNull();
    expect(problems).toMatchObject([{ code: 'prompt/possible-marker', severity: 'warning', line: 7, column: 1 }]);
    expect(problems[0]?.message).toContain(`The role in the marker \`${line}\` contains the character ${name}`);
  });

  test('the prompt file parser accepts an ordinary space and an escaped no-break space in a role', () => {
    const { problems } = parseChat(makeChat(String.raw`{{role "end user"}}${'\n'}{{role "user\u00a0"}}${'\n'}`));
    expect(problems).toEqual([]);
  });

  test.each([
    ['a no-break space before the closing braces', '{{role "user"\u00a0}}'],
    ['an ideographic space after it', '{{role "user"}}\u3000'],
  ])('the prompt file parser rejects a marker with %s', (_, line) => {
    const { problems } = parseChat(makeChat(`{{role "system"}}\nHi.\n${line}\n`));
    expect(problems).toMatchObject([{ code: 'prompt/invalid-marker', line: 7 }]);
  });

  test.each([
    { line: "{{role 'system'}}", marker: '{{role "system"}}', escaped: String.raw`\{{role 'system'}}` },
    { line: '  {{ role "user" }}', marker: '{{role "user"}}', escaped: String.raw`  \{{ role "user" }}` },
    { line: '{{role "user"}} Hi.', marker: '{{role "user"}}', escaped: String.raw`\{{role "user"}} Hi.` },
    {
      line: '{{placeholder "chat history"}}',
      marker: '{{placeholder "chat_history"}}',
      escaped: String.raw`\{{placeholder "chat history"}}`,
    },
    { line: '{{placeholder "1"}}', marker: '{{placeholder "history"}}', escaped: String.raw`\{{placeholder "1"}}` },
  ])('The hint for the invalid marker $line shows both corrections', ({ line, marker, escaped }) => {
    const { problems } = parseChat(makeChat(`{{role "a"}}\n${line}\n`));
    expect(messagesOf(problems)).toContain(`write \`${marker}\` on`);
    expect(messagesOf(problems)).toContain(`write \`${escaped}\`.`);
    for (const correction of [marker, escaped]) {
      expect(parseChat(makeChat(`{{role "a"}}\n${correction}\n`)).problems).toEqual([]);
    }
  });

  test('The prompt file parser reports at most 100 invalid markers per file', () => {
    expect(parseChat(makeChat("{{role 'a'}}\n".repeat(5000))).problems).toHaveLength(100);
  });

  test('The prompt file parser reports at most 100 placeholders that share their names with variables', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `a${index}`);
    const variables = names.map((name) => `{{${name}}}`).join(' ');
    const body = `{{role "a"}}\n${variables}\n${names.map((name) => `{{placeholder "${name}"}}\n`).join('')}`;
    expect(parseChat(makeChat(body)).problems).toHaveLength(100);
  });

  test.each([
    { line: 'the first line', body: '{{role user}}\n{{role "user"}}\nHi.\n' },
    { line: 'a line below a placeholder', body: '{{placeholder "h"}}\n{{role user}}\n' },
    { line: 'the only line', body: '{{role user}}\n' },
  ])('The prompt file parser does not report a misspelled marker twice if it is $line', ({ body }) => {
    expect(parseChat(makeChat(body)).problems).toHaveLength(1);
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

  test('The prompt file parser rejects `type: chat` if the service does not support chat prompts, and explains how to store the markers as text', () => {
    const { problems } = parse(makeChat("{{role 'a'}}\n", 'key: k\nname: n\n'));
    expect(summarizeProblems(problems)).toEqual(['prompt/unsupported-type 3:7']);
    expect(messagesOf(problems)).toContain('Dotprompt');
  });

  test.each(['', 'type: text\n'])(
    'The prompt file parser warns about the first marker in a text prompt (%j)',
    (type) => {
      const source = `---\nid: a\n${type}---\n\nHi.\n{{role "a"}}\n{{role "b"}}\n`;
      const { file, problems } = parseChat(source);
      expect(summarizeProblems(problems)).toEqual([`prompt/marker-in-text ${type === '' ? 6 : 7}:1`]);
      expect(file?.content.text).toBe('Hi.\n{{role "a"}}\n{{role "b"}}');
    },
  );

  test('The prompt file parser accepts a marker in a text prompt if the service does not support chat prompts', () => {
    expect(parse('---\nid: a\nkey: k\nname: n\n---\n{{role "a"}}\nHi.\n').problems).toEqual([]);
  });
});

describe('the file editor on chat prompts', () => {
  const edit = (body: string, text: string): string => {
    const result = editPromptFile(Buffer.from(makeChat(body)), PATH, { frontMatter: [], text }, LENIENT_SETTINGS);
    if (!result.isSuccess) throw new Error(messagesOf(result.problems));
    return Buffer.from(result.value.bytes).toString().slice(makeChat('').length);
  };

  test.each<[title: string, before: string, text: string, after: string]>([
    [
      'The file editor replaces only the message content that differs',
      '\n{{role "a"}} \n\nOne.\n\n\n{{role "b"}}\n\\{{role "x"}}\n\n\n',
      '{{role "a"}}\nTwo.\n\n{{role "b"}}\n\\{{role "x"}}',
      '\n{{role "a"}} \n\nTwo.\n\n\n{{role "b"}}\n\\{{role "x"}}\n\n\n',
    ],
    [
      'The file editor writes new content into an empty message',
      '{{role "a"}}\n{{role "b"}}',
      '{{role "a"}}\nX\n\n{{role "b"}}\nY',
      '{{role "a"}}\nX\n\n{{role "b"}}\nY',
    ],
    [
      'The file editor can empty a message',
      '{{role "a"}}\n\nX\n\n{{role "b"}}\n',
      '{{role "a"}}\n\n{{role "b"}}',
      '{{role "a"}}\n\n\n\n{{role "b"}}\n',
    ],
    [
      'The file editor uses the line endings of the file for new message content',
      '{{role "a"}}\r\nX\r\n',
      '{{role "a"}}\nY\nZ',
      '{{role "a"}}\r\nY\r\nZ\r\n',
    ],
    [
      'The file editor replaces the whole body if the sequence of roles changes',
      '\n{{role "a"}} \n\nOne.\n\n\n',
      '{{placeholder "h"}}\n\n{{role "a"}}\nOne.',
      '\n{{placeholder "h"}}\n\n{{role "a"}}\nOne.\n\n\n',
    ],
  ])('%s', (_, before, text, after) => {
    const withLineFeeds = edit(before.replaceAll('\r', ''), text);
    expect(withLineFeeds).toBe(after.replaceAll('\r', ''));
    if (before.includes('\r')) {
      const source = makeChat(before).replaceAll(/\r?\n/g, '\r\n');
      const result = editPromptFile(Buffer.from(source), PATH, { frontMatter: [], text }, LENIENT_SETTINGS);
      expect(result).toMatchObject({ isSuccess: true });
      if (result.isSuccess)
        expect(Buffer.from(result.value.bytes).toString()).toBe(makeChat(after).replaceAll(/\r?\n/g, '\r\n'));
    }
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
      { numRuns: runs(4_000) },
    );
  });

  test('The file editor can replace the content of 50,000 messages', () => {
    const makeBody = (content: string) =>
      renderChatText(Array.from({ length: 50_000 }, () => ({ role: 'a', content })));
    expect(edit(makeBody('One.'), makeBody('Two.'))).toBe(makeBody('Two.'));
  });

  test('The file editor keeps long runs of blank lines in a message', () => {
    const gap = '\n'.repeat(200_000);
    expect(edit(`{{role "a"}}\nx${gap}y`, `{{role "a"}}\nx${gap}z`)).toBe(`{{role "a"}}\nx${gap}z`);
  });

  test('The file editor rejects invalid messages', () => {
    const text = '{{role "a"}}\n{{h}}\n\n{{placeholder "h"}}';
    const result = editPromptFile(
      Buffer.from(makeChat('{{role "a"}}\n')),
      PATH,
      { frontMatter: [], text },
      LENIENT_SETTINGS,
    );
    expect(result).toMatchObject({ isSuccess: false, problems: [{ code: 'edit/not-kept' }] });
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
      { numRuns: runs(2_000) },
    );
  });

  test.each<[title: string, messages: readonly ChatMessage[], reason: string]>([
    ['promptsync refuses to write a file for a chat prompt that has no messages', [], 'It has no messages.'],
    [
      'promptsync refuses to write a chat prompt to a file if a message contains a doubled carriage return',
      [{ role: 'a', content: 'x\r\r\ny' }],
      'Line 2 of its text ends with a lone carriage return.',
    ],
    [
      'promptsync refuses to write a chat prompt to a file if a message ends with a carriage return',
      [
        { role: 'a', content: 'x\r' },
        { role: 'b', content: 'y' },
      ],
      'Line 2',
    ],
    [
      'promptsync refuses to write a chat prompt to a file if a message contains a NUL character',
      [{ role: 'a', content: 'x\0' }],
      'Line 2 of its text contains a NUL character.',
    ],
    [
      'promptsync refuses to write a chat prompt to a file if a role contains a NUL character',
      [{ role: 'a\0', content: 'x' }],
      'The marker on line 1 of its text has a name',
    ],
    [
      'promptsync refuses to write a chat prompt to a file if a role contains a lone surrogate',
      [
        { role: 'a', content: 'x' },
        { role: '\ud800', content: '' },
      ],
      'The marker on line 4',
    ],
    [
      'promptsync refuses to write a chat prompt to a file if a message contains a lone surrogate',
      [{ role: 'a', content: '\ud800' }],
      'Line 2 of its text contains a lone surrogate',
    ],
  ])('%s', (_, messages, reason) => {
    const content: Pick<StoredContent, 'type' | 'text'> = digestChat(messages);
    expect(findUnwritableReason(content)).toContain(reason);
    const { source, problems } = makeNew(messages);
    expect([source, messagesOf(problems)]).toEqual([null, expect.stringContaining(reason)]);
  });

  test('promptsync can write a chat prompt to a file even if a line contains a carriage return in the middle', () => {
    expect(makeNew([{ role: 'a', content: 'x\ry' }]).source).toContain('x\ry');
  });
});
