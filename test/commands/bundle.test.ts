import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync } from 'node:fs';
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

/** Makes a workspace with these prompts, and a service in which production serves the given texts. */
async function makeStage(texts: Readonly<Record<string, string | null>>, config = ENVIRONMENTS) {
  const names = Object.keys(texts);
  const service = await startTestService(names);
  for (const [name, text] of Object.entries(texts)) {
    if (text !== null) await changeService(service.baseUrl, name, 'production', text);
  }
  service.requests.length = 0;
  const folder = makeWorkspace(workspaceFiles(Object.fromEntries(names.map((name) => [name, { pins: PINS }])), config));
  const bundle = (...words: readonly string[]) => run(folder, [...production, ...words], service);
  return { service, folder, bundle, write: (files: Files) => writeFiles(folder, files) };
}

type Stage = Awaited<ReturnType<typeof makeStage>>;

describe('bundle', () => {
  test('bundle prints the text of each selected prompt that the environment serves and reads each prompt once', async () => {
    const text = 'Hi {{name}}.\r\n\n e\u0301 \n\n';
    const { bundle, service } = await makeStage({ refund: 'Refund?', greeting: text });
    const { exitCode, stdout, stderr } = await bundle();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(parse(stdout)).toEqual({
      schema_version: 1,
      environment: 'production',
      prompts: {
        greeting: {
          ...{ id: 'prm_greeting', version: 1, type: 'text', prompt: text, config: {} },
          ...{ variables: ['name'], placeholders: [] },
        },
        refund: {
          ...{ id: 'prm_refund', version: 1, type: 'text', prompt: 'Refund?', config: {} },
          ...{ variables: [], placeholders: [] },
        },
      },
    });
    const path = (id: string) => `/v1/integration/prompts/${id}?environment=production`;
    expect(
      service.requests
        .splice(0)
        .map((request) => request.path)
        .toSorted(),
    ).toEqual([path('prm_greeting'), path('prm_refund')]);
    expect(Object.keys(parse((await bundle('gree*')).stdout).prompts)).toEqual(['greeting']);
    expect(service.requests).toHaveLength(1);
  });

  test("After a sync to the embedded service, bundle prints the metadata from the file but omits promptsync's own version record", async () => {
    const metadata = { model: 'gpt', temperature: 0.5 };
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata } }, `service: { embedded: a.db }\n${CONFIG}`));
    expect(await run(folder, ['sync', '--yes'])).toMatchObject({ exitCode: 0 });
    const { stdout } = await run(folder, staging);
    expect(parse(stdout).prompts['greeting']).toMatchObject({
      ...{ version: 1, prompt: 'Text of greeting.', config: metadata },
    });
  });

  test('bundle reads the prompts once, writes every --output file, and prints one line to standard error', async () => {
    const { bundle, folder, service } = await makeStage({ greeting: 'Hi {{name}}.' });
    const outputs = ['-o', 'p.json', '-o', 'p.ts', '-o', 'p.py'];
    expect(await bundle(...outputs)).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Bundled 1 prompt from "production": p.json, p.ts, p.py\n',
    });
    expect(service.requests).toHaveLength(1);
    expect(await bundle('--format', 'python', '-o', 'prompts.pyi')).toMatchObject({ exitCode: 0 });
    expect(read(folder, 'prompts.pyi')).toBe(read(folder, 'p.py'));
  });

  test('bundle shows its progress on a terminal, and exits with 130 and writes no file if a signal interrupts it', async () => {
    const { folder, service } = await makeStage({ a: 'a', b: 'b', c: 'c' });
    let now = 0;
    const options = { ...service, terminal: true, now: () => (now += 200) };
    const { stderr } = await run(folder, [...production, '-o', 'shown.json'], options);
    expect(stderr).toMatch(/Observing \d of 3 prompts/);
    let interrupt = () => {};
    const front = await startFront({
      target: service.baseUrl,
      answer: () => {
        interrupt();
        return null;
      },
    });
    const ran = await run(folder, [...production, '-o', 'p.json'], {
      environment: { ...service.environment, PROMPTSYNC_BASE_URL: front.baseUrl },
      onSignal: (signal) => (interrupt = signal),
    });
    expect(ran).toEqual({ exitCode: 130, stdout: '', stderr: '\nInterrupted. promptsync made no changes.\n' });
    expect(existsSync(join(folder, 'p.json'))).toBe(false);
  });
});

