import { expect, test } from 'vitest';
import { headOf, sendBytes, startService } from './support.ts';

const VERSIONS = '/v1/integration/prompts/p1/versions';
const MIB = 1024 * 1024;

test.each([
  ['the embedded service accepts a request body of exactly 32 MiB', 0, 200],
  ['the embedded service rejects a request body that is one byte larger than 32 MiB', 1, 413],
])('%s', async (_, over, status) => {
  const { call, read } = await startService();
  const content = 'x'.repeat(32 * MIB + over - '{"content":""}'.length);
  expect((await call('POST', VERSIONS, { body: { content } })).status).toBe(status);
  expect((await read('p1')).body.latest_version_id === null).toBe(status === 413);
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
