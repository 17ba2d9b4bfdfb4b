import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { findProxy, isLoopback } from '../../src/domain/network.ts';
import {
  answer,
  callsByName,
  openTestClient,
  collectErrorText,
  failureOf,
  startHttpServer,
  KEY,
  listenUntilTestEnd,
} from './support.ts';

const SERVICE = 'http://prompts.invalid';
/** In seconds. Without a proxy, the client looks up this name, and some resolvers are slow to reject it. */
const LOOKUP = 0.1;

afterEach(() => vi.unstubAllEnvs());

type Tunnel = { readonly target: string; readonly headers: IncomingMessage['headers'] };

/** Starts a proxy that answers plain requests itself and passes CONNECT requests to the test. */
async function startProxy(onConnect: (socket: Socket) => unknown = (socket) => socket.end('HTTP/1.1 403 No\r\n\r\n')) {
  const forwarded: IncomingMessage[] = [];
  const tunnels: Tunnel[] = [];
  const server = createServer((request, response) => {
    forwarded.push(request);
    answer(request, response);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    tunnels.push({ target: request.url ?? '', headers: request.headers });
    onConnect(socket);
  });
  return { ...(await listenUntilTestEnd(server)), forwarded, tunnels };
}

describe('a proxy from the environment variables', () => {
  test('the client sends an HTTP request through a proxy, even if the setting has no scheme and has blanks around it', async () => {
    const { port, forwarded } = await startProxy();
    const { service } = openTestClient({ baseUrl: SERVICE, environment: { HTTP_PROXY: ` 127.0.0.1:${port} ` } });
    expect(await service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
    expect(forwarded.map(({ url: target }) => target)).toEqual([`${SERVICE}/v1/integration/prompts/prm_1`]);
  });

  test('the client requests an HTTPS tunnel from the proxy and reveals its password only to the proxy, and the API key not even there', async () => {
    const { port, tunnels } = await startProxy();
    const environment = { https_proxy: `http://user:hunter2@127.0.0.1:${port}` };
    const { service } = openTestClient({ baseUrl: 'https://prompts.invalid', environment });
    const failure = await failureOf(callsByName.createVersion(service));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(failure.message).toContain('the proxy rejected the tunnel');
    expect(tunnels[0]?.target).toBe('prompts.invalid:443');
    expect(tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${btoa('user:hunter2')}`);
    expect(JSON.stringify(tunnels)).not.toContain(KEY);
    expect(collectErrorText(failure)).not.toContain('hunter2');
  });

  const OPENED = 'HTTP/1.1 200 OK\r\n\r\n';
  const REFUSED = 'HTTP/1.1 407 Who are you\r\n\r\n';
  test.each<[string, code: string, onConnect: (socket: Socket) => unknown]>([
    ['the client times out if a proxy never responds', 'service/no-answer', () => {}],
    ['the client times out if a proxy tunnel sends no data', 'service/no-answer', (socket) => socket.write(OPENED)],
    ['the client fails if a proxy requires a password', 'service/unreachable', (socket) => socket.end(REFUSED)],
  ])('%s', async (_, code, onConnect) => {
    const { url } = await startProxy(onConnect);
    const options = { baseUrl: 'https://prompts.invalid', environment: { https_proxy: url }, timeoutSeconds: 0.1 };
    const failure = await failureOf(openTestClient(options).service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code }, effect: 'not-sent' });
  });

  test.each([
    [SERVICE, 'http_proxy'],
    ['https://prompts.invalid', 'https_proxy'],
  ])(
    'the client names an unreachable proxy for %s in the error but does not reveal the proxy password',
    async (baseUrl, variable) => {
      const environment = { [variable]: 'http://user:hunter2@127.0.0.1:1' };
      const failure = await failureOf(openTestClient({ baseUrl, environment }).service.readPrompt('prm_1'));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(failure.message).toContain(`${baseUrl} (the proxy 127.0.0.1:1: connection refused`);
      expect(collectErrorText(failure)).not.toContain('hunter2');
    },
  );

  test('the client opens a new proxy connection for each createVersion call', async () => {
    const { url, sockets } = await startProxy();
    const { service } = openTestClient({ baseUrl: SERVICE, environment: { http_proxy: url }, concurrency: 1 });
    const opened: number[] = [];
    for (let times = 0; times < 3; times += 1) {
      await callsByName.createVersion(service);
      opened.push(sockets.length);
    }
    expect(opened).toEqual([1, 2, 3]);
  });

  test.each(['http://user:hunter2@:99999', 'gopher://user:hunter2@proxy', 'http://'])(
    'the client rejects the invalid proxy setting %s without revealing a password',
    async (http_proxy) => {
      const { service, calls } = openTestClient({ baseUrl: SERVICE, environment: { http_proxy } });
      const failure = await failureOf(service.readPrompt('prm_1'));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(failure.message).toContain('proxy setting is not valid');
      expect(collectErrorText(failure)).not.toContain('hunter2');
      expect(calls).toHaveLength(1);
    },
  );
});

describe('requests without a proxy', () => {
  test('the client uses no proxy for a loopback address or if NO_PROXY names the host', async () => {
    const { forwarded, tunnels, url } = await startProxy();
    const { port } = await startHttpServer(answer);
    const loopback = openTestClient({ baseUrl: `http://LOCALHOST:${port}`, environment: { http_proxy: url } });
    expect(await loopback.service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
    const environment = { HTTP_PROXY: url, NO_PROXY: 'example.com, .invalid' };
    const exempt = openTestClient({ baseUrl: SERVICE, environment, timeoutSeconds: LOOKUP });
    expect(await failureOf(exempt.service.readPrompt('prm_1'))).toMatchObject({ effect: 'not-sent' });
    expect([forwarded, tunnels]).toEqual([[], []]);
  });

  test('the client reads proxy settings only from its environment option and not from process.env', async () => {
    const { forwarded, url } = await startProxy();
    vi.stubEnv('HTTP_PROXY', url);
    vi.stubEnv('http_proxy', url);
    for (const environment of [{}, { https_proxy: url }]) {
      const failure = await failureOf(
        openTestClient({ baseUrl: SERVICE, environment, timeoutSeconds: LOOKUP }).service.readPrompt('prm_1'),
      );
      expect(failure.effect).toBe('not-sent');
    }
    expect(forwarded).toEqual([]);
  });

  test('isLoopback returns true only for loopback addresses and localhost', () => {
    for (const host of ['127.0.0.1:1', '127.255.0.9', '2130706433', '0x7f.1', '[::1]:1', 'localhost', 'localhost.']) {
      expect([host, isLoopback(new URL(`https://${host}`))]).toEqual([host, true]);
    }
    for (const host of ['127.0.0.1.example.com', 'localhost.example.com', 'mylocalhost', '128.0.0.1', '[::2]']) {
      expect([host, isLoopback(new URL(`https://${host}`))]).toEqual([host, false]);
    }
  });
});

describe('findProxy', () => {
  const PROXY = 'http://user:hunter2@proxy.example:3128';

  test.each<[string, Record<string, string>, string | null]>([
    ['https://a.example', {}, null],
    ['https://a.example', { HTTPS_PROXY: PROXY }, 'HTTPS_PROXY'],
    ['https://a.example', { HTTPS_PROXY: 'http://other', https_proxy: PROXY }, 'https_proxy'],
    ['https://a.example', { HTTP_PROXY: PROXY }, 'HTTP_PROXY'],
    ['https://a.example', { HTTP_PROXY: PROXY, HTTPS_PROXY: '' }, 'HTTP_PROXY'],
    ['http://a.example', { HTTP_PROXY: PROXY, http_proxy: '' }, null],
    ['http://a.example', { HTTPS_PROXY: PROXY }, null],
    ['http://a.example', { http_proxy: PROXY }, 'http_proxy'],
    ['https://a.example', { HTTPS_PROXY: PROXY, NO_PROXY: 'b.example, a.example' }, null],
    ['https://x.a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '.a.example' }, null],
    ['https://a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '*.a.example' }, 'HTTPS_PROXY'],
    ['https://x.a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '*.a.example' }, null],
    ['https://xa.example', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example' }, 'HTTPS_PROXY'],
    ['https://A.example', { HTTPS_PROXY: PROXY, no_proxy: 'a.EXAMPLE.' }, null],
    ['https://a.example', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, null],
    ['https://a.example:8443', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example:443' }, 'HTTPS_PROXY'],
    ['https://a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }, null],
    ['https://a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '*:80' }, 'HTTPS_PROXY'],
    ['https://[2001:db8::1]', { HTTPS_PROXY: PROXY, NO_PROXY: '[2001:db8::1]:443' }, null],
    ['https://[2001:db8::1]', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::1' }, null],
    ['https://10.255.255.1', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.example,10.0.0.0/8' }, null],
    ['https://11.0.0.1', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8' }, 'HTTPS_PROXY'],
    ['https://10.0.0.1:8443', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/8:443' }, 'HTTPS_PROXY'],
    ['https://10.a.example', { HTTPS_PROXY: PROXY, NO_PROXY: '0.0.0.0/0' }, 'HTTPS_PROXY'],
    ['https://10.0.0.1', { HTTPS_PROXY: PROXY, NO_PROXY: '10.0.0.0/33' }, 'HTTPS_PROXY'],
    ['https://[2001:db8::1]', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::/32' }, null],
    ['https://[2001:db9::1]', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::/32' }, 'HTTPS_PROXY'],
  ])('the proxy for %s with the variables %j comes from the variable %s', (url, environment, variable) => {
    const expected = variable === null ? null : { variable, host: 'proxy.example:3128' };
    expect(findProxy(new URL(url), environment)).toEqual(expected);
  });

  test('findProxy returns no host if the setting is not a URL', () => {
    expect(findProxy(new URL('https://a.example'), { https_proxy: 'http://:99999' })).toEqual({
      variable: 'https_proxy',
      host: null,
    });
  });
});
