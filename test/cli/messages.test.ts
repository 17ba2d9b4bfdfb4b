import { describe, expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { promptText } from '../support/prompts.ts';
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
    ['A 401 that import gets from Langfuse names the variables of both keys and quotes no JSON', 'import a -e staging'],
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
