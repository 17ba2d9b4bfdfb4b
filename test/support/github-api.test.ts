import { describe, expect, test } from 'vitest';
import { parseOutputs, runnerCommands } from './action.ts';
import { startGitHub, TOKEN, type GitHubDouble } from './github-api.ts';

const ISSUES = '/repos/acme/prompts/issues';
const LONGEST = 'x'.repeat(65_536);

async function call(github: GitHubDouble, words: string, body?: object) {
  const [method = '', path = ''] = words.split(' ');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${TOKEN}` };
  const response = await fetch(github.apiUrl + path, { method, headers, ...sent });
  return { status: response.status, body: await response.json() };
}

/** A pull request 7 with another's comment, and an issue 8. */
async function startFilled(): Promise<GitHubDouble> {
  const github = await startGitHub();
  github.addPull({ number: 7, head: 'aaa', base: 'main', mergeCommit: 'bbb' });
  github.addIssue({ title: 'Drift' });
  github.addComment(7, { body: 'Other', user: { login: 'ada', type: 'User' } });
  return github;
}

describe('the stand-in of GitHub is as strict as GitHub', () => {
  test.for<[sentence: string, words: string, sent: object, status: number]>([
    ['a comment of 65,536 characters is taken', `POST ${ISSUES}/7/comments`, { body: LONGEST }, 201],
    ['one character more is not', `POST ${ISSUES}/7/comments`, { body: `${LONGEST}x` }, 422],
    ['a comment without an issue is not found', `POST ${ISSUES}/10/comments`, { body: 'Hi' }, 404],
    ['another’s comment cannot be changed', `PATCH ${ISSUES}/comments/2000000001`, { body: 'Mine' }, 403],
    ['a long issue is refused', `POST ${ISSUES}`, { title: 'New', body: `${LONGEST}x` }, 422],
  ])('%s', async ([, words, sent, status]) => {
    expect(await call(await startFilled(), words, sent)).toMatchObject({ status });
  });

  test('of the check runs of a name and an app, only the newest is listed unless all are asked for', async () => {
    const github = await startFilled();
    const check = { head_sha: 'aaa', conclusion: 'success', output: { title: 'Plan', summary: '', text: '' } };
    for (const name of ['one', 'one', 'two']) github.addCheck({ ...check, name });
    github.addCheck({ ...check, name: 'one', app: { slug: 'other' } });
    const list = async (query: string) => {
      const { body } = await call(github, `GET /repos/acme/prompts/commits/aaa/check-runs${query}`);
      return (body as { readonly check_runs: readonly { readonly id: number }[] }).check_runs.map(({ id }) => id % 10);
    };
    expect(await list('')).toEqual([2, 3, 4]);
    expect(await list('?filter=latest&check_name=one')).toEqual([2, 4]);
    expect(await list('?filter=all')).toEqual([1, 2, 3, 4]);
    expect(await list('?filter=all&per_page=3&page=2')).toEqual([4]);
  });

  test('a page holds 100 at most, 30 where nothing is said', async () => {
    const github = await startFilled();
    for (let n = 1; n <= 120; n++) github.addComment(7, { body: `Comment ${n}` });
    const sizes = ['', '?per_page=500', '?per_page=100&page=2'].map(async (query) => {
      const { body } = await call(github, `GET ${ISSUES}/7/comments${query}`);
      return (body as readonly unknown[]).length;
    });
    expect(await Promise.all(sizes)).toEqual([30, 100, 21]);
  });
});

describe('outputs', () => {
  test.for<[sentence: string, text: string, outputs: object]>([
    ['an empty file has none', '', {}],
    ['empty lines are nothing', '\na=1\n\nb=2', { a: '1', b: '2' }],
    ['the first equals sign divides', 'a=b=c<<d\n', { a: 'b=c<<d' }],
    ['several lines end at the delimiter', 'a<<END\none\n\nb=2\nEND\nc=3\n', { a: 'one\n\nb=2', c: '3' }],
    ['a carriage return is part of a value', 'a<<END\none\r\n END\nEND\n', { a: 'one\r\n END' }],
  ])('%s', ([, text, outputs]) => {
    expect(parseOutputs(text)).toEqual(outputs);
  });

  test.for<[sentence: string, text: string, message: string]>([
    ['a line without a value fails the step', 'a\n', "Invalid format: 'a'"],
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
