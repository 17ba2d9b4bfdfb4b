import { describe, expect, test } from 'vitest';
import type { ChatMessage } from '../../../src/domain/chat.ts';
import { digestChat } from '../../../src/domain/content.ts';
import type { LangfuseDouble } from '../../doubles/langfuse-server.ts';
import { commitAll, git } from '../../support/folder.ts';
import { handOn, startFront, type FrontAnswer, type FrontRequest } from '../../support/front.ts';
import { runJson } from '../../support/run.ts';
import { history, makeChatFile, makeChatScene, system, user } from './chat-scene.ts';

/** Ten chat prompts, each with a property that could get lost on the way to a file and back. */
const CHAT_PROMPTS: Readonly<Record<string, readonly ChatMessage[]>> = {
  'chat/plain': [system('You help {{customer}}.'), user('{{question}}')],
  'chat/placeholders': [system('Be kind.'), history, user('Hi.'), { type: 'placeholder', name: 'examples' }, history],
  'chat/roles': ['system', 'developer', 'user', 'assistant', 'tool'].map((role) => ({ role, content: `As ${role}.` })),
  'chat/unusual-roles': [
    { role: '', content: 'a' },
    { role: 'a "b"', content: 'b' },
    { role: 'history*', content: 'c' },
  ],
  'chat/markers': [user('{{role "x"}}\n\\{{placeholder "h"}}\n  {{role \'y\n{{role}}\n{{Role "z"}}')],
  'chat/large': [system('A line of the policy.\n'.repeat(1_000) + 'End.')],
  'chat/empty-messages': [system(''), history, user('')],
  'chat/blank-lines': [system('\n\nBetween blank lines.\n\nMore.'), user('\nEnd.')],
  'chat/decomposed': [system('Cafe\u0301 und A\u030aland'), user('\u2028 \u0085 👩‍👩‍👧')],
  'chat/carriage-return': [system('one\rtwo'), user('---\nid: b\n---')],
};

const makeText = (index: number): string => `Text prompt ${index} for {{customer}}.\n\nSecond paragraph.`;

/** Makes a Langfuse project with ten chat prompts and ten text prompts, all served in both environments. */
async function makeProject() {
  const scene = await makeChatScene();
  const labels = ['staging', 'production'];
  for (const [name, messages] of Object.entries(CHAT_PROMPTS)) await scene.addVersion(name, { messages, labels });
  for (let index = 1; index <= 10; index += 1) {
    await scene.addVersion(`text/${index}`, { text: makeText(index), labels });
  }
  return scene;
}

test('Chat prompts can be imported, edited, promoted, reverted and pulled, and every plan after a sync is empty', async () => {
  const { store, folder, json, run, read, commit, sync } = await makeProject();
  const served = (name: string, label: string) => store.serves(name, label)?.text;
  const plain = 'prompts/chat/plain.md';

  const imported = await json('import', '**');
  expect(imported).toMatchObject({ exitCode: 0, report: { summary: { prompts: 20, applied: 20 } } });
  const types = imported.report.prompts.map(({ type }) => type);
  expect([types.filter((type) => type === 'chat').length, types.length]).toEqual([10, 20]);
  expect((await json('validate')).exitCode).toBe(0);
  commitAll(folder, 'Import the prompts');
  expect((await json('plan', '--exit-code')).exitCode).toBe(0);
  const versions = () => store.requests.filter((request) => request.startsWith('POST')).length;
  const before = versions();
  await sync();
  expect(versions()).toBe(before);

  commit({ [plain]: read(plain).replace('You help', 'You kindly help') }, 'Be kind');
  await sync();
  expect(served('chat/plain', 'staging')).toEqual([system('You kindly help {{customer}}.'), user('{{question}}')]);
  expect(served('chat/plain', 'production')).toEqual(CHAT_PROMPTS['chat/plain']);

  commit(
    { [plain]: read(plain).replace('{{role "user"}}', '{{placeholder "history"}}\n\n{{role "user"}}') },
    'Add history',
  );
  const added = [system('You kindly help {{customer}}.'), history, user('{{question}}')];
  await sync();
  expect(served('chat/plain', 'staging')).toEqual(added);

  expect((await json('promote', 'chat/plain', '--to', 'production', '--commit')).exitCode).toBe(0);
  await sync();
  expect(served('chat/plain', 'production')).toEqual(added);

  git(folder, 'revert', '--no-edit', 'HEAD~1');
  await sync();
  expect(store.serves('chat/plain', 'staging')).toMatchObject({ version: 2 });
  expect(store.serves('chat/plain', 'production')).toMatchObject({ version: 3 });
  expect((await json('rollback', 'chat/plain', '--environment', 'production', '--commit')).exitCode).toBe(0);
  await sync();
  expect(store.serves('chat/plain', 'production')).toMatchObject({ version: 1 });

  for (const name of Object.keys(CHAT_PROMPTS)) {
    const messages = served(name, 'staging');
    if (typeof messages !== 'object') throw new Error(`${name} is not a chat prompt`);
    const edited = [...messages, { role: 'assistant', content: '{{role "done"}}\n' }];
    await store.create({ name, type: 'chat', prompt: edited, labels: ['staging'] });
  }
  expect((await json('pull')).report.summary).toMatchObject({ applied: 10, unchanged: 10 });
  expect((await run('plan', '--exit-code')).exitCode).toBe(0);
  commitAll(folder, 'Pull the edits');
  await sync();
  expect(read('prompts/chat/empty-messages.md')).toContain('\n{{role "assistant"}}\n\\{{role "done"}}\n');
});

