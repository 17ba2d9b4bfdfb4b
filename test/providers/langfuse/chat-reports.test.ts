import { describe, expect, test } from 'vitest';
import { startFront } from '../../support/front.ts';
import { run, runJson } from '../../support/run.ts';
import { PUBLIC_KEY, SECRET_KEY } from '../../doubles/langfuse-server.ts';
import { makeChatFile, makeChatScene } from './chat-scene.ts';

const PATH = 'prompts/a.md';
const BEFORE = '{{role "system"}}\nYou help.\n\n{{role "user"}}\n{{question}}';
const AFTER = '{{role "system"}}\nYou help.\n\n{{placeholder "history"}}\n\n{{role "user"}}\n{{question}}';
const LINE = 'messages: system, user → system, history*, user';

/** Makes a synced chat prompt, and then adds a placeholder in the file. */
async function makeChanged(before = BEFORE, after = AFTER) {
  const scene = await makeChatScene({ [PATH]: makeChatFile('a', before) });
  await scene.sync();
  scene.commit({ [PATH]: makeChatFile('a', after) });
  return scene;
}

describe('reports of a chat prompt', () => {
  test('The JSON report lists the messages before and after a change that adds a placeholder', async () => {
    const { json } = await makeChanged();
    const [prompt] = (await json('plan')).report.prompts;
    expect(prompt).toMatchObject({ type: 'chat', status: 'pending' });
    expect(prompt?.changes.find(({ kind }) => kind === 'set-active')).toMatchObject({
      before_text: BEFORE,
      after_text: AFTER,
      breaking: [{ placeholder: 'history', kind: 'added' }],
      messages: { before: ['system', 'user'], after: ['system', 'history*', 'user'] },
    });
  });

  test('The JSON report omits the sequence of messages if only their content changes', async () => {
    const { json } = await makeChanged(BEFORE, BEFORE.replace('help', 'help kindly'));
    const [prompt] = (await json('plan')).report.prompts;
    expect(prompt?.changes.map((change) => Object.hasOwn(change, 'messages'))).toEqual([false, false]);
  });

  test('The JSON report still lists the messages when it omits texts that are too large', async () => {
    const long = 'A long policy.\n'.repeat(70_000);
    const { json } = await makeChanged(BEFORE, AFTER.replace('You help.', `You help.\n${long}`));
    const [prompt] = (await json('plan')).report.prompts;
    expect(prompt?.changes.find(({ kind }) => kind === 'set-active')).toMatchObject({
      after_text: null,
      text_omitted: true,
      messages: { after: ['system', 'history*', 'user'] },
    });
  });

  test('The JSON report writes roles with special characters as JSON strings, so that no role looks like a placeholder', async () => {
    const { json } = await makeChanged(
      BEFORE,
      '{{role "history*"}}\n\n{{role ""}}\n\n{{role "a b"}}\n\n{{role "x-1_y"}}',
    );
    const [prompt] = (await json('plan')).report.prompts;
    expect(prompt?.changes.find(({ kind }) => kind === 'set-active')).toMatchObject({
      messages: { after: ['"history*"', '""', '"a b"', 'x-1_y'] },
    });
  });

  test.each(['text', 'markdown', 'html'])('The %s report has one line about changed messages', async (format) => {
    const { run } = await makeChanged();
    const { stdout } = await run('plan', '--format', format);
    expect(stdout.split(LINE)).toHaveLength(2);
  });

  test.each(['text', 'markdown'])(
    'The %s report shows the canonical form and the added placeholder',
    async (format) => {
      const { run } = await makeChanged(`\n${BEFORE.replace('\n\n', '\n\n\n')}`);
      const { stdout } = await run('plan', '--format', format);
      expect(stdout.replaceAll(/[`*]/g, '')).toMatch(/^(?: *|- )\+ ?\{\{placeholder "history"\}\}$/m);
      expect(stdout).toMatch(/the placeholder .?history.? is added\. Callers must supply it\./);
    },
  );
});

describe('responses with malformed chat prompts', () => {
  const start = async (type: string, prompt: unknown) => {
    const version = { name: 'a', version: 1, type, prompt, config: {}, labels: ['staging'] };
    const front = await startFront({ answer: () => ({ status: 200, body: JSON.stringify(version) }) });
    return { LANGFUSE_HOST: front.baseUrl, LANGFUSE_PUBLIC_KEY: PUBLIC_KEY, LANGFUSE_SECRET_KEY: SECRET_KEY };
  };

  test.each<[title: string, type: string, prompt: unknown]>([
    ['plan fails for a prompt if Langfuse returns a string instead of messages', 'chat', 'Hi.'],
    [
      'plan fails for a prompt if Langfuse returns messages in a text prompt',
      'text',
      [{ role: 'user', content: 'Hi.' }],
    ],
    [
      'plan fails for a prompt if Langfuse returns a message whose content is a list',
      'chat',
      [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }],
    ],
    ['plan fails for a prompt if Langfuse returns a message without a role', 'chat', [{ content: 'Hi.' }]],
    ['plan fails for a prompt if Langfuse returns a placeholder without a name', 'chat', [{ type: 'placeholder' }]],
    ['plan fails for a prompt if Langfuse returns an unknown prompt type', 'image', 'Hi.'],
  ])('%s', async (_, type, prompt) => {
    const { folder } = await makeChatScene({ [PATH]: makeChatFile('a', BEFORE) });
    const { exitCode, report } = await runJson(folder, ['plan'], { environment: await start(type, prompt) });
    expect([exitCode, report.prompts[0]?.problems.map(({ code }) => code)]).toEqual([1, ['service/invalid-answer']]);
    if (type === 'chat' && Array.isArray(prompt))
      expect(report.prompts[0]?.problems[0]?.message).toContain('"prompt.0"');
  });

  test('plan ignores unknown properties of messages', async () => {
    const { folder } = await makeChatScene({ [PATH]: makeChatFile('a', '{{role "placeholder"}}\nHi.') });
    const message = { type: 'placeholder', name: 'x', role: 'placeholder', content: 'Hi.', tool_calls: [] };
    const environment = await start('chat', [message]);
    expect(await run(folder, ['plan', '--exit-code'], { environment })).toMatchObject({ exitCode: 0 });
  });
});
