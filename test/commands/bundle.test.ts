import { existsSync, mkdirSync, readFileSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ChatMessage } from '../../src/domain/chat.ts';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { git, initRepository, makeRepository, makeWorkspace, writeFiles, type Files } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, promptText, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { changeService, KEY, startTestService } from '../support/service.ts';

const ENVIRONMENTS = `${CONFIG}environments:
  staging: {}
  production: { promote_from: staging, allow_latest: false }
`;
const PINS = { staging: 'latest', production: 1 };
const LANGFUSE = `service: { provider: langfuse }\n${ENVIRONMENTS}`;

type Entry = {
  readonly id: string;
  readonly version: number | null;
  readonly prompt: unknown;
  readonly config: unknown;
};
type ParsedBundle = { readonly environment: string; readonly prompts: Readonly<Record<string, Entry>> };

const parse = (json: string): ParsedBundle => JSON.parse(json);
const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const production = ['bundle', '--environment', 'production'];
const staging = ['bundle', '--environment', 'staging'];

/** The result of a run that prints no bundle. */
const failure = (code: string, exitCode: number) => ({
  ...{ exitCode, stdout: '', stderr: expect.stringContaining(`[${code}]`) },
});

/** Makes a workspace and a service in which production serves the given texts. The service has no version of `idle`. */
async function makeStage(texts: Readonly<Record<string, string>>) {
  const names = Object.keys(texts);
  const service = await startTestService([...names, 'idle']);
  for (const [name, text] of Object.entries(texts)) {
    await changeService(service.baseUrl, name, 'production', text);
  }
  service.requests.length = 0;
  const prompts = Object.fromEntries(names.map((name) => [name, { pins: PINS }]));
  const folder = makeWorkspace(workspaceFiles(prompts, ENVIRONMENTS));
  const bundle = (...words: readonly string[]) => run(folder, [...production, ...words], service);
  return { service, folder, bundle, write: (files: Files) => writeFiles(folder, files) };
}

type Stage = Awaited<ReturnType<typeof makeStage>>;

