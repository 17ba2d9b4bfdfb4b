import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, test } from 'vitest';
import type { ProblemCode } from '../../src/problem.ts';
import {
  answer,
  callNames,
  callsByName,
  connected,
  everythingIn,
  failureOf,
  httpServer,
  KEY,
  listening,
  netServer,
  newVersion,
  wirePrompt,
  wireVersion,
} from './support.ts';

const MIB = 1024 * 1024;

/** A server that does one thing to each connection once a request has begun to arrive. */
const onRequest = (act: (socket: Socket) => void) => netServer((socket) => void socket.once('data', () => act(socket)));

function drip(socket: Socket, head: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write('x'), 10);
  socket.on('close', () => clearInterval(timer));
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('before anything was sent', () => {
  test.each(callNames)('%s is repeated when the connection is refused', async (name) => {
    const { service, calls, sleeps } = connected({ baseUrl: `http://127.0.0.1:${await freePort()}` });
    const failure = await failureOf(callsByName[name](service));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(failure.message).toContain('connection refused, ECONNREFUSED');
    expect(calls.map(({ status, attempt }) => [status, attempt])).toEqual([1, 2, 3, 4].map((each) => [null, each]));
    expect(sleeps).toEqual([250, 500, 1000]);
  });

  const unsent: readonly (readonly [string, () => Promise<string>])[] = [
    ['a name that is not known', async () => 'http://promptsync.invalid'],
    ['https to a server that speaks http', async () => (await httpServer(answer)).url.replace('http', 'https')],
    [
      'a server that hangs up in the handshake',
      async () => (await onRequest((s) => s.destroy())).url.replace('http', 'https'),
    ],
    ['a server without a certificate', async () => (await listening(createTlsServer())).url.replace('http', 'https')],
  ];
  test.each(unsent)('%s: not sent', async (_, start) => {
    const { service, calls } = connected({ baseUrl: await start(), timeoutSeconds: 0.1, now: () => performance.now() });
    const failure = await failureOf(callsByName.createVersion(service));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(calls.every(({ status }) => status === null)).toBe(true);
    // Ten seconds is what undici gives a connection by itself.
    expect(Math.max(...calls.map(({ milliseconds }) => milliseconds))).toBeLessThan(9_000);
  });

  test('after it was closed, nothing is sent, and no timer keeps the process alive', async () => {
    const { url, sockets } = await httpServer(answer);
    const { service } = connected({ baseUrl: url });
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    await service.readPrompt('prm_1');
    await service.close();
    expect(timers()).toBeLessThanOrEqual(before);
    await failureOf(service.readPrompt('prm_1'));
    expect(sockets).toHaveLength(1);
  });
});

describe('after the request was sent', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
  const half = JSON.stringify(wirePrompt).slice(0, 20);
  const callsMade = ['readPrompt', 'createVersion', 'setActive'] as const;
  type CallMade = (typeof callsMade)[number];
  const LOST = 'service/connection-lost';
  type Fault = readonly [string, (socket: Socket) => void, ProblemCode, timesToRead: number];
  const cut = `${head}content-length: 500\r\n\r\n${half}`;
  const chunk = `transfer-encoding: chunked\r\n\r\n14\r\n${half}`;
  const INVALID = 'service/invalid-answer';
  const faults: readonly Fault[] = [
    ['it hangs up', (s) => s.destroy(), LOST, 4],
    ['it resets the connection', (s) => s.resetAndDestroy(), LOST, 4],
    ['it ends without an answer', (s) => s.end(), LOST, 4],
    ['its headers are cut', (s) => s.end(head), LOST, 4],
    ['its body is cut', (s) => s.end(cut), LOST, 4],
    ['its body is cut hard', (s) => s.write(cut, () => s.resetAndDestroy()), LOST, 4],
    ['its chunks are cut', (s) => s.end(head + chunk), LOST, 4],
    ['its last chunks are cut', (s) => s.end(`${head}connection: close\r\n${chunk}`), INVALID, 4],
    ['its body ends with the connection', (s) => s.end(`${head}connection: close\r\n\r\n${half}`), INVALID, 1],
    ['it speaks another protocol', (s) => s.end('SSH-2.0-OpenSSH_9.9\r\n'), INVALID, 4],
    ['its headers never end', (s) => s.end(`${head}x: ${'y'.repeat(100_000)}`), INVALID, 1],
  ];
  /** What comes of one call, and how often it was sent. */
  const sendTo = async (act: Fault[1], name: CallMade, timeoutSeconds = 5) => {
    const { url, sockets } = await onRequest(act);
    const { service, calls } = connected({ baseUrl: url, timeoutSeconds });
    const failure = await failureOf(callsByName[name](service));
    expect(everythingIn(failure)).not.toContain(KEY);
    return { code: failure.problem.code, effect: failure.effect, calls: calls.length, connections: sockets.length };
  };
  const unknown = (name: CallMade, code: ProblemCode, timesToRead: number) => {
    const times = name === 'createVersion' ? 1 : timesToRead;
    return { code, effect: 'unknown', calls: times, connections: times };
  };

  const crossed = faults.flatMap(([what, act, code, times]) =>
    callsMade.map((name) => [what, name, unknown(name, code, times), act] as const),
  );
  test.each(crossed)('%s, to %s', async (_, name, said, act) => {
    expect(await sendTo(act, name)).toEqual(said);
  });

  const slow: readonly Fault[1][] = [
    () => {},
    (s) => drip(s, `${head}x: `),
    (s) => drip(s, `${head}content-length: 100000\r\n\r\n`),
    (s) => s.write(`${head}transfer-encoding: chunked\r\n\r\n`),
  ];
  test.each(callsMade)(
    'silence, headers or a body that drip, chunks that never come, to %s: a time-out',
    async (name) => {
      const said = await Promise.all(slow.map((act) => sendTo(act, name, 1)));
      // A status is an answer, whatever becomes of its body.
      const [silent, begun] = [unknown(name, 'service/no-answer', 1), unknown(name, 'service/timeout', 4)];
      expect(said).toEqual([silent, silent, begun, begun]);
    },
  );
});

