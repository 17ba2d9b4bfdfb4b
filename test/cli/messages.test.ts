import { expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

test.each([
  ['If Langfuse rejects the key, the error of plan names both variables of the key', 'plan'],
  ['If Langfuse rejects the key, the error of import names both variables of the key', 'import b -e staging'],
  ['If Langfuse rejects the key, the error of status names both variables of the key', 'status --orphans'],
])('%s', async (_, line) => {
  const body = '{"error":"UnauthorizedError","message":"Invalid credentials."}';
  const { baseUrl } = await startFront({ answer: () => ({ status: 401, body }) });
  const folder = makeWorkspace({
    'promptsync.yaml': `service: { base_url: "${baseUrl}", provider: langfuse }\nprompts: ["prompts/**/*.md"]\n`,
    'prompts/a.md': '---\nid: a\npins: { staging: latest }\n---\n\nText.\n',
  });
  const environment = { LANGFUSE_PUBLIC_KEY: 'pk-1', LANGFUSE_SECRET_KEY: 'sk-1' };
  const { stdout, exitCode } = await run(folder, line.split(' '), { environment });
  expect(exitCode).toBe(1);
  expect(stdout).toContain('Langfuse rejected the API key (401): "Invalid credentials."');
  expect(stdout).toContain('in the variable `LANGFUSE_SECRET_KEY` and the variable `LANGFUSE_PUBLIC_KEY`.');
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