describe('the environment of bundle', () => {
  test('If the configuration lists no environments, bundle requires one that a file pins, before any request', async () => {
    const { folder, service, write } = await makeStage({ greeting: 'Hi.' });
    write({ 'promptsync.yaml': CONFIG });
    for (const [words, code, message] of [
      [[], 'usage/needs-environment', '"staging" or "production"'],
      [['-e', 'prodution'], 'usage/unknown-environment', '"production"?'],
    ] as const) {
      const ran = await run(folder, ['bundle', ...words], service);
      expect([words, ran]).toMatchObject([words, { exitCode: 1, stdout: '' }]);
      expect(ran.stderr).toContain(code);
      expect(ran.stderr).toContain(message);
    }
    expect(service.requests).toEqual([]);
  });

  test('bundle leaves out prompts that do not pin the environment, says so unless --quiet is given, and refuses an empty bundle', async () => {
    const { folder, service, bundle, write } = await makeStage({ greeting: 'Hi.' });
    write({ 'prompts/draft.md': promptText('draft'), 'prompts/idea.md': promptText('idea', { key: 'a\u202eb' }) });
    const { exitCode, stdout, stderr } = await bundle();
    expect({ exitCode, keys: Object.keys(parse(stdout).prompts) }).toEqual({ exitCode: 0, keys: ['greeting'] });
    expect(stderr).toContain('"draft", "a\\u{202e}b"');
    expect(await bundle('--quiet')).toMatchObject({ exitCode: 0, stderr: '' });
    service.requests.length = 0;
    expect(await bundle('draft', '-o', 'p.json')).toMatchObject(failure('bundle/nothing-pinned', 1));
    expect({ requests: service.requests, written: existsSync(join(folder, 'p.json')) }).toEqual({
      ...{ requests: [], written: false },
    });
  });
});

