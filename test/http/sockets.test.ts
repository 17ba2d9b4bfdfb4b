import type { Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../src/problem.ts';
import {
  answer,
  callNames,
  callsByName,
  openTestClient,
  collectErrorText,
  failureOf,
  startHttpServer,
  KEY,
  listenUntilTestEnd,
  startNetServer,
  newVersion,
  wirePrompt,
} from './support.ts';

/** Starts a server that acts on each connection as soon as a request starts to arrive. */
const onRequest = (act: (socket: Socket) => void) =>
  startNetServer((socket) => void socket.once('data', () => act(socket)));

function sendSlowly(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), 10);
  socket.on('close', () => clearInterval(timer));
}

describe('failures before a request was sent', () => {
  test('the client retries every call if the connection is refused', async () => {
    for (const name of callNames) {
      const { service, calls, sleeps } = openTestClient({ baseUrl: 'http://127.0.0.1:1' });
      const failure = await failureOf(callsByName[name](service));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(failure.message).toContain('connection refused, ECONNREFUSED');
      expect(calls.map(({ status, attempt }) => [status, attempt])).toEqual([1, 2, 3, 4].map((each) => [null, each]));
      expect(sleeps).toEqual([250, 500, 1000]);
    }
  });

  const NO_TLS = 'the server does not use TLS, so its URL may have to begin with http://';
  const bareTlsServer = () => listenUntilTestEnd(createTlsServer());
  test.each<[string, () => Promise<string>, reason: string]>([
    ['the client sends no request if the host name cannot be resolved', async () => 'http://promptsync.invalid', ''],
    ['the client sends no HTTPS request to an HTTP server', async () => (await startHttpServer(answer)).url, NO_TLS],
    ['the client sends no request to a TLS server without a certificate', async () => (await bareTlsServer()).url, ''],
  ])('%s', async (_, start, reason) => {
    const baseUrl = (await start()).replace('http:', 'https:');
    const { service, calls } = openTestClient({ baseUrl, timeoutSeconds: 0.1, now: () => performance.now() });
    const failure = await failureOf(callsByName.createVersion(service));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(failure.message).toContain(reason);
    expect(calls.every(({ status }) => status === null)).toBe(true);
    // undici's own connection timeout is ten seconds.
    expect(Math.max(...calls.map(({ milliseconds }) => milliseconds))).toBeLessThan(9_000);
  });

  test('a closed client sends no requests and leaves no timers running', async () => {
    const { url, sockets } = await startHttpServer(answer);
    const { service } = openTestClient({ baseUrl: url });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await service.readPrompt('prm_1');
    await service.close();
    expect(timers()).toBeLessThanOrEqual(before);
    await failureOf(service.readPrompt('prm_1'));
    expect(sockets).toHaveLength(1);
  });
});

describe('failures after a request was sent', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const half = JSON.stringify(wirePrompt).slice(0, 20);
  /** A read, a call that the client never repeats, and a write that it repeats. */
  const callsMade = ['readPrompt', 'createVersion', 'setActive'] as const;
  type CallMade = (typeof callsMade)[number];
  const LOST = 'service/connection-lost';
  type Fault = readonly [string, (socket: Socket) => void, ProblemCode, timesToRead: number];
  const resetInBody = (s: Socket) => s.write(`${head}content-length: 500\r\n\r\n${half}`, () => s.resetAndDestroy());
  const chunk = `transfer-encoding: chunked\r\n\r\n14\r\n${half}`;
  const endInChunks = (s: Socket) => s.end(`${head}connection: close\r\n${chunk}`);
  const endInBody = (s: Socket) => s.end(`${head}connection: close\r\n\r\n${half}`);
  const sendLongHeaders = (s: Socket) => s.end(`${head}x: ${'y'.repeat(100_000)}`);
  const INVALID = 'service/invalid-answer';
  const faults: readonly Fault[] = [
    ['the client reports a lost connection if the server destroys the socket', (s) => s.destroy(), LOST, 4],
    ['the client reports a lost connection if the response headers are truncated', (s) => s.end(head), LOST, 4],
    ['the client reports a lost connection if the server resets it in mid-body', resetInBody, LOST, 4],
    ['the client reports an invalid response if its last chunk is missing', endInChunks, INVALID, 4],
    ['the client reports an invalid response if its JSON body ends too early', endInBody, INVALID, 1],
    ['the client reports an invalid response if its headers are too long', sendLongHeaders, INVALID, 1],
  ];
  /** Makes one call that fails. Returns its outcome and how often it was sent. */
  const sendTo = async (act: Fault[1], name: CallMade, timeoutSeconds = 5) => {
    const { url, sockets } = await onRequest(act);
    const { service, calls } = openTestClient({ baseUrl: url, timeoutSeconds });
    const failure = await failureOf(callsByName[name](service));
    expect(collectErrorText(failure)).not.toContain(KEY);
    return { code: failure.problem.code, effect: failure.effect, calls: calls.length, connections: sockets.length };
  };
  const unknown = (name: CallMade, code: ProblemCode, timesToRead: number) => {
    const times = name === 'createVersion' ? 1 : timesToRead;
    return { code, effect: 'unknown', calls: times, connections: times };
  };

  test.each(faults)('%s', async (_, act, code, times) => {
    for (const name of callsMade) expect([name, await sendTo(act, name)]).toEqual([name, unknown(name, code, times)]);
  });

  const slow: readonly Fault[1][] = [
    () => {},
    (s) => sendSlowly(s, `${head}x: `),
    (s) => sendSlowly(s, `${head}content-length: 100000\r\n\r\n`),
    (s) => s.write(`${head}transfer-encoding: chunked\r\n\r\n`),
  ];
  test.each(callsMade)('the client times out if the response to %s is missing or too slow', async (name) => {
    const outcomes = await Promise.all(slow.map((act) => sendTo(act, name, 1)));
    // A status line counts as an answer even if the body never arrives.
    const [silent, begun] = [unknown(name, 'service/no-answer', 1), unknown(name, 'service/timeout', 4)];
    expect(outcomes).toEqual([silent, silent, begun, begun]);
  });
});

