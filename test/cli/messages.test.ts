import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';

/** Runs a command line against a service that gives the same answer to every request. */
async function runAgainst(answer: { readonly status: number; readonly body: string }, line: string, provider = '') {
  const { baseUrl, requests } = await startFront({ answer: () => answer });
  const config = `service: { base_url: "${baseUrl}"${provider} }\nprompts: ["prompts/**/*.md"]\n`;
  const prompt = provider === '' ? promptText('a') : '---\nid: a\npins: { staging: latest }\n---\n\nText.\n';
  const folder = makeWorkspace({ 'promptsync.yaml': config, 'prompts/a.md': prompt });
  const environment = { PROMPTSYNC_API_KEY: 'k-1', LANGFUSE_PUBLIC_KEY: 'pk-1', LANGFUSE_SECRET_KEY: 'sk-1' };
  return { ...(await run(folder, line.split(' '), { environment })), requests };
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

/** Runs `validate` in a workspace with these files, expects it to fail, and returns its standard output. */
async function validate(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = makeWorkspace({ 'promptsync.yaml': 'prompts: ["*.md"]\n', ...files });
  const { stdout, exitCode } = await run(folder, ['validate']);
  expect(exitCode).toBe(1);
  return stdout;
}

/** Returns the source of a prompt file that has these fields after its id and its key. */
function makeFile(fields: string): string {
  return `---\nid: prm_a\nkey: a\n${fields}---\n\nHello {{name}}, your order {{order}}.\n`;
}

describe('errors in prompt files', () => {
  test.each([
    [
      'name: Support: greeting\n',
      'a.md:4:7: error: promptsync could not parse the YAML: a value that contains a colon needs quotes.',
      'Write the line as `name: "Support: greeting"`.',
    ],
    ['name:\n', 'a.md:4:6: error: The field `name` is invalid: it has no value.', 'Enter a value, or remove the line.'],
    [
      'name: 7\n',
      'a.md:4:7: error: The field `name` is invalid: expected text, but found a number.',
      'Put the value in quotes.',
    ],
    [
      'name: a\nvariables: [nam]\n',
      'which the text does not use.',
      'Write `variables: [name, order]`, or remove the `variables` field.',
    ],
    [
      'name: a\nvariables: name\n',
      'The field `variables` is invalid: expected a list, but found text.',
      'Write `variables: [name, order]`, or remove the `variables` field.',
    ],
    [
      'name: a\npins: { staging: newest }\n',
      'The pin `"newest"` for "staging" is invalid.',
      'Use `latest`, a version number (1 or higher)',
    ],
  ])('validate explains the fields %j with %j and the hint %j', async (fields, message, hint) => {
    const stdout = await validate({ 'a.md': makeFile(fields) });
    expect(stdout).toContain(message);
    expect(stdout).toContain(hint);
    expect(stdout).toContain('1 error.');
  });

  test('If a setting is unknown, validate lists the allowed settings', async () => {
    const stdout = await validate({ 'promptsync.yaml': 'service: { address: https://prompts.example.com }\n' });
    expect(stdout).toContain('The setting `service.address` is unknown.');
    expect(stdout).toContain('The only settings allowed here are `provider`, `base_url`,');
  });
});

describe('a missing environment option', () => {
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
});

describe('ids with commas', () => {
  const ANSWER = { status: 404, body: '{}' };
  test.each([
    ['import refuses comma-separated ids before it sends any request', 'import prm_b,prm_c -e staging', ''],
    [
      'import refuses comma-separated Langfuse names before it sends any request',
      'import b,c -e live',
      ', provider: langfuse',
    ],
  ])('%s', async (_, line, provider) => {
    const { stdout, exitCode, requests } = await runAgainst(ANSWER, line, provider);
    expect([exitCode, requests]).toEqual([1, []]);
    expect(stdout).toContain('Separate ids with spaces, not commas: "');
  });

  test('import accepts an id that contains a comma if the id comes from a file', async () => {
    const { baseUrl, requests } = await startFront({ answer: () => ANSWER });
    const folder = makeWorkspace({ 'promptsync.yaml': 'prompts: ["*.md"]\n', 'ids.txt': 'prm_b,prm_c\n' });
    const environment = { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: 'k-1' };
    await run(folder, ['import', '--from', 'ids.txt', '-e', 'staging'], { environment });
    expect(requests[0]?.path).toContain('prm_b%2Cprm_c');
  });
});

const HELP = 'For help, run `promptsync plan --help`.\n';
test.each([
  ['an unknown flag names the command that shows the help', 'plan --dryrun', HELP],
  [
    'an abbreviated flag suggests the full flag if only one flag begins with the abbreviation',
    'plan --env staging',
    `(Did you mean --environment?)\n${HELP}`,
  ],
  ['an abbreviated flag suggests nothing if several flags begin with it', 'plan --o staging', HELP],
  [
    'plan --all says that the command selects all prompts by default',
    'plan --all',
    `(Omit it, because this command selects all prompts by default.)\n${HELP}`,
  ],
  [
    'rollback --all does not suggest a flag that turns off a check',
    'rollback --all',
    'For help, run `promptsync rollback --help`.\n',
  ],
])('The error for %s', async (_, line, rest) => {
  const { stderr, exitCode } = await run(makeWorkspace({}), line.split(' '));
  expect([exitCode, stderr]).toEqual([1, `error: unknown option '${line.split(' ')[1]}'\n${rest}`]);
});
