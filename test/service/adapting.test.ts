import { describe, expect, test } from 'vitest';
import { readingOnly } from '../../src/domain/observed.ts';
import { observe } from '../../src/observing/observe.ts';
import { callsByName, connected, failureOf, httpServer, wirePrompt, wireVersion } from './support.ts';

const environments = ['staging', 'production', 'qa'];

/** A service that takes a moment for each answer and refuses, at once, what is more than it takes. */
async function limitedTo(most: number) {
  const seen = { most: 0, refusedBy: [] as number[] };
  let inFlight = 0;
  let requests = 0;
  const { url } = await httpServer((request, response) => {
    requests += 1;
    if (inFlight >= most) {
      seen.refusedBy.push(requests);
      return void response.writeHead(429, { 'retry-after': '1' }).end();
    }
    inFlight += 1;
    seen.most = Math.max(seen.most, inFlight);
    const id = request.url?.split('/').at(-1)?.split('?')[0] ?? '';
    setTimeout(() => {
      inFlight -= 1;
      const active_version = { ...wireVersion, prompt_id: id };
      response.end(JSON.stringify({ ...wirePrompt, id, active_version }));
    }, 2);
  });
  return { url, seen };
}

async function observing(url: string, prompts: number, concurrency: number) {
  const { service, calls } = connected({ baseUrl: url, concurrency });
  const requests = Array.from({ length: prompts }, (_, index) => readingOnly(`prm_${index}`, environments));
  const stop = new AbortController().signal;
  return { ...(await observe(service, requests, { trackingEnvironment: 'promptsync', concurrency, stop })), calls };
}

test('a call that waits for its turn is not begun once the run is stopped', async () => {
  const stopping = new AbortController();
  const { url } = await httpServer((_, response) => {
    stopping.abort();
    response.end(JSON.stringify(wirePrompt));
  });
  const { service, calls } = connected({ baseUrl: url, concurrency: 1, stop: stopping.signal });
  const [first, second] = [service.readPrompt('prm_1'), failureOf(callsByName.setActive(service))];
  expect(await first).toMatchObject({ id: 'prm_1' });
  expect(await second).toMatchObject({ problem: { code: 'apply/interrupted' }, effect: 'not-sent' });
  expect(calls).toHaveLength(1);
});

describe('Observing many prompts over a socket', () => {
  test.each([1, 2, 8, 20])(
    'never has more than %i requests in flight, and reads each environment once',
    async (most) => {
      const { url, seen } = await limitedTo(1_000);
      const { observed, failed, calls } = await observing(url, 60, most);
      expect([observed.size, failed.size]).toStrictEqual([60, 0]);
      expect(seen.most).toBe(most);
      expect(calls).toHaveLength(180);
      expect(new Set(calls.map(({ path }) => path)).size).toBe(180);
    },
  );

  test('observes all of them of a service that refuses a fourth request, which it rarely makes', async () => {
    const { url, seen } = await limitedTo(3);
    const { observed, failed } = await observing(url, 200, 16);
    expect([observed.size, failed.size]).toStrictEqual([200, 0]);
    expect(seen.most).toBe(3);
    expect(seen.refusedBy.filter((request) => request > 100).length).toBeLessThan(20);
  });
});
