import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { connected, failureOf, listening, netServer, newVersion, wireVersion } from './support.ts';

/** For 127.0.0.1 and prompts.invalid, until 2120; made for these tests, and of no use elsewhere. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg3oZn4Qucv5FPicvv
XbymtbD4xyFPHYavvQXk2Rt9b4yhRANCAAQezVDD7uE89GcRjSc6lzAlY2dDmy2I
xA/qKXIWwNdhxpUlV/uX/U+8943ljHJHYswCZuV0UfW8HPYwOyj1OsG2
-----END PRIVATE KEY-----`;
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBejCCASGgAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBwcm9tcHRz
eW5jIHRlc3RzMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBwcm9tcHRzeW5jIHRlc3RzMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAEHs1Qw+7hPPRnEY0nOpcwJWNnQ5stiMQP6ilyFsDXYcaVJVf7l/1PvPeN5Yxy
R2LMAmbldFH1vBz2MDso9TrBtqNUMFIwIAYDVR0RBBkwF4cEfwAAAYIPcHJvbXB0
cy5pbnZhbGlkMA8GA1UdEwEB/wQFMAMBAf8wHQYDVR0OBBYEFJH3uLsSMoJRW7LH
zSNUPm6JxUBPMAoGCCqGSM49BAMCA0cAMEQCIBzNmvtlcyRp61VzKVOpsNpLUpXg
CYnN7IGLhCBQ0jqUAiB3Qy+eS4p/qzp+AWbF14wvCps9iqlq9Ed7TMP7njeBQA==
-----END CERTIFICATE-----`;

/** Seconds. */
const TIMEOUT = 1;
/** Milliseconds: later than the deadline, and mostly before the client gives the connection up by itself. */
const TOO_LONG = 1_050;

/** A service whose connections are held back before their handshakes for as long as it is slow. */
async function slowService() {
  const creates: unknown[] = [];
  // Whoever agreed on HTTP/2 would not be understood.
  const options = { key: KEY, cert: CERTIFICATE, ALPNProtocols: ['h2', 'http/1.1'] };
  const server = createServer(options, async (request, response) => {
    creates.push(JSON.parse(Buffer.concat(await request.toArray()).toString()).change_summary);
    response.end(JSON.stringify(wireVersion));
  });
  const { port } = await listening(server);
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
  const { port } = await netServer(relay);
  return { baseUrl: `https://127.0.0.1:${port}` };
}

async function throughProxy(relay: Relay) {
  const proxy = createHttpServer().on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    relay(socket as Socket);
  });
  return { baseUrl: 'https://prompts.invalid', environment: { https_proxy: (await listening(proxy)).url } };
}

function trustTheService(): void {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, CERTIFICATE]);
  onTestFinished(() => setDefaultCACertificates(trusted));
}

test.each([
  ['directly', directly],
  ['through a proxy', throughProxy],
])('%s: a version whose handshake outlasts its deadline is not created after it', async (_, reach) => {
  trustTheService();
  const { creates, slow, releases, relay } = await slowService();
  const address = await reach(relay);
  const create = (changeSummary: string, timeoutSeconds: number) =>
    connected({ ...address, timeoutSeconds }).service.createVersion('prm_1', { ...newVersion, changeSummary });
  const failure = await failureOf(create('too late', TIMEOUT));
  expect(['not-sent', 'unknown']).toContain(failure.effect);
  await Promise.all(releases);
  slow.down = false;
  // What could still be under way arrives before this one.
  await create('in time', 30);
  expect(creates).toEqual(['in time']);
});

test('a certificate that nobody vouches for: not sent, and not tried again', async () => {
  const { creates, slow, relay } = await slowService();
  slow.down = false;
  const { service, calls } = connected(await directly(relay));
  const failure = await failureOf(service.createVersion('prm_1', newVersion));
  expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
  expect(failure.message).toMatch(/SELF_SIGNED|UNABLE_TO/);
  expect(failure.problem.hint).toContain('NODE_EXTRA_CA_CERTS');
  expect([calls.length, creates]).toEqual([1, []]);
});
