import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { commitAll, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { CONFIG, promptText } from '../support/prompts.ts';
import { run, runJson } from '../support/run.ts';
import { startTestService } from '../support/service.ts';

const ENVIRONMENTS = `${CONFIG}environments:
  staging: {}
  canary: {}
  production: { promote_from: staging, allow_latest: false }
`;
const EMBEDDED = `service: { embedded: service.db }\n${ENVIRONMENTS}`;
const LANGFUSE = `service: { provider: langfuse }\n${ENVIRONMENTS}`;

const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');
const codes = (problems: readonly { readonly code: string }[]) => problems.map(({ code }) => code);
const makeStage = (config = ENVIRONMENTS, files = {}) => makeWorkspace({ 'promptsync.yaml': config, ...files });

/** Replaces the placeholder id in a prompt file. */
function replaceId(folder: string, path: string, id: string): void {
  writeFiles(folder, { [path]: read(folder, path).replace('replace_me', id) });
}

describe('new for a four-call service', () => {
  test('new writes a valid prompt file that the next sync can apply', async () => {
    const folder = makeStage();
    const service = await startTestService(['refund']);
    const words = ['new', 'support/refund-policy', '--id', 'prm_refund'];
    const { exitCode, report } = await runJson(folder, words, service);
    expect(exitCode).toBe(0);
    expect(service.requests).toEqual([]);
    expect(report).toMatchObject({
      ...{ mode: 'new', service: null, summary: { prompts: 1, applied: 1 }, problems: [] },
      prompts: [
        {
          ...{ path: 'prompts/support/refund-policy.md', id: 'prm_refund', key: 'support/refund-policy', type: 'text' },
          status: 'applied',
          edits: [{ kind: 'create-file' }, { kind: 'set-pin', environment: 'staging', before: null, after: 'latest' }],
        },
      ],
    });
    expect(read(folder, 'prompts/support/refund-policy.md')).toMatch(
      /^---\nid: prm_refund\nkey: support\/refund-policy\nname: Refund policy\npins:\n {2}staging: latest\n---\n\n.*\{\{question\}\}\n$/s,
    );
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stdout: '1 prompt valid.\n', stderr: '' });
    expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
    expect(service.store.readPrompt('prm_refund', 'staging')?.active_version).toBeTruthy();
  });

  test('new without --id writes the id replace_me, and says where to create the prompt and where to write its id', async () => {
    const folder = makeStage(`service: { base_url: https://prompts.example.com }\n${ENVIRONMENTS}`);
    const { exitCode, stdout } = await run(folder, ['new', 'support/refund']);
    expect(exitCode).toBe(0);
    expect(read(folder, 'prompts/support/refund.md')).toMatch(/^---\nid: replace_me\n/);
    const place = 'prompts/support/refund.md:2';
    expect(stdout).toContain(
      `Create the prompt in the service at https://prompts.example.com, then enter its id in ${place}. Next time, you can pass the id with --id.\n`,
    );
    const { report, ...validated } = await runJson(folder, ['validate']);
    expect(validated.exitCode).toBe(0);
    expect(report.problems).toMatchObject([
      { code: 'prompt/placeholder-id', severity: 'warning', path: 'prompts/support/refund.md', line: 2, column: 5 },
    ]);
  });

  test('sync blocks a file with the id replace_me, sends no request for it, and writes the other prompts', async () => {
    const folder = makeStage(ENVIRONMENTS, { 'prompts/greeting.md': promptText('greeting') });
    const service = await startTestService(['greeting']);
    await run(folder, ['new', 'refund']);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes'], service);
    expect(exitCode).toBe(3);
    expect(report.problems).toEqual([]);
    expect(report.prompts).toMatchObject([
      { id: 'prm_greeting', status: 'applied', problems: [] },
      { id: 'replace_me', status: 'blocked', changes: [], problems: [{ code: 'guard/placeholder-id' }] },
    ]);
    expect(service.requests.filter(({ path }) => path.includes('replace_me'))).toEqual([]);
  });

  test.each(['status', 'promote --all --to production', 'pull'])(
    'promptsync %s handles the other prompts even if one file has the id replace_me',
    async (line) => {
      const folder = makeStage(ENVIRONMENTS, { 'prompts/greeting.md': promptText('greeting') });
      const service = await startTestService(['greeting']);
      await run(folder, ['new', 'refund']);
      await run(folder, ['sync', '--yes'], service);
      const { report } = await runJson(folder, line.split(' '), service);
      expect(report.prompts.map(({ id, status }) => [id, status])).toEqual([
        ['prm_greeting', line.startsWith('promote') ? 'applied' : 'unchanged'],
        ['replace_me', 'blocked'],
      ]);
    },
  );

  test('plan --offline blocks a file with the id replace_me', async () => {
    const folder = makeRepository({ 'promptsync.yaml': ENVIRONMENTS, 'prompts/greeting.md': promptText('greeting') });
    await run(folder, ['new', 'refund']);
    commitAll(folder, 'Add a prompt');
    const { exitCode, report } = await runJson(folder, ['plan', '--offline', '--base', 'HEAD^']);
    expect(exitCode).toBe(3);
    expect(report.prompts.map(({ status }) => status)).toEqual(['unchanged', 'blocked']);
  });

  test('plan does not report a deleted prompt if a commit replaces the id replace_me with a real id', async () => {
    const folder = makeRepository({ 'promptsync.yaml': ENVIRONMENTS });
    const service = await startTestService(['refund']);
    await run(folder, ['new', 'refund']);
    commitAll(folder, 'Add a prompt');
    replaceId(folder, 'prompts/refund.md', 'prm_refund');
    commitAll(folder, 'Use the id of the service');
    const { report } = await runJson(folder, ['plan', '--base', 'HEAD^'], service);
    expect(report.problems).toEqual([]);
    expect(report.prompts).toMatchObject([{ id: 'prm_refund', status: 'pending' }]);
  });

  test('the embedded service does not register a prompt with the id replace_me', async () => {
    const folder = makeStage(EMBEDDED);
    await run(folder, ['new', 'refund', '--id', 'replace_me']);
    expect(await run(folder, ['sync', '--yes'])).toMatchObject({ exitCode: 3 });
    replaceId(folder, 'prompts/refund.md', 'refund');
    expect(await run(folder, ['sync', '--yes'])).toMatchObject({ exitCode: 0 });
  });

  test('new refuses --type chat for a four-call service, because such a service has no chat prompts', async () => {
    const folder = makeStage();
    const { exitCode, report } = await runJson(folder, ['new', 'agent', '--type', 'chat']);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['prompt/unsupported-type'] });
    expect(existsSync(join(folder, 'prompts'))).toBe(false);
  });
});

