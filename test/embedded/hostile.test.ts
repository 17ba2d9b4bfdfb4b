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
  ['no body', VERSIONS, '', 'Content-Type'],
  ['broken JSON', VERSIONS, '{"content":', 'not valid JSON'],
  ['a byte order mark', VERSIONS, '\u{feff}{"content":"x"}', 'not valid JSON'],
  ['an array', VERSIONS, '[]', 'body: '],
  ['a missing content', VERSIONS, '{}', 'body.content: '],
  ['a content that is a number', VERSIONS, '{"content":1}', 'body.content: '],
  ['a content that comes by way of __proto__', VERSIONS, '{"__proto__":{"content":"x"}}', 'body.content: '],
  ['half a surrogate pair', VERSIONS, '{"content":"\\ud83d"}', 'Unicode'],
  ['NUL', VERSIONS, '{"content":"a\\u0000b"}', 'NUL'],
  ['metadata that is an array', VERSIONS, '{"content":"x","metadata_":[]}', 'body.metadata_: '],
  ['metadata that is null', VERSIONS, '{"content":"x","metadata_":null}', 'body.metadata_: '],
  ['a number that is none', VERSIONS, '{"content":"x","metadata_":{"a":1e999}}', 'body.metadata_: '],
  ['metadata nested beyond the stack', VERSIONS, `{"content":"x","metadata_":{"a":${deep(200_000)}}}`, 'too deeply'],
  ['a summary that is a number', VERSIONS, '{"content":"x","change_summary":1}', 'body.change_summary: '],
  ['an environment that is missing', SET_ACTIVE, '{"version_id":"v"}', 'body.environment: '],
  ['an environment that is empty', SET_ACTIVE, '{"environment":"","version_id":"v"}', 'body.environment: '],
  ['an environment with NUL', SET_ACTIVE, '{"environment":"a\\u0000","version_id":"v"}', 'NUL'],
  ['a version that is an object', SET_ACTIVE, '{"environment":"e","version_id":{}}', 'body.version_id: '],
])('a POST with %s is 422 and writes nothing', async (_, path, raw, detail) => {
  const { call, read } = await startService();
  const reply = await call('POST', path, raw === '' ? {} : { raw });
  expect(reply).toMatchObject({ status: 422, body: { detail: expect.stringContaining(detail) } });
  expect((await read('p1')).body.latest_version_id).toBeNull();
});

test.each([
  ['a name that is null', '{"name":null}'],
  ['a description that is null', '{"description":null}'],
  ['a key that is a number', '{"key":7}'],
  ['half a surrogate pair', '{"name":"\\udc00"}'],
  ['one field that is good and one that is not', '{"name":"New","key":[]}'],
])('a PATCH with %s is 422 and writes nothing', async (_, raw) => {
  const { call, read } = await startService();
  expect((await call('PATCH', PROMPT, { raw })).status).toBe(422);
  expect((await read('p1')).body).toMatchObject({ key: 'k/1', name: 'First', description: 'About it.' });
});

