import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startLangfuse } from '../doubles/langfuse-server.ts';
import { commitAll, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { summarizeRun } from '../support/promotion.ts';
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
const makeStage = (config = ENVIRONMENTS, files = {}) => makeWorkspace({ 'promptsync.yaml': config, ...files });

describe('new for a four-call service', () => {
  test('new writes a valid prompt file that the next sync can apply', async () => {
    const folder = makeStage();
    const service = await startTestService(['refund']);
    const words = ['new', 'support/refund-policy', '--id', 'prm_refund'];
    expect(summarizeRun(await runJson(folder, words, service))).toBe('exit 0, support/refund-policy applied');
    expect(service.requests).toEqual([]);
    expect(read(folder, 'prompts/support/refund-policy.md')).toMatch(
      /^---\nid: prm_refund\nkey: support\/refund-policy\nname: Refund policy\npins:\n {2}staging: latest\n---\n\n.*\{\{question\}\}\n$/s,
    );
    expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stdout: '1 prompt valid.\n', stderr: '' });
    expect(await run(folder, ['sync', '--yes'], service)).toMatchObject({ exitCode: 0 });
    expect(service.store.readPrompt('prm_refund', 'staging')?.active_version).toBeTruthy();
    const chat = await runJson(folder, ['new', 'agent', '--type', 'chat']);
    expect(summarizeRun(chat)).toBe('exit 1, prompt/unsupported-type');
  });

  test('new without --id writes the id replace_me, says where to write the id of the prompt, and refuses a second such file', async () => {
    const folder = makeStage(`service: { base_url: https://prompts.example.com }\n${ENVIRONMENTS}`);
    const dry = await runJson(folder, ['new', 'support/refund', '--dry-run']);
    expect(dry).toMatchObject({ exitCode: 0, report: { prompts: [{ status: 'pending' }] } });
    expect(dry.report.next_steps).toBeUndefined();
    expect(readdirSync(folder)).toEqual(['promptsync.yaml']);
    const { exitCode, stdout } = await run(folder, ['new', 'support/refund']);
    expect(exitCode).toBe(0);
    expect(read(folder, 'prompts/support/refund.md')).toMatch(/^---\nid: replace_me\n/);
    const step =
      'Create the prompt in the service at https://prompts.example.com, then enter its id in prompts/support/refund.md:2. Next time, you can pass the id with --id.';
    expect(stdout).toContain(`${step}\n`);
    const { report, ...validated } = await runJson(folder, ['validate']);
    expect(validated.exitCode).toBe(0);
    expect(report.problems).toMatchObject([
      { code: 'prompt/placeholder-id', severity: 'warning', path: 'prompts/support/refund.md', line: 2, column: 5 },
    ]);
    const second = await run(folder, ['new', 'b']);
    expect(second.exitCode).toBe(1);
    expect(second.stdout).toContain('The id "replace_me" is already used by `prompts/support/refund.md`.');
    expect(second.stdout).toMatch(/Replace `replace_me` in `prompts\/support\/refund\.md` .* `--id`/);
    expect(existsSync(join(folder, 'prompts/b.md'))).toBe(false);
  });

  test('a file with the id replace_me is blocked without a request, and every command handles the other prompts', async () => {
    const files = { 'promptsync.yaml': ENVIRONMENTS, 'prompts/greeting.md': promptText('greeting') };
    const folder = makeRepository(files);
    const service = await startTestService(['greeting', 'refund']);
    await run(folder, ['new', 'refund']);
    commitAll(folder, 'Add a prompt');
    const blocked = (status: string) => `exit 3, greeting ${status}, refund blocked guard/placeholder-id`;
    const summarize = async (...words: readonly string[]) => summarizeRun(await runJson(folder, words, service));
    expect(await summarize('plan', '--offline', '--base', 'HEAD^')).toBe(`${blocked('unchanged')}, service/not-asked`);
    expect(await summarize('sync', '--yes')).toBe(blocked('applied'));
    for (const command of ['status', 'pull', 'promote --all --to production']) {
      const status = command.startsWith('promote') ? 'applied' : 'unchanged';
      expect([command, await summarize(...command.split(' '))]).toEqual([command, blocked(status)]);
    }
    expect(service.requests.filter(({ path }) => path.includes('replace_me'))).toEqual([]);
    // A real id in the place of the placeholder does not count as a deletion.
    writeFiles(folder, { 'prompts/refund.md': promptText('refund') });
    expect(await summarize('plan', 'refund', '--base', 'HEAD', '--allow-dirty')).toBe('exit 0, refund pending');
  });
});

test('new without --id makes the id from the key, so that the next sync creates the prompt', async () => {
  const folder = makeStage(EMBEDDED);
  for (const [key, id] of [
    ['support/refund-policy', 'prm_support_refund-policy'],
    ['what now?/100 %', 'prm_what_now_100_'],
  ] as const) {
    const made = await runJson(folder, ['new', key]);
    expect(made.report.prompts).toMatchObject([{ id, key, status: 'applied' }]);
  }
  expect(await run(folder, ['sync', '--yes'])).toMatchObject({ exitCode: 0 });
});

