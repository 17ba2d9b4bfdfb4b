import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ChatMessage } from '../../src/domain/chat.ts';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import {
  commitAll,
  git,
  initRepository,
  makeRepository,
  makeWorkspace,
  writeFiles,
  type Files,
} from '../support/folder.ts';
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
  return { service, folder, bundle };
}

describe('bundle', () => {
  test('bundle prints the text of each prompt that the environment serves and reads each prompt once', async () => {
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
    expect(service.requests.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual([
      'GET /v1/integration/prompts/prm_greeting?environment=production',
      'GET /v1/integration/prompts/prm_refund?environment=production',
    ]);
  });

  test("after a sync, bundle prints the metadata from the file but omits promptsync's own version record", async () => {
    const service = await startTestService(['greeting']);
    const metadata = { model: 'gpt', temperature: 0.5 };
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata } }));
    expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
    const { stdout } = await run(folder, ['bundle', '-e', 'staging'], service);
    expect(parse(stdout).prompts['greeting']).toMatchObject({
      version: 1,
      prompt: 'Text of greeting.',
      config: metadata,
    });
  });

  test('bundle includes only the selected prompts', async () => {
    const { bundle, service } = await makeStage({ greeting: 'Hi.', refund: 'Refund?' });
    const { stdout } = await bundle('gree*');
    expect(Object.keys(parse(stdout).prompts)).toEqual(['greeting']);
    expect(service.requests).toHaveLength(1);
  });

  test('bundle reads prompts from the embedded service', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }, `service: { embedded: a.db }\n${CONFIG}`));
    expect(await run(folder, ['sync', '--yes'])).toMatchObject({ exitCode: 0 });
    const { exitCode, stdout } = await run(folder, ['bundle', '-e', 'staging']);
    expect({ exitCode, keys: Object.keys(parse(stdout).prompts) }).toEqual({ exitCode: 0, keys: ['greeting'] });
  });

  test('bundle reads the prompts once, writes every --output file, and prints one line to standard error', async () => {
    const { bundle, folder, service } = await makeStage({ greeting: 'Hi {{name}}.' });
    expect(await bundle('-o', 'p.json', '-o', 'p.ts', '-o', 'p.py')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'Bundled 1 prompt from "production": p.json, p.ts, p.py\n',
    });
    expect(service.requests).toHaveLength(1);
    expect(parse(read(folder, 'p.json')).prompts['greeting']).toMatchObject({ prompt: 'Hi {{name}}.' });
    expect(read(folder, 'p.ts')).toContain('"greeting": { "name": string };');
    expect(read(folder, 'p.py')).toContain('Prompt_greeting = TypedDict(');
  });

  test('with --format, bundle writes that format to an output file with any extension', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    expect(await bundle('--format', 'python', '-o', 'prompts.pyi')).toMatchObject({ exitCode: 0 });
    expect(read(folder, 'prompts.pyi')).toContain('PROMPTS: Prompts');
  });

  test('bundle produces identical bytes in every run', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `prompt-${index}`);
    const { bundle, folder } = await makeStage(Object.fromEntries(names.map((name) => [name, `Text of ${name}`])));
    const outputs = ['-o', 'p.json', '-o', 'p.ts', '-o', 'p.py'];
    await bundle(...outputs);
    const first = ['p.json', 'p.ts', 'p.py'].map((file) => read(folder, file));
    await bundle(...outputs);
    expect(['p.json', 'p.ts', 'p.py'].map((file) => read(folder, file))).toEqual(first);
  });

  test('bundle shows its progress on a terminal while it waits for the service', async () => {
    const { folder, service } = await makeStage({ a: 'a', b: 'b', c: 'c' });
    let now = 0;
    const { stderr } = await run(folder, [...production, '-o', 'p.json'], {
      ...service,
      terminal: true,
      now: () => (now += 200),
    });
    expect(stderr).toMatch(/Observing \d of 3 prompts/);
  });
});

