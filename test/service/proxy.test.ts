import { createServer, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { isLoopback } from '../../src/domain/network.ts';
import { answer, callsByName, connected, everythingIn, failureOf, httpServer, KEY, listening } from './support.ts';

const SERVICE = 'http://prompts.invalid';
/** Seconds: where no proxy is used this name is looked up, and some resolvers take their time to say no. */
const LOOKUP = 0.1;

afterEach(() => vi.unstubAllEnvs());

type Tunnel = { readonly target: string; readonly headers: IncomingMessage['headers'] };

/** A proxy that answers plain requests itself, and does with CONNECT what the test wants. */
async function proxy(onConnect: (socket: Socket) => void = (socket) => socket.end('HTTP/1.1 403 No\r\n\r\n')) {
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
  return { ...(await listening(server)), forwarded, tunnels };
}

describe('a proxy in the environment', () => {
  test.each<[string, (port: number) => string]>([
    ['http_proxy', (port) => `http://127.0.0.1:${port}`],
    ['HTTP_PROXY', (port) => ` 127.0.0.1:${port} `],
  ])('%s is used, also where it is written without http://', async (variable, address) => {
    const { port, forwarded } = await proxy();
    const { service } = connected({ baseUrl: SERVICE, environment: { [variable]: address(port) } });
    expect(await service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
    expect(forwarded.map(({ url: target }) => target)).toEqual([`${SERVICE}/v1/integration/prompts/prm_1`]);
  });

  test.each(['https_proxy', 'HTTPS_PROXY', 'http_proxy'])(
    '%s is used for https, and never sees the key',
    async (variable) => {
      const { url, tunnels } = await proxy();
      const { service } = connected({ baseUrl: 'https://prompts.invalid', environment: { [variable]: url } });
      const failure = await failureOf(callsByName.createVersion(service));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(failure.message).toContain('the proxy refused the tunnel');
      expect(tunnels[0]?.target).toBe('prompts.invalid:443');
      expect(JSON.stringify(tunnels)).not.toContain(KEY);
    },
  );

  const broken: readonly (readonly [string, string, (socket: Socket) => void])[] = [
    ['never answers', 'service/no-answer', () => {}],
    ['hangs up', 'service/unreachable', (socket) => void socket.destroy()],
    ['hangs up after it agreed', 'service/unreachable', (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')],
    ['agrees and is silent', 'service/no-answer', (socket) => void socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['wants a password', 'service/unreachable', (socket) => void socket.end('HTTP/1.1 407 Who are you\r\n\r\n')],
  ];
  test.each(broken)('a tunnel through a proxy that %s: %s, not sent, and in time', async (_, code, onConnect) => {
    const { url } = await proxy(onConnect);
    const options = { baseUrl: 'https://prompts.invalid', environment: { https_proxy: url }, timeoutSeconds: 0.1 };
    const failure = await failureOf(connected(options).service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code }, effect: 'not-sent' });
  });

  test.each([
    [SERVICE, 'http_proxy'],
    ['https://prompts.invalid', 'https_proxy'],
  ])('one that is down is named on the way to %s, without its password', async (baseUrl, variable) => {
    const environment = { [variable]: 'http://user:hunter2@127.0.0.1:1' };
    const failure = await failureOf(connected({ baseUrl, environment }).service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(failure.message).toContain(`${baseUrl} cannot be reached (the proxy 127.0.0.1:1: connection refused`);
    expect(everythingIn(failure)).not.toContain('hunter2');
  });

  test('creating opens a connection each time here too', async () => {
    const { url, sockets } = await proxy();
    const { service } = connected({ baseUrl: SERVICE, environment: { http_proxy: url }, concurrency: 1 });
    const opened: number[] = [];
    for (let times = 0; times < 3; times += 1) {
      await callsByName.createVersion(service);
      opened.push(sockets.length);
    }
    expect(opened).toEqual([1, 2, 3]);
  });

  test('its password is sent to it and shown nowhere', async () => {
    const { port, tunnels } = await proxy();
    const environment = { https_proxy: `http://user:hunter2@127.0.0.1:${port}` };
    const failure = await failureOf(
      connected({ baseUrl: 'https://prompts.invalid', environment }).service.readPrompt('prm_1'),
    );
    expect(tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${btoa('user:hunter2')}`);
    expect(everythingIn(failure)).not.toContain('hunter2');
  });

  test.each(['http://user:hunter2@:99999', 'gopher://user:hunter2@proxy', 'http://'])(
    'a setting that is no address, %s, fails the call',
    async (http_proxy) => {
      const { service, calls } = connected({ baseUrl: SERVICE, environment: { http_proxy } });
      const failure = await failureOf(service.readPrompt('prm_1'));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(failure.message).toContain('proxy setting is not valid');
      expect(everythingIn(failure)).not.toContain('hunter2');
      expect(calls).toHaveLength(1);
    },
  );
});

describe('no proxy is used', () => {
  test.each(['127.0.0.1', 'localhost', 'LOCALHOST', '127.1'])('for the loopback address %s', async (host) => {
    const { forwarded, tunnels, url } = await proxy();
    const { port } = await httpServer(answer);
    const environment = { http_proxy: url, HTTPS_PROXY: url };
    const { service } = connected({ baseUrl: `http://${host}:${port}`, environment });
    expect(await service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
    expect([forwarded, tunnels]).toEqual([[], []]);
  });

  const exempt: readonly (readonly [string, Record<string, string>])[] = [
    ['no_proxy names the host', { no_proxy: 'prompts.invalid' }],
    ['NO_PROXY names the domain', { NO_PROXY: 'example.com, .invalid' }],
    ['NO_PROXY is a star', { NO_PROXY: '*' }],
    ['the variable in lower case is empty', { http_proxy: '' }],
  ];
  test.each(exempt)('where %s', async (_, environment) => {
    const { forwarded, url } = await proxy();
    const { service } = connected({
      baseUrl: SERVICE,
      environment: { HTTP_PROXY: url, ...environment },
      timeoutSeconds: LOOKUP,
    });
    expect(await failureOf(service.readPrompt('prm_1'))).toMatchObject({ effect: 'not-sent' });
    expect(forwarded).toEqual([]);
  });

  test("where only the process's own environment has one", async () => {
    const { forwarded, url } = await proxy();
    vi.stubEnv('HTTP_PROXY', url);
    vi.stubEnv('http_proxy', url);
    for (const environment of [{}, { https_proxy: url }]) {
      const failure = await failureOf(
        connected({ baseUrl: SERVICE, environment, timeoutSeconds: LOOKUP }).service.readPrompt('prm_1'),
      );
      expect(failure.effect).toBe('not-sent');
    }
    expect(forwarded).toEqual([]);
  });

  const HERE = ['http://127.0.0.1:1', 'http://127.255.0.9', 'http://2130706433', 'http://0x7f.1', 'https://[::1]:1'];
  test.each([...HERE, 'https://localhost', 'https://localhost.'])('%s is loopback', (url) => {
    expect(isLoopback(new URL(url))).toBe(true);
  });

  const ELSEWHERE = ['127.0.0.1.example.com', 'localhost.example.com', 'mylocalhost', '128.0.0.1', '[::2]'];
  test.each(ELSEWHERE)('%s is not', (host) => {
    expect(isLoopback(new URL(`https://${host}`))).toBe(false);
  });
});
