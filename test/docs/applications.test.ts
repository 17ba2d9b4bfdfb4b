import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { makeBundle } from '../../src/bundle/prompt-bundle.ts';
import { renderBundle } from '../../src/bundle/render-bundle.ts';
import { makeChatPrompt, makeTextPrompt } from '../bundle/support.ts';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { childEnvironment, startNode } from '../support/cli.ts';
import { compileTypeScript, linkPackages, NO_ERRORS } from '../support/compilers.ts';
import { makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { changeService, startTestService } from '../support/service.ts';
import { readPageFile } from './pages.ts';

const PAGE = 'docs/how-to/applications.md';
const PINS = '{ production: 1 }';

const LANGFUSE_READER = readPageFile(PAGE, 'src/get-prompt.ts', 0);
const HTTP_READER = readPageFile(PAGE, 'src/get-prompt.ts', 1);

/** Runs an ES module in the folder and returns the JSON that it prints. */
async function runModule(folder: string, source: string, environment: Readonly<Record<string, string>>) {
  writeFiles(folder, { 'run.mjs': source });
  const options = { cwd: folder, environment: childEnvironment(environment) };
  const { stdout, stderr } = await startNode(join(folder, 'run.mjs'), [], options).ended;
  const output: unknown = stdout === '' ? stderr : JSON.parse(stdout);
  return { output, warnings: stderr };
}

describe('the Langfuse example for TypeScript on docs/how-to/applications.md', () => {
  const MESSAGES = [
    { role: 'system', content: 'Help {{company}}.' },
    { type: 'placeholder', name: 'history' },
    { role: 'user', content: '{{question}}' },
  ] as const;

  /** Prints the results of the example for a chat prompt and a text prompt. */
  const SCRIPT = `
    import { makeAgentMessages } from './src/agent.js';
    import { getChatPrompt, getTextPrompt } from './src/get-prompt.js';
    const values = { company: 'Acme', customer_name: 'Ada', question: 'Why?' };
    const describe = ({ name, version, config, isFallback }) => ({ name, version, config, isFallback });
    const [chat, text] = [await getChatPrompt('support/agent'), await getTextPrompt('support/greeting')];
    const history = [{ role: 'assistant', content: 'Hello.' }];
    console.log(JSON.stringify([
      { ...describe(chat), compiled: (await makeAgentMessages({ ...values, history })).messages },
      { ...describe(text), compiled: text.compile(values) },
    ]));`;

  const expectResults = (isFallback: boolean) => [
    {
      ...{ name: 'support/agent', version: 1, config: { model: 'gpt' }, isFallback },
      compiled: [
        expect.objectContaining({ role: 'system', content: 'Help Acme.' }),
        { role: 'assistant', content: 'Hello.' },
        expect.objectContaining({ role: 'user', content: 'Why?' }),
      ],
    },
    { name: 'support/greeting', version: 1, config: {}, isFallback, compiled: 'Hi Ada.' },
  ];

  test('the Langfuse example compiles, returns what Langfuse serves, and uses the bundle if Langfuse does not answer', async () => {
    const langfuse = await startLangfuse();
    const { store } = langfuse;
    await store.create({
      ...{ name: 'support/agent', type: 'chat', prompt: MESSAGES, config: { model: 'gpt' }, labels: ['production'] },
    });
    await store.create({ name: 'support/greeting', prompt: 'Hi {{customer_name}}.', labels: ['production'] });
    const folder = makeWorkspace({
      'promptsync.yaml': `service: { provider: langfuse }\n${CONFIG}`,
      'package.json': '{ "type": "module" }',
      'prompts/agent.md': `---\nid: support/agent\ntype: chat\npins: ${PINS}\n---\n\n{{role "user"}}\nx\n`,
      'prompts/greeting.md': `---\nid: support/greeting\npins: ${PINS}\n---\n\nx\n`,
      'src/get-prompt.ts': LANGFUSE_READER,
      'src/agent.ts': readPageFile(PAGE, 'src/agent.ts'),
    });
    linkPackages(folder);
    const words = ['bundle', '-e', 'production', '-o', 'src/prompts.ts'];
    expect(await run(folder, words, langfuse)).toMatchObject({ exitCode: 0 });
    expect(compileTypeScript(folder, 'src/agent.ts')).toEqual(NO_ERRORS);
    const environment = { ...langfuse.environment, LANGFUSE_BASE_URL: langfuse.baseUrl };
    const online = await runModule(folder, SCRIPT, environment);
    expect(online).toEqual({ output: expectResults(false), warnings: '' });
    await langfuse.close();
    const offline = await runModule(folder, SCRIPT, environment);
    expect(offline.output).toEqual(expectResults(true));
    expect(offline.warnings).toContain('Using the bundled prompt "support/agent".');
  });
});

test.each([
  ['the Langfuse example compiles if all prompts are text prompts', makeTextPrompt('a', 'Hi {{name}}.')],
  ['the Langfuse example compiles if all prompts are chat prompts', makeChatPrompt('a', [])],
])('%s', (_, prompt) => {
  const folder = makeWorkspace({
    'package.json': '{ "type": "module" }',
    'src/get-prompt.ts': LANGFUSE_READER,
    'src/prompts.ts': renderBundle(makeBundle('production', [prompt]), 'typescript'),
  });
  linkPackages(folder);
  expect(compileTypeScript(folder, 'src/get-prompt.ts')).toEqual(NO_ERRORS);
});

describe('the examples for other services on docs/how-to/applications.md', () => {
  /** Makes an application with the examples and a bundle of production, which serves a newer version since then. */
  async function makeApplication() {
    const service = await startTestService(['greeting']);
    await changeService(service.baseUrl, 'greeting', 'production', 'Hi {{customer_name}}, {{ customer_name }}.');
    const folder = makeWorkspace({
      ...workspaceFiles({ greeting: { pins: { production: 1 } } }),
      'package.json': '{ "type": "module" }',
      'src/get-prompt.ts': HTTP_READER,
      'src/render-prompt.ts': readPageFile(PAGE, 'src/render-prompt.ts'),
      'src/main.ts': "import './get-prompt.js';\nimport './render-prompt.js';\n",
    });
    linkPackages(folder);
    const words = ['bundle', '-e', 'production', '-o', 'src/prompts.ts'];
    expect(await run(folder, words, service)).toMatchObject({ exitCode: 0 });
    await changeService(service.baseUrl, 'greeting', 'production', 'Hello {{customer_name}}.');
    expect(compileTypeScript(folder, 'src/main.ts')).toEqual(NO_ERRORS);
    return { service, folder };
  }

  test('the HTTP example returns what the service serves, and the bundled text if the service does not answer', async () => {
    const { service, folder } = await makeApplication();
    const script =
      "import { getPrompt } from './src/get-prompt.js';\nconsole.log(JSON.stringify(await getPrompt('greeting')));";
    expect(await runModule(folder, script, service.environment)).toEqual({
      ...{ output: { text: 'Hello {{customer_name}}.', version: 2 }, warnings: '' },
    });
    const unreachable = { ...service.environment, PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9' };
    const { output, warnings } = await runModule(folder, script, unreachable);
    expect(output).toEqual({ text: 'Hi {{customer_name}}, {{ customer_name }}.', version: 1 });
    expect(warnings).toContain('Using the bundled prompt "greeting".');
  });

  test('the example that uses only the bundle replaces each variable once, even if a value looks like a variable', async () => {
    const { folder } = await makeApplication();
    const { renderPrompt } = await import(pathToFileURL(join(folder, 'src/render-prompt.js')).href);
    expect(renderPrompt('greeting', { customer_name: '{{customer_name}}$&' })).toBe(
      'Hi {{customer_name}}$&, {{customer_name}}$&.',
    );
  });
});