describe('the environment of bundle', () => {
  const stop = async (config: string, words: readonly string[]) => {
    const service = await startTestService(['greeting']);
    const folder = makeWorkspace(workspaceFiles({ greeting: { pins: PINS } }, config));
    const { exitCode, stdout, stderr } = await run(folder, ['bundle', ...words], service);
    expect({ exitCode, stdout, requests: service.requests }).toEqual({ exitCode: 1, stdout: '', requests: [] });
    return stderr;
  };

  test.each([
    ['bundle without --environment lists the environments from promptsync.yaml', ENVIRONMENTS],
    ['bundle without --environment lists the pinned environments if promptsync.yaml lists no environments', CONFIG],
  ])('%s', async (_, config) => {
    const stderr = await stop(config, []);
    expect(stderr).toContain('[usage/needs-environment]');
    expect(stderr).toContain('"staging" or "production"');
  });

  test.each([
    ['bundle suggests an environment from promptsync.yaml if the name is misspelled', ENVIRONMENTS],
    [
      'bundle suggests a pinned environment if the name is misspelled and promptsync.yaml lists no environments',
      CONFIG,
    ],
  ])('%s', async (_, config) => {
    const stderr = await stop(config, ['-e', 'prodution']);
    expect(stderr).toContain('[usage/unknown-environment]');
    expect(stderr).toContain('"production"?');
  });

  test('bundle refuses a second --environment', async () => {
    expect(await stop(ENVIRONMENTS, ['-e', 'staging', '-e', 'production'])).toContain(
      'Specify exactly one environment.',
    );
  });

  test('bundle leaves out prompts that do not pin the environment, and says so unless --quiet is given', async () => {
    const { folder, service } = await makeStage({ greeting: 'Hi.' });
    writeFiles(folder, { 'prompts/draft.md': promptText('draft'), 'prompts/idea.md': promptText('idea') });
    const { exitCode, stdout, stderr } = await run(folder, production, service);
    expect({ exitCode, keys: Object.keys(parse(stdout).prompts) }).toEqual({ exitCode: 0, keys: ['greeting'] });
    expect(stderr).toContain('"draft", "idea"');
    expect(await run(folder, [...production, '--quiet'], service)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('bundle exits with 1 and sends no request if no selected prompt pins the environment', async () => {
    const { folder, service } = await makeStage({ greeting: 'Hi.' });
    writeFiles(folder, { 'prompts/draft.md': promptText('draft') });
    const ran = await run(folder, [...production, 'draft', '-o', 'p.json'], service);
    expect(ran).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('[bundle/nothing-pinned]') });
    expect({ requests: service.requests, written: existsSync(join(folder, 'p.json')) }).toEqual({
      requests: [],
      written: false,
    });
  });
});

describe('a bundle that cannot be complete', () => {
  /** Bundles to an existing file and to a new file. Also returns what became of the two files. */
  async function bundleToFiles({ folder, service }: Awaited<ReturnType<typeof makeStage>>) {
    writeFiles(folder, { 'old.json': 'old' });
    const ran = await run(folder, [...production, '-o', 'old.json', '-o', 'new.ts'], service);
    return { ...ran, oldFile: read(folder, 'old.json'), hasNewFile: existsSync(join(folder, 'new.ts')) };
  }

  /** The result of a failed run that left the existing file unchanged and wrote no new file. */
  const failure = (code: string, exitCode: number) => ({
    ...{ exitCode, stdout: '', stderr: expect.stringContaining(`[${code}]`) },
    ...{ oldFile: 'old', hasNewFile: false },
  });

  test('bundle exits with 4 and writes no file if a pinned prompt has no active version', async () => {
    const stage = await makeStage({ greeting: 'Hi.', order: null, refund: null });
    const ran = await bundleToFiles(stage);
    expect(ran).toEqual(failure('bundle/not-active', 4));
    expect(ran.stderr.match(/^ {2}prompts\/\w+\.md(?=:5:\d+$)/gm)).toEqual([
      '  prompts/order.md',
      '  prompts/refund.md',
    ]);
  });

  test('bundle exits with 4 if no pinned prompt has an active version', async () => {
    expect(await bundleToFiles(await makeStage({ refund: null }))).toEqual(failure('bundle/not-active', 4));
  });

  test('bundle exits with 4 and writes no file if a pinned prompt does not exist in the service', async () => {
    const stage = await makeStage({ greeting: 'Hi.' });
    writeFiles(stage.folder, { 'prompts/gone.md': promptText('gone', { pins: PINS }) });
    expect(await bundleToFiles(stage)).toEqual(failure('service/prompt-not-found', 4));
  });

  test('bundle exits with 1 and writes no file if none of the pinned prompts exists in the service', async () => {
    const stage = await makeStage({ greeting: 'Hi.' });
    writeFiles(stage.folder, { 'prompts/greeting.md': promptText('gone', { pins: PINS }) });
    expect(await bundleToFiles(stage)).toEqual(failure('service/prompt-not-found', 1));
  });

  test('bundle reports a rejected API key once, not once per prompt', async () => {
    const stage = await makeStage({ greeting: 'Hi.', refund: 'Refund?' });
    const service = {
      ...stage.service,
      environment: { ...stage.service.environment, PROMPTSYNC_API_KEY: 'wrong-key-0123456789' },
    };
    const ran = await bundleToFiles({ ...stage, service });
    expect(ran).toEqual(failure('service/not-authorised', 1));
    expect(ran.stderr.match(/\[service\/not-authorised\]/g)).toHaveLength(1);
  });

  test('bundle refuses a prompt that contains the API key', async () => {
    const stage = await makeStage({ greeting: `Use "${KEY}".` });
    expect(await bundleToFiles(stage)).toEqual(failure('bundle/contains-key', 4));
  });

  test.each([65, 2_500])('bundle exits with 4 if the metadata of a prompt has %d levels', async (levels) => {
    const stage = await makeStage({ greeting: 'Hi.', refund: null });
    const metadata = JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
    const version = stage.service.store.createVersion('prm_refund', { content: 'Refund?', metadata });
    stage.service.store.setActive('prm_refund', { environment: 'production', versionId: version?.id ?? '' });
    const ran = await bundleToFiles(stage);
    expect(ran).toEqual(failure('bundle/too-deep', 4));
    expect(ran.stderr).toContain('prompts/refund.md: error:');
  });

  test('bundle refuses metadata that contains the API key as a number', async () => {
    const apiKey = '1234567890';
    const service = await startTestService(['greeting'], apiKey);
    const folder = makeWorkspace(workspaceFiles({ greeting: { metadata: { seed: Number(apiKey) } } }));
    await run(folder, ['sync', '--yes'], service);
    const { exitCode, stdout, stderr } = await run(folder, ['bundle', '-e', 'staging'], service);
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain('[bundle/contains-key]');
  });

  test('bundle --offline refuses a prompt that contains the API key if the environment variable for the key is set', async () => {
    const config = `service: { base_url: "https://prompts.example.com" }\n${CONFIG}`;
    const folder = makeWorkspace(workspaceFiles({ greeting: { text: `Use ${KEY}.` } }, config));
    const environment = { PROMPTSYNC_API_KEY: KEY };
    const { exitCode, stdout, stderr } = await run(folder, ['bundle', '-e', 'staging', '--offline'], { environment });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: '' });
    expect(stderr).toContain('[bundle/contains-key]');
  });

  test('bundle reports invalid prompt files and sends no request', async () => {
    const stage = await makeStage({ greeting: 'Hi.' });
    writeFiles(stage.folder, { 'prompts/broken.md': '---\nid: prm_broken\n---\nText' });
    expect(await bundleToFiles(stage)).toEqual(failure('prompt/missing-field', 1));
    expect(stage.service.requests).toEqual([]);
  });

  test('bundle refuses the placeholder id replace_me and sends no request', async () => {
    const stage = await makeStage({ greeting: 'Hi.' });
    writeFiles(stage.folder, { 'prompts/draft.md': promptText('x', { pins: PINS }).replace('prm_x', 'replace_me') });
    expect(await bundleToFiles(stage)).toEqual(failure('guard/placeholder-id', 3));
    expect(stage.service.requests).toEqual([]);
  });

  test('bundle exits with 130 and writes no file if a signal interrupts it', async () => {
    const stage = await makeStage({ greeting: 'Hi.', refund: 'Refund?' });
    let interrupt = () => {};
    const front = await startFront({
      target: stage.service.baseUrl,
      answer: () => {
        interrupt();
        return null;
      },
    });
    const environment = { ...stage.service.environment, PROMPTSYNC_BASE_URL: front.baseUrl };
    const ran = await run(stage.folder, [...production, '-o', 'p.json'], {
      environment,
      onSignal: (signal) => (interrupt = signal),
    });
    expect(ran).toEqual({ exitCode: 130, stdout: '', stderr: '\nInterrupted. promptsync made no changes.\n' });
    expect(existsSync(join(stage.folder, 'p.json'))).toBe(false);
  });
});

