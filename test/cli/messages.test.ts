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

describe('responses that reject a key', () => {
  test.each([
    ['A 401 of a four-call service names the variable of the key and quotes no JSON', 401, ''],
    ['A 403 of a four-call service names the variable of the key and quotes no JSON', 403, ' for the prompt "prm_a"'],
  ])('%s', async (_, status, request) => {
    const { stdout, exitCode } = await runAgainst({ status, body: '{"detail":"Not authenticated"}' }, 'plan');
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`The service rejected the API key${request} (${status}): "Not authenticated"`);
    expect(stdout).toContain('Check the variable PROMPTSYNC_API_KEY.');
  });

  test.each([
    ['A 401 that plan gets from Langfuse names the variables of both keys and quotes no JSON', 'plan'],
    ['A 401 that import gets from Langfuse names the variables of both keys and quotes no JSON', 'import b -e staging'],
  ])('%s', async (_, line) => {
    const body = '{"error":"UnauthorizedError","message":"Invalid credentials."}';
    const { stdout } = await runAgainst({ status: 401, body }, line, ', provider: langfuse');
    expect(stdout).toContain('Langfuse rejected the API key (401): "Invalid credentials."');
    expect(stdout).toContain('Check the variable LANGFUSE_SECRET_KEY and the variable LANGFUSE_PUBLIC_KEY.');
  });
});

/** Validates a workspace with these prompt files, and returns what is printed. */
async function validate(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = makeWorkspace({ 'promptsync.yaml': 'prompts: ["*.md"]\n', ...files });
  const { stdout, exitCode } = await run(folder, ['validate']);
  expect(exitCode).toBe(1);
  return stdout;
}

/** Returns a prompt file with these fields after the id and the key. */
function makeFile(fields: string): string {
  return `---\nid: prm_a\nkey: a\n${fields}---\n\nHello {{name}}, your order {{order}}.\n`;
}

describe('errors in prompt files', () => {
  test.each([
    [
      'validate shows the corrected line for a name with a colon',
      'name: Support: greeting\n',
      'a.md:4:7: error: promptsync could not parse the YAML: a value that contains a colon needs quotes.',
      'Write the line as `name: "Support: greeting"`.',
    ],
    [
      'validate says in words that a field has no value',
      'name:\n',
      'a.md:4:6: error: The field "name" is invalid: it has no value.',
      'Write a value, or remove the line.',
    ],
    [
      'validate says in words that a number is not text',
      'name: 7\n',
      'a.md:4:7: error: The field "name" is invalid: expected text, but found a number.',
      'Put the value in quotes.',
    ],
    [
      'validate prints the list of variables to paste if the list is wrong',
      'name: a\nvariables: [nam]\n',
      'The `variables` list contains "nam", but the text does not use it.',
      'Write `variables: [name, order]`, or remove the `variables` field.',
    ],
    [
      'validate prints the list of variables to paste if the field is not a list',
      'name: a\nvariables: name\n',
      'The field "variables" is invalid: expected a list, but found text.',
      'Write `variables: [name, order]`, or remove the `variables` field.',
    ],
    [
      'validate quotes an invalid pin',
      'name: a\npins: { staging: newest }\n',
      'The pin "newest" for "staging" is invalid.',
      'Use `latest`, a version number (1 or higher)',
    ],
  ])('%s', async (_, fields, message, hint) => {
    const stdout = await validate({ 'a.md': makeFile(fields) });
    expect(stdout).toContain(message);
    expect(stdout).toContain(hint);
    expect(stdout).toContain('1 error.');
  });

  test('validate reports one error for a copied prompt file', async () => {
    const file = makeFile('name: a\n');
    const stdout = await validate({ 'a.md': file, 'b.md': file });
    expect(stdout).toContain('b.md:2:5: error: The id "prm_a" and the key "a" are also used by a.md.');
    expect(stdout).toContain('If it is a new prompt, change its id and its key.');
    expect(stdout).toContain('1 error.');
  });

  test('validate lists the allowed settings for an unknown setting', async () => {
    const stdout = await validate({ 'promptsync.yaml': 'service: { address: https://prompts.example.com }\n' });
    expect(stdout).toContain('The setting "service.address" is unknown.');
    expect(stdout).toContain('Use only these settings here: provider, base_url,');
  });
});

describe('a missing environment option', () => {
  const config = 'environments: { staging: {}, production: { promote_from: staging } }\n';
  test.each([
    ['promote without --to lists the configured environments', 'promote a', '--to', config, '"staging", "production"'],
    [
      'rollback without -e lists the configured environments',
      'rollback a',
      '--environment',
      config,
      '"staging", "production"',
    ],
    ['promote without --to lists the pinned environments if none are configured', 'promote a', '--to', '', '"live"'],
    ['promote without --from lists the other environments', 'promote a --to staging', '--from', config, '"production"'],
    [
      'import without -e lists the pinned environments if none are configured',
      'import prm_b',
      '--environment',
      '',
      '"live"',
    ],
  ])('%s', async (_, line, option, environments, known) => {
    const pins = { [environments === '' ? 'live' : 'staging']: 'latest' };
    const files = workspaceFiles({ a: { pins } }, `prompts: ["prompts/*.md"]\n${environments}`);
    const folder = makeWorkspace(files);
    const environment = { PROMPTSYNC_BASE_URL: 'http://127.0.0.1:9', PROMPTSYNC_API_KEY: 'k-1' };
    const { stdout, exitCode } = await run(folder, line.split(' '), { environment });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(option);
    expect(stdout).toContain(`: ${known}.`);
  });
});

describe('ids with commas', () => {
  const ANSWER = { status: 404, body: '{}' };
  test.each([
    ['import refuses ids with commas between them before it sends a request', 'import prm_b,prm_c -e staging', ''],
    ['import refuses an id with a comma at its end before it sends a request', 'import prm_b, prm_c -e staging', ''],
    [
      'import refuses names of Langfuse with commas between them before it sends a request',
      'import b,c -e live',
      ', provider: langfuse',
    ],
  ])('%s', async (_, line, provider) => {
    const { stdout, exitCode, requests } = await runAgainst(ANSWER, line, provider);
    expect([exitCode, requests]).toEqual([1, []]);
    expect(stdout).toContain('Separate ids with spaces, not commas: "');
  });

  test('import accepts an id with a comma from a file', async () => {
    const { baseUrl, requests } = await startFront({ answer: () => ANSWER });
    const folder = makeWorkspace({ 'promptsync.yaml': 'prompts: ["*.md"]\n', 'ids.txt': 'prm_b,prm_c\n' });
    const environment = { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: 'k-1' };
    await run(folder, ['import', '--from', 'ids.txt', '-e', 'staging'], { environment });
    expect(requests[0]?.path).toContain('prm_b%2Cprm_c');
  });
});

test('An invalid command line names the help of its command', async () => {
  const { stderr, exitCode } = await run(makeWorkspace({}), ['plan', '--dryrun']);
  expect([exitCode, stderr]).toEqual([1, "error: unknown option '--dryrun'\nSee promptsync plan --help.\n"]);
});

test('A failed status --orphans says Langfuse instead of the service', async () => {
  const answer = { status: 401, body: '{"message":"Invalid credentials."}' };
  const { stdout } = await runAgainst(answer, 'status --orphans', ', provider: langfuse');
  expect(stdout).toContain('Langfuse rejected the API key (401): "Invalid credentials."');
  expect(stdout).not.toContain('The service');
});
