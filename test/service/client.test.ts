import { http, HttpResponse, type JsonBodyType } from 'msw';
import { defineNetwork, InterceptorSource } from 'msw/experimental';
import { HttpRequestInterceptor } from '@mswjs/interceptors/http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Effect } from '../../src/service/prompt-service.ts';
import type { ProblemCode } from '../../src/problem.ts';
import {
  callNames,
  callsByName,
  connected,
  everythingIn,
  failureOf,
  goodAnswers,
  KEY,
  newVersion,
  wirePrompt,
  wireVersion,
  type CallName,
} from './support.ts';

const BASE = 'https://prompts.example.com';
/** msw's `setupServer` does not see undici's `request`; its interceptor of all HTTP, at the socket, does. */
const server = defineNetwork({
  sources: [new InterceptorSource({ interceptors: [new HttpRequestInterceptor()] })],
  onUnhandledFrame: 'error',
  context: { quiet: true },
  handlers: [],
});

beforeAll(() => server.enable());
afterEach(() => server.resetHandlers());
afterAll(() => server.disable());

type Seen = { readonly method: string; readonly url: string; readonly headers: Headers; readonly body: string };

/** Answers every request with the next answer, the last one for ever, and notes what came. */
function answering(...answers: readonly (() => Response)[]): readonly Seen[] {
  const seen: Seen[] = [];
  server.use(
    http.all('*', async ({ request }) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body: await request.text() });
      return (answers[Math.min(seen.length, answers.length) - 1] ?? HttpResponse.error)();
    }),
  );
  return seen;
}

const json =
  (body: JsonBodyType, status = 200, headers: Record<string, string> = {}) =>
  () =>
    HttpResponse.json(body, { status, headers });
const text =
  (body: string, status = 200, headers: Record<string, string> = {}) =>
  () =>
    new HttpResponse(body, { status, headers });

const open = (baseUrl = BASE) => connected({ baseUrl });

describe('what is sent', () => {
  const requests: readonly (readonly [CallName, string, string, unknown])[] = [
    ['readPrompt', 'GET', '/v1/integration/prompts/prm_1?environment=staging', null],
    [
      'createVersion',
      'POST',
      '/v1/integration/prompts/prm_1/versions',
      { content: 'Hello', metadata_: { model: 'gpt-5', promptsync: { digest: 'x' } } },
    ],
    ['updatePrompt', 'PATCH', '/v1/integration/prompts/prm_1', { name: 'Greeting' }],
    ['setActive', 'POST', '/v1/integration/prompts/prm_1/set-active', { environment: 'staging', version_id: 'ver_1' }],
  ];
  test.each(requests)('%s is one %s of %s', async (name, method, path, body) => {
    const seen = answering(json(goodAnswers[name]));
    const { service, calls } = open();
    await callsByName[name](service);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ method, url: BASE + path });
    expect(seen[0]?.body === '' ? null : JSON.parse(seen[0]?.body ?? '')).toEqual(body);
    expect(seen[0]?.headers.get('x-api-key')).toBe(KEY);
    expect(seen[0]?.headers.get('accept')).toBe('application/json');
    expect(seen[0]?.headers.get('accept-encoding')).toBe('identity');
    expect(seen[0]?.headers.get('content-type')).toBe(body === null ? null : 'application/json');
    expect(calls).toEqual([{ method, path, status: 200, milliseconds: 0, attempt: 1 }]);
  });

  test('a change summary and an empty description are sent, absent fields are not', async () => {
    const seen = answering(json(wireVersion), json(wirePrompt));
    const { service } = open();
    await service.createVersion('prm_1', { ...newVersion, changeSummary: 'Soften' });
    await service.updatePrompt('prm_1', { description: '' });
    const [version, fields] = seen.map(({ body }) => JSON.parse(body));
    expect(version).toMatchObject({ change_summary: 'Soften' });
    expect(fields).toEqual({ description: '' });
  });

  const bases: readonly (readonly [string, string])[] = [
    [BASE, BASE],
    [`${BASE}/`, BASE],
    [`${BASE}/api`, `${BASE}/api`],
    [`${BASE}/api/`, `${BASE}/api`],
    [`${BASE}/a%20b/c//`, `${BASE}/a%20b/c`],
    [`${BASE}:8443`, `${BASE}:8443`],
  ];
  test.each(bases)('the base URL %s', async (baseUrl, start) => {
    const seen = answering(json(wirePrompt));
    await open(baseUrl).service.readPrompt('prm_1');
    expect(seen[0]?.url).toBe(`${start}/v1/integration/prompts/prm_1`);
  });

  test.each<[string, string]>([
    ...['a/b?&', 'ä ö', '#', '%2F', '../..', 'a\\b'].map((name): [string, string] => ['prm_1', name]),
    ...['...', '日本', '😀', "it's", 'a+b=c', 'a;b'].map((name): [string, string] => [name, name]),
  ])('the id %j and the environment %j arrive as they are', async (id, name) => {
    const seen = answering(json({ ...wirePrompt, id }));
    await open().service.readPrompt(id, name);
    const url = new URL(seen[0]?.url ?? '');
    const segments = url.pathname.split('/');
    expect(segments).toHaveLength(5);
    expect(decodeURIComponent(segments[4] ?? '')).toBe(id);
    expect([...url.searchParams]).toEqual([['environment', name]]);
  });

  test.each(['', '.', '..', '../../admin', 'a%2e', 'a b', '\ud800'])(
    'the id %j cannot be addressed: nothing is sent',
    async (id) => {
      const seen = answering(json(wirePrompt));
      const { service } = open();
      for (const promise of [
        service.readPrompt(id),
        service.createVersion(id, newVersion),
        service.setActive(id, 'a', 'b'),
      ]) {
        expect(await failureOf(promise)).toMatchObject({
          problem: { code: 'service/unaddressable' },
          effect: 'not-sent',
        });
      }
      expect(seen).toHaveLength(0);
    },
  );

  test('an environment that is no text cannot be addressed', async () => {
    const failure = await failureOf(open().service.readPrompt('prm_1', '\udc00'));
    expect(failure.problem.code).toBe('service/unaddressable');
  });
});