describe('the output of bundle', () => {
  test.each([
    [
      'bundle refuses an output file whose extension does not determine a format',
      ['-o', 'p.yaml'],
      'usage/output-format',
    ],
    ['bundle refuses the file extension .md, which is valid only for reports', ['-o', 'p.md'], 'usage/output-format'],
    [
      'bundle refuses --format if there are two --output files',
      ['--format', 'json', '-o', 'a', '-o', 'b'],
      'usage/output-format',
    ],
    [
      'bundle refuses a file name that is too long',
      ['-o', 'p.json', '-o', `${'x'.repeat(300)}.ts`],
      'usage/output-unwritable',
    ],
    ['bundle refuses a file in a missing folder', ['-o', 'none/p.json'], 'usage/output-unwritable'],
    ['bundle refuses --check without --output', ['--check'], 'usage/invalid'],
    [
      'bundle rejects --check if the path for --output refers to standard output',
      ['--check', '--format', 'json', '-o', '/dev/stdout'],
      'usage/invalid',
    ],
  ])('%s before it sends a request', async (_, words, code) => {
    const { bundle, service } = await makeStage({ greeting: 'Hi.' });
    expect(await bundle(...words)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`[${code}]`),
    });
    expect(service.requests).toEqual([]);
  });

  test.each([
    [
      'a bundle command with an invalid flag does not overwrite the output file',
      ['bundle', '-o', 'p.json', '--nonsense'],
    ],
    ['a misspelled bundle command does not overwrite the output file', ['bundel', '-o', 'p.json']],
    ['an invocation with a flag before bundle does not overwrite the output file', ['-o', 'p.json', 'bundle']],
  ])('%s with a report', async (_, words) => {
    const { folder, service } = await makeStage({ greeting: 'Hi.' });
    writeFiles(folder, { 'p.json': 'old' });
    expect(await run(folder, [...words, '-e', 'production'], service)).toMatchObject({ exitCode: 1, stdout: '' });
    expect(read(folder, 'p.json')).toBe('old');
  });

  test('bundle makes hidden characters visible in the notice about left-out prompts', async () => {
    const { folder, service } = await makeStage({ greeting: 'Hi.' });
    writeFiles(folder, { 'prompts/draft.md': promptText('draft', { key: 'a\u202eb' }) });
    const { stderr } = await run(folder, production, service);
    expect(stderr).toContain('a\\u{202e}b');
  });
});

