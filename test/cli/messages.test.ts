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