test('import writes a chat prompt in canonical form', async () => {
  const { json, read, addVersion } = await makeChatScene();
  const messages = [system('You help {{company}}.'), history, user('{{question}}')];
  await addVersion('support/agent', { messages, config: { model: 'a' } });
  expect((await json('import', 'support/agent')).exitCode).toBe(0);
  expect(read('prompts/support/agent.md')).toBe(
    '---\nid: support/agent\ntype: chat\npins:\n  staging: latest\nmetadata:\n  model: a\n---\n\n' +
      '{{role "system"}}\nYou help {{company}}.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}\n',
  );
});

test('plan ignores blank lines that a formatter adds around messages', async () => {
  const body = '{{role "system"}}\nBe kind.\n\n{{role "user"}}\nHi.';
  const { json, commit, sync } = await makeChatScene({ 'prompts/a.md': makeChatFile('a', body) });
  await sync();
  commit({ 'prompts/a.md': makeChatFile('a', '\n{{role "system"}}  \n\nBe kind.\n\n\n\n{{role "user"}}\n\nHi.\n') });
  expect((await json('plan', '--exit-code')).exitCode).toBe(0);
});

describe('a type that differs between the file and Langfuse', () => {
  test.each<[title: string, labels: readonly string[]]>([
    ['sync blocks a chat prompt if Langfuse has a labeled text prompt with the same name', ['staging']],
    ['sync blocks a chat prompt if Langfuse has an unlabeled text prompt with the same name', []],
  ])('%s', async (_, labels) => {
    const { store, json, addVersion } = await makeChatScene({
      'prompts/a.md': makeChatFile('a', '{{role "user"}}\nHi.'),
    });
    await addVersion('a', { text: 'Hi.', labels });
    const { exitCode, report } = await json('sync', '--yes');
    expect([exitCode, report.prompts[0]?.status]).toEqual([3, 'blocked']);
    const [problem] = report.prompts[0]!.problems;
    expect(problem).toMatchObject({ code: 'prompt/other-type' });
    expect(problem?.message).toMatch(/chat prompt.*Langfuse.*text prompt/);
    expect(problem?.hint).toMatch(/`type: text`.*different id/);
    expect(store.versions('a')).toHaveLength(1);
  });

  test('sync blocks a text prompt if Langfuse has a chat prompt with the same name, and syncs all others', async () => {
    const { store, json, addVersion } = await makeChatScene({
      'prompts/a.md': '---\nid: a\npins: { staging: latest }\n---\n\nHi.\n',
      'prompts/b.md': makeChatFile('b', '{{role "user"}}\nHi.'),
    });
    await addVersion('a', { messages: [user('Hi.')] });
    const { exitCode, report } = await json('sync', '--yes');
    expect(report.prompts.map(({ status, type }) => `${type} ${status}`)).toEqual(['text blocked', 'chat applied']);
    expect(exitCode).toBe(3);
    expect(store.serves('b', 'staging')).toMatchObject({ text: [user('Hi.')] });
  });

  test.each([['pull'], ['promote', 'a', '--to', 'production'], ['rollback', 'a', '--environment', 'staging']])(
    '%s does not edit the file of a prompt that has a different type in Langfuse',
    async (...words) => {
      const { json, read, addVersion } = await makeChatScene({
        'prompts/a.md': makeChatFile('a', '{{role "user"}}\nHi.'),
      });
      await addVersion('a', { text: 'One.' });
      await addVersion('a', { text: 'Two.' });
      const before = read('prompts/a.md');
      const { exitCode, report } = await json(...words);
      expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([3, ['prompt/other-type']]);
      expect(read('prompts/a.md')).toBe(before);
    },
  );

  test('promptsync ignores earlier versions of a prompt file in which the prompt had a different type', async () => {
    const { store, folder, json, commit, sync } = await makeChatScene({
      'prompts/a.md': '---\nid: a\npins: { staging: latest }\n---\n\nHi.\n',
    });
    await sync();
    const text = git(folder, 'rev-parse', 'HEAD').trim();
    store.removePrompt('a');
    commit({
      'prompts/a.md': makeChatFile('a', '{{role "user"}}\nHi.', `{ staging: latest, production: 'git:${text}' }`),
    });
    const { report } = await json('plan', '--base', text);
    expect(report.prompts[0]).toMatchObject({ status: 'blocked', drift: [] });
    const [problem] = report.prompts[0]!.problems;
    expect([problem?.code, problem?.message]).toEqual([
      'pin/no-prompt-at-ref',
      expect.stringContaining('is a text prompt'),
    ]);
    expect((await json('history')).report.prompts[0]?.history?.versions).toEqual([]);
  });
});