describe('a bundle that cannot be complete', () => {
  /** Activates versions of two prompts whose metadata has many levels. */
  function nestMetadata({ service: { store } }: Stage): void {
    for (const [id, levels] of Object.entries({ prm_greeting: 65, prm_refund: 2_500 })) {
      const metadata = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
      const version = store.createVersion(id, { content: 'Refund?', metadata });
      store.setActive(id, { environment: 'production', versionId: version!.id });
    }
  }

  const missing = promptText('gone', { pins: PINS });

  /** A prompt, or several, that cannot be bundled. Rows with `requests: 0` are refused before any request. */
  type Row = {
    readonly title: string;
    readonly texts?: Readonly<Record<string, string | null>>;
    readonly change?: (stage: Stage) => void;
    readonly key?: string;
    readonly expected: readonly [code: string, exitCode: number];
    readonly requests?: number;
  };
  const rows: readonly Row[] = [
    {
      title: 'bundle exits with 4 and writes no file if a pinned prompt has no active version',
      ...{ texts: { greeting: 'Hi.', order: null, refund: null }, expected: ['bundle/not-active', 4] },
    },
    {
      title: 'bundle exits with 4 if no pinned prompt has an active version',
      ...{ texts: { refund: null }, expected: ['bundle/not-active', 4] },
    },
    {
      title: 'bundle exits with 4 and writes no file if a pinned prompt does not exist in the service',
      change: ({ write }) => write({ 'prompts/gone.md': missing }),
      expected: ['service/prompt-not-found', 4],
    },
    {
      title: 'bundle exits with 1 and writes no file if none of the pinned prompts exists in the service',
      change: ({ write }) => write({ 'prompts/greeting.md': missing }),
      expected: ['service/prompt-not-found', 1],
    },
    {
      title: 'bundle reports a rejected API key once, not once per prompt',
      ...{ texts: { greeting: 'Hi.', refund: 'Refund?' }, key: 'wrong-key-0123456789' },
      expected: ['service/not-authorised', 1],
    },
    {
      title: 'bundle refuses a prompt that contains the API key',
      ...{ texts: { greeting: `Use "${KEY}".` }, expected: ['bundle/contains-key', 4] },
    },
    {
      title: 'bundle exits with 4 if the metadata of prompts has more than 64 levels, and names both prompts',
      ...{ texts: { greeting: 'Hi.', order: 'Hi.', refund: null }, change: nestMetadata },
      expected: ['bundle/too-deep', 4],
    },
    {
      title: 'bundle reports invalid prompt files and sends no request',
      change: ({ write }) => write({ 'prompts/broken.md': '---\nid: prm_broken\n---\nText' }),
      ...{ expected: ['prompt/missing-field', 1], requests: 0 },
    },
    {
      title: 'bundle refuses the placeholder id replace_me and sends no request',
      change: ({ write }) => write({ 'prompts/draft.md': missing.replace('prm_gone', 'replace_me') }),
      ...{ expected: ['guard/placeholder-id', 3], requests: 0 },
    },
  ];
  test.each(rows.map((row) => [row.title, row] as const))('%s', async (_, row) => {
    const {
      texts = { greeting: 'Hi.' },
      change,
      key = KEY,
      expected: [code, exitCode],
      requests,
    } = row;
    const stage = await makeStage(texts);
    change?.(stage);
    const { folder, service } = stage;
    stage.write({ 'old.json': 'old' });
    const environment = { ...service.environment, PROMPTSYNC_API_KEY: key };
    const ran = await run(folder, [...production, '-o', 'old.json', '-o', 'new.ts'], { environment });
    expect(ran).toEqual(failure(code, exitCode));
    if (key !== KEY) expect(ran.stderr.split(`[${code}]`)).toHaveLength(2);
    expect([read(folder, 'old.json'), existsSync(join(folder, 'new.ts'))]).toEqual(['old', false]);
    if (code === 'bundle/too-deep') {
      expect(ran.stderr.match(/prompts\/\w+\.md/g)).toEqual(['prompts/greeting.md', 'prompts/refund.md']);
    }
    if (texts['order'] === null) {
      expect(ran.stderr.match(/^ {2}prompts\/\w+\.md(?=:5:\d+$)/gm)).toEqual([
        '  prompts/order.md',
        '  prompts/refund.md',
      ]);
    }
    if (requests !== undefined) expect(service.requests).toHaveLength(requests);
  });

  test('bundle refuses metadata that contains the API key as a number, and --offline refuses a text that contains it', async () => {
    const apiKey = '1234567890';
    const service = await startTestService(['greeting'], apiKey);
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata: { seed: Number(apiKey) } } }));
    await run(folder, ['sync', '--yes'], service);
    expect(await run(folder, staging, service)).toEqual(failure('bundle/contains-key', 4));
    writeFiles(folder, workspaceFiles({ greeting: { text: `Use ${apiKey}.` } }));
    expect(await run(folder, [...staging, '--offline'], service)).toEqual(failure('bundle/contains-key', 4));
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
    const before = statSync(join(folder, 'p.json'), { bigint: true }).mtimeNs;
    expect(await bundle(...flags, '--check')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'p.json is up to date.\np.ts is up to date.\np.py is up to date.\n',
    });
    expect(statSync(join(folder, 'p.json'), { bigint: true }).mtimeNs).toBe(before);
    for (const file of outputs) write({ [file]: read(folder, file).replaceAll('\n', '\r\n') });
    expect(await bundle(...flags, '--check')).toMatchObject({ exitCode: 0 });
  });

  test('bundle --check exits with 2 after a promotion and names the keys that differ', async () => {
    const { bundle, folder, service, write } = await makeStage({ gone: 'Gone.', greeting: 'Hi.', refund: 'Refund?' });
    await bundle('-o', 'p.json', '-o', 'p.ts');
    await changeService(service.baseUrl, 'greeting', 'production', 'Hello.');
    write({ 'prompts/gone.md': promptText('gone'), 'prompts/new.md': promptText('new', { pins: PINS }) });
    service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'new' });
    await changeService(service.baseUrl, 'new', 'production', 'New.');
    const before = read(folder, 'p.json');
    const { exitCode, stdout, stderr } = await bundle('-o', 'p.json', '-o', 'p.ts', '--check', '--quiet');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(read(folder, 'p.json')).toBe(before);
    const changes = ['p.json is out of date:', '  removed  gone', '  changed  greeting', '  added    new'];
    expect(stderr.split('\n')).toEqual(expect.arrayContaining([...changes, 'p.ts is out of date.']));
    expect(stderr).not.toContain('refund');
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

  test('bundle --check exits with 1 for an unreadable file and for a symbolic link inside a repository, and with 4 for a failed read', async () => {
    const { bundle, folder, service, write } = await makeStage({ greeting: 'Hi.' });
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
    service.store.registerPrompt({ id: 'prm_refund', projectId: 'project', key: 'refund', name: 'refund' });
    write({ 'prompts/refund.md': promptText('refund', { pins: PINS }) });
    expect(await bundle('-o', 'p.json', '--check')).toMatchObject({ exitCode: 4, stdout: '' });
  });
});

