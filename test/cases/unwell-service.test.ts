import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { makeWorkspace } from '../support/folder.ts';
import { startFront } from '../support/front.ts';
import { CONFIG, workspaceFiles } from '../support/prompts.ts';
import { run } from '../support/run.ts';
import { KEY } from '../support/service.ts';
import { listenUntilTestEnd } from '../http/support.ts';

const IDS = Array.from({ length: 40 }, (_, index) => `p${index}`);
const FORTY = workspaceFiles(Object.fromEntries(IDS.map((id) => [id, {}])), `${CONFIG}timeout_seconds: 1\n`);

function environmentOf(baseUrl: string) {
  return { PROMPTSYNC_BASE_URL: baseUrl, PROMPTSYNC_API_KEY: KEY };
}

test('plan gives up after eight requests if the service never responds', async () => {
  let requests = 0;
  const server = createServer((socket) => socket.on('data', () => void (requests += 1)).on('error', () => {}));
  const { url } = await listenUntilTestEnd(server);
  const { exitCode, stdout } = await run(makeWorkspace(FORTY), ['plan'], { environment: environmentOf(url) });
  expect([exitCode, requests]).toEqual([1, 8]);
  expect(stdout.match(/service\/no-answer/g)).toHaveLength(1);
  expect(stdout).toMatch(
    /^error: promptsync stopped sending requests because the service at \S+ did not respond to 8 requests within 1 second/,
  );
});

/** Answers the first request for each prompt with 429. Returns the standard error of the run. */
async function runWithRateLimit(...words: readonly string[]) {
  const seen = new Set<string>();
  const { baseUrl } = await startFront({
    answer: ({ path }) => {
      if (seen.has(path)) return { status: 500, body: '' };
      seen.add(path);
      return { status: 429, body: '', headers: { 'retry-after': '120' } };
    },
  });
  // The clock stands still, so that all waits overlap.
  const options = { environment: environmentOf(baseUrl), now: () => 0, sleep: async () => {} };
  return (await run(makeWorkspace(FORTY), words, options)).stderr;
}

test('plan reports on standard error how long it waits because of a rate limit, unless --quiet is set', async () => {
  expect(await runWithRateLimit('plan')).toBe('waiting 60 s: the service requested 120 s\n');
  expect(await runWithRateLimit('plan', '--quiet')).toBe('');
});
