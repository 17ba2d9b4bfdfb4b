import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { startServer, type RequestRecord } from '../../src/embedded/server.ts';
import { headOf, nextRequest, sendBytes, startService } from './support.ts';

test.each(listOtherAddresses())(
  'the embedded service does not accept connections at the address %s',
  async (address) => {
    const { server } = await startService();
    await expect(once(connect(server.port, address), 'connect')).rejects.toThrow('ECONNREFUSED');
  },
);

test('starting the embedded service fails if the port is already in use', async () => {
  const { server, store } = await startService();
  await expect(startServer({ store, port: server.port })).rejects.toThrow('EADDRINUSE');
});

test('closing the embedded service ends idle and active connections immediately', async () => {
  const service = await startService();
  const { server } = service;
  await service.read('p1');
  const received = nextRequest();
  const unfinished = await sendBytes(service, `${headOf(service)}Content-Length: 9\r\n\r\n{`);
  const ended = new Promise((resolve) => unfinished.on('close', resolve));
  await received;
  await Promise.all([server.close(), server.close()]);
  await ended;
  await expect(once(connect(server.port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
});

test('the embedded service reports every request to the onRequest hook in order', async () => {
  const records: RequestRecord[] = [];
  const { read, create, call } = await startService({ onRequest: (record) => records.push(record) });
  await read('p1', 'a/b');
  await create('p1', { content: 'x' });
  await create('p9', { content: 'x' });
  await call('POST', '/v1/integration/prompts/p1/versions', { raw: '{' });
  await call('GET', '/elsewhere', { apiKey: null });
  expect(records).toEqual([
    { method: 'GET', path: '/v1/integration/prompts/p1?environment=a%2Fb', status: 200 },
    { method: 'POST', path: '/v1/integration/prompts/p1/versions', body: { content: 'x' }, status: 200 },
    { method: 'POST', path: '/v1/integration/prompts/p9/versions', status: 404 },
    { method: 'POST', path: '/v1/integration/prompts/p1/versions', status: 422 },
    { method: 'GET', path: '/elsewhere', status: 404 },
  ]);
});

test('an error in the onRequest hook makes only the current request fail', async () => {
  let calls = 0;
  const throwFirst = () => {
    if ((calls += 1) === 1) throw new Error('from the hook');
  };
  const { read } = await startService({ onRequest: throwFirst });
  await expect(read('p1')).rejects.toThrow();
  expect((await read('p1')).status).toBe(200);
});

function listOtherAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return ['127.0.0.2', ...all.filter((one) => one.family === 'IPv4' && !one.internal).map((one) => one.address)];
}
