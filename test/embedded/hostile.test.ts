import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, nextRequest, sendRaw, startService, type Service } from './support.ts';

const VERSIONS = '/v1/integration/prompts/p1/versions';
const PROMPT = '/v1/integration/prompts/p1';
const SET_ACTIVE = '/v1/integration/prompts/p1/set-active';
const MIB = 1024 * 1024;
const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test.each([
  ['the embedded service rejects a POST without a body', VERSIONS, '', 'Content-Type'],
  ['the embedded service rejects a POST with malformed JSON', VERSIONS, '{"content":', 'not valid JSON'],
  [
    'the embedded service rejects a POST whose body starts with a byte order mark',
    VERSIONS,
    '\u{feff}{"content":"x"}',
    'not valid JSON',
  ],
  ['the embedded service rejects a POST whose body is an array', VERSIONS, '[]', 'body: '],
  ['the embedded service rejects a new version without content', VERSIONS, '{}', 'body.content: '],
  ['the embedded service rejects a new version whose content is a number', VERSIONS, '{"content":1}', 'body.content: '],
  [
    'the embedded service rejects a new version whose content is nested under __proto__',
    VERSIONS,
    '{"__proto__":{"content":"x"}}',
    'body.content: ',
  ],
  [
    'the embedded service rejects a new version whose content contains a lone surrogate',
    VERSIONS,
    '{"content":"\\ud83d"}',
    'Unicode',
  ],
  [
    'the embedded service rejects a new version whose content contains a NUL character',
    VERSIONS,
    '{"content":"a\\u0000b"}',
    'NUL',
  ],
  [
    'the embedded service rejects a new version whose metadata is an array',
    VERSIONS,
    '{"content":"x","metadata_":[]}',
    'body.metadata_: ',
  ],
  [
    'the embedded service rejects a new version whose metadata is null',
    VERSIONS,
    '{"content":"x","metadata_":null}',
    'body.metadata_: ',
  ],
  [
    'the embedded service rejects a new version whose metadata contains a number that overflows to infinity',
    VERSIONS,
    '{"content":"x","metadata_":{"a":1e999}}',
    'body.metadata_: ',
  ],
  [
    'the embedded service rejects a new version whose metadata is nested too deeply',
    VERSIONS,
    `{"content":"x","metadata_":{"a":${deep(200_000)}}}`,
    'too deeply',
  ],
  [
    'the embedded service rejects a new version whose change summary is a number',
    VERSIONS,
    '{"content":"x","change_summary":1}',
    'body.change_summary: ',
  ],
  [
    'the embedded service rejects a set-active call without an environment',
    SET_ACTIVE,
    '{"version_id":"v"}',
    'body.environment: ',
  ],
  [
    'the embedded service rejects a set-active call with an empty environment name',
    SET_ACTIVE,
    '{"environment":"","version_id":"v"}',
    'body.environment: ',
  ],
  [
    'the embedded service rejects a set-active call with a NUL character in the environment name',
    SET_ACTIVE,
    '{"environment":"a\\u0000","version_id":"v"}',
    'NUL',
  ],
  [
    'the embedded service rejects a set-active call whose version id is an object',
    SET_ACTIVE,
    '{"environment":"e","version_id":{}}',
    'body.version_id: ',
  ],
])('%s', async (_, path, raw, detail) => {
  const { call, read } = await startService();
  const reply = await call('POST', path, raw === '' ? {} : { raw });
  expect(reply).toMatchObject({ status: 422, body: { detail: expect.stringContaining(detail) } });
  expect((await read('p1')).body.latest_version_id).toBeNull();
});

test.each([
  ['the embedded service rejects an update that sets the name to null', '{"name":null}'],
  ['the embedded service rejects an update that sets the description to null', '{"description":null}'],
  ['the embedded service rejects an update that sets the key to a number', '{"key":7}'],
  ['the embedded service rejects an update whose name contains a lone surrogate', '{"name":"\\udc00"}'],
  ['the embedded service rejects an entire update if one of its two fields is invalid', '{"name":"New","key":[]}'],
])('%s', async (_, raw) => {
  const { call, read } = await startService();
  expect((await call('PATCH', PROMPT, { raw })).status).toBe(422);
  expect((await read('p1')).body).toMatchObject({ key: 'k/1', name: 'First', description: 'About it.' });
});