describe('new for the embedded service', () => {
  test.each([
    ['support/refund-policy', 'prm_support_refund-policy'],
    ['what now?/100 %', 'prm_what_now_100_'],
  ])('new %s without --id makes the id from the key, so that the next sync creates the prompt', async (key, id) => {
    const folder = makeStage(EMBEDDED);
    const made = await runJson(folder, ['new', key]);
    expect(made.report.prompts).toMatchObject([{ id, key, status: 'applied' }]);
    const { exitCode, report } = await runJson(folder, ['sync', '--yes']);
    expect(exitCode).toBe(0);
    expect(report.prompts).toMatchObject([{ id, status: 'applied' }]);
  });
});

describe('new for Langfuse', () => {
  test.each<[string, readonly string[], string]>([
    ['new writes a text prompt that the next sync creates in Langfuse', [], 'text'],
    ['new --type chat writes a chat prompt that the next sync creates in Langfuse', ['--type', 'chat'], 'chat'],
  ])('%s', async (_, flags, type) => {
    const langfuse = await startLangfuse();
    const folder = makeStage(LANGFUSE);
    const { report, stderr } = await runJson(folder, ['new', 'support/agent', ...flags], langfuse);
    expect({ problems: report.problems, stderr }).toEqual({ problems: [], stderr: '' });
    expect(report.prompts).toMatchObject([{ id: 'support/agent', key: 'support/agent', type }]);
    expect(read(folder, 'prompts/support/agent.md')).not.toMatch(/^(?:key|name):/m);
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stderr: '' });
    const synced = await runJson(folder, ['sync', '--yes'], langfuse);
    expect(synced.report.prompts).toMatchObject([{ status: 'applied', type }]);
    expect(await run(folder, ['plan', '--exit-code'], langfuse)).toMatchObject({ exitCode: 0 });
  });

  test('For Langfuse, new accepts --id only if the id equals the key', async () => {
    const folder = makeStage(LANGFUSE);
    const { exitCode, report } = await runJson(folder, ['new', 'a', '--id', 'b']);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: ['usage/invalid'] });
    expect(await run(folder, ['new', 'a', '--id', 'a'])).toMatchObject({ exitCode: 0 });
  });

  test('validate accepts, without a warning, a Langfuse prompt named replace_me', async () => {
    const folder = makeStage(LANGFUSE);
    await run(folder, ['new', 'replace_me']);
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('the environments of new', () => {
  const pinsOf = (source: string) => [...source.matchAll(/^ {2}(\w+): latest$/gm)].map(([, name]) => name);

  test('new pins the given environments in promotion order, and omits an environment that does not allow latest', async () => {
    const folder = makeStage();
    const flags = ['-e', 'canary', '--environment', 'production', '-e', 'staging', '-e', 'canary'];
    const { exitCode, stderr } = await run(folder, ['new', 'a', '--id', 'prm_a', ...flags]);
    expect(exitCode).toBe(0);
    expect(pinsOf(read(folder, 'prompts/a.md'))).toEqual(['staging', 'canary']);
    expect(stderr).toContain('The file does not pin "production" because `promptsync.yaml` does not allow `latest`');
  });

  test('If no environments are configured, new pins the environment that --environment names', async () => {
    const folder = makeStage(CONFIG);
    await run(folder, ['new', 'a', '--id', 'prm_a', '-e', 'anything']);
    expect(pinsOf(read(folder, 'prompts/a.md'))).toEqual(['anything']);
  });

  test.each<[string, string, readonly string[], string]>([
    [
      'new suggests the correct name of a misspelled environment',
      ENVIRONMENTS,
      ['--environment', 'stagin'],
      'Did you mean "staging"?',
    ],
    [
      'new requires --environment if no environments are configured',
      CONFIG,
      [],
      'The command requires `--environment`',
    ],
    [
      'new writes no file if no requested environment allows latest',
      ENVIRONMENTS,
      ['-e', 'production'],
      '`promptsync.yaml` does not allow `latest` in "production"',
    ],
  ])('%s', async (_, config, flags, message) => {
    const folder = makeStage(config);
    const { exitCode, stdout } = await run(folder, ['new', 'a', '--id', 'prm_a', ...flags]);
    expect({ exitCode, files: readdirSync(folder) }).toEqual({ exitCode: 1, files: ['promptsync.yaml'] });
    expect(stdout).toContain(message);
  });
});

describe('the refusals of new', () => {
  const TAKEN = { 'prompts/greeting.md': promptText('greeting', { key: 'support/Gr\u00fc\u00dfe' }) };

  test.each<[string, readonly string[], string]>([
    ['new refuses a key that another file already uses', ['support/Gr\u00fc\u00dfe', '--id', 'x'], 'new/taken'],
    [
      'new refuses a key that another file uses in a different Unicode normalization form',
      ['support/Gru\u0308\u00dfe', '--id', 'x'],
      'new/taken',
    ],
    ['new refuses an id that another file already uses', ['other', '--id', 'prm_greeting'], 'new/taken'],
    ['new refuses a path that already exists', ['greeting', '--id', 'x'], 'import/path-taken'],
    [
      'new refuses a path that differs from an existing path only in case',
      ['Greeting', '--id', 'x'],
      'import/path-taken',
    ],
    ['new refuses a key that leads outside the prompt folder', ['../greeting2', '--id', 'x'], 'usage/invalid'],
    ['new refuses a key that is an absolute path', ['/etc/motd', '--id', 'x'], 'usage/invalid'],
    ['new refuses a key with an empty segment', ['a//b', '--id', 'x'], 'usage/invalid'],
    ['new refuses a key with a control character', ['a\u001b[2Jb', '--id', 'x'], 'usage/invalid'],
    ['new refuses an empty key', ['', '--id', 'x'], 'usage/invalid'],
    ['new refuses an id that contains a slash', ['a', '--id', 'a/b'], 'usage/invalid'],
    ['new refuses an empty id', ['a', '--id', ''], 'usage/invalid'],
  ])('%s, and writes nothing', async (_, words, code) => {
    const folder = makeStage(ENVIRONMENTS, TAKEN);
    const { exitCode, report } = await runJson(folder, ['new', ...words]);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: [code] });
    expect(readdirSync(folder, { recursive: true }).length).toBe(3);
    expect(read(folder, 'prompts/greeting.md')).toBe(TAKEN['prompts/greeting.md']);
  });

  test.each<[string, string]>([
    ['new refuses the path of a prompt file, and suggests the key without the prompt folder', 'prompts/sales/foo.md'],
    ['new refuses a key that ends with .md, and suggests the key without .md', 'sales/foo.md'],
  ])('%s', async (_, key) => {
    const { exitCode, report } = await runJson(makeStage(), ['new', key, '--id', 'x']);
    const message = `\`${key}\` is the path of a file. Specify a key instead, such as \`sales/foo\`.`;
    expect({ exitCode, problems: report.problems }).toMatchObject({ exitCode: 1, problems: [{ message }] });
  });

  test('new refuses to create a second file with the id replace_me, and suggests --id or a real id for the first file', async () => {
    const folder = makeStage();
    await run(folder, ['new', 'a']);
    const { exitCode, stdout } = await run(folder, ['new', 'b']);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('The id "replace_me" is already used by `prompts/a.md`.');
    expect(stdout).toMatch(/Replace `replace_me` in `prompts\/a\.md` .* `--id`/);
    expect(existsSync(join(folder, 'prompts/b.md'))).toBe(false);
  });

  test.each<[string, string, string]>([
    ['new refuses a path that matches no configured pattern', 'prompts: ["prompts/*.md"]\n', 'import/not-matched'],
    ['new refuses to write to a folder outside the repository', 'prompts: ["../*.md"]\n', 'config/pattern-outside'],
  ])('%s', async (_, prompts, code) => {
    const folder = makeStage(`${prompts}environments: { staging: {} }\n`);
    const { exitCode, report } = await runJson(folder, ['new', 'support/a', '--id', 'x']);
    expect({ exitCode, codes: codes(report.problems) }).toEqual({ exitCode: 1, codes: [code] });
  });

  test('new does not write through a symbolic link', async () => {
    const [folder, outside] = [makeStage(ENVIRONMENTS), makeFolder()];
    mkdirSync(join(folder, 'prompts'));
    symlinkSync(outside, join(folder, 'prompts/support'));
    const { exitCode } = await run(folder, ['new', 'support/a', '--id', 'x']);
    expect({ exitCode, written: readdirSync(outside) }).toEqual({ exitCode: 1, written: [] });
  });
});

test('new --dry-run shows the new file and writes nothing', async () => {
  const folder = makeStage();
  const { exitCode, report } = await runJson(folder, ['new', 'a', '--dry-run']);
  expect(exitCode).toBe(0);
  expect(report.prompts).toMatchObject([{ path: 'prompts/a.md', status: 'pending' }]);
  expect(report.next_steps).toBeUndefined();
  expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
});

test.each<[string, string]>([
  [
    'markdown',
    '- `Create the prompt in the service, then enter its id in prompts/a.md:2. Next time, you can pass the id with --id.`',
  ],
  ['html', 'Create the prompt in the service, then enter its id in prompts/a.md:2.'],
  ['junit', '<testsuite'],
])('new --format %s reports the new file and the next step', async (format, expected) => {
  const { exitCode, stdout } = await run(makeStage(), ['new', 'a', '--format', format]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain(expected);
});