describe('answers without end', () => {
  /** Writes for as long as it is read, 600 MiB at most. */
  function flood(response: ServerResponse, sent: { bytes: number }): void {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const more = () => {
      while (sent.bytes < 600 * MIB && !response.destroyed) {
        sent.bytes += chunk.length;
        if (!response.write(chunk)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  }

  const floods: readonly (readonly [number, ProblemCode, string, number])[] = [
    [200, 'service/invalid-answer', 'unknown', 48],
    [400, 'service/unexpected-status', 'rejected', 12],
    [404, 'service/prompt-not-found', 'rejected', 12],
  ];
  test.each(floods)('a flood with status %i: %s, %s, at most %i MiB taken', async (status, code, effect, most) => {
    const sent = { bytes: 0 };
    const { url } = await httpServer((_, response) => flood(response.writeHead(status), sent));
    const { service, calls } = connected({ baseUrl: url });
    const before = process.memoryUsage().arrayBuffers;
    const failure = await failureOf(service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code }, effect });
    expect(calls).toMatchObject([{ status, attempt: 1 }]);
    expect(sent.bytes).toBeLessThan(most * MIB);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100 * MIB);
  });

  test('an answer right below the limit is read', async () => {
    const content = 'x'.repeat(31 * MIB);
    const { url } = await httpServer((_, response) => response.end(JSON.stringify({ ...wireVersion, content })));
    const version = await connected({ baseUrl: url }).service.createVersion('prm_1', newVersion);
    expect(version.text.length).toBe(31 * MIB);
  });

  test('an error that drips counts by its status', async () => {
    const { url } = await onRequest((s) => drip(s, 'HTTP/1.1 400 No\r\ncontent-length: 9999\r\n\r\nbecause '));
    const { service, calls } = connected({ baseUrl: url, timeoutSeconds: 1 });
    const failure = await failureOf(service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code: 'service/unexpected-status' }, effect: 'rejected' });
    expect(calls).toHaveLength(1);
  });

  test('an error that is cut within the key shows no half of it', async () => {
    const body = `${'no '.repeat(20)}${KEY.slice(0, -3)}`;
    const { url } = await onRequest((s) => s.end(`HTTP/1.1 400 No\r\ncontent-length: 999\r\n\r\n${body}`));
    const failure = await failureOf(connected({ baseUrl: url }).service.readPrompt('prm_1'));
    expect(failure.message).toContain('no no no');
    expect(everythingIn(failure)).not.toContain(KEY.slice(0, 4));
  });
});

describe('connections', () => {
  test('creating never meets a stale connection; reading gets over one', async () => {
    const used = new WeakSet<Socket>();
    const { url } = await httpServer((request, response) => {
      if (used.has(request.socket)) return void request.socket.destroy();
      used.add(request.socket);
      answer(request, response);
    });
    const { service, calls } = connected({ baseUrl: url, concurrency: 1 });
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

  test.each([1, 3])('never more than %i requests are in flight, and all get through', async (concurrency) => {
    const rounds: number[] = [];
    const waiting: (() => void)[] = [];
    const { url } = await httpServer((request, response) => {
      if (request.url === '/others') return void response.end();
      if (waiting.push(() => answer(request, response)) === concurrency) void answerAll();
    });
    const answerAll = async () => {
      // One request more of the client would come before that of somebody who asks only now.
      await (await fetch(`${url}/others`)).text();
      rounds.push(waiting.length);
      for (const one of waiting.splice(0)) one();
    };
    const { service } = connected({ baseUrl: url, concurrency });
    const calls = Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? service.readPrompt('prm_1') : service.createVersion('prm_1', newVersion),
    );
    await Promise.all(calls);
    expect(rounds).toEqual(Array.from({ length: 12 / concurrency }, () => concurrency));
  });

  test('the time of a call starts when it does: waiting in line is free', async () => {
    const { url } = await httpServer((request, response) => void setTimeout(() => answer(request, response), 500));
    const { service, calls } = connected({ baseUrl: url, concurrency: 1, timeoutSeconds: 2 });
    await Promise.all(Array.from({ length: 5 }, () => service.readPrompt('prm_1')));
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  test('a call that waits for its turn is not begun once the run is stopped', async () => {
    const stopping = new AbortController();
    const { url } = await httpServer((request, response) => {
      stopping.abort();
      answer(request, response);
    });
    const { service, calls } = connected({ baseUrl: url, concurrency: 1, stop: stopping.signal });
    const [first, second] = [service.readPrompt('prm_1'), failureOf(callsByName.setActive(service))];
    expect(await first).toMatchObject({ id: 'prm_1' });
    expect(await second).toMatchObject({ problem: { code: 'apply/interrupted' }, effect: 'not-sent' });
    expect(calls).toHaveLength(1);
  });

  test('a call that waits to be repeated leaves its place to others', async () => {
    const { url } = await httpServer((request, response) => {
      if (request.url?.includes('slow') && !calls.some(({ path }) => path.includes('prm_1'))) {
        return void response.writeHead(503).end();
      }
      const id = request.url?.includes('slow') ? 'slow' : 'prm_1';
      response.end(JSON.stringify({ ...wirePrompt, id }));
    });
    const other = Promise.withResolvers<unknown>();
    const { service, calls } = connected({
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
