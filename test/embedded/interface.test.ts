import { describe, expect, test } from 'vitest';
import { BOTH_KEY, KEY, NOW_TEXT, OTHER_KEY, startService } from './support.ts';

const READ = ['GET', '/v1/integration/prompts/p1', undefined] as const;
const CREATE = ['POST', '/v1/integration/prompts/p1/versions', { content: 'x' }] as const;
const UPDATE = ['PATCH', '/v1/integration/prompts/p1', { name: 'x' }] as const;
const ACTIVATE = ['POST', '/v1/integration/prompts/p1/set-active', { environment: 'e', version_id: 'v' }] as const;
const endpoints = [READ, CREATE, UPDATE, ACTIVATE];

describe('section 4.1, get prompt detail', () => {
  test('a prompt without versions has its fields, no latest version and no active_version', async () => {
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

  test('an environment in which nothing is active has active_version null', async () => {
    const { read } = await startService();
    expect((await read('p1', 'staging')).body).toHaveProperty('active_version', null);
  });
});

describe('section 4.2, create version', () => {
  test('the answer has every field of a version, and null where no metadata was given', async () => {
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
    ['CRLF line ends', 'a\r\nb\r\n'],
    ['a lone carriage return', 'a\rb'],
    ['blanks at both ends', ' \n\ta \n\n'],
    ['an empty text', ''],
    ['a byte order mark', '\u{feff}a'],
    ['composed and decomposed letters', 'é e\u0301 Ａ ﬁ'],
    ['letters beyond the first plane', '👩‍👩‍👧 𝒳 🏴󠁧󠁢󠁥󠁮󠁧󠁿'],
    ['right-to-left and invisible characters', 'שלום \u202e\u200b\u2066\u{e0041}'],
    ['control characters', '\u0001\u001b[31m\u007f\u0085\u2028'],
    ['quotes and backslashes', `'"; DROP TABLE versions; --\\`],
    ['a million characters', 'ü\n'.repeat(500_000)],
  ])('%s are kept to the byte', async (_, content) => {
    const { create, activate, read } = await startService();
    const version = await create('p1', { content });
    await activate('p1', 'staging', version.body.id);
    expect(version.body.content).toBe(content);
    expect((await read('p1', 'staging')).body.active_version?.content).toBe(content);
  });

  test.each([
    ['an empty object', '{}'],
    ['every kind of value', '{"a":null,"b":true,"c":-1.5e-7,"d":"x","e":[1,[],{}],"f":{"g":{"h":0}}}'],
    ['keys that JavaScript treats specially', '{"__proto__":{"a":1},"constructor":2,"n":{"__proto__":3},"":4}'],
    ['keys in their order', '{"z":1,"a":2,"m":3}'],
    ['the greatest exact integers', '{"a":9007199254740991,"b":-9007199254740991}'],
    ['half a surrogate pair', '{"a":"\\ud800"}'],
  ])('metadata: %s is kept', async (_, metadata) => {
    const { call, activate, read } = await startService();
    const path = '/v1/integration/prompts/p1/versions';
    const version = await call('POST', path, { raw: `{"content":"x","metadata_":${metadata}}` });
    expect(version.status).toBe(200);
    await activate('p1', 'staging', version.body.id);
    expect(JSON.stringify((await read('p1', 'staging')).body.active_version?.metadata_)).toBe(metadata);
  });
});

describe('section 4.3, update prompt', () => {
  test('answers with every field of the prompt, and leaves what is active alone', async () => {
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

describe('section 4.4, set active version', () => {
  test.each(ODD_NAMES)('the environment %j is a name like any other', async (environment) => {
    const { create, activate, read } = await startService();
    const version = await create('p1', { content: 'x' });
    expect(await activate('p1', environment, version.body.id)).toMatchObject({ status: 200, body: { updated: true } });
    expect((await read('p1', environment)).body.active_version).toEqual(version.body);
    expect((await read('p1', `${environment}x`)).body.active_version).toBeNull();
  });
});

describe('sections 5 and 7, authorisation and errors', () => {
  describe.each(endpoints)('%s %s', (method, path, body) => {
    test.each([
      ['no key', null, 401],
      ['an empty key', '', 401],
      ['an unknown key', 'nobody', 401],
      ["a key of another project's", OTHER_KEY, 403],
    ])('with %s is refused', async (_, apiKey, status) => {
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
  ])('%s reads %s: %i', async (apiKey, id, status) => {
    const { call } = await startService();
    expect((await call('GET', `/v1/integration/prompts/${id}`, { apiKey })).status).toBe(status);
  });
});
