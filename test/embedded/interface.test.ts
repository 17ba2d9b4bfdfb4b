import { describe, expect, test } from 'vitest';
import { BOTH_KEY, KEY, NOW_TEXT, OTHER_KEY, startService } from './support.ts';

const READ = ['GET', '/v1/integration/prompts/p1', undefined] as const;
const CREATE = ['POST', '/v1/integration/prompts/p1/versions', { content: 'x' }] as const;
const UPDATE = ['PATCH', '/v1/integration/prompts/p1', { name: 'x' }] as const;
const ACTIVATE = ['POST', '/v1/integration/prompts/p1/set-active', { environment: 'e', version_id: 'v' }] as const;
const endpoints = [READ, CREATE, UPDATE, ACTIVATE];

describe('get prompt of the embedded service', () => {
  test('reading a prompt without versions returns its fields and a null latest_version_id', async () => {
    const { read } = await startService();
    const { status, body } = await read('p1');
    expect(status).toBe(200);
    expect(body).toEqual({
      id: 'p1',
      project_id: 'one',
      key: 'k/1',
      name: 'First',
      description: 'About it.',
      latest_version_id: null,
    });
  });

  test('reading a prompt in an environment without an active version returns a null active_version', async () => {
    const { read } = await startService();
    expect((await read('p1', 'staging')).body).toHaveProperty('active_version', null);
  });
});

describe('create-version of the embedded service', () => {
  test('create-version returns every field of the new version and null for missing metadata', async () => {
    const { create } = await startService();
    const { status, body } = await create('p1', { content: 'Hello', change_summary: 'First' });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^ver_[0-9a-f-]{36}$/),
      prompt_id: 'p1',
      version_number: 1,
      content: 'Hello',
      metadata_: null,
      created_at: NOW_TEXT,
    });
  });

  test.each([
    ['the embedded service preserves CRLF line endings in prompt text', 'a\r\nb\r\n'],
    ['the embedded service preserves a lone carriage return in prompt text', 'a\rb'],
    ['the embedded service preserves leading and trailing whitespace in prompt text', ' \n\ta \n\n'],
    ['the embedded service preserves empty prompt text', ''],
    ['the embedded service preserves a byte order mark in prompt text', '\u{feff}a'],
    ['the embedded service preserves the Unicode normalization form of prompt text', 'é e\u0301 Ａ ﬁ'],
    ['the embedded service preserves emoji and other characters outside the Basic Multilingual Plane', '👩‍👩‍👧 𝒳 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    [
      'the embedded service preserves right-to-left and invisible characters in prompt text',
      'שלום \u202e\u200b\u2066\u{e0041}',
    ],
    ['the embedded service preserves control characters in prompt text', '\u0001\u001b[31m\u007f\u0085\u2028'],
    ['the embedded service preserves quotes and backslashes in prompt text', `'"; DROP TABLE versions; --\\`],
    ['the embedded service preserves prompt text with one million characters', 'ü\n'.repeat(500_000)],
  ])('%s', async (_, content) => {
    const { create, activate, read } = await startService();
    const version = await create('p1', { content });
    await activate('p1', 'staging', version.body.id);
    expect(version.body.content).toBe(content);
    expect((await read('p1', 'staging')).body.active_version?.content).toBe(content);
  });

  test.each([
    ['the embedded service preserves empty metadata', '{}'],
    [
      'the embedded service preserves every kind of JSON value in metadata',
      '{"a":null,"b":true,"c":-1.5e-7,"d":"x","e":[1,[],{}],"f":{"g":{"h":0}}}',
    ],
    [
      'the embedded service preserves metadata keys such as __proto__ and constructor',
      '{"__proto__":{"a":1},"constructor":2,"n":{"__proto__":3},"":4}',
    ],
    ['the embedded service preserves the order of metadata keys', '{"z":1,"a":2,"m":3}'],
    [
      'the embedded service preserves the largest safe integers in metadata',
      '{"a":9007199254740991,"b":-9007199254740991}',
    ],
    ['the embedded service preserves an escaped lone surrogate in metadata', '{"a":"\\ud800"}'],
  ])('%s', async (_, metadata) => {
    const { call, activate, read } = await startService();
    const path = '/v1/integration/prompts/p1/versions';
    const version = await call('POST', path, { raw: `{"content":"x","metadata_":${metadata}}` });
    expect(version.status).toBe(200);
    await activate('p1', 'staging', version.body.id);
    expect(JSON.stringify((await read('p1', 'staging')).body.active_version?.metadata_)).toBe(metadata);
  });
});

describe('update-prompt of the embedded service', () => {
  test('update-prompt returns every prompt field and leaves the active version unchanged', async () => {
    const { create, activate, update, read } = await startService();
    const version = await create('p1', { content: 'x' });
    await activate('p1', 'staging', version.body.id);
    const { status, body } = await update('p1', { name: 'Näme', description: '' });
    const expected = { id: 'p1', project_id: 'one', key: 'k/1', name: 'Näme', description: '' };
    expect(status).toBe(200);
    expect(body).toEqual({ ...expected, latest_version_id: version.body.id, created_at: NOW_TEXT });
    expect((await read('p1', 'staging')).body).toMatchObject({ ...expected, active_version: version.body });
  });
});

const ODD_NAMES = [
  'a/b?&',
  'a=b&environment=c',
  'a+b',
  '100%',
  '%2F',
  ' ',
  '#',
  'Größe/環境 🚀',
  '..',
  "'; --",
  '__proto__',
];

describe('set-active of the embedded service', () => {
  test.each(ODD_NAMES)('the embedded service accepts %j as an environment name', async (environment) => {
    const { create, activate, read } = await startService();
    const version = await create('p1', { content: 'x' });
    expect(await activate('p1', environment, version.body.id)).toMatchObject({ status: 200, body: { updated: true } });
    expect((await read('p1', environment)).body.active_version).toEqual(version.body);
    expect((await read('p1', `${environment}x`)).body.active_version).toBeNull();
  });
});

describe('authorization of the embedded service', () => {
  describe.each(endpoints)('the embedded service checks the API key of %s %s requests', (method, path, body) => {
    test.each([
      ['the embedded service returns 401 for a request without an API key', null, 401],
      ['the embedded service returns 401 for a request with an empty API key', '', 401],
      ['the embedded service returns 401 for a request with an unknown API key', 'nobody', 401],
      ['the embedded service returns 403 for a request with an API key for another project', OTHER_KEY, 403],
    ])('%s', async (_, apiKey, status) => {
      const { call } = await startService();
      const reply = await call(method, path, { apiKey, body });
      expect(reply).toMatchObject({ status, body: { detail: expect.any(String) } });
      expect((await call(...READ)).body).toMatchObject({ name: 'First', latest_version_id: null });
    });
  });

  test.each([
    [KEY, 'p1', 200],
    [KEY, 'q1', 403],
    [OTHER_KEY, 'p1', 403],
    [OTHER_KEY, 'q1', 200],
    [BOTH_KEY, 'p1', 200],
    [BOTH_KEY, 'q1', 200],
  ])('with the API key %s, reading prompt %s returns status %i', async (apiKey, id, status) => {
    const { call } = await startService();
    expect((await call('GET', `/v1/integration/prompts/${id}`, { apiKey })).status).toBe(status);
  });
});
