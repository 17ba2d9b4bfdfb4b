import { http, HttpResponse, type JsonBodyType } from 'msw';
import { defineNetwork, InterceptorSource } from 'msw/experimental';
import { HttpRequestInterceptor } from '@mswjs/interceptors/http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Effect } from '../../../src/http/service-error.ts';
import type { ProblemCode } from '../../../src/problem.ts';
import {
  callNames,
  callsByName,
  openTestClient,
  collectErrorText,
  failureOf,
  goodAnswers,
  KEY,
  newVersion,
  wirePrompt,
  wireVersion,
  type CallName,
} from '../../http/support.ts';

const BASE = 'https://prompts.example.com';
/** Intercepts HTTP at the socket, because msw's `setupServer` does not see requests of undici's `request`. */
const server = defineNetwork({
  sources: [new InterceptorSource({ interceptors: [new HttpRequestInterceptor()] })],
  onUnhandledFrame: 'error',
  context: { quiet: true },
  handlers: [],
});

beforeAll(() => server.enable());
afterEach(() => server.resetHandlers());
afterAll(() => server.disable());

type ReceivedRequest = Pick<Request, 'method' | 'url' | 'headers'> & { readonly body: string };

/** Answers each request with the next answer and repeats the last one. Returns the requests so far. */
function answerInTurn(...answers: readonly (() => Response)[]): readonly ReceivedRequest[] {
  const received: ReceivedRequest[] = [];
  server.use(
    http.all('*', async ({ request }) => {
      received.push({ method: request.method, url: request.url, headers: request.headers, body: await request.text() });
      return (answers[Math.min(received.length, answers.length) - 1] ?? HttpResponse.error)();
    }),
  );
  return received;
}

type SentHeaders = Readonly<Record<string, string>>;
const json =
  (body: JsonBodyType, status = 200, headers: SentHeaders = {}) =>
  () =>
    HttpResponse.json(body, { status, headers });
const text =
  (body: string, status = 200, headers: SentHeaders = {}) =>
  () =>
    new HttpResponse(body, { status, headers });

const openClient = (baseUrl = BASE) => openTestClient({ baseUrl });

