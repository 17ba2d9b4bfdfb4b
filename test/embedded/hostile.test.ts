import { once } from 'node:events';
import { expect, test } from 'vitest';
import { headOf, KEY, nextRequest, sendBytes, sendRaw, startService } from './support.ts';

const VERSIONS = '/v1/integration/prompts/p1/versions';
const PROMPT = '/v1/integration/prompts/p1';
const SET_ACTIVE = '/v1/integration/prompts/p1/set-active';
const deep = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('the embedded service rejects invalid bodies of requests and changes nothing', async () => {
  const { call, read, server } = await startService();
  const withMetadata = (metadata: string) => `{"content":"x","metadata_":${metadata}}`;
  const rows: readonly (readonly [path: string, raw: string, detail: string])[] = [
    [VERSIONS, '', 'Content-Type'],
    [VERSIONS, '{"content":', 'not valid JSON'],
    [VERSIONS, '\u{feff}{"content":"x"}', 'not valid JSON'],
    [VERSIONS, '[]', 'body: '],
    [VERSIONS, '{}', 'body.content: '],
    [VERSIONS, '{"__proto__":{"content":"x"}}', 'body.content: '],
    [VERSIONS, '{"content":"\\ud83d"}', 'Unicode'],
    [VERSIONS, '{"content":"a\\u0000b"}', 'NUL'],
    [VERSIONS, withMetadata('[]'), 'body.metadata_: '],
    [VERSIONS, withMetadata('{"a":1e999}'), 'body.metadata_: '],
    [VERSIONS, withMetadata(`{"a":${deep(200_000)}}`), 'too deeply'],
    [VERSIONS, '{"content":"x","change_summary":1}', 'body.change_summary: '],
    [SET_ACTIVE, '{"environment":"","version_id":"v"}', 'body.environment: '],
    [SET_ACTIVE, '{"environment":"a\\u0000","version_id":"v"}', 'NUL'],
    [SET_ACTIVE, '{"environment":"e","version_id":{}}', 'body.version_id: '],
    [PROMPT, '{"description":null}', 'body.description: '],
    [PROMPT, '{"name":"\\udc00"}', 'Unicode'],
    [PROMPT, '{"name":"New","key":[]}', 'body.key: '],
  ];
  for (const [path, raw, detail] of rows) {
    const { status, body } = await call(path === PROMPT ? 'PATCH' : 'POST', path, raw === '' ? {} : { raw });
    expect([raw.slice(0, 60), status, body.detail]).toEqual([raw.slice(0, 60), 422, expect.stringContaining(detail)]);
  }
  const binary = Buffer.concat([Buffer.from('{"content":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  expect((await call('POST', VERSIONS, { raw: binary })).status).toBe(422);
  const headers = { 'X-API-Key': KEY, 'Content-Type': 'text/plain' };
  const reply = await fetch(server.baseUrl + VERSIONS, { method: 'POST', headers, body: '{"content":"x"}' });
  expect(reply.status).toBe(422);
  expect((await read('p1')).body).toMatchObject({ name: 'First', latest_version_id: null });
});

test('the embedded service ignores unknown fields in a request body', async () => {
  const { call } = await startService();
  const raw = '{"content":"x","version_number":99,"id":"mine","__proto__":{"metadata_":{}},"constructor":{}}';
  const { status, body } = await call('POST', VERSIONS, { raw });
  expect({ status, ...body }).toMatchObject({ status: 200, version_number: 1, metadata_: null });
  expect(body.id).not.toBe('mine');
  expect(Object.hasOwn(Object.prototype, 'metadata_')).toBe(false);
});

const PATHS_OUTSIDE = ['/', '/v1/integration/prompts/', '//v1/integration/prompts/p1', '/v2/integration/prompts/p1'];
const NO_PROMPTS = ['/versions', 'p1/', 'p9/../p1', '..', '%2e%2e', '__proto__', "'%20OR%201=1--", 'p1/constructor'];
const READABLE = ['p%31', 'p1?', 'p1?other=x', 'p1?environment=%zz'];
const ENCODED_BADLY = ['%', '%ff', '%ed%a0%80'];
const ENVIRONMENTS = ['p1?environment=', 'p1?environment', 'p1?environment=a&environment=b'];
const promptPaths = (names: readonly string[]) => names.map((name) => `/v1/integration/prompts/${name}`);

test('the embedded service accepts only the exact paths and methods of its four calls', async () => {
  const service = await startService();
  const rows: readonly (readonly [method: string, targets: readonly string[], status: number])[] = [
    ['GET', [...PATHS_OUTSIDE, ...promptPaths(NO_PROMPTS)], 404],
    ['GET', promptPaths(READABLE), 200],
    ['GET', promptPaths([...ENCODED_BADLY, ...ENVIRONMENTS]), 422],
    ['POST', promptPaths(['p1']), 405],
    ['DELETE', promptPaths(['p1']), 405],
    ['GET', promptPaths(['p1/versions']), 405],
    ['PATCH', promptPaths(['p1/set-active']), 405],
  ];
  for (const [method, targets, status] of rows) {
    for (const target of targets) {
      const reply = await sendRaw(service, method, target);
      expect([method, target, reply.status]).toEqual([method, target, status]);
      if (status !== 200) expect(reply.body).toEqual({ detail: expect.any(String) });
    }
  }
  expect((await service.call('DELETE', PROMPT)).headers.get('allow')).toBe('GET, PATCH');
});

test('the embedded service creates no version if the client disconnects before it has sent the entire request body', async () => {
  const service = await startService();
  const received = nextRequest();
  const socket = await sendBytes(service, `${headOf(service)}Content-Length: 1000\r\n\r\n{"content":"x"}`);
  const connection = (await received).socket;
  const disconnected = new Promise((resolve) => connection.on('close', resolve));
  socket.destroy();
  await disconnected;
  expect((await service.read('p1')).body.latest_version_id).toBeNull();
});

test('the embedded service rejects requests with an unknown host name or a wrong port in the Host header', async () => {
  const service = await startService();
  const { port } = service.server;
  for (const [host, status] of [
    [`127.0.0.1:${port}`, 200],
    [`localhost:${port}`, 200],
    [`evil.example:${port}`, 421],
    [`127.0.0.1:${port + 1}`, 421],
    ['localhost', 421],
  ] as const) {
    await service.update('p1', { name: 'First' });
    const headers = { host, 'content-type': 'application/json' };
    const reply = await sendRaw(service, 'PATCH', PROMPT, { headers, body: '{"name":"Mine"}' });
    expect([host, reply.status]).toEqual([host, status]);
    expect((await service.read('p1')).body.name).toBe(status === 200 ? 'Mine' : 'First');
  }
});

test('the embedded service rejects an unauthorized request without waiting for the request body', async () => {
  const service = await startService();
  const socket = await sendBytes(service, headOf(service).replace(KEY, 'wrong') + 'Content-Length: 1000\r\n\r\n');
  expect(String(await once(socket, 'data'))).toContain('HTTP/1.1 401');
});

test('the embedded service responds to an internal error with status 500 and a generic message', async () => {
  const service = await startService();
  service.store.close();
  const { status, body } = await service.read('p1');
  expect({ status, body }).toEqual({ status: 500, body: { detail: 'The service failed with an internal error.' } });
});