test('the client reveals no part of an API key if the connection ends while the service is echoing the key', async () => {
  const body = `${'no '.repeat(20)}${KEY.slice(0, -3)}`;
  const { url } = await onRequest((s) => s.end(`HTTP/1.1 400 No\r\ncontent-length: 999\r\n\r\n${body}`));
  const failure = await failureOf(openTestClient({ baseUrl: url }).service.readPrompt('prm_1'));
  expect(failure.message).toContain('no no no');
  expect(collectErrorText(failure)).not.toContain(KEY.slice(0, 4));
});

describe('the connections of the client', () => {
  test('the client retries readPrompt if a reused connection is closed, and opens a new connection for each createVersion call', async () => {
    const used = new WeakSet<Socket>();
    const { url } = await startHttpServer((request, response) => {
      if (used.has(request.socket)) return void request.socket.destroy();
      used.add(request.socket);
      answer(request, response);
    });
    const { service, calls } = openTestClient({ baseUrl: url, concurrency: 1 });
    await service.readPrompt('prm_1');
    await service.createVersion('prm_1', newVersion);
    await service.readPrompt('prm_1');
    await service.createVersion('prm_1', newVersion);
    expect(calls.map(({ method, status }) => `${method} ${status}`)).toEqual([
      'GET 200',
      'POST 200',
      'GET null',
      'GET 200',
      'POST 200',
    ]);
  });

  test('the client limits the number of concurrent requests and completes all of them', async () => {
    const rounds: number[] = [];
    const waiting: (() => void)[] = [];
    const { url } = await startHttpServer((request, response) => {
      if (request.url === '/others') return void response.end();
      if (waiting.push(() => answer(request, response)) === 3) void answerAll();
    });
    const answerAll = async () => {
      // Any further request of the client would arrive before this later one.
      await (await fetch(`${url}/others`)).text();
      rounds.push(waiting.length);
      for (const one of waiting.splice(0)) one();
    };
    const { service } = openTestClient({ baseUrl: url, concurrency: 3 });
    const pairs = [1, 2, 3].map(() => [service.readPrompt('prm_1'), service.createVersion('prm_1', newVersion)]);
    await Promise.all(pairs.flat());
    expect(rounds).toEqual([3, 3]);
  });

  test('the timeout of a call does not include the time spent in the queue', async () => {
    const { url } = await startHttpServer((request, response) => void setTimeout(() => answer(request, response), 500));
    const { service, calls } = openTestClient({ baseUrl: url, concurrency: 1, timeoutSeconds: 2 });
    await Promise.all(Array.from({ length: 5 }, () => service.readPrompt('prm_1')));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('the client starts no queued calls after an interruption', async () => {
    const stopping = new AbortController();
    const { url } = await startHttpServer((request, response) => {
      stopping.abort();
      answer(request, response);
    });
    const { service, calls } = openTestClient({ baseUrl: url, concurrency: 1, stop: stopping.signal });
    const [first, second] = [service.readPrompt('prm_1'), failureOf(callsByName.setActive(service))];
    expect(await first).toMatchObject({ id: 'prm_1' });
    expect(await second).toMatchObject({ problem: { code: 'apply/interrupted' }, effect: 'not-sent' });
    expect(calls).toHaveLength(1);
  });

  test('a call that is waiting to be retried does not block other calls', async () => {
    const { url } = await startHttpServer((request, response) => {
      if (request.url?.includes('slow') && !calls.some(({ path }) => path.includes('prm_1'))) {
        return void response.writeHead(503).end();
      }
      const id = request.url?.includes('slow') ? 'slow' : 'prm_1';
      response.end(JSON.stringify({ ...wirePrompt, id }));
    });
    const other = Promise.withResolvers<unknown>();
    const { service, calls } = openTestClient({
      baseUrl: url,
      concurrency: 1,
      sleep: async () => void (await other.promise),
    });
    const slow = service.readPrompt('slow');
    other.resolve(service.readPrompt('prm_1'));
    expect(await slow).toMatchObject({ id: 'slow' });
    expect(calls.map(({ path, status }) => [path.split('/').at(-1), status])).toEqual([
      ['slow', 503],
      ['prm_1', 200],
      ['slow', 200],
    ]);
  });
});