describe('the requests of the client', () => {
  const metadata_ = { model: 'gpt-5', promptsync: { digest: 'x' } };
  const requests: readonly (readonly [CallName, string, string, unknown])[] = [
    ['readPrompt', 'GET', '/v1/integration/prompts/prm_1?environment=staging', null],
    ['createVersion', 'POST', '/v1/integration/prompts/prm_1/versions', { content: 'Hello', metadata_ }],
    ['updatePrompt', 'PATCH', '/v1/integration/prompts/prm_1', { name: 'Greeting' }],
    ['setActive', 'POST', '/v1/integration/prompts/prm_1/set-active', { environment: 'staging', version_id: 'ver_1' }],
  ];
  test.each(requests)('the client sends %s as a single %s request to %s', async (name, method, path, body) => {
    const received = answerInTurn(json(goodAnswers[name]));
    const { service, calls } = openClient();
    await callsByName[name](service);
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({ method, url: BASE + path });
    expect(received[0]?.body === '' ? null : JSON.parse(received[0]?.body ?? '')).toEqual(body);
    expect(received[0]?.headers.get('x-api-key')).toBe(KEY);
    expect(received[0]?.headers.get('accept')).toBe('application/json');
    expect(received[0]?.headers.get('accept-encoding')).toBe('identity');
    expect(received[0]?.headers.get('content-type')).toBe(body === null ? null : 'application/json');
    expect(calls).toEqual([{ method, path, status: 200, milliseconds: 0, attempt: 1 }]);
  });

  test('the client sends an empty description but omits fields that are not set', async () => {
    const received = answerInTurn(json(wireVersion), json(wirePrompt));
    const { service } = openClient();
    await service.createVersion('prm_1', { ...newVersion, changeSummary: 'Soften' });
    await service.updatePrompt('prm_1', { description: '' });
    const [version, fields] = received.map(({ body }) => JSON.parse(body));
    expect(version).toMatchObject({ change_summary: 'Soften' });
    expect(fields).toEqual({ description: '' });
  });

  test.each([
    ['', ''],
    ['/a%20b/c//', '/a%20b/c'],
    [':8443', ':8443'],
  ])('the client appends request paths to a base URL that ends with %j', async (end, start) => {
    const received = answerInTurn(json(wirePrompt));
    await openClient(BASE + end).service.readPrompt('prm_1');
    expect(received[0]?.url).toBe(`${BASE}${start}/v1/integration/prompts/prm_1`);
  });

  test.each<[string, string]>([
    ...['a/b?&', 'ä ö', '#', '%2F', '../..', 'a\\b'].map((name): [string, string] => ['prm_1', name]),
    ...['...', '日本', '😀', "it's", 'a+b=c', 'a;b'].map((name): [string, string] => [name, name]),
  ])('the request URL preserves all characters of the prompt id %j and the environment %j', async (id, name) => {
    const received = answerInTurn(json({ ...wirePrompt, id }));
    await openClient().service.readPrompt(id, name);
    const url = new URL(received[0]?.url ?? '');
    const segments = url.pathname.split('/');
    expect(segments).toHaveLength(5);
    expect(decodeURIComponent(segments[4] ?? '')).toBe(id);
    expect([...url.searchParams]).toEqual([['environment', name]]);
  });

  test.each(['', '.', '..', '../../admin', 'a%2e', 'a b', '\ud800'])(
    'the client sends no request for the prompt id %j, which is not a valid path segment',
    async (id) => {
      const received = answerInTurn(json(wirePrompt));
      const { service } = openClient();
      const calls = [service.readPrompt(id), service.createVersion(id, newVersion), service.setActive(id, 'a', 'b')];
      const unsent = { problem: { code: 'service/unaddressable' }, effect: 'not-sent' };
      for (const call of calls) expect(await failureOf(call)).toMatchObject(unsent);
      expect(received).toHaveLength(0);
    },
  );

  test('the client rejects an environment name with a lone surrogate', async () => {
    const failure = await failureOf(openClient().service.readPrompt('prm_1', '\udc00'));
    expect(failure.problem.code).toBe('service/unaddressable');
  });
});