describe('bundle', () => {
  test('bundle reads each selected prompt once, even for several output files', async () => {
    const { bundle, folder, service } = await makeStage({ greeting: 'Hi {{name}}.', refund: 'Refund?' });
    const outputs = ['-o', 'p.json', '-o', 'p.ts', '-o', 'p.py'];
    expect(await bundle('gree*', ...outputs)).toMatchObject({ exitCode: 0, stdout: '' });
    const paths = service.requests.map(({ path }) => path);
    expect(paths).toEqual(['/v1/integration/prompts/prm_greeting?environment=production']);
    expect(await bundle('gree*', '--format', 'python', '-o', 'prompts.pyi')).toMatchObject({ exitCode: 0 });
    expect(read(folder, 'prompts.pyi')).toBe(read(folder, 'p.py'));
  });

  test('bundle shows its progress on a terminal, and exits with 130 and writes no file if a signal interrupts it', async () => {
    const { folder, service } = await makeStage({ a: 'a', b: 'b', c: 'c' });
    let now = 0;
    const options = { ...service, terminal: true, now: () => (now += 200) };
    expect((await run(folder, production, options)).stderr).toMatch(/Observing \d of 3 prompts/);
    const ran = await run(folder, [...production, '-o', 'p.json'], { ...service, onSignal: (signal) => signal() });
    expect(ran).toEqual({ exitCode: 130, stdout: '', stderr: '\nInterrupted. promptsync made no changes.\n' });
    expect(existsSync(join(folder, 'p.json'))).toBe(false);
  });

  test('bundle escapes the keys of the prompts that it leaves out, and does not list them with --quiet', async () => {
    const { bundle, write } = await makeStage({ greeting: 'Hi.' });
    write({ 'prompts/draft.md': promptText('draft'), 'prompts/idea.md': promptText('idea', { key: 'a\u202eb' }) });
    const { stdout, stderr } = await bundle();
    expect(Object.keys(parse(stdout).prompts)).toEqual(['greeting']);
    expect(stderr).toContain('"draft", "a\\u{202e}b"');
    expect(await bundle('--quiet')).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('a bundle that cannot be complete', () => {
  /** Changes a stage. Can return variables for the command. */
  type Change = (stage: Stage) => object | void;
  type Row = readonly [title: string, expected: ReturnType<typeof failure>, change: Change];

  async function expectFailure([, expected, change]: Row): Promise<Stage> {
    const stage = await makeStage({ greeting: 'Hi.' });
    const environment = { ...stage.service.environment, ...change(stage) };
    stage.write({ 'old.json': 'old' });
    const ran = await run(stage.folder, [...production, '-o', 'old.json', '-o', 'new.ts'], { environment });
    expect(ran).toEqual(expected);
    expect(ran.stderr.match(/\[\w+\/[\w-]+\]/g)).toHaveLength(1);
    expect([read(stage.folder, 'old.json'), existsSync(join(stage.folder, 'new.ts'))]).toEqual(['old', false]);
    return stage;
  }

  /** Makes production serve a version of the greeting. */
  function serve({ service: { store } }: Stage, content: string, metadata = {}): void {
    const version = store.createVersion('prm_greeting', { content, metadata });
    store.setActive('prm_greeting', { environment: 'production', versionId: version!.id });
  }

  const nested = JSON.parse(`${'{"a":'.repeat(65)}1${'}'.repeat(65)}`);
  const pinned = (id: string) => ({ [`prompts/${id}.md`]: promptText(id, { pins: PINS }) });
  const unpinned = { 'prompts/greeting.md': promptText('greeting') };

  test.each<Row>([
    [
      'bundle exits with 4 and writes no file if a pinned prompt has no active version',
      failure('bundle/not-active', 4),
      ({ write }) => write(pinned('idle')),
    ],
    [
      'bundle exits with 4 and writes no file if a pinned prompt does not exist in the service',
      failure('service/prompt-not-found', 4),
      ({ write }) => write(pinned('gone')),
    ],
    [
      'bundle exits with 1 and writes no file if none of the pinned prompts exists in the service',
      failure('service/prompt-not-found', 1),
      ({ write }) => write({ ...unpinned, ...pinned('gone') }),
    ],
    [
      'bundle reports a rejected API key once, not once per prompt',
      failure('service/not-authorised', 1),
      ({ write }) => (write(pinned('idle')), { PROMPTSYNC_API_KEY: 'wrong-key-0123456789' }),
    ],
    [
      'bundle refuses a text that contains the API key',
      failure('bundle/contains-key', 4),
      (stage) => serve(stage, `Use "${KEY}".`),
    ],
    [
      'bundle refuses metadata that contains the API key as a number',
      failure('bundle/contains-key', 4),
      (stage) => {
        stage.service.store.authorizeKey({ apiKey: '1234567890', projectId: 'project' });
        serve(stage, 'Hi.', { seed: 1234567890 });
        return { PROMPTSYNC_API_KEY: '1234567890' };
      },
    ],
    [
      'bundle exits with 4 if the metadata of a prompt has more than 64 levels',
      failure('bundle/too-deep', 4),
      (stage) => serve(stage, 'Hi.', nested),
    ],
  ])('%s', async (...row) => {
    const { service } = await expectFailure(row);
    expect(service.requests).not.toEqual([]);
  });

  test.each<Row>([
    [
      'bundle reports an invalid prompt file and sends no request',
      failure('prompt/no-front-matter', 1),
      ({ write }) => write({ 'prompts/broken.md': 'Text' }),
    ],
    [
      'bundle refuses the placeholder id replace_me and sends no request',
      failure('guard/placeholder-id', 3),
      ({ write }) => write({ 'prompts/draft.md': promptText('x', { pins: PINS }).replace('prm_x', 'replace_me') }),
    ],
    [
      'bundle refuses an empty bundle and sends no request',
      failure('bundle/nothing-pinned', 1),
      ({ write }) => write(unpinned),
    ],
  ])('%s', async (...row) => {
    const { service } = await expectFailure(row);
    expect(service.requests).toEqual([]);
  });
});

test('bundle refuses outputs that it cannot write, before it sends a request and before it overwrites a file', async () => {
  const { folder, bundle, service, write } = await makeStage({ greeting: 'Hi.' });
  write({ 'p.json': 'old' });
  for (const [words, code] of [
    [['-o', 'p.yaml'], 'usage/output-format'],
    [['--format', 'json', '-o', 'a', '-o', 'b'], 'usage/output-format'],
    [['-o', 'p.json', '-o', `${'x'.repeat(300)}.ts`], 'usage/output-unwritable'],
    [['-o', 'none/p.json'], 'usage/output-unwritable'],
    [['--check', '--format', 'json', '-o', '/dev/stdout'], 'usage/invalid'],
  ] as const) {
    expect([words, await bundle(...words)]).toEqual([words, failure(code, 1)]);
  }
  for (const words of [
    ['bundle', '-o', 'p.json', '--nonsense'],
    ['bundel', '-o', 'p.json'],
    ['-o', 'p.json', 'bundle'],
  ]) {
    const ran = await run(folder, [...words, '-e', 'production'], service);
    expect([words, ran]).toMatchObject([words, { exitCode: 1, stdout: '' }]);
  }
  expect(read(folder, 'p.json')).toBe('old');
  expect(service.requests).toEqual([]);
});

describe('bundle --check', () => {
  test('bundle --check exits with 0 and writes nothing if all files are up to date, even with CRLF line endings', async () => {
    const { bundle, folder, write } = await makeStage({ greeting: 'Hi.\r\nBye.\n' });
    const outputs = ['p.json', 'p.ts', 'p.py'];
    const flags = outputs.flatMap((file) => ['-o', file]);
    await bundle(...flags);
    for (const file of outputs) write({ [file]: read(folder, file).replaceAll('\n', '\r\n') });
    expect(await bundle(...flags, '--check')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(read(folder, 'p.json')).toContain('\r\n');
  });

  test('bundle --check exits with 2 after a promotion and names the keys that differ', async () => {
    const { bundle, folder, service, write } = await makeStage({ gone: 'Gone.', greeting: 'Hi.', refund: 'Refund?' });
    await bundle('-o', 'p.json');
    await changeService(service.baseUrl, 'greeting', 'production', 'Hello.');
    await changeService(service.baseUrl, 'idle', 'production', 'New.');
    write({ 'prompts/gone.md': promptText('gone'), 'prompts/idle.md': promptText('idle', { pins: PINS }) });
    const before = read(folder, 'p.json');
    const { exitCode, stdout, stderr } = await bundle('-o', 'p.json', '--check', '--quiet');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(read(folder, 'p.json')).toBe(before);
    const changes = ['  removed  gone', '  changed  greeting', '  added    idle'];
    expect(stderr.split('\n').slice(1, -2)).toEqual(changes);
  });

  test('bundle --check exits with 2 for a file that is missing, no bundle, too large, or the same bundle in other bytes', async () => {
    const { bundle, folder, write } = await makeStage({ greeting: 'Hi \ufffd.' });
    const { stdout } = await bundle();
    const bytes = Buffer.from(stdout);
    const at = bytes.indexOf('\ufffd');
    const check = async () => {
      const { exitCode, stderr } = await bundle('-o', 'p.json', '--check');
      return { exitCode, names: stderr.includes('greeting') };
    };
    expect(await check()).toEqual({ exitCode: 2, names: false });
    for (const content of [
      '[]',
      `{"prompts":{"a":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}`,
      JSON.stringify(JSON.parse(stdout)),
      Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]),
    ]) {
      write({ 'p.json': content });
      expect(await check()).toEqual({ exitCode: 2, names: false });
    }
    // promptsync does not read a file of this size.
    truncateSync(join(folder, 'p.json'), 600 * 1024 * 1024);
    expect(await check()).toEqual({ exitCode: 2, names: false });
  });

  test('bundle --check exits with 1 for an unreadable file and for a symbolic link inside a repository', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    mkdirSync(join(folder, 'folder.json'));
    expect(await bundle('-o', 'folder.json', '--check')).toEqual(failure('usage/output-unreadable', 1));
    await bundle('-o', 'real.json');
    symlinkSync('real.json', join(folder, 'link.json'));
    expect(await bundle('-o', 'link.json', '--check')).toMatchObject({ exitCode: 0 });
    initRepository(folder);
    const { exitCode, stderr } = await bundle('-o', 'link.json', '--check');
    expect({ exitCode, stderr }).toEqual({
      ...{ exitCode: 1, stderr: expect.stringContaining('is a symbolic link inside a repository') },
    });
  });
});

describe('bundle --offline', () => {
  /** Bundles staging without an address and a key of a service. */
  const bundleOffline = (folder: string, ...words: readonly string[]) =>
    run(folder, [...staging, '--offline', ...words]);

  test('bundle --offline reads the text of a `latest` pin from the file and needs no service, no key and no git', async () => {
    const pins = { staging: 'latest', production: 7, canary: 'git:v9' };
    const folder = makeRepository(workspaceFiles({ greeting: { pins, metadata: { model: 'gpt' } } }));
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { stdout, stderr } = await bundleOffline(folder);
    expect(stderr).toBe('');
    expect(parse(stdout).prompts['greeting']).toMatchObject({
      ...{ version: null, prompt: 'Text of greeting.', config: { model: 'gpt' } },
    });
  });

  test('bundle --offline reads the text of a `git:` pin from the commit, and warns about each bundled file with uncommitted changes', async () => {
    const old = { text: 'Old.', metadata: { model: 'old' } };
    const unpinned = { pins: { production: 'latest' } };
    const folder = makeRepository(workspaceFiles({ edited: old, staged: {}, unchanged: {}, unpinned }));
    git(folder, 'tag', 'v1');
    writeFiles(folder, workspaceFiles({ staged: { text: 'Staged.' } }));
    git(folder, 'add', 'prompts/staged.md');
    const edited = { text: 'Edited.', pins: { staging: 'git:v1' } };
    writeFiles(folder, workspaceFiles({ edited, untracked: {}, unpinned: { ...unpinned, text: 'Edited.' } }));
    const { stdout, stderr } = await bundleOffline(folder);
    expect(parse(stdout).prompts['edited']).toMatchObject({ version: null, prompt: 'Old.', config: old.metadata });
    expect(stderr).toContain(
      '[bundle/uncommitted]\n  prompts/edited.md\n  prompts/staged.md\n  prompts/untracked.md\n',
    );
  });

  test.each([
    ['bundle --offline refuses a pin whose text only the service has', 'version:ver_7', 'bundle/not-in-git'],
    ['bundle --offline refuses a ref that the clone does not have', 'git:v9', 'pin/unknown-ref'],
  ])('%s', async (_, pin, code) => {
    const pinned = { pins: { staging: pin } };
    const folder = makeRepository({ ...workspaceFiles({ greeting: pinned, refund: {} }), 'p.json': 'old' });
    const ran = await bundleOffline(folder, '-o', 'p.json');
    expect(ran).toEqual(failure(code, 3));
    expect(ran.stderr).toMatch(/^prompts\/greeting\.md:\d+:\d+: error: /);
    expect(read(folder, 'p.json')).toBe('old');
  });
});

describe('bundle with Langfuse', () => {
  const system = (content: string): ChatMessage => ({ role: 'system', content });
  const history: ChatMessage = { type: 'placeholder', name: 'history' };
  const tag = '@@@langfusePrompt:name=tone|label=production@@@';
  const labels = ['production'];
  const textFile = (id: string, text: string, pins = '{ production: 1 }') =>
    `---\nid: ${id}\npins: ${pins}\n---\n\n${text}\n`;
  const chatFile = (id: string, pins: string) =>
    `---\nid: ${id}\ntype: chat\npins: ${pins}\n---\n\n{{role "system"}}\nHi {{name}}.\n\n{{placeholder "history"}}\n`;

  async function makeLangfuseStage(files: Files) {
    const langfuse = await startLangfuse();
    const folder = makeWorkspace({ 'promptsync.yaml': LANGFUSE, ...files });
    const bundle = (...words: readonly string[]) => run(folder, [...production, ...words], langfuse);
    return { langfuse, folder, bundle };
  }

  test('bundle reads the messages of a chat prompt and any kind of config from Langfuse', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({
      'prompts/agent.md': chatFile('agent', '{ production: 1 }'),
    });
    const messages = [system('Hi {{name}}.\r\n\n'), history, system('{{topic}}')];
    await langfuse.store.create({ name: 'agent', type: 'chat', prompt: messages, config: ['x'], labels });
    expect(parse((await bundle()).stdout).prompts['agent']).toEqual({
      ...{ id: 'agent', version: 1, type: 'chat', prompt: messages, config: ['x'] },
      ...{ variables: ['name', 'topic'], placeholders: ['history'] },
    });
  });

  test('bundle includes the text and the variables of the parts of a composed prompt, and exits with 4 if a part is not live', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({
      'prompts/a.md': textFile('a', tag),
      'prompts/b.md': textFile('b', 'x'),
    });
    await langfuse.store.create({ name: 'b', prompt: 'B.', labels });
    await langfuse.store.create({ name: 'tone', prompt: 'Be {{mood}}.', labels });
    await langfuse.store.create({ name: 'a', prompt: `Hi {{name}}. ${tag}`, labels });
    expect(parse((await bundle()).stdout).prompts['a']).toMatchObject({
      ...{ prompt: 'Hi {{name}}. Be {{mood}}.', variables: ['name', 'mood'] },
    });
    langfuse.store.removeLabel('tone', 'production');
    const stderr = expect.stringContaining('prompts/a.md: error:');
    expect(await bundle()).toEqual({ exitCode: 4, stdout: '', stderr });
  });

  test('bundle distinguishes a prompt or label that Langfuse lacks from a server that is not a prompt service', async () => {
    const { langfuse, folder, bundle } = await makeLangfuseStage({ 'prompts/a.md': textFile('a', 'x') });
    const expected = { exitCode: 4, stdout: '', stderr: expect.stringContaining('the "production" label') };
    expect(await bundle()).toEqual(expected);
    await langfuse.store.create({ name: 'a', prompt: 'x', labels: ['staging'] });
    expect(await bundle()).toEqual(expected);
    const front = await startFront({ answer: () => ({ status: 404, body: '<!doctype html>Not found' }) });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    const { exitCode, stderr } = await run(folder, production, { environment });
    expect(exitCode).toBe(1);
    expect(stderr).not.toContain('bundle/not-active');
  });

  test('bundle --offline converts a chat prompt file to messages and refuses a composed prompt', async () => {
    const { folder } = await makeLangfuseStage({ 'prompts/agent.md': chatFile('agent', '{ staging: latest }') });
    const { stdout } = await run(folder, [...staging, '--offline']);
    expect(parse(stdout).prompts['agent']).toMatchObject({
      ...{ type: 'chat', prompt: [system('Hi {{name}}.'), history], config: null },
    });
    writeFiles(folder, { 'prompts/a.md': textFile('a', tag, '{ staging: latest }') });
    const { exitCode, stderr } = await run(folder, [...staging, '--offline']);
    expect({ exitCode, stderr }).toEqual({
      ...{ exitCode: 3, stderr: expect.stringContaining('refers to the prompt "tone"') },
    });
  });
});