test('the embedded service returns 422 for a request body that is not valid UTF-8', async () => {
  const { call } = await startService();
  const raw = Buffer.concat([Buffer.from('{"content":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  expect((await call('POST', VERSIONS, { raw })).status).toBe(422);
});

test('the embedded service returns 422 for a request body whose content type is not JSON', async () => {
  const { server } = await startService();
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'text/plain' };
  const reply = await fetch(server.baseUrl + VERSIONS, { method: 'POST', headers, body: '{"content":"x"}' });
  expect(reply.status).toBe(422);
});

test('the embedded service ignores unknown fields in a request body', async () => {
  const { call } = await startService();
  const raw = '{"content":"x","version_number":99,"id":"mine","__proto__":{"metadata_":{}},"constructor":{}}';
  const { status, body } = await call('POST', VERSIONS, { raw });
  expect({ status, ...body }).toMatchObject({ status: 200, version_number: 1, metadata_: null });
  expect(body.id).not.toBe('mine');
  expect(Object.hasOwn(Object.prototype, 'metadata_')).toBe(false);
});

test.each([
  ['the embedded service accepts a request body of exactly 32 MiB', 0, 200],
  ['the embedded service rejects a request body that is one byte larger than 32 MiB', 1, 413],
])('%s', async (_, over, status) => {
  const { call, read } = await startService();
  const content = 'x'.repeat(32 * MIB + over - '{"content":""}'.length);
  expect((await call('POST', VERSIONS, { body: { content } })).status).toBe(status);
  expect((await read('p1')).body.latest_version_id === null).toBe(status === 413);
});

const PATHS_OUTSIDE = ['/', '/v1/integration/prompts/', '//v1/integration/prompts/p1', '/v2/integration/prompts/p1'];
const NO_PROMPTS = ['/versions', 'p1/', 'p9/../p1', '..', '%2e%2e', '__proto__', "'%20OR%201=1--", 'p1/constructor'];
const READABLE = ['p%31', 'p1?', 'p1?other=x', 'p1?environment=%zz'];
const ENCODED_BADLY = ['%', '%ff', '%ed%a0%80'];
const ENVIRONMENTS = ['p1?environment=', 'p1?environment', 'p1?environment=a&environment=b'];
const promptPaths = (names: readonly string[]) => names.map((name) => `/v1/integration/prompts/${name}`);
const expectStatus = (method: string, targets: readonly string[], status: number) =>
  targets.map((target): [string, string, number] => [method, target, status]);

test.each([
  ...expectStatus('GET', [...PATHS_OUTSIDE, ...promptPaths(NO_PROMPTS)], 404),
  ...expectStatus('GET', promptPaths(READABLE), 200),
  ...expectStatus('GET', promptPaths([...ENCODED_BADLY, ...ENVIRONMENTS]), 422),
  ...expectStatus('POST', promptPaths(['p1']), 405),
  ...expectStatus('DELETE', promptPaths(['p1']), 405),
  ...expectStatus('GET', promptPaths(['p1/versions']), 405),
  ...expectStatus('PATCH', promptPaths(['p1/set-active']), 405),
])('the embedded service responds to %s %s with status %i', async (method, target, status) => {
  const reply = await sendRaw(await startService(), method, target);
  expect(reply.status).toBe(status);
  if (status !== 200) expect(reply.body).toEqual({ detail: expect.any(String) });
});

test('the embedded service lists the allowed methods in the Allow header of a 405 response', async () => {
  const { call } = await startService();
  expect((await call('DELETE', PROMPT)).headers.get('allow')).toBe('GET, PATCH');
});

test.each(['a/b', 'a?b#c', 'a%2Fb', 'ü 🚀', '...', "'; --"])(
  'the embedded service accepts the prompt id %j',
  async (id) => {
    const { store, create, read } = await startService();
    store.registerPrompt({ id, projectId: 'one', key: 'odd', name: 'Odd' });
    const version = await create(id, { content: 'x' });
    expect(version.body.prompt_id).toBe(id);
    expect((await read(id)).body).toMatchObject({ id, latest_version_id: version.body.id });
  },
);

test('the embedded service creates no version if the client disconnects before it has sent the entire request body', async () => {
  const service = await startService();
  const socket = connect(service.server.port, '127.0.0.1');
  const received = nextRequest();
  socket.write(`${headOf(service)}Content-Length: 1000\r\n\r\n{"content":"x"}`);
  const disconnected = Promise.withResolvers<void>();
  (await received).socket.on('close', disconnected.resolve);
  socket.destroy();
  await disconnected.promise;
  await expectAlive(service);
  expect((await service.read('p1')).body.latest_version_id).toBeNull();
});

test.each<[string, number, (port: number) => string]>([
  [
    'the embedded service accepts requests with the IP address 127.0.0.1 in the Host header',
    200,
    (port) => `127.0.0.1:${port}`,
  ],
  ['the embedded service accepts requests with localhost in the Host header', 200, (port) => `localhost:${port}`],
  [
    'the embedded service rejects requests with an unknown host name in the Host header',
    421,
    (port) => `evil.example:${port}`,
  ],
  [
    'the embedded service rejects requests with the wrong port in the Host header',
    421,
    (port) => `127.0.0.1:${port + 1}`,
  ],
  ['the embedded service rejects requests whose Host header has no port', 421, () => 'localhost'],
  ['the embedded service rejects requests with an empty Host header', 421, () => ''],
])('%s', async (_, status, host) => {
  const { server, read } = await startService();
  const { port } = server;
  const received = await exchange(port, headOf({ server }, `PATCH ${PROMPT}`, host(port)) + bodyOf('{"name":"Mine"}'));
  expect(received).toContain(`HTTP/1.1 ${status}`);
  expect((await read('p1')).body.name).toBe(status === 200 ? 'Mine' : 'First');
});

test('the embedded service rejects an unauthorized request without waiting for the request body', async () => {
  const { server } = await startService();
  const socket = await sendBytes({ server }, headOf({ server }).replace(KEY, 'wrong') + 'Content-Length: 1000\r\n\r\n');
  expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 401');
});

test('the embedded service returns 429 for a new request while unfinished request bodies use too much memory', async () => {
  const service = await startService();
  const half = `${headOf(service)}Content-Length: ${32 * MIB}\r\n\r\n${' '.repeat(30 * MIB)}`;
  const sockets = await Promise.all([1, 2].map(() => sendBytes(service, half)));
  const create = () => service.create('p1', { content: 'x'.repeat(5 * MIB) });
  await expect.poll(async () => (await create()).status).toBe(429);
  expect((await create()).headers.get('retry-after')).toBe('1');
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await create()).status).toBe(200);
});

