import { describe, expect, test } from 'vitest';
import { LangfuseRefusal } from './langfuse-requests.ts';
import { langfuseStore, type LangfuseStore } from './langfuse-store.ts';

/** Sends a create request and returns the response of the double. */
async function create(store: LangfuseStore, body: object) {
  try {
    return { status: 201, body: await store.create({ name: 'chat', ...body }) };
  } catch (error) {
    if (error instanceof LangfuseRefusal) return error.reply;
    throw error;
  }
}

const chat = (...prompt: readonly unknown[]) => ({ type: 'chat', prompt });
const system = <Content>(content: Content) => ({ role: 'system', content });
const placeholder = (name: string) => ({ type: 'placeholder' as const, name });

describe('the messages that the Langfuse double stores', () => {
  type Row = readonly [title: string, sent: readonly unknown[], stored: readonly object[]];
  test.for<Row>([
    ['accepts a chat prompt without messages', [], []],
    ['accepts an empty role and an empty content', [{ role: '', content: '' }], [{ role: '', content: '' }]],
    [
      'keeps the bytes of contents and the order of messages',
      [system('e\u0301\r\n\n'), placeholder('history'), system('\n{{role "user"}}')],
      [system('e\u0301\r\n\n'), placeholder('history'), system('\n{{role "user"}}')],
    ],
    [
      'drops all keys of a message except the role and the content',
      [{ ...system('Hi.'), type: 'chatmessage', name: 'n', id: '1', tool_calls: [] }],
      [system('Hi.')],
    ],
    [
      'stores an object with a role and a content as a message, even if its type is placeholder',
      [{ ...system('Hi.'), ...placeholder('a-b') }],
      [system('Hi.')],
    ],
    [
      'accepts a placeholder twice and drops its other keys',
      [{ ...placeholder('a_1'), id: '1' }, placeholder('a_1')],
      [placeholder('a_1'), placeholder('a_1')],
    ],
  ])('the Langfuse test double %s', async ([, sent, stored]) => {
    const store = langfuseStore();
    expect(await create(store, chat(...sent))).toMatchObject({ status: 201, body: { type: 'chat', version: 1 } });
    expect(await store.read('chat', { version: 1 })).toMatchObject({ prompt: stored });
    expect((await store.list()).data).toMatchObject([{ name: 'chat', type: 'chat' }]);
  });

  test('the Langfuse test double returns the name of a placeholder before its type, as the database stores them', async () => {
    const store = langfuseStore();
    await create(store, chat(placeholder('history')));
    expect(JSON.stringify(store.versions('chat')[0]?.prompt)).toBe('[{"name":"history","type":"placeholder"}]');
  });
});

describe('the chat prompts that the Langfuse double refuses', () => {
  const INVALID = 'Invalid request data';
  const AMBIGUOUS = 'Cannot create prompt, variables and placeholders must be unique, the following are not: history';
  const OTHER_TYPE = 'Previous versions have different prompt type. Create a new prompt with a different name.';
  const NOT_TEXT = 'Prompt dependency is not a text prompt: part - label latest';
  const composed = '@@@langfusePrompt:name=part|label=latest@@@';

  type Row = readonly [title: string, sent: object, status: number, message: string];
  test.for<Row>([
    ['rejects messages without the type chat', { prompt: [system('Hi.')] }, 400, INVALID],
    ['rejects a text with the type chat', { type: 'chat', prompt: 'Hi.' }, 400, INVALID],
    ['rejects a content that is null', chat(system(null)), 400, INVALID],
    ['rejects a message without content', chat({ role: 'user' }), 400, INVALID],
    ['rejects a content that is a list', chat(system([{ type: 'text', text: 'Hi.' }])), 400, INVALID],
    ['rejects a placeholder name with a hyphen', chat(placeholder('a-b')), 400, INVALID],
    [
      'rejects a placeholder that has the name of a variable',
      chat(placeholder('history'), system('Read {{history}}.')),
      400,
      AMBIGUOUS,
    ],
    ['returns 500 for a content with a NUL character', chat(system('a\0b')), 500, 'Internal Server Error'],
    ['rejects a text version of a chat prompt', { name: 'part', prompt: 'Hi.' }, 400, OTHER_TYPE],
    ['rejects a chat version of a text prompt', { name: 'text', ...chat(system('Hi.')) }, 400, OTHER_TYPE],
    ['rejects a text that contains a chat prompt', { prompt: composed }, 400, NOT_TEXT],
    ['rejects a content that contains a chat prompt', chat(system(composed)), 400, NOT_TEXT],
  ])('the Langfuse test double %s', async ([, sent, status, message]) => {
    const store = langfuseStore();
    store.addChatPrompt('part');
    store.addVersion('text', { text: 'Hi.' });
    expect(await create(store, sent)).toMatchObject({ status, body: { message } });
    expect(['chat', 'part', 'text'].map((name) => store.versions(name).length)).toEqual([0, 1, 1]);
  });
});
