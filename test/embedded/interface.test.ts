import { describe, expect, test } from 'vitest';
import { BOTH_KEY, OTHER_KEY, startService } from './support.ts';

const READ = ['GET', '/v1/integration/prompts/p1', undefined] as const;
const CREATE = ['POST', '/v1/integration/prompts/p1/versions', { content: 'x' }] as const;
const UPDATE = ['PATCH', '/v1/integration/prompts/p1', { name: 'x' }] as const;
const ACTIVATE = ['POST', '/v1/integration/prompts/p1/set-active', { environment: 'e', version_id: 'v' }] as const;
const endpoints = [READ, CREATE, UPDATE, ACTIVATE];

describe('create-version of the embedded service', () => {
  test('the embedded service preserves prompt text byte for byte', async () => {
    const { create, activate, read } = await startService();
    const texts = [
      ...['a\r\nb\r\n', 'a\rb', ' \n\ta \n\n', '', '\u{feff}a', 'é e\u0301 Ａ ﬁ', '👩‍👩‍👧 𝒳 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
      ...['שלום \u202e\u200b\u2066\u{e0041}', '\u0001\u001b[31m\u007f\u0085\u2028', `'"; DROP TABLE versions; --\\`],
      'ü\n'.repeat(500_000),
    ];
    for (const content of texts) {
      const version = await create('p1', { content });
      await activate('p1', 'staging', version.body.id);
      expect(version.body.content).toBe(content);
      expect((await read('p1', 'staging')).body.active_version?.content).toBe(content);
    }
  });

  test('the embedded service preserves metadata, including the order of its keys and unusual keys', async () => {
    const { call, activate, read } = await startService();
    const path = '/v1/integration/prompts/p1/versions';
    for (const metadata of [
      '{}',
      '{"a":null,"b":true,"c":-1.5e-7,"d":"x","e":[1,[],{}],"f":{"g":{"h":0}}}',
      '{"__proto__":{"a":1},"constructor":2,"n":{"__proto__":3},"":4}',
      '{"z":1,"a":2,"m":3}',
      '{"a":9007199254740991,"b":-9007199254740991}',
      '{"a":"\\ud800"}',
    ]) {
      const version = await call('POST', path, { raw: `{"content":"x","metadata_":${metadata}}` });
      expect(version.status).toBe(200);
      await activate('p1', 'staging', version.body.id);
      expect(JSON.stringify((await read('p1', 'staging')).body.active_version?.metadata_)).toBe(metadata);
    }
  });
});

test('the embedded service accepts unusual environment names', async () => {
  const { create, activate, read } = await startService();
  const version = await create('p1', { content: 'x' });
  const names = [
    ...['a/b?&', 'a=b&environment=c', 'a+b', '100%', '%2F', ' ', '#'],
    ...['Größe/環境 🚀', '..', "'; --", '__proto__'],
  ];
  for (const environment of names) {
    expect(await activate('p1', environment, version.body.id)).toMatchObject({ status: 200, body: { updated: true } });
    expect((await read('p1', environment)).body.active_version).toEqual(version.body);
    expect((await read('p1', `${environment}x`)).body.active_version).toBeNull();
  }
});

test.each(endpoints)('the embedded service checks the API key of %s %s requests', async (method, path, body) => {
  const { call } = await startService();
  for (const [apiKey, status] of [
    [null, 401],
    ['', 401],
    ['nobody', 401],
    [OTHER_KEY, 403],
  ] as const) {
    const reply = await call(method, path, { apiKey, body });
    expect(reply).toMatchObject({ status, body: { detail: expect.any(String) } });
  }
  expect((await call(...READ)).body).toMatchObject({ name: 'First', latest_version_id: null });
  for (const id of ['p1', 'q1']) {
    expect((await call('GET', `/v1/integration/prompts/${id}`, { apiKey: BOTH_KEY })).status).toBe(200);
  }
});