test('For Langfuse, new writes text and chat prompts that the next sync creates, and accepts --id only if it equals the key', async () => {
  const langfuse = await startLangfuse();
  const folder = makeStage(LANGFUSE);
  for (const [key, flags, type] of [
    ['support/agent', ['--type', 'chat'], 'chat'],
    // In Langfuse, this is a name like any other.
    ['replace_me', ['--id', 'replace_me'], 'text'],
  ] as const) {
    const { report, stderr } = await runJson(folder, ['new', key, ...flags], langfuse);
    expect({ problems: report.problems, stderr }).toEqual({ problems: [], stderr: '' });
    expect(report.prompts).toMatchObject([{ id: key, key, type }]);
    expect(read(folder, `prompts/${key}.md`)).not.toMatch(/^(?:key|name):/m);
  }
  expect(await run(folder, ['validate'])).toMatchObject({ exitCode: 0, stderr: '' });
  const synced = await runJson(folder, ['sync', '--yes'], langfuse);
  expect(synced.report.prompts.map(({ status, type }) => `${status} ${type}`)).toEqual([
    'applied text',
    'applied chat',
  ]);
  expect(await run(folder, ['plan', '--exit-code'], langfuse)).toMatchObject({ exitCode: 0 });
  expect(summarizeRun(await runJson(folder, ['new', 'a', '--id', 'b']))).toBe('exit 1, usage/invalid');
});

test('new pins the given environments in promotion order, and omits an environment that does not allow latest', async () => {
  const folder = makeStage();
  const refuse = async (...words: readonly string[]) => {
    const ran = await run(folder, ['new', 'b', '--id', 'prm_b', ...words]);
    expect([words, ran.exitCode]).toEqual([words, 1]);
    return ran.stdout;
  };
  expect(await refuse('--environment', 'stagin')).toContain('Did you mean "staging"?');
  const flags = ['-e', 'canary', '--environment', 'production', '-e', 'staging', '-e', 'canary'];
  const { exitCode, stderr } = await run(folder, ['new', 'a', '--id', 'prm_a', ...flags]);
  expect(exitCode).toBe(0);
  expect(read(folder, 'prompts/a.md')).toContain('pins:\n  staging: latest\n  canary: latest\n---');
  expect(stderr).toContain('The file does not pin "production" because `promptsync.yaml` does not allow `latest`');
  expect(await refuse('-e', 'production')).toContain('`promptsync.yaml` does not allow `latest` in "production"');
  writeFiles(folder, { 'promptsync.yaml': CONFIG });
  expect(await refuse()).toContain('The command requires `--environment`');
  expect(readdirSync(join(folder, 'prompts'))).toEqual(['a.md']);
  await run(folder, ['new', 'b', '--id', 'prm_b', '-e', 'anything']);
  expect(read(folder, 'prompts/b.md')).toContain('pins:\n  anything: latest\n---');
});

test('new refuses a key, an id or a path that is taken or invalid, and writes nothing', async () => {
  const taken = promptText('greeting', { key: 'support/Gr\u00fc\u00dfe' });
  const folder = makeStage(ENVIRONMENTS, { 'prompts/greeting.md': taken });
  for (const [key, id, code] of [
    ['support/Gr\u00fc\u00dfe', 'x', 'new/taken'],
    ['other', 'prm_greeting', 'new/taken'],
    ['greeting', 'x', 'import/path-taken'],
    ['../greeting2', 'x', 'usage/invalid'],
    ['/etc/motd', 'x', 'usage/invalid'],
    ['a//b', 'x', 'usage/invalid'],
    ['a\u001b[2Jb', 'x', 'usage/invalid'],
    ['', 'x', 'usage/invalid'],
    ['a', 'a/b', 'usage/invalid'],
    ['a', '', 'usage/invalid'],
  ] as const) {
    const refused = await runJson(folder, ['new', key, '--id', id]);
    expect([key, summarizeRun(refused)]).toEqual([key, `exit 1, ${code}`]);
  }
  for (const key of ['prompts/sales/foo.md', 'sales/foo.md']) {
    const { exitCode, report } = await runJson(folder, ['new', key, '--id', 'x']);
    const message = `\`${key}\` is the path of a file. Specify a key instead, such as \`sales/foo\`.`;
    expect({ exitCode, problems: report.problems }).toMatchObject({ exitCode: 1, problems: [{ message }] });
  }
  const outside = makeFolder();
  symlinkSync(outside, join(folder, 'prompts/support'));
  expect((await run(folder, ['new', 'support/a', '--id', 'x'])).exitCode).toBe(1);
  expect(readdirSync(outside)).toEqual([]);
  expect(readdirSync(join(folder, 'prompts'))).toEqual(['greeting.md', 'support']);
  expect(read(folder, 'prompts/greeting.md')).toBe(taken);
});