describe('the answers to the client', () => {
  test('the client returns a prompt with the unchanged text and metadata of its active version', async () => {
    const metadata_ = { model: 'gpt-5', promptsync: { digest: 'x' } };
    const active_version = { ...wireVersion, content: 'a\r\nb', metadata_, created_at: null, more: 1 };
    answerInTurn(json({ ...wirePrompt, description: 'd', latest_version_id: 'ver_9', active_version, more: [] }));
    expect(await openClient().service.readPrompt('prm_1', 'staging')).toStrictEqual({
      id: 'prm_1',
      key: 'support/greeting',
      name: 'Greeting',
      description: 'd',
      latestVersionId: 'ver_9',
      activeVersion: { id: 'ver_1', number: 1, content: { type: 'text', text: 'a\r\nb', metadata: metadata_ } },
    });
  });

  const nothing = { description: '', latestVersionId: null, activeVersion: null };
  test.each([
    ['null', { ...wirePrompt, description: null, latest_version_id: null, active_version: null }],
    ['absent', wirePrompt],
  ])('the client accepts a response whose optional fields are %s', async (_, answer) => {
    answerInTurn(json(answer));
    expect(await openClient().service.readPrompt('prm_1')).toMatchObject(nothing);
  });

  test.each<[created_at: unknown, createdAt: number | undefined]>([
    ['2026-01-02T03:04:05.678+02:00', 1_767_315_845_678],
    ['2026-01-02T03:04:05', undefined],
    ['2026-02-30T03:04:05Z', undefined],
    [{ toString: 1 }, undefined],
  ])(
    'If a version has the creation time %j, the client returns %s as its milliseconds since 1970',
    async (created_at, createdAt) => {
      answerInTurn(json({ ...wireVersion, created_at } as JsonBodyType));
      expect((await openClient().service.createVersion('prm_1', newVersion)).createdAt).toBe(createdAt);
    },
  );

  test('the client treats metadata that is null as empty metadata', async () => {
    answerInTurn(json({ ...wireVersion, metadata_: null }));
    const { content } = await openClient().service.createVersion('prm_1', newVersion);
    expect(content).toMatchObject({ metadata: {} });
  });

  test('the client accepts a response with a byte order mark and the header Content-Encoding: identity', async () => {
    answerInTurn(text(`\ufeff${JSON.stringify(wirePrompt)}`, 200, { 'content-encoding': 'identity' }));
    expect(await openClient().service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
  });

  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const version = JSON.stringify(wireVersion);
  const withMetadata = (json: string) => version.replace('}', `,"metadata_":${json}}`);
  const otherActive = { ...wirePrompt, active_version: { ...wireVersion, prompt_id: 'prm_2' } };
  const otherPrompt = JSON.stringify({ ...wirePrompt, id: 'prm_2' });
  test.each<[what: string, CallName, reason: string, answer: string]>([
    ['is an HTML page', 'readPrompt', 'it is not JSON', '<html>Sign in</html>'],
    ['is empty', 'createVersion', 'it is not JSON', ''],
    ['is null', 'readPrompt', 'it is not valid: expected a mapping, but found null', 'null'],
    ['has status 200 but contains an error', 'setActive', '"updated" is missing', '{"error":"no"}'],
    ['has no content', 'createVersion', '"content" is missing', '{"id":"v","prompt_id":"prm_1","version_number":1}'],
    ['has a fractional number', 'createVersion', '"version_number" is not valid', version.replace(':1,', ':1.5,')],
    ['has an empty version id', 'createVersion', '"id" is not valid', version.replace('ver_1', '')],
    ['is of another prompt', 'createVersion', '"prompt_id" belongs to a different', version.replace('prm_1', 'prm_2')],
    ['describes a different prompt', 'updatePrompt', '"id" belongs to a different prompt', otherPrompt],
    ['has a version of another one', 'readPrompt', '"active_version.prompt_id"', JSON.stringify(otherActive)],
    ['has an array as metadata', 'createVersion', '"metadata_" is not valid', withMetadata('[]')],
    ['has a number in its metadata that is infinite', 'createVersion', '"metadata_', withMetadata('{"a":1e999}')],
    ['has deeply nested metadata', 'createVersion', 'it is nested too deeply', withMetadata(`{"a":${deep}}`)],
    ['consists of nested arrays', 'readPrompt', 'it is not valid: expected a mapping, but found a list', deep],
  ])('the client rejects a response that %s (in the call %s, because %j)', async (_what, name, reason, body) => {
    const received = answerInTurn(text(body));
    const failure = await failureOf(callsByName[name](openClient().service));
    expect(failure).toMatchObject({ problem: { code: 'service/invalid-answer' }, effect: 'unknown' });
    expect(failure.message).toContain(reason);
    expect(received).toHaveLength(1);
  });

  test('the client rejects a response that is not valid UTF-8', async () => {
    answerInTurn(() => new HttpResponse(new Uint8Array([0x22, 0xff, 0x22])));
    expect((await failureOf(openClient().service.readPrompt('prm_1'))).message).toContain('it is not UTF-8');
  });

  test('the client rejects a response with a content encoding, which it did not request', async () => {
    answerInTurn(text(JSON.stringify(wirePrompt), 200, { 'content-encoding': 'made-up' }));
    const failure = await failureOf(openClient().service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code: 'service/invalid-answer' }, effect: 'unknown' });
  });

  test('the client shortens a long field path in the error message about an invalid response', async () => {
    const active_version = { ...wireVersion, metadata_: { ['k'.repeat(5000)]: 0 } };
    answerInTurn(text(JSON.stringify({ ...wirePrompt, active_version }).replace(':0}', ':1e999}')));
    expect((await failureOf(openClient().service.readPrompt('prm_1'))).message.length).toBeLessThan(250);
  });

  test('the client reports a failure if the response to setActive contains updated: false', async () => {
    const received = answerInTurn(json({ updated: false }));
    const failure = await failureOf(callsByName.setActive(openClient().service));
    expect(failure).toMatchObject({ problem: { code: 'service/not-updated' }, effect: 'rejected' });
    expect(failure.message).toContain('"staging"');
    expect(received).toHaveLength(1);
  });
});