describe('what is answered', () => {
  test('a prompt with its active version, whose metadata are handed on as they are', async () => {
    const metadata_ = { model: 'gpt-5', promptsync: { digest: 'x' } };
    const active_version = { ...wireVersion, content: 'a\r\nb', metadata_, created_at: null, more: 1 };
    answering(json({ ...wirePrompt, description: 'd', latest_version_id: 'ver_9', active_version, more: [] }));
    expect(await open().service.readPrompt('prm_1', 'staging')).toStrictEqual({
      id: 'prm_1',
      key: 'support/greeting',
      name: 'Greeting',
      description: 'd',
      latestVersionId: 'ver_9',
      activeVersion: { id: 'ver_1', number: 1, text: 'a\r\nb', metadata: metadata_ },
    });
  });

  const nothing = { description: '', latestVersionId: null, activeVersion: null };
  test.each([
    ['null', { ...wirePrompt, description: null, latest_version_id: null, active_version: null }],
    ['absent', wirePrompt],
  ])('optional fields that are %s', async (_, answer) => {
    answering(json(answer));
    expect(await open().service.readPrompt('prm_1')).toMatchObject(nothing);
  });

  test.each([{ ...wireVersion, metadata_: null }, wireVersion])('no metadata counts as empty: %j', async (answer) => {
    answering(json(answer));
    expect(await open().service.createVersion('prm_1', newVersion)).toMatchObject({ metadata: {} });
  });

  test('a byte order mark before the JSON is borne with, and the encoding identity is none', async () => {
    answering(text(`\ufeff${JSON.stringify(wirePrompt)}`, 200, { 'content-encoding': 'identity' }));
    expect(await open().service.readPrompt('prm_1')).toMatchObject({ id: 'prm_1' });
  });

  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const version = JSON.stringify(wireVersion);
  const withMetadata = (json: string) => version.replace('}', `,"metadata_":${json}}`);
  const otherActive = { ...wirePrompt, active_version: { ...wireVersion, prompt_id: 'prm_2' } };
  const invalid: readonly (readonly [string, CallName, string, string])[] = [
    ['a web page', 'readPrompt', '<html>Sign in</html>', 'it is not JSON'],
    ['nothing', 'createVersion', '', 'it is not JSON'],
    ['null', 'readPrompt', 'null', 'it is not valid: expected object, received null'],
    ['an error in a 200', 'setActive', '{"error":"no"}', '"updated" is not valid: expected boolean'],
    ['no content', 'createVersion', '{"id":"v","prompt_id":"prm_1","version_number":1}', '"content" is not valid'],
    ['a fraction for a number', 'createVersion', version.replace(':1,', ':1.5,'), '"version_number" is not valid'],
    ['a number beyond 2^53', 'createVersion', version.replace(':1,', ':1e300,'), '"version_number" is not valid'],
    ['an empty id', 'createVersion', version.replace('ver_1', ''), '"id" is not valid'],
    ['the version of another prompt', 'createVersion', version.replace('prm_1', 'prm_2'), '"prompt_id" names another'],
    ['another prompt', 'updatePrompt', JSON.stringify({ ...wirePrompt, id: 'prm_2' }), '"id" names another prompt'],
    ['the active version of another', 'readPrompt', JSON.stringify(otherActive), '"active_version.prompt_id" names'],
    ['metadata that is a list', 'createVersion', withMetadata('[]'), '"metadata_" is not valid'],
    ['metadata with an infinite number', 'createVersion', withMetadata('{"a":1e999}'), '"metadata_'],
    ['metadata nested absurdly deep', 'createVersion', withMetadata(`{"a":${deep}}`), 'it is nested too deeply'],
    ['nothing but brackets', 'readPrompt', deep, 'it is not valid: expected object, received array'],
  ];
  test.each(invalid)('%s, to %s, is an invalid answer', async (_, name, body, reason) => {
    const seen = answering(text(body));
    const failure = await failureOf(callsByName[name](open().service));
    expect(failure).toMatchObject({ problem: { code: 'service/invalid-answer' }, effect: 'unknown' });
    expect(failure.message).toContain(reason);
    expect(seen).toHaveLength(1);
  });

  test('bytes that are not UTF-8 are an invalid answer', async () => {
    answering(() => new HttpResponse(new Uint8Array([0x22, 0xff, 0x22])));
    expect((await failureOf(open().service.readPrompt('prm_1'))).message).toContain('it is not UTF-8');
  });

  test.each(['gzip', 'br', 'made-up'])('an answer encoded as %s is refused, for nobody asked', async (encoding) => {
    answering(text(JSON.stringify(wirePrompt), 200, { 'content-encoding': encoding }));
    const failure = await failureOf(open().service.readPrompt('prm_1'));
    expect(failure).toMatchObject({ problem: { code: 'service/invalid-answer' }, effect: 'unknown' });
  });

  test('a path in a complaint is kept short', async () => {
    const active_version = { ...wireVersion, metadata_: { ['k'.repeat(5000)]: 0 } };
    answering(text(JSON.stringify({ ...wirePrompt, active_version }).replace(':0}', ':1e999}')));
    expect((await failureOf(open().service.readPrompt('prm_1'))).message.length).toBeLessThan(250);
  });

  test('updated: false is a failure', async () => {
    const seen = answering(json({ updated: false }));
    const failure = await failureOf(callsByName.setActive(open().service));
    expect(failure).toMatchObject({ problem: { code: 'service/not-updated' }, effect: 'rejected' });
    expect(failure.message).toContain('"staging"');
    expect(seen).toHaveLength(1);
  });
});

