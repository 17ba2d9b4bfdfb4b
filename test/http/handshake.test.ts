import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { CERTIFICATE, CERTIFICATE_KEY } from './certificate.ts';
import { openTestClient, failureOf, listenUntilTestEnd, startNetServer, newVersion, wireVersion } from './support.ts';

/** In seconds. */
const TIMEOUT = 1;
/** In milliseconds. It is later than the deadline and usually earlier than the client's own connection timeout. */
const TOO_LONG = 1_050;

/** Starts a service that delays the handshake of each connection as long as it is slow. */
async function slowService() {
  const creates: unknown[] = [];
  // The handler speaks only HTTP/1.1, so a client that negotiates HTTP/2 would fail.
  const options = { key: CERTIFICATE_KEY, cert: CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] };
  const server = createServer(options, async (request, response) => {
    creates.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).change_summary);
    response.end(JSON.stringify(wireVersion));
  });
  const { port } = await listenUntilTestEnd(server);
  const slow = { down: true };
  const releases: Promise<void>[] = [];
  const relay = async (socket: Socket) => {
    if (slow.down) await wait(TOO_LONG);
    const onward = connect(port, '127.0.0.1').on('error', () => {});
    socket.on('close', () => onward.destroy()).pipe(onward);
    onward.pipe(socket);
  };
  return { creates, slow, releases, relay: (socket: Socket) => void releases.push(relay(socket)) };
}

type Relay = Awaited<ReturnType<typeof slowService>>['relay'];

async function directly(relay: Relay) {
  const { port } = await startNetServer(relay);
  return { baseUrl: `https://127.0.0.1:${port}` };
}

async function throughProxy(relay: Relay) {
  const proxy = createHttpServer().on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    relay(socket as Socket);
  });
  return { baseUrl: 'https://prompts.invalid', environment: { https_proxy: (await listenUntilTestEnd(proxy)).url } };
}

function trustTheService(): void {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  onTestFinished(() => setDefaultCACertificates(trusted));
}

test.each([
  ['if the TLS handshake outlasts the timeout, the client never sends the createVersion request', directly],
  [
    'if the TLS handshake through a proxy outlasts the timeout, the client never sends the createVersion request',
    throughProxy,
  ],
])('%s', async (_, reach) => {
  trustTheService();
  const { creates, slow, releases, relay } = await slowService();
  const address = await reach(relay);
  const create = (changeSummary: string, timeoutSeconds: number) =>
    openTestClient({ ...address, timeoutSeconds }).service.createVersion('prm_1', { ...newVersion, changeSummary });
  const failure = await failureOf(create('too late', TIMEOUT));
  expect(['not-sent', 'unknown']).toContain(failure.effect);
  await Promise.all(releases);
  slow.down = false;
  // Any delayed request would arrive before this one.
  await create('in time', 30);
  expect(creates).toEqual(['in time']);
});

test('if the certificate of the service is not trusted, the client fails without sending a request or retrying', async () => {
  const { creates, slow, relay } = await slowService();
  slow.down = false;
  const { service, calls } = openTestClient(await directly(relay));
  const failure = await failureOf(service.createVersion('prm_1', newVersion));
  expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
  expect(failure.message).toMatch(/SELF_SIGNED|UNABLE_TO/);
  expect(failure.problem.hint).toContain('NODE_EXTRA_CA_CERTS');
  expect([calls.length, creates]).toEqual([1, []]);
});
