import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ClientOptions } from '../../src/service/client.ts';
import { connected, failureOf, httpServer, KEY, netServer, wirePrompt } from './support.ts';

/** In seconds. Nothing else waits for as long, so that deadlines are known by it; they pass when a test says so. */
const TIMEOUT = 599;

/** Deadlines of requests in the order in which they were sent. */
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

/** A service that answers when a test says so, and a client of it. */
async function heldService(options: Partial<ClientOptions> = {}) {
  const deadlines = holdDeadlines();
  const held: ServerResponse[] = [];
  const { url } = await httpServer((_, response) => void held.push(response));
  const answer = (at: number) => held[at]?.end(JSON.stringify(wirePrompt));
  const arrived = async (count: number) => await expect.poll(() => held.length).toBe(count);
  const client = connected({ baseUrl: url, timeoutSeconds: TIMEOUT, concurrency: 2, ...options });
  return { ...client, url, deadlines, held, answer, arrived };
}

test('where the first requests in flight have all timed out, they are not repeated and no other is sent', async () => {
  const { service, calls, sleeps, url, deadlines, arrived } = await heldService();
  const failures = Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => failureOf(service.readPrompt(id))));
  await arrived(2);
  for (const pass of deadlines) pass();
  const effects = (await failures).map(({ effect }) => effect);
  expect(effects).toEqual(['unknown', 'unknown', 'not-sent', 'not-sent', 'not-sent']);
  const said = `The service at ${url} has answered nothing: 2 requests had ${TIMEOUT} s each (no answer). No more were sent.`;
  expect(new Set((await failures).map(({ problem }) => `${problem.code} ${problem.message}`))).toEqual(
    new Set([`service/no-answer ${said}`]),
  );
  expect(await failureOf(service.setActive('a', 'staging', 'ver_1'))).toMatchObject({ effect: 'not-sent' });
  expect([calls.length, sleeps]).toEqual([2, []]);
});

test('a request that has timed out waits for those in flight: as one of them is answered, it is repeated', async () => {
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
  ['503', (response) => response?.writeHead(503).end()],
  ['403', (response) => response?.writeHead(403).end()],
  ['a connection that breaks', (response) => response?.destroy()],
])('after %s a request that times out is repeated as ever', async (_, act) => {
  const sleep = () => Promise.reject(new Error('this wait is interrupted'));
  const { service, deadlines, held, arrived } = await heldService({ concurrency: 1, sleep });
  const first = failureOf(service.readPrompt('first'));
  await arrived(1);
  act(held[0]);
  await first;
  const second = failureOf(service.readPrompt('second'));
  await arrived(2);
  deadlines[1]?.();
  expect((await second).problem.code).toBe('apply/interrupted');
});

test('a handshake that never ends is silence as well, and nothing was sent', async () => {
  const { url, sockets } = await netServer(() => {});
  const { service } = connected({ baseUrl: url.replace('http', 'https'), timeoutSeconds: 0.1 });
  const failure = await failureOf(service.createVersion('prm_1', { text: 'Hello', metadata: {} }));
  expect(failure).toMatchObject({ problem: { code: 'service/no-answer' }, effect: 'not-sent' });
  expect(failure.message).toContain('1 request had 0.1 s each (no connection in time');
  expect(failure.message).not.toContain(KEY);
  expect(sockets).toHaveLength(1);
});