describe('statuses', () => {
  type Row = readonly [readonly number[], code: ProblemCode, effect: Effect, times: number, timesToCreate: number];
  const rows: readonly Row[] = [
    [[204], 'service/invalid-answer', 'unknown', 1, 1],
    [[300, 301, 302, 304, 307, 308], 'service/redirect', 'rejected', 1, 1],
    [[400, 401, 409, 413, 422], 'service/unexpected-status', 'rejected', 1, 1],
    [[403], 'service/not-authorised', 'rejected', 1, 1],
    [[404], 'service/prompt-not-found', 'rejected', 1, 1],
    [[408, 425], 'service/unexpected-status', 'rejected', 4, 1],
    [[429], 'service/unexpected-status', 'rejected', 4, 4],
    [[500, 502, 503, 504], 'service/unexpected-status', 'unknown', 4, 1],
    [[501, 599], 'service/unexpected-status', 'unknown', 1, 1],
  ];
  const crossed = rows.flatMap(([statuses, code, effect, times, timesToCreate]) =>
    callNames.flatMap((name) => {
      const named = code === 'service/prompt-not-found' && name === 'setActive' ? 'service/version-not-found' : code;
      const sent = name === 'createVersion' ? timesToCreate : times;
      return statuses.map((status) => [status, name, named, effect, sent] as const);
    }),
  );
  test.each(crossed)('%i to %s: %s, %s, sent %i times', async (status, name, code, effect, times) => {
    const empty = status === 204 || status === 304;
    const seen = answering(() => new HttpResponse(empty ? null : 'Sorry', { status, headers: { location: '/other' } }));
    const { service, calls } = open();
    const failure = await failureOf(callsByName[name](service));
    expect(failure).toMatchObject({ problem: { code }, effect });
    expect(seen).toHaveLength(times);
    expect(calls.map((call) => [call.status, call.attempt])).toEqual(
      Array.from({ length: times }, (_, index) => [status, index + 1]),
    );
  });

  test.each(callNames)('%s goes through after the service had no time', async (name) => {
    const seen = answering(json({}, 429, { 'retry-after': '7' }), json(goodAnswers[name]));
    const { service, sleeps } = open();
    await callsByName[name](service);
    expect(seen).toHaveLength(2);
    expect(sleeps).toEqual([7_000]);
  });

  test('a redirect is not followed, so that the key stays where it belongs', async () => {
    const seen = answering(() => HttpResponse.redirect('https://elsewhere.example.com/', 302));
    const failure = await failureOf(open().service.readPrompt('prm_1'));
    expect(failure.message).toContain('(302)');
    expect(seen.map(({ url }) => new URL(url).host)).toEqual(['prompts.example.com']);
  });

  test('a set-active that may have worked stays in doubt when its repetition is refused', async () => {
    answering(json({}, 502), json({}, 403));
    const failure = await failureOf(callsByName.setActive(open().service));
    expect(failure).toMatchObject({ problem: { code: 'service/not-authorised' }, effect: 'unknown' });
  });

  test.each([
    ['as it is', 'Sorry', /it said: Sorry$/],
    ['short and on one line', `Bad\n\n  request: ${'x'.repeat(500)}`, /it said: Bad request: x{187}$/],
  ])('what an unexpected answer said is shown %s', async (_, said, shown) => {
    answering(text(said, 400));
    const failure = await failureOf(open().service.readPrompt('prm_1'));
    expect(failure.message).toMatch(shown);
  });

  test('what an encoded answer said is not shown', async () => {
    answering(text('garbage', 400, { 'content-encoding': 'gzip' }));
    expect((await failureOf(open().service.readPrompt('prm_1'))).message).not.toContain('garbage');
  });
});