test('the embedded service frees the memory of a request body as soon as the body exceeds the size limit', async () => {
  const service = await startService();
  const over = `${headOf(service)}Content-Length: ${90 * MIB}\r\n\r\n${' '.repeat(30 * MIB)}`;
  const sockets = await Promise.all([1, 2].map(() => sendBytes(service, over)));
  const status = async () => (await service.create('p1', { content: 'x'.repeat(5 * MIB) })).status;
  await expect.poll(status).toBe(429);
  for (const socket of sockets) socket.write(' '.repeat(5 * MIB));
  await expect.poll(status).toBe(200);
});

test('the embedded service responds to an internal error with status 500 and a generic message', async () => {
  const service = await startService();
  service.store.close();
  const { status, body } = await service.read('p1');
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'The service failed with an internal error.' } });
});

async function expectAlive({ read }: Service): Promise<void> {
  expect((await read('p1')).status).toBe(200);
}

/** Returns the head of a request up to the Content-Length header. */
function headOf({ server }: Pick<Service, 'server'>, line = `POST ${VERSIONS}`, host = `127.0.0.1:${server.port}`) {
  return `${line} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
}

function bodyOf(text: string): string {
  return `Connection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** Opens a connection and sends these bytes. The connection is closed when the test ends. */
async function sendBytes({ server }: Pick<Service, 'server'>, bytes: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((sent) => void socket.write(bytes, () => sent()));
  return socket;
}

/** Sends these bytes and returns everything that the server sends until it closes the connection. */
function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: string[] = [];
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.on('data', (chunk) => chunks.push(String(chunk)));
    socket.on('error', () => {});
    socket.on('close', () => resolve(chunks.join('')));
    socket.end(bytes);
  });
}