describe('a chat prompt that changes in Langfuse during a sync', () => {
  /** Syncs a new chat prompt through a front that handles the first create request. */
  async function syncThrough(create: (request: FrontRequest, langfuse: LangfuseDouble) => Promise<FrontAnswer>) {
    const { langfuse, store, folder } = await makeChatScene({
      'prompts/a.md': makeChatFile('a', '{{role "user"}}\nHi.'),
    });
    let hasCreated = false;
    const front = await startFront({
      target: langfuse.baseUrl,
      answer: (request) => {
        if (request.method !== 'POST' || hasCreated) return null;
        hasCreated = true;
        return create(request, langfuse);
      },
    });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    const { exitCode, report } = await runJson(folder, ['sync', '--yes', '--any-commit'], { environment });
    return { store, exitCode, prompt: report.prompts[0] };
  }

  test('sync blocks a new chat prompt if somebody creates a text prompt with the same name at the same time', async () => {
    const { store, exitCode, prompt } = await syncThrough(async (request, { baseUrl, store: other }) => {
      other.addVersion('a', { text: 'Hi.' });
      return handOn(request, baseUrl);
    });
    expect([exitCode, prompt?.status]).toEqual([3, 'blocked']);
    expect(prompt?.problems).toMatchObject([{ code: 'prompt/other-type' }]);
    expect(store.versions('a')).toHaveLength(1);
  });

  test('After a lost create response, sync adopts the chat prompt that Langfuse created', async () => {
    const { store, exitCode, prompt } = await syncThrough(async (request, { baseUrl }) => {
      await handOn(request, baseUrl);
      throw new Error('The connection ends.');
    });
    expect([exitCode, prompt?.changes[0]]).toMatchObject([0, { status: 'adopted', recovered: true }]);
    expect(store.versions('a')).toHaveLength(1);
  });
});

/** A version that promptsync cannot write to a file, and the reason that it gives. */
type Unwritable = { readonly fault: string; readonly messages: readonly ChatMessage[]; readonly reason: RegExp };

describe('messages that no file can hold', () => {
  const UNWRITABLE: readonly Unwritable[] = [
    { fault: 'has no messages', messages: [], reason: /has no messages/ },
    {
      fault: 'contains a doubled carriage return',
      messages: [system('a\r\r\nb')],
      reason: /Line 2 .* carriage return/,
    },
    {
      fault: 'contains a message that ends with a carriage return',
      messages: [system('a\r'), user('b')],
      reason: /Line 2 .* carriage return/,
    },
  ];

  test.each(UNWRITABLE)('import blocks only the prompt whose served version $fault', async ({ messages, reason }) => {
    const { json, addVersion } = await makeChatScene();
    await addVersion('bad', { messages });
    await addVersion('good', { messages: [user('Hi.')] });
    const { exitCode, report } = await json('import', '**');
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ key, type, status }) => `${key} ${type} ${status}`)).toEqual([
      'bad chat blocked',
      'good chat applied',
    ]);
    expect(report.prompts[0]?.problems).toMatchObject([{ code: 'import/not-writable' }]);
    expect(report.prompts[0]?.problems[0]?.message).toMatch(reason);
  });

  test.each(UNWRITABLE)(
    'pull blocks only the prompt whose served version $fault, and a sync replaces that version',
    async ({ messages, reason }) => {
      const body = '{{role "user"}}\nHi.';
      const { store, json, read, addVersion, sync } = await makeChatScene({
        'prompts/bad.md': makeChatFile('bad', body),
        'prompts/good.md': makeChatFile('good', body),
      });
      await sync();
      await addVersion('bad', { messages });
      await addVersion('good', { messages: [user('Hello.')] });
      const { exitCode, report } = await json('pull');
      expect([exitCode, report.prompts.map(({ status }) => status)]).toEqual([3, ['blocked', 'applied']]);
      expect(report.prompts[0]?.problems).toMatchObject([{ code: 'pull/not-writable' }]);
      expect(report.prompts[0]?.problems[0]?.message).toMatch(reason);
      expect(read('prompts/bad.md')).toBe(makeChatFile('bad', body));
      const { report: plan } = await json('plan', 'bad');
      expect(plan.prompts[0]?.changes).toMatchObject([{ kind: 'set-active', before_text: digestChat(messages).text }]);
      expect((await json('sync', 'bad', '--yes', '--allow-dirty')).exitCode).toBe(0);
      expect(store.serves('bad', 'staging')).toMatchObject({ text: [user('Hi.')] });
    },
  );
});