describe('bundle --offline', () => {
  /** Bundles staging without an address and a key of a service. */
  const bundleOffline = (folder: string, ...words: readonly string[]) =>
    run(folder, [...staging, '--offline', ...words]);

  test('bundle --offline reads the text of a `latest` pin from the file and needs no service, no key and no git', async () => {
    const pins = { staging: 'latest', production: 7, canary: 'git:v9' };
    const folder = makeRepository(
      workspaceFiles({ greeting: { pins, text: 'Hi {{name}}.', metadata: { model: 'gpt' } }, refund: {} }),
    );
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stdout, stderr } = await bundleOffline(folder);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(parse(stdout).prompts).toMatchObject({
      greeting: {
        ...{ id: 'prm_greeting', version: null, prompt: 'Hi {{name}}.', config: { model: 'gpt' } },
        variables: ['name'],
      },
      refund: { version: null, prompt: 'Text of refund.', config: null },
    });
  });

  test('bundle --offline reads the text of a `git:` pin from the commit, and warns about each bundled file with uncommitted changes', async () => {
    const others = { staged: {}, unchanged: {}, unpinned: { pins: { production: 'latest' } } };
    const old = { edited: { text: 'Old.', metadata: { model: 'old' } } };
    const folder = makeRepository(workspaceFiles({ ...old, ...others }));
    git(folder, 'tag', 'v1');
    const edited = { edited: { text: 'Edited.', pins: { staging: 'git:v1' } }, untracked: { text: 'New.' } };
    writeFiles(folder, workspaceFiles({ ...edited, staged: { text: 'Staged.' } }));
    writeFiles(folder, { 'prompts/unpinned.md': promptText('unpinned', { ...others.unpinned, text: 'Edited.' }) });
    git(folder, 'add', 'prompts/staged.md');
    const { stdout, stderr } = await bundleOffline(folder);
    expect(parse(stdout).prompts).toMatchObject({
      edited: { version: null, prompt: 'Old.', config: { model: 'old' } },
      untracked: { prompt: 'New.' },
    });
    expect(stderr).toContain(
      '[bundle/uncommitted]\n  prompts/edited.md\n  prompts/staged.md\n  prompts/untracked.md\n',
    );
  });

  test('bundle --offline refuses pins whose text only the service has, refs that the clone does not have, and the id replace_me', async () => {
    const folder = makeRepository({ ...workspaceFiles({ greeting: {}, refund: {} }), 'p.json': 'old' });
    for (const [pin, code] of [
      [7, 'bundle/not-in-git'],
      ['version:ver_7', 'bundle/not-in-git'],
      ['git:v9', 'pin/unknown-ref'],
    ] as const) {
      writeFiles(folder, workspaceFiles({ greeting: { pins: { staging: pin } } }));
      const ran = await bundleOffline(folder, '-o', 'p.json');
      expect(ran).toEqual(failure(code, 3));
      expect(ran.stderr).toMatch(/^prompts\/greeting\.md:\d+:\d+: error: /);
      expect(ran.stderr).toContain(String(pin).replace(/^\w+:/, ''));
    }
    expect(read(folder, 'p.json')).toBe('old');
    writeFiles(folder, { 'prompts/greeting.md': promptText('draft').replace('prm_draft', 'replace_me') });
    expect(await bundleOffline(folder)).toEqual(failure('guard/placeholder-id', 3));
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

  test('bundle reads text prompts, chat prompts and any kind of config from Langfuse with one request per prompt', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({
      'prompts/agent.md': chatFile('agent', '{ production: 1 }'),
      'prompts/greeting.md': textFile('greeting', 'x'),
    });
    const messages = [system('Hi {{name}}.\r\n\n'), history, system('{{topic}}')];
    await langfuse.store.create({ name: 'agent', type: 'chat', prompt: messages, config: ['x'], labels });
    const config = { promptsync: { own: 'kept' }, model: 'gpt' };
    await langfuse.store.create({ name: 'greeting', prompt: 'Hi.\n', config, labels });
    const { exitCode, stdout } = await bundle();
    expect(exitCode).toBe(0);
    expect(parse(stdout).prompts).toEqual({
      agent: {
        ...{ id: 'agent', version: 1, type: 'chat', prompt: messages, config: ['x'] },
        ...{ variables: ['name', 'topic'], placeholders: ['history'] },
      },
      greeting: {
        ...{ id: 'greeting', version: 1, type: 'text', prompt: 'Hi.\n', config },
        ...{ variables: [], placeholders: [] },
      },
    });
    expect(langfuse.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
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
