import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClientOptions } from '../../src/providers/four-call/client.ts';
import { openTestClient, failureOf, startHttpServer, wirePrompt } from './support.ts';

/** In seconds. No other timer has this delay, so the tests recognize deadlines by it and trigger them. */
const TIMEOUT = 599;

/** Collects the deadlines of requests in the order in which the requests were sent. */
function holdDeadlines(): (() => void)[] {
  const { setTimeout } = globalThis;
  const deadlines: (() => void)[] = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((callback: () => void, delay, ...given: []) => {
    if (delay === TIMEOUT * 1000) deadlines.push(callback);
    return setTimeout(callback, delay, ...given);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return deadlines;
}

/** Starts a service that answers when a test tells it to, and a client of the service. */
async function heldService(options: Partial<ClientOptions> = {}) {
  const deadlines = holdDeadlines();
  const responses: ServerResponse[] = [];
  const { url } = await startHttpServer((_, response) => void responses.push(response));
  const answer = (at: number) => responses[at]?.end(JSON.stringify(wirePrompt));
  const arrived = async (count: number) => await expect.poll(() => responses.length).toBe(count);
  const client = openTestClient({ baseUrl: url, timeoutSeconds: TIMEOUT, concurrency: 2, ...options });
  return { ...client, url, deadlines, held: responses, answer, arrived };
}

test('the client stops sending requests if its first concurrent requests all time out', async () => {
  const { service, calls, sleeps, url, deadlines, arrived } = await heldService();
  const failures = Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => failureOf(service.readPrompt(id))));
  await arrived(2);
  for (const pass of deadlines) pass();
  const effects = (await failures).map(({ effect }) => effect);
  expect(effects).toEqual(['unknown', 'unknown', 'not-sent', 'not-sent', 'not-sent']);
  const message = `promptsync stopped sending requests because the service at ${url} did not respond to 2 requests within ${TIMEOUT} seconds (no response).`;
  expect(new Set((await failures).map(({ problem }) => `${problem.code} ${problem.message}`))).toEqual(
    new Set([`service/no-answer ${message}`]),
  );
  expect(await failureOf(service.setActive('a', 'staging', 'ver_1'))).toMatchObject({ effect: 'not-sent' });
  expect([calls.length, sleeps]).toEqual([2, []]);
});

test('the client retries a timed-out request if a concurrent request receives a response', async () => {
  const { service, calls, deadlines, answer, arrived } = await heldService();
  const both = Promise.all([service.readPrompt('prm_1', 'a'), service.readPrompt('prm_1', 'b')]);
  await arrived(2);
  deadlines[0]?.();
  await expect.poll(() => calls.length).toBe(1);
  answer(1);
  await arrived(3);
  answer(2);
  expect(await both).toMatchObject([{ id: 'prm_1' }, { id: 'prm_1' }]);
  expect(calls.map(({ status, attempt }) => [status, attempt])).toEqual([
    [null, 1],
    [200, 1],
    [200, 2],
  ]);
});

test.each<[string, (response: ServerResponse | undefined) => unknown]>([
  ['the client retries a timeout if an earlier request got the status 503', (reply) => reply?.writeHead(503).end()],
  ['the client retries a timeout if the service closed an earlier connection', (reply) => reply?.destroy()],
])('%s', async (_, act) => {
  const sleep = () => Promise.reject(new Error('this wait is interrupted'));
  const { service, deadlines, held: responses, arrived } = await heldService({ concurrency: 1, sleep });
  const first = failureOf(service.readPrompt('first'));
  await arrived(1);
  act(responses[0]);
  await first;
  const second = failureOf(service.readPrompt('second'));
  await arrived(2);
  deadlines[1]?.();
  expect((await second).problem.code).toBe('apply/interrupted');
});
