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

/** A failing request, how often it fails, and the write requests that publish one note despite that. */
type Row = readonly [sentence: string, FailureMatch, Failure, times: number, writes: readonly string[]];

describe('comment with transient failures', () => {
  test.each<Row>([
    ['promptsync comment retries after hitting a rate limit while reading notes', LIST, limit(5), 1, [POST]],
    ['promptsync comment retries after gateway errors while reading notes', LIST, { status: 502 }, 3, [POST]],
    ['promptsync comment retries after a broken connection while reading notes', LIST, 'reset', 2, [POST]],
    [
      'promptsync comment retries after hitting a rate limit while creating the note',
      CREATE,
      limit(5),
      2,
      [POST, POST, POST],
    ],
    [
      'promptsync comment retries after a gateway error while creating the note',
      CREATE,
      { status: 502 },
      1,
      [POST, POST],
    ],
    ['promptsync comment retries after a broken connection while creating the note', CREATE, 'reset', 1, [POST, POST]],
    [
      'promptsync comment creates only one note if the response to its create request is lost',
      CREATE,
      'lost-answer',
      1,
      [POST],
    ],
    [
      'promptsync comment retries if the response to the create request is not JSON',
      CREATE,
      { status: 201, body: '<html>' },
      1,
      [POST, POST],
    ],
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
  const body = { message: '403 Forbidden', error: 'insufficient_scope' };
  test.each<[string, FailureMatch, Failure, says: RegExp]>([
    [
      'promptsync comment fails and suggests checking whether the token has expired if GitLab responds with status 401',
      LIST,
      { status: 401 },
      /401: .*has not expired/,
    ],
    [
      'promptsync comment fails and names the required scope and role if the token lacks the scope',
      CREATE,
      { status: 403, body },
      /403: "403 Forbidden".* `api` scope and the Reporter role/,
    ],
    [
      'promptsync comment fails and names the required role if the token has no access to the project',
      LIST,
      { status: 404 },
      /404: .*Reporter role/,
    ],
    ['promptsync comment fails if a rate limit lasts longer than a minute', LIST, limit(120), /429/],
    [
      'promptsync comment fails and shows the reason if GitLab rejects the note text',
      CREATE,
      { status: 400, body: { message: 'is too long' } },
      /400: .*is too long/,
    ],
    [
      'promptsync comment fails if gateway errors persist',
      LIST,
      { status: 502, body: 'Bad gateway' },
      /502: "Bad gateway"/,
    ],
    [
      'promptsync comment fails if a response does not match the GitLab API documentation',
      LIST,
      { status: 200, body: { notes: [] } },
      /does not match the GitLab API documentation/,
    ],
    [
      'promptsync comment redacts the token if an error response contains it',
      LIST,
      { status: 403, body: 'glpat-5eCre7token0123456789' },
      /403: "\[/,
    ],
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
    'promptsync comment rejects %j as the GitLab API URL',
    async (CI_API_V4_URL) => {
      const { gitlab, publish } = await makeJob();
      const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), CI_API_V4_URL } });
      expect(formatRun(ran)).toMatch(/^1 .*CI_API_V4_URL/);
      expect(formatRun(ran)).not.toContain('secret');
    },
  );

  test('promptsync comment fails and reports that the GitLab server refused the connection', async () => {
    const { gitlab, publish } = await makeJob();
    const CI_API_V4_URL = 'http://127.0.0.1:1/api/v4';
    const ran = await publish(PLAN, { environment: { ...gitlab.mergeRequestVariables(1), CI_API_V4_URL } });
    expect(formatRun(ran)).toMatch(/^1 .*127\.0\.0\.1:1 did not respond \(connection refused/);
  });
});

test.each([301, 302, 307, 308])(
  'promptsync comment does not send the token to the target of a redirect with status %d',
  async (status) => {
    const receivedUrls: string[] = [];
    const other = await listen(
      createServer((request, response) => void response.end(receivedUrls.push(request.url ?? ''))),
    );
    const { gitlab, publish } = await makeJob();
    gitlab.fail({ path: /./ }, { status, headers: { location: `${other}/api/v4/user` } }, Infinity);
    expect(formatRun(await publish())).toMatch(new RegExp(`^1 .*${status}[^]*does not follow redirects`));
    expect({ receivedUrls, requestCount: gitlab.requests.length }).toEqual({ receivedUrls: [], requestCount: 1 });
  },
);

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