describe('bundle --check', () => {
  test('bundle --check exits with 0 and writes nothing if all files are up to date', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    await bundle('-o', 'p.json', '-o', 'p.ts', '-o', 'p.py');
    const before = statSync(join(folder, 'p.json'), { bigint: true }).mtimeNs;
    expect(await bundle('-o', 'p.json', '-o', 'p.ts', '-o', 'p.py', '--check')).toEqual({
      exitCode: 0,
      stdout: '',
      stderr: 'p.json is up to date.\np.ts is up to date.\np.py is up to date.\n',
    });
    expect(statSync(join(folder, 'p.json'), { bigint: true }).mtimeNs).toBe(before);
  });

  test('bundle --check exits with 2 after a promotion and names the keys that differ', async () => {
    const { bundle, folder, service } = await makeStage({ gone: 'Gone.', greeting: 'Hi.', refund: 'Refund?' });
    await bundle('-o', 'p.json', '-o', 'p.ts');
    await changeService(service.baseUrl, 'greeting', 'production', 'Hello.');
    writeFiles(folder, { 'prompts/gone.md': promptText('gone') });
    service.store.registerPrompt({ id: 'prm_new', projectId: 'project', key: 'new', name: 'new' });
    writeFiles(folder, { 'prompts/new.md': promptText('new', { pins: PINS }) });
    await changeService(service.baseUrl, 'new', 'production', 'New.');
    const before = read(folder, 'p.json');
    const { exitCode, stdout, stderr } = await bundle('-o', 'p.json', '-o', 'p.ts', '--check', '--quiet');
    expect({ exitCode, stdout, isUnchanged: read(folder, 'p.json') === before }).toEqual({
      ...{ exitCode: 2, stdout: '', isUnchanged: true },
    });
    expect(stderr.split('\n')).toEqual(
      expect.arrayContaining([
        'p.json is out of date:',
        '  removed  gone',
        '  changed  greeting',
        '  added    new',
        'p.ts is out of date.',
      ]),
    );
    expect(stderr).not.toContain('refund');
  });

  test.each([
    ['bundle --check exits with 2 if the file does not exist', null],
    ['bundle --check exits with 2 if the file is not a bundle', '[]'],
    [
      'bundle --check exits with 2 if the file contains deeply nested data',
      `{"prompts":{"a":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}`,
    ],
    ['bundle --check exits with 2 if only the layout of the file differs', 'compact'],
  ])('%s', async (_, content) => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    const compact = JSON.stringify(JSON.parse((await bundle()).stdout));
    if (content !== null) writeFiles(folder, { 'p.json': content === 'compact' ? compact : content });
    const { exitCode, stderr } = await bundle('-o', 'p.json', '--check');
    expect({ exitCode, names: stderr.includes('greeting') }).toEqual({ exitCode: 2, names: false });
  });

  test('bundle --check exits with 2 if the file is not valid UTF-8', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi \ufffd.' });
    const bytes = Buffer.from((await bundle()).stdout);
    const at = bytes.indexOf('\ufffd');
    writeFiles(folder, {
      'p.json': Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]),
    });
    expect(await bundle('-o', 'p.json', '--check')).toMatchObject({ exitCode: 2 });
  });

  test('bundle --check exits with 0 even if git checked out the bundle files with CRLF line endings', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.\r\nBye.\n' });
    const outputs = ['p.json', 'p.ts', 'p.py'];
    const flags = outputs.flatMap((file) => ['-o', file]);
    await bundle(...flags);
    for (const file of outputs) writeFiles(folder, { [file]: read(folder, file).replaceAll('\n', '\r\n') });
    expect(await bundle(...flags, '--check')).toMatchObject({ exitCode: 0 });
  });

  test('if a file is much larger than the bundle, bundle --check exits with 2 without reading that file', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    writeFiles(folder, { 'p.json': '' });
    truncateSync(join(folder, 'p.json'), 600 * 1024 * 1024);
    const { exitCode, stderr } = await bundle('-o', 'p.json', '--check');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('p.json is out of date.\n') });
  });

  test('bundle --check exits with 1 if the file cannot be read', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    mkdirSync(join(folder, 'p.json'));
    const { exitCode, stderr } = await bundle('-o', 'p.json', '--check');
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('[usage/output-unreadable]') });
  });

  test('bundle --check follows a symbolic link outside a repository and refuses one inside a repository', async () => {
    const { bundle, folder } = await makeStage({ greeting: 'Hi.' });
    await bundle('-o', 'real.json');
    symlinkSync('real.json', join(folder, 'link.json'));
    expect(await bundle('-o', 'link.json', '--check')).toMatchObject({ exitCode: 0 });
    initRepository(folder);
    const { exitCode, stderr } = await bundle('-o', 'link.json', '--check');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining('is a symbolic link inside a repository'),
    });
  });

  test('bundle --check exits with 4 if a prompt cannot be read, whatever the file contains', async () => {
    const { bundle } = await makeStage({ greeting: 'Hi.', refund: null });
    expect(await bundle('-o', 'p.json', '--check')).toMatchObject({ exitCode: 4, stdout: '' });
  });
});