describe('the key', () => {
  const field = (key: string) => ({ ...wireVersion, metadata_: { [key]: 0 } });
  const other = (key: string) => ({ ...wirePrompt, ...wireVersion, id: key, prompt_id: key });
  const echoes: readonly (readonly [string, number, (key: string) => string])[] = [
    ['in an error body', 400, (key) => `invalid key ${key}`],
    ['in a JSON error', 500, (key) => JSON.stringify({ headers: { 'x-api-key': key } })],
    ['on the edge of the excerpt', 401, (key) => 'x'.repeat(190) + key],
    ['in a 403', 403, (key) => key],
    ['in a 404', 404, (key) => key],
    ['in a web page', 200, (key) => `<html>${key}</html>`],
    ['as a field name', 200, (key) => JSON.stringify(field(key)).replace(':0', ':1e999')],
    ['as the id of another prompt', 200, (key) => JSON.stringify(other(key))],
  ];
  const crossed = echoes.flatMap((echo) => callNames.map((name) => [echo[0], name, echo[1], echo[2]] as const));
  test.each(crossed)('that comes back %s to %s is shown nowhere', async (_, name, status, body) => {
    answering(text(body(KEY), status, { location: `https://evil.example.com/${KEY}` }));
    const { service, calls } = open();
    const failure = await failureOf(callsByName[name](service));
    expect(everythingIn(failure)).not.toContain(KEY);
    expect(failure.cause).toBeUndefined();
    expect(JSON.stringify(calls)).not.toContain(KEY);
  });

  test.each(callNames)('that cannot be sent is not shown by %s', async (name) => {
    const bad = 'sk-live\r\nx-evil: 1';
    const { service } = connected({ baseUrl: BASE, apiKey: bad });
    const failure = await failureOf(callsByName[name](service));
    expect(failure).toMatchObject({ problem: { code: 'service/unreachable' }, effect: 'not-sent' });
    expect(everythingIn(failure)).not.toContain('sk-live');
  });
});