describe('the status codes of the service', () => {
  type Row = readonly [readonly number[], code: ProblemCode, effect: Effect, times: number, timesToCreate: number];
  const rows: readonly Row[] = [
    [[204], 'service/invalid-answer', 'unknown', 1, 1],
    [[300, 301, 302, 304, 307, 308], 'service/redirect', 'rejected', 1, 1],
    [[400, 409, 413, 422], 'service/unexpected-status', 'rejected', 1, 1],
    [[401, 403], 'service/not-authorised', 'rejected', 1, 1],
    [[404], 'service/prompt-not-found', 'rejected', 1, 1],
    [[408, 425], 'service/unexpected-status', 'rejected', 4, 1],
    [[429], 'service/unexpected-status', 'rejected', 4, 4],
    [[500, 502, 503, 504], 'service/unexpected-status', 'unknown', 4, 1],
    [[501, 599], 'service/unexpected-status', 'unknown', 1, 1],
  ];
  test('the hint for a response with status 413 tells the user to shorten the prompt', async () => {
    answerInTurn(text('Body exceeded 1mb limit', 413));
    const { problem } = await failureOf(callsByName.createVersion(openClient().service));
    expect(problem.hint).toMatch(/^Shorten the prompt's text or metadata/);
  });

  const crossed = rows.flatMap(([statuses, code, effect, times, timesToCreate]) =>
    callNames.flatMap((name) => {
      const named = code === 'service/prompt-not-found' && name === 'setActive' ? 'service/version-not-found' : code;
      const sent = name === 'createVersion' ? timesToCreate : times;
      return statuses.map((status) => [status, name, named, effect, sent] as const);
    }),
  );
  test.each(crossed)(
    'if the service returns status %i for %s, the client reports %s with the effect %s after %i attempts',
    async (status, name, code, effect, times) => {
      const empty = status === 204 || status === 304;
      const received = answerInTurn(
        () => new HttpResponse(empty ? null : 'Sorry', { status, headers: { location: '/other' } }),
      );
      const { service, calls } = openClient();
      const failure = await failureOf(callsByName[name](service));
      expect(failure).toMatchObject({ problem: { code }, effect });
      expect(received).toHaveLength(times);
      expect(calls.map((call) => [call.status, call.attempt])).toEqual(
        Array.from({ length: times }, (_, index) => [status, index + 1]),
      );
    },
  );

  test.each(callNames)('the client retries %s after the delay that a 429 response requests', async (name) => {
    const received = answerInTurn(json({}, 429, { 'retry-after': '7' }), json(goodAnswers[name]));
    const { service, sleeps } = openClient();
    await callsByName[name](service);
    expect(received).toHaveLength(2);
    expect(sleeps).toEqual([7_000]);
  });

  test.each([
    [
      'a redirect error names the origin of the redirect target, but not its path, and the hint is to change the base URL',
      `https://user:pass@login.example.com/${KEY}?next=secret#x`,
      ' to "https://login.example.com",',
      /^Set the base URL to the address/,
    ],
    [
      'a redirect error shows the host in ASCII',
      'https://аpple.example/',
      ' to "https://xn--pple-43d.example",',
      /^Set/,
    ],
    [
      "a redirect error names the service's own origin if the target is relative, and the hint is to check the path",
      '/other',
      ' to "https://prompts.example.com",',
      /^Check the path in the base URL/,
    ],
    ['a redirect error names no target with an invalid host', 'https://evil\u202e.example/', ',', /^Set the base URL/],
    ['a redirect error names no target that is not a web address', 'javascript:alert(1)', ',', /^Set the base URL/],
  ])('%s', async (_, location, expected, hint) => {
    answerInTurn(text('', 302, { location: encodeURI(location) }));
    const failure = await failureOf(openClient().service.readPrompt('prm_1'));
    expect(failure.message).toBe(`The service returned a redirect (302)${expected} which promptsync does not follow.`);
    expect(failure.problem.hint).toMatch(hint);
  });

  test('the client does not follow redirects, so the API key never reaches a different server', async () => {
    const received = answerInTurn(() => HttpResponse.redirect('https://elsewhere.example.com/', 302));
    const failure = await failureOf(openClient().service.readPrompt('prm_1'));
    expect(failure.message).toContain('(302)');
    expect(received.map(({ url }) => new URL(url).host)).toEqual(['prompts.example.com']);
  });

  test.each([
    ['the client shows a short error message from the service unchanged', 'Sorry', /status 400: "Sorry"$/],
    [
      'the client shortens a long message to one line',
      `Bad\n\n  request: ${'x'.repeat(500)}`,
      /"Bad request: x{187}"$/,
    ],
    ['the client shows the message of a JSON error', '{"error":{"message":"bad id"}}', /status 400: "bad id"$/],
    ['the client shows the title of an HTML page', '<html><title>Sorry</title>nginx</html>', /status 400: "Sorry"$/],
    ['the client shows no text from an HTML page without a title', '<html>nginx</html>', /status 400\.$/],
  ])('%s', async (_, said, shown) => {
    answerInTurn(text(said, 400));
    expect((await failureOf(openClient().service.readPrompt('prm_1'))).message).toMatch(shown);
  });

  test('the client does not show the body of a compressed error response', async () => {
    answerInTurn(text('garbage', 400, { 'content-encoding': 'gzip' }));
    expect((await failureOf(openClient().service.readPrompt('prm_1'))).message).not.toContain('garbage');
  });
});

describe('the key in failures', () => {
  const field = (key: string) => ({ ...wireVersion, metadata_: { [key]: 0 } });
  const other = (key: string) => ({ ...wirePrompt, ...wireVersion, id: key, prompt_id: key });
  const echoes: readonly (readonly [string, number, (key: string) => string])[] = [
    ['echoes as part of an error message', 400, (key) => `invalid key ${key}`],
    ['echoes as part of a JSON error', 500, (key) => JSON.stringify({ headers: { 'x-api-key': key } })],
    ['echoes at the truncation point of a long error message', 401, (key) => 'x'.repeat(190) + key],
    ['echoes as part of an HTML page', 200, (key) => `<html>${key}</html>`],
    ['returns as a field name', 200, (key) => JSON.stringify(field(key)).replace(':0', ':1e999')],
    ['returns as a prompt id', 200, (key) => JSON.stringify(other(key))],
  ];
  const crossed = echoes.flatMap((echo) => callNames.map((name) => [echo[0], name, echo[1], echo[2]] as const));
  test.each(crossed)(
    'the client never reveals an API key that the service %s in the response to %s',
    async (_, name, status, body) => {
      answerInTurn(text(body(KEY), status, { location: `https://evil.example.com/${KEY}` }));
      const { service, calls } = openClient();
      const failure = await failureOf(callsByName[name](service));
      expect(collectErrorText(failure)).not.toContain(KEY);
      expect(failure.cause).toBeUndefined();
      expect(JSON.stringify(calls)).not.toContain(KEY);
    },
  );

  test.each(callNames)(
    'if a line break in the API key makes %s fail, the client does not reveal the key',
    async (name) => {
      const bad = 'sk-live\r\nx-evil: 1';
      const { service } = openTestClient({ baseUrl: BASE, apiKey: bad });
      const failure = await failureOf(callsByName[name](service));
      expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
      expect(collectErrorText(failure)).not.toContain('sk-live');
    },
  );
});