describe('bundle --offline', () => {
  /** Bundles staging without an address and a key of a service. */
  const bundleOffline = (folder: string, ...words: readonly string[]) =>
    run(folder, ['bundle', '-e', 'staging', '--offline', ...words]);

  test('bundle --offline reads the text of a `latest` pin from the file and needs neither a service nor a key', async () => {
    const folder = makeWorkspace(
      workspaceFiles({ greeting: { text: 'Hi {{name}}.', metadata: { model: 'gpt' } }, refund: { text: 'Refund?' } }),
    );
    const { exitCode, stdout, stderr } = await bundleOffline(folder);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(parse(stdout).prompts).toMatchObject({
      greeting: {
        id: 'prm_greeting',
        version: null,
        prompt: 'Hi {{name}}.',
        config: { model: 'gpt' },
        variables: ['name'],
      },
      refund: { version: null, prompt: 'Refund?', config: null },
    });
  });

  test('bundle --offline needs no git if no pin refers to a commit', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { pins: { staging: 'latest' } } }));
    vi.stubEnv('PATH', '/nowhere');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { exitCode, stdout } = await run(folder, ['bundle', '-e', 'staging', '--offline']);
    expect({ exitCode, text: stdout.includes('Text of greeting.') }).toEqual({ exitCode: 0, text: true });
  });

  test('bundle --offline reads the text of a `git:` pin from the commit', async () => {
    const folder = makeRepository(workspaceFiles({ greeting: { text: 'Old.', metadata: { model: 'old' } } }));
    git(folder, 'tag', 'v1');
    writeFiles(folder, workspaceFiles({ greeting: { text: 'New.', pins: { staging: 'git:v1' } } }));
    commitAll(folder, 'Pin v1');
    const { stdout } = await bundleOffline(folder);
    expect(parse(stdout).prompts['greeting']).toMatchObject({
      version: null,
      prompt: 'Old.',
      config: { model: 'old' },
    });
  });

  test.each([
    [
      'bundle --offline refuses a pin that is a version number, because only the service has the text',
      7,
      'bundle/not-in-git',
    ],
    [
      'bundle --offline refuses a pin that is a version id, because only the service has the text',
      'version:ver_7',
      'bundle/not-in-git',
    ],
    ['bundle --offline refuses a git ref that the clone does not have', 'git:v9', 'pin/unknown-ref'],
  ])('%s', async (_, pin, code) => {
    const files = workspaceFiles({ greeting: { pins: { staging: pin } }, refund: {} });
    const folder = makeRepository({ ...files, 'p.json': 'old' });
    const { exitCode, stdout, stderr } = await bundleOffline(folder, '-o', 'p.json');
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(/^prompts\/greeting\.md:\d+:\d+: error: /);
    expect(stderr).toContain(`[${code}]`);
    expect(stderr).toContain(String(pin).replace(/^\w+:/, ''));
    expect(read(folder, 'p.json')).toBe('old');
  });

  test('bundle --offline warns about each bundled prompt file with uncommitted changes', async () => {
    const others = { staged: {}, unchanged: {}, unpinned: { pins: { production: 'latest' } } };
    const folder = makeRepository(workspaceFiles({ edited: {}, ...others }));
    writeFiles(folder, workspaceFiles({ edited: { text: 'Edited.' }, staged: { text: 'Staged.' }, untracked: {} }));
    writeFiles(folder, { 'prompts/unpinned.md': promptText('unpinned', { ...others.unpinned, text: 'Edited.' }) });
    git(folder, 'add', 'prompts/staged.md');
    const { exitCode, stdout, stderr } = await bundleOffline(folder);
    expect({ exitCode, text: parse(stdout).prompts['edited']?.prompt }).toEqual({ exitCode: 0, text: 'Edited.' });
    expect(stderr).toContain(
      '[bundle/uncommitted]\n  prompts/edited.md\n  prompts/staged.md\n  prompts/untracked.md\n',
    );
  });

  test('bundle --offline reads only the pins of the given environment', async () => {
    const pins = { staging: 'latest', production: 7, canary: 'git:v9' };
    const folder = makeRepository(workspaceFiles({ greeting: { pins } }));
    expect(await bundleOffline(folder)).toMatchObject({ exitCode: 0 });
  });

  test('bundle --offline refuses the placeholder id replace_me', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    writeFiles(folder, { 'prompts/draft.md': promptText('draft').replace('prm_draft', 'replace_me') });
    const { exitCode, stderr } = await bundleOffline(folder);
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining('[guard/placeholder-id]') });
  });
});

