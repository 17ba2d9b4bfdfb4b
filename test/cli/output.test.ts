import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { parseReport, run } from '../support/run.ts';
import { KEY, startTestService } from '../support/service.ts';
import { makeStage } from './stage.ts';

function read(folder: string, file: string): string {
  return readFileSync(join(folder, file), 'utf8');
}

describe('--output', () => {
  test('plan --output prints errors on standard error even with --quiet, which omits the name of the file', async () => {
    const folder = makeWorkspace(workspaceFiles({ greeting: {} }));
    for (const flags of [[], ['-q']]) {
      const { stdout, stderr, exitCode } = await run(folder, ['plan', '-o', 'out.txt', ...flags]);
      expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
      expect(stderr).toContain('error: No service is configured.');
      expect(stderr.includes('Report: out.txt')).toBe(flags.length === 0);
    }
  });

  test('sync rejects output files that it cannot write before sending any request', async () => {
    const { folder, service, promptsync } = await makeStage();
    const server = createServer().listen(join(folder, 'socket.json'));
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const log = join(folder, 'log');
    const opened = openSync(log, 'a');
    onTestFinished(() => closeSync(opened));
    const descriptors = [
      // Even root cannot create a file there, although its permissions allow it.
      ['-o /proc/self/fd/out.json', 'could not write the report'],
      [`--format json -o /dev/fd/${opened}`, realpathSync(log)],
    ] as const;
    for (const [outputs, reason] of [
      ['-o socket.json', 'it is a socket'],
      ['-o good.json -o no/such/folder/out.txt', 'its folder does not exist'],
      ['--format text -o prompts', 'it is a folder'],
      ['-o promptsync.yaml/out.txt', 'its folder does not exist'],
      ...(existsSync('/proc/self/fd') ? descriptors : []),
    ] as const) {
      const { stdout, exitCode } = await promptsync(`sync --yes ${outputs}`);
      expect([outputs, exitCode, stdout]).toEqual([outputs, 1, expect.stringContaining(reason)]);
    }
    expect(service.requests).toEqual([]);
    expect(readdirSync(folder)).not.toContain('good.json');
    expect(readFileSync(log, 'utf8')).toBe('');
  });

  test('plan reads the service only once for several output files, whose formats follow from their names or --format', async () => {
    const { folder, service, promptsync } = await makeStage();
    const calls = async (outputs: string) => {
      expect(await promptsync(`plan ${outputs}`)).toMatchObject({ stdout: '', exitCode: 0 });
      return service.requests.splice(0).map(({ method, path }) => `${method} ${path}`);
    };
    const one = await calls('--format=markdown -o other.json');
    expect(one).not.toEqual([]);
    expect(await calls('-o out.txt -o out.json -o out.md -o out.html -o plan.junit.xml')).toEqual(one);
    for (const [file, begins] of [
      ['other.json', /^### promptsync plan/],
      ['out.txt', /^greeting {2}prompts/],
      ['out.json', /^\{\n/],
      ['out.md', /^### promptsync plan/],
      ['out.html', /^<!doctype html>/],
      ['plan.junit.xml', /^<\?xml /],
    ] as const) {
      expect(read(folder, file)).toMatch(begins);
    }
  });

  test('sync prints the report on standard output if an output file becomes unwritable during the sync', async () => {
    const { folder, service, promptsync } = await makeStage();
    const outputs = `--output ${join(folder, 'out', 'out.json')} -o ${join(folder, 'out', 'out.md')} -o good.md`;
    mkdirSync(join(folder, 'out'));
    const front = await startFront({
      target: service.baseUrl,
      answer: () => {
        rmSync(join(folder, 'out'), { recursive: true, force: true });
        return null;
      },
    });
    const environment = { PROMPTSYNC_BASE_URL: front.baseUrl };
    const ran = await promptsync(`sync --yes ${outputs}`, { environment });
    expect(ran.exitCode).toBe(1);
    expect(parseReport(ran.stdout).summary.applied).toBe(1);
    expect(ran.stderr.match(/could not write the report/g)).toHaveLength(2);
    expect(read(folder, 'good.md')).toContain('Applied: 1 prompt');
  });
});

describe('standard error', () => {
  test('validate prints warnings on standard error unless --quiet is given', async () => {
    const { promptsync } = await makeStage({ greeting: { text: 'hid\u200bden' } });
    const warning = 'prompts/greeting.md:8:4: warning: The file contains the invisible character \\u{200b}.';
    for (const format of ['text', 'json']) {
      const loud = await promptsync(`validate --format ${format}`);
      expect(loud).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(warning) });
      expect((await promptsync(`validate --quiet --format ${format}`)).stderr).toBe('');
    }
  });

  test('--verbose prints every request, also one that gets no response', async () => {
    const { service, promptsync } = await makeStage();
    const calls = (await promptsync('sync --yes --verbose')).stderr.trimEnd().split('\n');
    expect(calls).toHaveLength(service.requests.length);
    const environment = { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:1' };
    expect((await promptsync('plan --verbose', { environment })).stderr).toMatch(/ no response \d+ ms\n/);
  });
});

const [user, secretKey] = ['pk-lf-0a1b2c3d', 'sk-lf-4e5f6a7b'];
const settings = { provider: 'langfuse', base_url: 'https://langfuse.example.com' };

test.each<[string, string, Readonly<Record<string, string>>]>([
  [
    'No output contains the Basic credential of Langfuse',
    secretKey,
    { LANGFUSE_PUBLIC_KEY: user, LANGFUSE_SECRET_KEY: secretKey },
  ],
  [
    'No output contains the Basic credential of a proxy',
    'p@ssword',
    { HTTPS_PROXY: `http://${user}:p%40ssword@proxy.example.com:3128` },
  ],
])('%s', async (_, password, environment) => {
  const credential = Buffer.from(`${user}:${password}`).toString('base64');
  const folder = makeRepository({ 'promptsync.yaml': `service: ${JSON.stringify(settings)}\n` });
  writeFiles(folder, {
    'prompts/a.md': `---\nid: a\npins: { staging: latest }\n---\n\nAuthorization: Basic ${credential} here\n`,
  });
  const line = ['plan', '--offline', '--base', 'HEAD', '--format'];
  for (const format of ['text', 'html']) {
    const { stdout, stderr } = await run(folder, [...line, format], { environment });
    expect(stdout).toContain('Authorization: Basic [redacted] here');
    expect(stdout + stderr).not.toContain(credential.slice(0, 8));
  }
});

test.each(['doctor --format json', 'plan', 'bundle --environment staging'])(
  'promptsync %s redacts an API key that is the name of a setting in an invalid configuration',
  async (line) => {
    const folder = makeWorkspace({ 'promptsync.yaml': `prompts: [a]\n${KEY}: 1\n${LANGFUSE_KEY}: 1\n` });
    const environment = { PROMPTSYNC_API_KEY: KEY, LANGFUSE_SECRET_KEY: LANGFUSE_KEY };
    const { stdout, stderr } = await run(folder, line.split(' '), { environment });
    expect(stdout + stderr).toContain('[redacted]');
    expect(stdout + stderr).not.toContain(LANGFUSE_KEY);
  },
);

const LANGFUSE_KEY = 'sk-lf-0123456789';

test.each([
  ['validate redacts the API key in a variable that an invalid configuration names', `${KEY}: 1\n`],
  ['validate redacts the API key in a variable that a configuration without an address names', ''],
])('%s', async (_, setting) => {
  const source = `---\nid: a\nkey: a\nname: A\n${KEY}: 1\n---\n\nHi.\n`;
  const config = `service: { api_key_env: TEAM_KEY }\n${setting}`;
  const folder = makeWorkspace({ 'promptsync.yaml': config, 'prompts/a.md': source });
  const { stdout, stderr } = await run(folder, ['validate'], { environment: { TEAM_KEY: KEY } });
  expect(stdout + stderr).toContain('[redacted]');
  expect(stdout + stderr).not.toContain(KEY);
});

test('plan does not redact the word embedded, because serve prints this key and it is no secret', async () => {
  const { folder } = await makeStage({ greeting: { text: 'Text in the embedded service.' } });
  const service = await startTestService(['greeting'], 'embedded');
  const { stdout } = await run(folder, ['plan'], service);
  expect(stdout).toContain('+Text in the embedded service.');
});

// `run` itself checks that neither output contains the API key.
test('every output redacts an API key that was pasted into a prompt', async () => {
  const { folder, promptsync } = await makeStage({ leak: { key: KEY, name: `It is ${KEY}`, text: `Use ${KEY}.` } });
  const files = ['a.txt', 'a.json', 'a.md', 'a.html', 'a.xml'];
  await promptsync(`sync --yes --max-changes 0 ${files.map((file) => `-o ${file}`).join(' ')}`);
  for (const file of files) {
    expect(read(folder, file)).toContain('[redacted]');
    expect(read(folder, file)).not.toContain(KEY);
  }
});

const CLOSE = 'Call it with a-key-of-the-service & nothing else, please.';

test('plan redacts an API key even if a diff marks only part of the key as changed', async () => {
  const key = 'a-key-of-the-service';
  const { folder, promptsync } = await makeStage({ leak: { text: CLOSE } }, key);
  await promptsync('sync --yes');
  writeFiles(folder, workspaceFiles({ leak: { text: CLOSE.replace('service', 'server') } }));
  for (const format of ['text', 'markdown', 'html']) {
    const { stdout } = await promptsync(`plan --format ${format}`, { environment: { FORCE_COLOR: '1' } });
    const shown = stdout.replaceAll(/\u001b\[[0-9;]*m|<[^>]*>|[`*~]/g, '');
    expect(shown).toContain('Call it with [redacted]');
    expect(shown).not.toContain(key);
  }
});

test('plan does not redact a short API key because it may be an ordinary word', async () => {
  const { promptsync } = await makeStage();
  const { stdout } = await promptsync('plan', { environment: { PROMPTSYNC_API_KEY: 'plan' } });
  expect(stdout).not.toContain('[redacted]');
});

test('plan reports a usage error in the last format and in every output file', async () => {
  const folder = makeWorkspace({});
  const printed = await run(folder, ['plan', '--foo', '--format', 'text', '--format', 'html']);
  expect(printed).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/^<!doctype html>[^]*--foo/) });
  const { stdout, exitCode } = await run(folder, ['plan', '--foo', '-oz.json', '--output=z.xml', '-o', 'z.txt']);
  expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
  expect(read(folder, 'z.json')).toMatch(/^\{[^]*usage\/invalid/);
  expect(read(folder, 'z.xml')).toMatch(/^<\?xml [^]*usage\/invalid/);
  expect(read(folder, 'z.txt')).toMatch(/^error: /);
});

test('plan prints a usage error on standard output if its output file cannot be written', async () => {
  const ran = await run(makeWorkspace({}), ['plan', '--foo', '--format', 'json', '-o', 'no/such/z.json']);
  expect(parseReport(ran.stdout).problems.map(({ code }) => code)).toEqual(['usage/invalid']);
});
