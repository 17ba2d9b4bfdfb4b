import { createServer } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listen } from '../support/front.ts';
import type { Failure, FailureMatch } from '../support/github-api.ts';
import { PROJECT } from '../support/gitlab-api.ts';
import { makeJob, PLAN, said } from './support.ts';

const POST = `POST /projects/${PROJECT}/merge_requests/1/notes`;
const LIST = { method: 'GET', path: /notes/ };
const CREATE = { method: 'POST', path: /notes/ };
const EDIT = { method: 'PUT', path: /notes/ };
const limit = (seconds: number): Failure => ({ status: 429, headers: { 'retry-after': `${seconds}` } });

/** What fails so often, and what has been sent in the end, where one note is wanted. */
type Row = readonly [sentence: string, FailureMatch, Failure, times: number, writes: readonly string[]];

describe('what fails for a moment is repeated, and makes one note', () => {
  test.each<Row>([
    ['reading: a limit', LIST, limit(5), 1, [POST]],
    ['reading: a gateway', LIST, { status: 502 }, 3, [POST]],
    ['reading: a connection that breaks', LIST, 'reset', 2, [POST]],
    ['making: a limit', CREATE, limit(5), 2, [POST, POST, POST]],
    ['making: a gateway, and it was not made', CREATE, { status: 502 }, 1, [POST, POST]],
    ['making: a connection that breaks', CREATE, 'reset', 1, [POST, POST]],
    ['making: the answer is lost, and it was made', CREATE, 'lost-answer', 1, [POST]],
    ['making: the answer is none', CREATE, { status: 201, body: '<html>' }, 1, [POST, POST]],
  ])('%s', async (_, match, failure, times, writes) => {
    const { gitlab, publish, titles } = await makeJob();
    gitlab.fail(match, failure, times);
    expect((await publish()).exitCode).toBe(0);
    expect(gitlab.writes()).toEqual(writes);
    expect(titles()).toEqual(['plan']);
  });

  test('changing: a gateway, a lost answer', async () => {
    const { gitlab, publish } = await makeJob();
    await publish();
    gitlab.fail(EDIT, { status: 503 });
    gitlab.fail(EDIT, 'lost-answer');
    const ran = await publish({ ...PLAN, commit: null });
    expect(said(ran)).toMatch(/^0 Note updated/);
    expect(gitlab.notes(1)).toHaveLength(1);
  });
});

describe('what GitLab refuses ends with 1, says what is missing, and makes no note', () => {
  const body = { message: '403 Forbidden', error: 'insufficient_scope' };
  test.each<[string, FailureMatch, Failure, says: RegExp]>([
    ['a token that is revoked', LIST, { status: 401 }, /401: .*not expired/],
    [
      'a token without the scope',
      CREATE,
      { status: 403, body },
      /403: .*insufficient_scope.* scope `api` and the role/,
    ],
    ['a token that does not see the project', LIST, { status: 404 }, /404: .*role Reporter/],
    ['a limit for longer than a minute', LIST, limit(120), /429/],
    ['a text that it does not take', CREATE, { status: 400, body: { message: 'is too long' } }, /400: .*is too long/],
    ['a gateway that stays', LIST, { status: 502, body: 'Bad gateway' }, /502: Bad gateway/],
    ['an answer of another shape', LIST, { status: 200, body: { notes: [] } }, /none that GitLab documents/],
    ['an answer with the token in it', LIST, { status: 403, body: 'glpat-5eCre7token0123456789' }, /403: \[/],
  ])('%s', async (_, match, failure, says) => {
    const { gitlab, publish } = await makeJob();
    gitlab.fail(match, failure, Infinity);
    const { exitCode, stdout, stderr } = await publish();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr.replaceAll(/\n +/g, ' ')).toMatch(says);
    expect(stderr).toContain('[gitlab/not-published]');
    expect(gitlab.notes(1)).toEqual([]);
  });

  test.each(['', 'gitlab.example', 'file:///etc', 'https://ada:secret@gitlab.example/api/v4'])(
    'an address that is none: %j',
    async (CI_API_V4_URL) => {
      const { gitlab, publish } = await makeJob();
      const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), CI_API_V4_URL } });
      expect(said(ran)).toMatch(/^1 .*CI_API_V4_URL/);
      expect(said(ran)).not.toContain('secret');
    },
  );

  test('nobody who listens', async () => {
    const { gitlab, publish } = await makeJob();
    const CI_API_V4_URL = 'http://127.0.0.1:1/api/v4';
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), CI_API_V4_URL } });
    expect(said(ran)).toMatch(/^1 .*127\.0\.0\.1:1 gave no answer \(connection refused/);
  });
});

test.each([301, 302, 307, 308])('a redirect with %d is not followed: the token would go along', async (status) => {
  const heard: string[] = [];
  const other = await listen(createServer((request, response) => void response.end(heard.push(request.url ?? ''))));
  const { gitlab, publish } = await makeJob();
  gitlab.fail({ path: /./ }, { status, headers: { location: `${other}/api/v4/user` } }, Infinity);
  expect(said(await publish())).toMatch(new RegExp(`^1 .*${status}[^]*not followed`));
  expect({ heard, asked: gitlab.requests.length }).toEqual({ heard: [], asked: 1 });
});

test.each<[string, FailureMatch, Failure]>([
  ['all hangs', { path: /./ }, 'hang'],
  ['making it hangs', CREATE, 'hang'],
  ['answers never end', LIST, 'half-answer'],
])('a minute at most: %s', async (_, match, failure) => {
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
  expect(said(await ending)).toMatch(/^1 .*\[gitlab\/not-published\]/);
  expect(clock).toBeLessThan(60_000);
});

test('Ctrl-C while it waits ends it with 130', async () => {
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
