import { expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

/** Runs a command line against a service that gives the same answer to every request. */
async function runAgainst(answer: { readonly status: number; readonly body: string }, line: string, provider = '') {
  const { baseUrl } = await startFront({ answer: () => answer });
  const config = `service: { base_url: "${baseUrl}"${provider} }\nprompts: ["prompts/**/*.md"]\n`;
  const prompt = provider === '' ? promptText('a') : '---\nid: a\npins: { staging: latest }\n---\n\nText.\n';
  const folder = makeWorkspace({ 'promptsync.yaml': config, 'prompts/a.md': prompt });
  const environment = { PROMPTSYNC_API_KEY: 'k-1', LANGFUSE_PUBLIC_KEY: 'pk-1', LANGFUSE_SECRET_KEY: 'sk-1' };
  return run(folder, line.split(' '), { environment });
}

test('If a service rejects the key, the error names the variables of the key and contains no JSON', async () => {
  const { stdout, exitCode } = await runAgainst({ status: 403, body: '{"detail":"Not authenticated"}' }, 'plan');
  expect(exitCode).toBe(1);
  expect(stdout).toContain('The service rejected the API key for the prompt "prm_a" (403): "Not authenticated"');
  expect(stdout).toContain('Check the API key in the variable `PROMPTSYNC_API_KEY`.');
  const answer = { status: 401, body: '{"error":"UnauthorizedError","message":"Invalid credentials."}' };
  for (const line of ['plan', 'import b -e staging', 'status --orphans']) {
    const langfuse = await runAgainst(answer, line, ', provider: langfuse');
    expect(langfuse.stdout).toContain('Langfuse rejected the API key (401): "Invalid credentials."');
    expect(langfuse.stdout).toContain(
      'Check the API key in the variable `LANGFUSE_SECRET_KEY` and the variable `LANGFUSE_PUBLIC_KEY`.',
    );
  }
});

test.each([
  ['name:\n', 'Enter a value, or remove the line.'],
  ['name: a\nvariables: name\n', 'Write `variables: [name, order]`, or remove the `variables` field.'],
])('validate of a prompt file with the fields %j gives the hint: %s', async (fields, hint) => {
  const source = `---\nid: prm_a\nkey: a\n${fields}---\n\nHello {{name}}, your order {{order}}.\n`;
  const folder = makeWorkspace({ 'promptsync.yaml': 'prompts: ["*.md"]\n', 'a.md': source });
  expect((await run(folder, ['validate'])).stdout).toContain(hint);
});

const config = 'environments: { staging: {}, production: { promote_from: staging } }\n';
test.each([
  ['promote a', '--to', config, '"staging" or "production"'],
  ['promote a', '--to', '', '"live"'],
  ['promote a --to production', '--from', 'environments: { staging: {}, production: {} }\n', '"staging"'],
  ['import prm_b', '--environment', '', '"live"'],
])('The error for %s without %s in the configuration %j names %s', async (line, option, environments, known) => {
  const pins = { [environments === '' ? 'live' : 'staging']: 'latest' };
  const files = workspaceFiles({ a: { pins } }, `prompts: ["prompts/*.md"]\n${environments}`);
  const folder = makeWorkspace(files);
  const environment = { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9', PROMPTSYNC_API_KEY: 'k-1' };
  const { stdout, exitCode } = await run(folder, line.split(' '), { environment });
  expect(exitCode).toBe(1);
  expect(stdout).toContain(option);
  expect(stdout).toContain(` ${known}.`);
});

const HELP = 'For help, run `promptsync plan --help`.\n';
test.each([
  ['The error for an unknown flag names the command that shows the help', 'plan --dryrun', HELP],
  [
    'The error for an abbreviated flag suggests the full flag if only one flag begins with the abbreviation',
    'plan --env staging',
    `(Did you mean --environment?)\n${HELP}`,
  ],
  ['The error for an abbreviated flag suggests nothing if several flags begin with it', 'plan --o staging', HELP],
  [
    'The error for plan --all says that the command selects all prompts by default',
    'plan --all',
    `(Omit it, because this command selects all prompts by default.)\n${HELP}`,
  ],
  [
    'The error for rollback --all does not suggest a flag that turns off a check',
    'rollback --all',
    'For help, run `promptsync rollback --help`.\n',
  ],
])('%s', async (_, line, rest) => {
  const { stderr, exitCode } = await run(makeWorkspace({}), line.split(' '));
  expect([exitCode, stderr]).toEqual([1, `error: unknown option '${line.split(' ')[1]}'\n${rest}`]);
});