describe('bundle with Langfuse', () => {
  const system = (content: string): ChatMessage => ({ role: 'system', content });
  const history: ChatMessage = { type: 'placeholder', name: 'history' };
  const tag = '@@@langfusePrompt:name=tone|label=production@@@';
  const textFile = (id: string, text: string, pins = '{ production: 1 }') =>
    `---\nid: ${id}\npins: ${pins}\n---\n\n${text}\n`;
  const chatFile = (id: string, pins: string) =>
    `---\nid: ${id}\ntype: chat\npins: ${pins}\n---\n\n{{role "system"}}\nHi {{name}}.\n\n{{placeholder "history"}}\n`;

  async function makeLangfuseStage(files: Files) {
    const langfuse = await startLangfuse();
    const folder = makeWorkspace({ 'promptsync.yaml': LANGFUSE, ...files });
    return {
      langfuse,
      folder,
      bundle: (...words: readonly string[]) => run(folder, [...production, ...words], langfuse),
    };
  }

  test('bundle reads text prompts, chat prompts and any kind of config from Langfuse with one request per prompt', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({
      'prompts/agent.md': chatFile('agent', '{ production: 1 }'),
      'prompts/greeting.md': textFile('greeting', 'x'),
    });
    const messages = [system('Hi {{name}}.\r\n\n'), history, system('{{topic}}')];
    await langfuse.store.create({
      name: 'agent',
      type: 'chat',
      prompt: messages,
      config: ['x'],
      labels: ['production'],
    });
    const config = { promptsync: { own: 'kept' }, model: 'gpt' };
    await langfuse.store.create({ name: 'greeting', prompt: 'Hi.\n', config, labels: ['production'] });
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

  test('bundle includes the text and the variables of the parts of a composed prompt', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({ 'prompts/a.md': textFile('a', tag) });
    await langfuse.store.create({ name: 'tone', prompt: 'Be {{mood}}.', labels: ['production'] });
    await langfuse.store.create({ name: 'a', prompt: `Hi {{name}}. ${tag}`, labels: ['production'] });
    const { stdout } = await bundle();
    expect(parse(stdout).prompts['a']).toMatchObject({
      prompt: 'Hi {{name}}. Be {{mood}}.',
      variables: ['name', 'mood'],
    });
  });

  test('bundle exits with 4 if Langfuse cannot compose a prompt', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({
      'prompts/a.md': textFile('a', tag),
      'prompts/b.md': textFile('b', 'x'),
    });
    await langfuse.store.create({ name: 'b', prompt: 'B.', labels: ['production'] });
    await langfuse.store.create({ name: 'tone', prompt: 'Be kind.', labels: ['production'] });
    await langfuse.store.create({ name: 'a', prompt: tag, labels: ['production'] });
    langfuse.store.removeLabel('tone', 'production');
    expect(await bundle()).toMatchObject({
      exitCode: 4,
      stdout: '',
      stderr: expect.stringContaining('prompts/a.md: error:'),
    });
  });

  test('bundle reports that no version is active if Langfuse lacks the prompt or the label', async () => {
    const { langfuse, bundle } = await makeLangfuseStage({ 'prompts/a.md': textFile('a', 'x') });
    const expected = { exitCode: 4, stdout: '', stderr: expect.stringContaining('the "production" label') };
    expect(await bundle()).toMatchObject(expected);
    await langfuse.store.create({ name: 'a', prompt: 'x', labels: ['staging'] });
    expect(await bundle()).toMatchObject(expected);
  });

  test('bundle exits with 1 if the server at the address is not a prompt service', async () => {
    const { folder, langfuse } = await makeLangfuseStage({ 'prompts/a.md': textFile('a', 'x') });
    const front = await startFront({ answer: () => ({ status: 404, body: '<!doctype html>Not found' }) });
    const environment = { ...langfuse.environment, LANGFUSE_HOST: front.baseUrl };
    const { exitCode, stderr } = await run(folder, production, { environment });
    expect({ exitCode, isNotActive: stderr.includes('bundle/not-active') }).toEqual({
      exitCode: 1,
      isNotActive: false,
    });
  });

  test('bundle --offline converts a chat prompt file to messages and refuses a composed prompt', async () => {
    const { bundle, folder } = await makeLangfuseStage({
      'prompts/agent.md': chatFile('agent', '{ staging: latest }'),
    });
    const { stdout } = await run(folder, ['bundle', '-e', 'staging', '--offline']);
    expect(parse(stdout).prompts['agent']).toMatchObject({
      type: 'chat',
      prompt: [system('Hi {{name}}.'), history],
      config: null,
    });
    writeFiles(folder, { 'prompts/a.md': textFile('a', tag, '{ staging: latest }') });
    const { exitCode, stderr } = await run(folder, ['bundle', '-e', 'staging', '--offline']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: expect.stringContaining('refers to the prompt "tone"'),
    });
    expect(await bundle('a')).toMatchObject({ exitCode: 1 });
  });
});
