import { describe, expect, test } from 'vitest';
import { parseOutputs, runnerCommands } from './action.ts';
import { ACTIONS_BOT, startGitHub, TOKEN, type GitHubDouble, type Person } from './github-api.ts';

const ADA: Person = { login: 'ada', type: 'User' };
const REPOSITORY = '/repos/acme/prompts';
const COMMENTS = `${REPOSITORY}/issues/7/comments`;
const LONGEST = 'x'.repeat(65_536);
const TOO_LONG = {
  code: 'custom',
  field: 'body',
  message: 'body is too long (maximum is 65536 characters)',
};

type Answer = { readonly status: number; readonly headers: Headers; readonly body: unknown };

async function call(
  github: GitHubDouble,
  words: string,
  body?: object,
  authorization = `Bearer ${TOKEN}`,
): Promise<Answer> {
  const [method = '', path = ''] = words.split(' ');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(github.apiUrl + path, { method, headers: { authorization }, ...sent });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A pull request 7, an issue 8 and an issue 9 that is closed and another's. */
async function startFilled(): Promise<GitHubDouble> {
  const github = await startGitHub();
  github.addPull({ number: 7, head: 'aaa', base: 'main', mergeCommit: 'bbb' });
  github.addIssue({ title: 'Drift' });
  github.addIssue({ title: 'Other', state: 'closed', state_reason: 'completed', user: ADA });
  github.setBranch('main', 'ccc');
  github.setBranch('release/1', 'ddd');
  return github;
}

describe('reading', () => {
  const first = `/issues?state=all&per_page=1&page=1`;
  test.for<[sentence: string, path: string, status: number, body: unknown]>([
    ['a pull request has its commits', '/pulls/7', 200, { merged: false, merge_commit_sha: 'bbb', merged_at: null }],
    ['an issue is no pull request', '/pulls/8', 404, { message: 'Not Found' }],
    ['a branch has its commit', '/git/ref/heads/main', 200, { object: { sha: 'ccc', type: 'commit' } }],
    ['a branch may have slashes', '/git/ref/heads/release/1', 200, { ref: 'refs/heads/release/1' }],
    ['a branch may be encoded', '/git/ref/heads/release%2F1', 200, { object: { sha: 'ddd' } }],
    ['a commit has the pull requests that it is the head of', '/commits/aaa/pulls', 200, [{ number: 7 }]],
    ['a commit has the pull requests that it merges', '/commits/bbb/pulls', 200, [{ number: 7 }]],
    ['a commit may have no pull request', '/commits/ccc/pulls', 200, []],
    ['open issues come newest first, pull requests too', '/issues', 200, [{ number: 8 }, { pull_request: {} }]],
    ['closed issues are asked for', '/issues?state=closed', 200, [{ number: 9, state_reason: 'completed' }]],
    ['all issues are asked for', '/issues?state=all', 200, [{ number: 9 }, { number: 8 }, { number: 7 }]],
    ['the newest issue is on the first page', first, 200, [{ number: 9 }]],
    ['issues are chosen by creator', '/issues?creator=github-actions%5Bbot%5D', 200, [{ title: 'Drift', body: null }]],
    ['a pull request without comments has none', '/issues/7/comments', 200, []],
    ['an unknown issue has no comments', '/issues/10/comments', 404, { message: 'Not Found' }],
    ['a route that is not there is not found', '/labels', 404, { message: 'Not Found' }],
  ])('%s', async ([, path, status, body]) => {
    const answer = await call(await startFilled(), `GET ${REPOSITORY}${path}`);
    expect(answer).toMatchObject({ status, body });
    expect(answer.headers.get('content-type')).toContain('application/json');
    expect(answer.headers.get('x-github-request-id')).toBe('0400:0001');
  });

  test('a pull request that is merged is closed, as an issue too', async () => {
    const github = await startFilled();
    github.addPull({ number: 7, head: 'aaa', base: 'main', merged: true, mergeCommit: 'eee' });
    const { body } = await call(github, `GET ${REPOSITORY}/pulls/7`);
    expect(body).toMatchObject({ merged: true, state: 'closed', merge_commit_sha: 'eee', head: { sha: 'aaa' } });
    expect(await call(github, `GET ${REPOSITORY}/commits/bbb/pulls`)).toMatchObject({ body: [] });
    expect(await call(github, `GET ${REPOSITORY}/issues?state=closed`)).toMatchObject({
      body: [{ number: 9 }, { number: 7 }],
    });
  });
});

describe('pages', () => {
  test.for<[sentence: string, query: string, count: number, links: readonly string[]]>([
    ['30 are a page', '', 30, ['next 2', 'last 9']],
    ['the first page names the next and the last', '?per_page=100', 100, ['next 2', 'last 3']],
    ['one between names all', '?per_page=100&page=2', 100, ['prev 1', 'next 3', 'last 3', 'first 1']],
    ['the last page names those before', '?per_page=100&page=3', 50, ['prev 2', 'first 1']],
    ['one beyond the last is empty', '?per_page=100&page=5', 0, ['prev 3', 'first 1']],
    ['more than 100 are no page', '?per_page=500', 100, ['next 2', 'last 3']],
  ])('%s', async ([, query, count, links]) => {
    const github = await startFilled();
    for (let n = 1; n <= 250; n++) github.addComment(7, { body: `Comment ${n}` });
    const { body, headers } = await call(github, `GET ${COMMENTS}${query}`);
    expect(body).toHaveLength(count);
    const found = [...(headers.get('link') ?? '').matchAll(/<[^>]*[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)];
    expect(found.map(([, page, relation]) => `${relation} ${page}`)).toEqual(links);
  });
});

describe('writing', () => {
  const issues = `${REPOSITORY}/issues`;
  test.for<[sentence: string, words: string, sent: object, status: number, body: object]>([
    ['a comment is the token’s', `POST ${COMMENTS}`, { body: 'Hi' }, 201, { body: 'Hi', user: ACTIONS_BOT }],
    ['a comment of 65,536 characters is taken', `POST ${COMMENTS}`, { body: LONGEST }, 201, { body: LONGEST }],
    ['one character more is not', `POST ${COMMENTS}`, { body: `${LONGEST}x` }, 422, { errors: [TOO_LONG] }],
    ['an empty comment is refused', `POST ${COMMENTS}`, { body: '' }, 422, { message: 'Validation Failed' }],
    ['a comment without an issue is not found', `POST ${issues}/10/comments`, { body: 'Hi' }, 404, {}],
    ['an issue is opened', `POST ${issues}`, { title: 'New' }, 201, { number: 10, state: 'open', user: ACTIONS_BOT }],
    ['a long issue is refused', `POST ${issues}`, { title: 'New', body: `${LONGEST}x` }, 422, { errors: [TOO_LONG] }],
    ['an issue is closed', `PATCH ${issues}/8`, { state: 'closed' }, 200, { state_reason: 'completed' }],
    ['an issue is reopened', `PATCH ${issues}/9`, { state: 'open' }, 200, { state: 'open', state_reason: 'reopened' }],
    ['an issue gets another text', `PATCH ${issues}/8`, { title: 'A', body: 'B' }, 200, { title: 'A', body: 'B' }],
    ['an unknown state is refused', `PATCH ${issues}/8`, { state: 'done' }, 422, { errors: [{ field: 'state' }] }],
    ['an unknown issue is not found', `PATCH ${issues}/10`, { title: 'A' }, 404, {}],
  ])('%s', async ([, words, sent, status, body]) => {
    const github = await startFilled();
    expect(await call(github, words, sent)).toMatchObject({ status, body });
  });

  test('an own comment can be changed, and another’s cannot', async () => {
    const github = await startFilled();
    const own = github.addComment(7, { body: 'Own' });
    const other = github.addComment(7, { body: 'Other', user: ADA });
    const edit = (id: number, body: string) => call(github, `PATCH ${issues}/comments/${id}`, { body });
    expect(await edit(own, 'Changed')).toMatchObject({ status: 200, body: { id: own, body: 'Changed' } });
    expect(await edit(own, `${LONGEST}x`)).toMatchObject({ status: 422, body: { errors: [TOO_LONG] } });
    expect(await edit(other, 'Changed')).toMatchObject({
      status: 403,
      body: { message: 'Must have admin rights to Repository.' },
    });
    expect(github.comments(7)).toEqual([
      { id: own, body: 'Changed', user: ACTIONS_BOT },
      { id: other, body: 'Other', user: ADA },
    ]);
  });
});

describe('failures', () => {
  const post = { method: 'POST', path: /comments$/ };

  test('an answer that is lost was carried out', async () => {
    const github = await startFilled();
    github.fail(post, 'lost-answer');
    await expect(call(github, `POST ${COMMENTS}`, { body: 'Hi' })).rejects.toThrow('fetch failed');
    expect(github.comments(7)).toMatchObject([{ body: 'Hi' }]);
  });

  test('a connection that is reset has carried out nothing, and is among the requests', async () => {
    const github = await startFilled();
    github.fail(post, 'reset');
    await expect(call(github, `POST ${COMMENTS}`, { body: 'Hi' })).rejects.toThrow('fetch failed');
    expect(github.comments(7)).toEqual([]);
    expect(github.requests).toMatchObject([{ method: 'POST', body: { body: 'Hi' } }]);
  });

  test('a status comes as often as it was asked for, to those that match', async () => {
    const github = await startFilled();
    github.fail(post, { status: 429, headers: { 'retry-after': '3' }, body: { message: 'Slow down' } }, 2);
    const statuses: number[] = [];
    for (const words of [`POST ${COMMENTS}`, `PATCH ${REPOSITORY}/issues/8`, `POST ${COMMENTS}`, `POST ${COMMENTS}`]) {
      const { status, headers } = await call(github, words, { body: 'Hi' });
      expect(headers.get('retry-after')).toBe(status === 429 ? '3' : null);
      statuses.push(status);
    }
    expect(statuses).toEqual([429, 200, 429, 201]);
    expect(github.comments(7)).toHaveLength(1);
  });
});

describe('who asks', () => {
  const query = { query: 'query {\n  viewer {\n    login\n  }\n}' };
  const viewer = { data: { viewer: { login: 'github-actions[bot]' } } };
  const user = { login: 'github-actions[bot]', type: 'Bot' };
  const refused = { message: 'Resource not accessible by integration' };

  test.for([
    ['graphql', 403, refused, 200, viewer],
    ['user', 200, user, 200, viewer],
    ['none', 403, refused, 404, { message: 'Not Found' }],
  ] as const)('identity %s', async ([identity, userStatus, userBody, viewerStatus, viewerBody]) => {
    const github = await startGitHub({ identity });
    expect(await call(github, 'GET /user')).toMatchObject({ status: userStatus, body: userBody });
    expect(await call(github, 'POST /graphql', query)).toMatchObject({ status: viewerStatus, body: viewerBody });
  });

  test.for<[authorization: string, status: number]>([
    [`token ${TOKEN}`, 200],
    [`BEARER ${TOKEN}`, 200],
    [`Bearer ${TOKEN}x`, 401],
    [`Basic ${TOKEN}`, 401],
    [TOKEN, 401],
    ['', 401],
  ])('authorization %j: %i', async ([authorization, status]) => {
    const answer = await call(await startFilled(), `GET ${COMMENTS}`, undefined, authorization);
    expect(answer.status).toBe(status);
    if (status === 401) expect(answer.body).toMatchObject({ message: 'Bad credentials' });
  });
});

describe('outputs', () => {
  test.for<[sentence: string, text: string, outputs: object]>([
    ['an empty file has none', '', {}],
    ['a line is one', 'a=1\nb=\n', { a: '1', b: '' }],
    ['empty lines are nothing', '\na=1\n\nb=2', { a: '1', b: '2' }],
    ['the first equals sign divides', 'a=b=c<<d\n', { a: 'b=c<<d' }],
    ['several lines end at the delimiter', 'a<<END\none\n\nb=2\nEND\nc=3\n', { a: 'one\n\nb=2', c: '3' }],
    ['a delimiter may hold an equals sign', 'a<<E=F\none\nE=F\n', { a: 'one' }],
    ['no line at all is an empty value', 'a<<END\nEND\n', { a: '' }],
    ['a carriage return is part of a value', 'a<<END\none\r\n END\nEND\n', { a: 'one\r\n END' }],
    ['the last of one name holds', 'a=1\na=2\n', { a: '2' }],
  ])('%s', ([, text, outputs]) => {
    expect(parseOutputs(text)).toEqual(outputs);
  });

  test.for<[sentence: string, text: string, message: string]>([
    ['a line without a value fails the step', 'a\n', "Invalid format: 'a'"],
    ['a value without a name fails the step', '=1\n', "Invalid format: '=1'"],
    ['a delimiter is needed', 'a<<\n\n', "Invalid format: 'a<<'"],
    ['a delimiter must come again', 'a<<END\none\nEND \n', "Matching delimiter not found: 'END'"],
  ])('%s', ([, text, message]) => {
    expect(() => parseOutputs(text)).toThrow(message);
  });
});

describe('commands in a log', () => {
  test.for<[log: string, commands: readonly string[]]>([
    ['plain\n::error file=a::Text\n', ['::error file=a::Text']],
    [' \t\u00a0\u0085::add-mask::x', [' \t\u00a0\u0085::add-mask::x']],
    ['one\r::group::A\r\n::endgroup::', ['::group::A', '::endgroup::']],
    ['text ##[error]x\n##[', ['text ##[error]x', '##[']],
    ['a ::error::b\n\\u{3a}:error::\n:: error\n:error\n# #[x]\n', []],
  ])('%j', ([log, commands]) => {
    expect(runnerCommands(log)).toEqual(commands);
  });
});
