import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../../support/front.ts';
import type { Failure, FailureMatch } from '../../support/github-api.ts';
import { PROJECT } from '../../support/gitlab-api.ts';
import { makeJob, PLAN, formatRun } from './support.ts';

const POST = `POST /projects/${PROJECT}/merge_requests/1/notes`;
const LIST = { method: 'GET', path: /notes/ };
const CREATE = { method: 'POST', path: /notes/ };
const EDIT = { method: 'PUT', path: /notes/ };
const limit = (seconds: number): Failure => ({ status: 429, headers: { 'retry-after': `${seconds}` } });

describe('comment with transient failures', () => {
  const HTML = { status: 201, body: '<html>' };
  const gateway = { status: 502 };
  test.each<[string, FailureMatch, Failure, times: number, writes: readonly string[]]>([
    ['promptsync comment posts one note despite gateway errors while it reads notes', LIST, gateway, 3, [POST]],
    ['promptsync comment creates one note after rate limits', CREATE, limit(5), 2, [POST, POST, POST]],
    ['promptsync comment creates one note after a gateway error', CREATE, gateway, 1, [POST, POST]],
    ['promptsync comment creates one note if the response is lost', CREATE, 'lost-answer', 1, [POST]],
    ['promptsync comment creates one note after a response that is not JSON', CREATE, HTML, 1, [POST, POST]],
  ])('%s', async (_, match, failure, times, writes) => {
    const { gitlab, publish, titles } = await makeJob();
    gitlab.fail(match, failure, times);
    expect((await publish()).exitCode).toBe(0);
    expect(gitlab.writes()).toEqual(writes);
    expect(titles()).toEqual(['plan']);
  });

  test('promptsync comment retries until its note is updated after a gateway error and a lost response', async () => {
    const { gitlab, publish } = await makeJob();
    await publish();
    gitlab.fail(EDIT, { status: 503 });
    gitlab.fail(EDIT, 'lost-answer');
    const ran = await publish({ ...PLAN, commit: null });
    expect(formatRun(ran)).toMatch(/^0 Note updated/);
    expect(gitlab.notes(1)).toHaveLength(1);
  });
});

describe('comment with permanent failures', () => {
  const scope: Failure = { status: 403, body: { message: '403 Forbidden', error: 'insufficient_scope' } };
  const odd: Failure = { status: 200, body: { notes: [] } };
  const secret: Failure = { status: 403, body: 'glpat-5eCre7token0123456789' };
  test.each<[string, FailureMatch, Failure, says: RegExp]>([
    ['promptsync comment says that the token may have expired', LIST, { status: 401 }, /401: .*has not expired/],
    ['promptsync comment names the missing scope', CREATE, scope, /403: "403 Forbidden".* `api` scope and the /],
    ['promptsync comment names the missing role', LIST, { status: 404 }, /404: .*Reporter role/],
    ['promptsync comment fails at a rate limit that lasts longer than a minute', LIST, limit(120), /429/],
    ['promptsync comment rejects a response that GitLab does not document', LIST, odd, /does not match the GitLab API/],
    ['promptsync comment shows an error response without the token in it', LIST, secret, /403: "\[/],
  ])('%s', async (_, match, failure, says) => {
    const { gitlab, publish } = await makeJob();
    gitlab.fail(match, failure, Infinity);
    const { exitCode, stdout, stderr } = await publish();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.replaceAll(/\n +/g, ' ')).toMatch(says);
    expect(stderr).toContain('[gitlab/not-published]');
    expect(gitlab.notes(1)).toEqual([]);
  });

  test.each<[string, RegExp]>([
    ['gitlab.example', /CI_API_V4_URL/],
    ['file:///etc', /CI_API_V4_URL/],
    ['https://ada:secret@gitlab.example/api/v4', /CI_API_V4_URL/],
    ['http://127.0.0.1:1/api/v4', /127\.0\.0\.1:1 did not respond \(connection refused/],
  ])('promptsync comment fails with %j as the GitLab API URL', async (CI_API_V4_URL, says) => {
    const { gitlab, publish } = await makeJob();
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), CI_API_V4_URL } });
    expect(ran.exitCode).toBe(1);
    expect(formatRun(ran)).toMatch(says);
    expect(formatRun(ran)).not.toContain('secret');
  });
});

test('promptsync comment does not send the token to the target of a redirect', async () => {
  const receivedUrls: string[] = [];
  const other = await listen(
    createServer((request, response) => void response.end(receivedUrls.push(request.url ?? ''))),
  );
  const { gitlab, publish } = await makeJob();
  gitlab.fail({ path: /./ }, { status: 307, headers: { location: `${other}/api/v4/user` } }, Infinity);
  expect(formatRun(await publish())).toMatch(/^1 .*307[^]*does not follow redirects/);
  expect({ receivedUrls, requestCount: gitlab.requests.length }).toEqual({ receivedUrls: [], requestCount: 1 });
});

test.each<[string, FailureMatch, Failure]>([
  ['promptsync comment gives up within a minute if every request hangs', { path: /./ }, 'hang'],
  ['promptsync comment gives up within a minute if the request to create the note hangs', CREATE, 'hang'],
  ['promptsync comment gives up within a minute if GitLab never completes its responses', LIST, 'half-answer'],
])('%s', async (_, match, failure) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { gitlab, publish } = await makeJob();
  gitlab.fail(match, failure, Infinity);
  let clock = 0;
  const ended: unknown[] = [];
  const ending = publish(PLAN, { now: () => clock, sleep: async (milliseconds) => void (clock += milliseconds) });
  void ending.then((ran) => ended.push(ran));
  for (let asked = 0; ended.length === 0; asked = gitlab.requests.length) {
    await expect.poll(() => ended.length > 0 || gitlab.requests.length > asked).toBe(true);
    clock += 10_000;
    vi.advanceTimersByTime(10_000);
  }
  expect(formatRun(await ending)).toMatch(/^1 .*\[gitlab\/not-published\]/);
  expect(clock).toBeLessThan(60_000);
});

test('Ctrl-C during a retry delay ends promptsync comment with exit code 130', async () => {
  const { gitlab, publish } = await makeJob();
  gitlab.fail(LIST, { status: 502 }, Infinity);
  let interrupt = () => {};
  const onSignal = (signal: () => void) => (interrupt = signal);
  const sleep = async (_: number, signal: AbortSignal) => {
    interrupt();
    signal.throwIfAborted();
  };
  expect((await publish(PLAN, { onSignal, sleep })).exitCode).toBe(130);
});
