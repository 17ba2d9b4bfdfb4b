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
  type Row = readonly [sentence: string, sent: readonly unknown[], stored: readonly object[]];
  test.for<Row>([
    ['the Langfuse test double accepts a chat prompt without messages', [], []],
    [
      'the Langfuse test double accepts an empty role and an empty content',
      [{ role: '', content: '' }],
      [{ role: '', content: '' }],
    ],
    [
      'the Langfuse test double keeps the bytes of contents and the order of messages',
      [system('e\u0301\r\n\n'), placeholder('history'), system('\n{{role "user"}}')],
      [system('e\u0301\r\n\n'), placeholder('history'), system('\n{{role "user"}}')],
    ],
    [
      'the Langfuse test double drops all keys of a message except the role and the content',
      [{ ...system('Hi.'), type: 'chatmessage', name: 'n', id: '1', tool_calls: [] }],
      [system('Hi.')],
    ],
    [
      'the Langfuse test double stores an object with a role and a content as a message, even if its type is placeholder',
      [{ ...system('Hi.'), ...placeholder('a-b') }],
      [system('Hi.')],
    ],
    [
      'the Langfuse test double accepts a placeholder twice and drops its other keys',
      [{ ...placeholder('a_1'), id: '1' }, placeholder('a_1')],
      [placeholder('a_1'), placeholder('a_1')],
    ],
    [
      'the Langfuse test double accepts a placeholder that has the name of a variable written with spaces',
      [placeholder('history'), system('{{ history }}')],
      [placeholder('history'), system('{{ history }}')],
    ],
  ])('%s', async ([, sent, stored]) => {
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

  type Row = readonly [sentence: string, sent: object, status: number, message: string];
  test.for<Row>([
    ['the Langfuse test double rejects messages without the type chat', { prompt: [system('Hi.')] }, 400, INVALID],
    ['the Langfuse test double rejects a text with the type chat', { type: 'chat', prompt: 'Hi.' }, 400, INVALID],
    ['the Langfuse test double rejects an unknown type', { type: 'image', prompt: 'Hi.' }, 400, INVALID],
    ['the Langfuse test double rejects a content that is null', chat(system(null)), 400, INVALID],
    ['the Langfuse test double rejects a message without content', chat({ role: 'user' }), 400, INVALID],
    [
      'the Langfuse test double rejects a content that is a list',
      chat(system([{ type: 'text', text: 'Hi.' }])),
      400,
      INVALID,
    ],
    ['the Langfuse test double rejects a placeholder name with a hyphen', chat(placeholder('a-b')), 400, INVALID],
    [
      'the Langfuse test double rejects a placeholder name that starts with a digit',
      chat(placeholder('1a')),
      400,
      INVALID,
    ],
    [
      'the Langfuse test double rejects a placeholder that has the name of a variable',
      chat(placeholder('history'), system('Read {{history}}.')),
      400,
      AMBIGUOUS,
    ],
    [
      'the Langfuse test double rejects a placeholder that has the name of a variable in three braces',
      chat(placeholder('history'), system('Read {{{history}}}.')),
      400,
      AMBIGUOUS,
    ],
    [
      'the Langfuse test double returns 500 for a content with a NUL character',
      chat(system('a\0b')),
      500,
      'Internal Server Error',
    ],
    [
      'the Langfuse test double rejects a text version of a chat prompt',
      { name: 'part', prompt: 'Hi.' },
      400,
      OTHER_TYPE,
    ],
    [
      'the Langfuse test double rejects a chat version of a text prompt',
      { name: 'text', ...chat(system('Hi.')) },
      400,
      OTHER_TYPE,
    ],
    ['the Langfuse test double rejects a text that contains a chat prompt', { prompt: composed }, 400, NOT_TEXT],
    ['the Langfuse test double rejects a content that contains a chat prompt', chat(system(composed)), 400, NOT_TEXT],
  ])('%s', async ([, sent, status, message]) => {
    const store = langfuseStore();
    store.addChatPrompt('part');
    store.addVersion('text', { text: 'Hi.' });
    expect(await create(store, sent)).toMatchObject({ status, body: { message } });
    expect(['chat', 'part', 'text'].map((name) => store.versions(name).length)).toEqual([0, 1, 1]);
  });
});

test('the Langfuse test double lets a name return with the other type after the whole prompt is deleted', async () => {
  const store = langfuseStore();
  store.addVersion('chat', { text: 'Hi.' });
  await store.deletePrompt('chat');
  expect(await create(store, chat(system('Hi.')))).toMatchObject({ status: 201 });
});

test('the Langfuse test double resolves references in the contents of a chat prompt', async () => {
  const store = langfuseStore();
  store.addVersion('part', { text: 'Be "kind".\n', labels: ['production'] });
  const content = 'First: @@@langfusePrompt:name=part|label=production@@@';
  store.addVersion('chat', { messages: [system(content), placeholder('history')], labels: ['production'] });
  expect(await store.read('chat')).toMatchObject({ prompt: [system('First: Be "kind".\n'), placeholder('history')] });
  expect(await store.read('chat', { resolve: false })).toMatchObject({ prompt: [system(content), {}] });
});

test('the Langfuse test double moves the label of a chat prompt and keeps its config, tags and commit message', async () => {
  const store = langfuseStore();
  const fields = { config: { model: 'm' }, tags: ['t'], commitMessage: 'Why' };
  await create(store, { ...chat(system('One.')), ...fields, labels: ['staging'] });
  await create(store, { ...chat(system('Two.')), labels: ['staging'] });
  await store.patchLabels('chat', 1, ['staging']);
  expect(await store.read('chat', { label: 'staging' })).toMatchObject({ version: 1, ...fields });
});