test('bytes that are not UTF-8 are 422', async () => {
  const { call } = await startService();
  const raw = Buffer.concat([Buffer.from('{"content":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  expect((await call('POST', VERSIONS, { raw })).status).toBe(422);
});

test('a body of another media type is 422', async () => {
  const { server } = await startService();
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'text/plain' };
  const reply = await fetch(server.baseUrl + VERSIONS, { method: 'POST', headers, body: '{"content":"x"}' });
  expect(reply.status).toBe(422);
});

test('fields that are not known are ignored', async () => {
  const { call } = await startService();
  const raw = '{"content":"x","version_number":99,"id":"mine","__proto__":{"metadata_":{}},"constructor":{}}';
  const { status, body } = await call('POST', VERSIONS, { raw });
  expect({ status, ...body }).toMatchObject({ status: 200, version_number: 1, metadata_: null });
  expect(body.id).not.toBe('mine');
  expect(Object.hasOwn(Object.prototype, 'metadata_')).toBe(false);
});

test.each([
  ['a body at the limit', 0, 200],
  ['a body one byte over it', 1, 413],
])('%s of 32 MiB is answered as it should', async (_, over, status) => {
  const { call, read } = await startService();
  const content = 'x'.repeat(32 * MIB + over - '{"content":""}'.length);
  expect((await call('POST', VERSIONS, { body: { content } })).status).toBe(status);
  expect((await read('p1')).body.latest_version_id === null).toBe(status === 413);
});

const OUTSIDE = ['/', '/v1/integration/prompts/', '//v1/integration/prompts/p1', '/v2/integration/prompts/p1'];
const NO_PROMPTS = ['/versions', 'p1/', 'p9/../p1', '..', '%2e%2e', '__proto__', "'%20OR%201=1--", 'p1/constructor'];
const READABLE = ['p%31', 'p1?', 'p1?other=x', 'p1?environment=%zz'];
const ENCODED_BADLY = ['%', '%ff', '%ed%a0%80'];
const ENVIRONMENTS = ['p1?environment=', 'p1?environment', 'p1?environment=a&environment=b'];
const below = (names: readonly string[]) => names.map((name) => `/v1/integration/prompts/${name}`);
const ofMethod = (method: string, targets: readonly string[], status: number) =>
  targets.map((target): [string, string, number] => [method, target, status]);

test.each([
  ...ofMethod('GET', [...OUTSIDE, ...below(NO_PROMPTS)], 404),
  ...ofMethod('GET', below(READABLE), 200),
  ...ofMethod('GET', below([...ENCODED_BADLY, ...ENVIRONMENTS]), 422),
  ...ofMethod('POST', below(['p1']), 405),
  ...ofMethod('DELETE', below(['p1']), 405),
  ...ofMethod('GET', below(['p1/versions']), 405),
  ...ofMethod('PATCH', below(['p1/set-active']), 405),
])('%s %s is %i', async (method, target, status) => {
  const reply = await sendRaw(await startService(), method, target);
  expect(reply.status).toBe(status);
  if (status !== 200) expect(reply.body).toEqual({ detail: expect.any(String) });
});

test('405 says which methods the path has', async () => {
  const { call } = await startService();
  expect((await call('DELETE', PROMPT)).headers.get('allow')).toBe('GET, PATCH');
});

test.each(['a/b', 'a?b#c', 'a%2Fb', 'ü 🚀', '...', "'; --"])('the prompt id %j can be used', async (id) => {
  const { store, create, read } = await startService();
  store.registerPrompt({ id, projectId: 'one', key: 'odd', name: 'Odd' });
  const version = await create(id, { content: 'x' });
  expect(version.body.prompt_id).toBe(id);
  expect((await read(id)).body).toMatchObject({ id, latest_version_id: version.body.id });
});

test('a client that leaves in the middle of a body writes nothing and disturbs nothing', async () => {
  const service = await startService();
  const socket = connect(service.server.port, '127.0.0.1');
  const begun = nextRequest();
  socket.write(`${headOf(service)}Content-Length: 1000\r\n\r\n{"content":"x"}`);
  const left = Promise.withResolvers<void>();
  (await begun).socket.on('close', left.resolve);
  socket.destroy();
  await left.promise;
  await expectAlive(service);
  expect((await service.read('p1')).body.latest_version_id).toBeNull();
});

test.each<[string, number, (port: number) => string]>([
  ['the address', 200, (port) => `127.0.0.1:${port}`],
  ['the name of this machine', 200, (port) => `localhost:${port}`],
  ['a name that was pointed here', 421, (port) => `evil.example:${port}`],
  ['another port', 421, (port) => `127.0.0.1:${port + 1}`],
  ['no port', 421, () => 'localhost'],
  ['nothing', 421, () => ''],
])('called by %s it answers with %i', async (_, status, host) => {
  const { server, read } = await startService();
  const { port } = server;
  const received = await exchange(port, headOf({ server }, `PATCH ${PROMPT}`, host(port)) + bodyOf('{"name":"Mine"}'));
  expect(received).toContain(`HTTP/1.1 ${status}`);
  expect((await read('p1')).body.name).toBe(status === 200 ? 'Mine' : 'First');
});

test('what is not authorised is answered before its body was received', async () => {
  const { server } = await startService();
  const socket = await begin({ server }, headOf({ server }).replace(KEY, 'wrong') + 'Content-Length: 1000\r\n\r\n');
  expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 401');
});

test('bodies that do not end are held up to a limit for all of them, and others are asked to wait', async () => {
  const service = await startService();
  const half = `${headOf(service)}Content-Length: ${32 * MIB}\r\n\r\n${' '.repeat(30 * MIB)}`;
  const sockets = await Promise.all([1, 2].map(() => begin(service, half)));
  const create = () => service.create('p1', { content: 'x'.repeat(5 * MIB) });
  await expect.poll(async () => (await create()).status).toBe(429);
  expect((await create()).headers.get('retry-after')).toBe('1');
  for (const socket of sockets) socket.destroy();
  await expect.poll(async () => (await create()).status).toBe(200);
});

test('a body that is refused is held no longer, whether it ends or not', async () => {
  const service = await startService();
  const over = `${headOf(service)}Content-Length: ${90 * MIB}\r\n\r\n${' '.repeat(30 * MIB)}`;
  const sockets = await Promise.all([1, 2].map(() => begin(service, over)));
  const status = async () => (await service.create('p1', { content: 'x'.repeat(5 * MIB) })).status;
  await expect.poll(status).toBe(429);
  for (const socket of sockets) socket.write(' '.repeat(5 * MIB));
  await expect.poll(status).toBe(200);
});

test('an error of its own is a bare 500', async () => {
  const service = await startService();
  service.store.close();
  const { status, body } = await service.read('p1');
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'The service met an error of its own.' } });
});

async function expectAlive({ read }: Service): Promise<void> {
  expect((await read('p1')).status).toBe(200);
}

/** The head of a request, up to where the length of its body goes. */
function headOf({ server }: Pick<Service, 'server'>, line = `POST ${VERSIONS}`, host = `127.0.0.1:${server.port}`) {
  return `${line} HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;
}

function bodyOf(text: string): string {
  return `Connection: close\r\nContent-Length: ${text.length}\r\n\r\n${text}`;
}

/** A connection on which this much was sent; it ends with the test. */
async function begin({ server }: Pick<Service, 'server'>, bytes: string): Promise<Socket> {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await new Promise<void>((sent) => void socket.write(bytes, () => sent()));
  return socket;
}

/** What the server sends back until it closes the connection. */
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
