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

/** Starts a GitHub double with pull request 7, issue 8 and a comment by another person. */
async function startFilled(): Promise<GitHubDouble> {
  const github = await startGitHub();
  github.addPull({ number: 7, head: 'aaa', base: 'main', mergeCommit: 'bbb' });
  github.addIssue({ title: 'Drift' });
  github.addComment(7, { body: 'Other', user: { login: 'ada', type: 'User' } });
  return github;
}

describe('the GitHub double', () => {
  test.for<[title: string, words: string, sent: object, status: number]>([
    ['accepts a comment with 65,536 characters', `POST ${ISSUES}/7/comments`, { body: LONGEST }, 201],
    ['rejects a comment with 65,537 characters', `POST ${ISSUES}/7/comments`, { body: `${LONGEST}x` }, 422],
    ["rejects an edit of another user's comment", `PATCH ${ISSUES}/comments/2000000001`, { body: 'Mine' }, 403],
  ])('The GitHub test double %s', async ([, words, sent, status]) => {
    expect(await call(await startFilled(), words, sent)).toMatchObject({ status });
  });

  test('The GitHub test double lists only the newest check run for each name and app by default', async () => {
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

  test('The GitHub test double returns 30 items per page by default and at most 100', async () => {
    const github = await startFilled();
    for (let n = 1; n <= 120; n++) github.addComment(7, { body: `Comment ${n}` });
    const sizes = ['', '?per_page=500', '?per_page=100&page=2'].map(async (query) => {
      const { body } = await call(github, `GET ${ISSUES}/7/comments${query}`);
      return (body as readonly unknown[]).length;
    });
    expect(await Promise.all(sizes)).toEqual([30, 100, 21]);
  });
});

describe('parseOutputs', () => {
  test.for<[title: string, text: string, outputs: object]>([
    ['reads values up to their delimiters', 'a<<END\none\n\nb=2\nEND\nc<<X\n3\nX\n', { a: 'one\n\nb=2', c: '3' }],
    ['preserves a carriage return in a value', 'a<<END\none\r\n END\nEND\n', { a: 'one\r\n END' }],
  ])('parseOutputs %s', ([, text, outputs]) => {
    expect(parseOutputs(text)).toEqual(outputs);
  });

  test.for<[title: string, text: string, message: string]>([
    ['rejects an empty delimiter', 'a<<\n\n', "Invalid format: 'a<<'"],
    ['rejects a value without a closing delimiter', 'a<<END\none\nEND \n', "Matching delimiter not found: 'END'"],
  ])('parseOutputs %s', ([, text, message]) => {
    expect(() => parseOutputs(text)).toThrow(message);
  });
});

test.for<[title: string, log: string, commands: readonly string[]]>([
  ['a command at the start of a line', 'plain\n::error file=a::Text\n', ['::error file=a::Text']],
  ['a command after leading whitespace', ' \t\u00a0\u0085::add-mask::x', [' \t\u00a0\u0085::add-mask::x']],
  ['commands after any line ending', 'one\r::group::A\r\n::endgroup::', ['::group::A', '::endgroup::']],
  ['old-style ##[ commands anywhere in a line', 'text ##[error]x\n##[', ['text ##[error]x', '##[']],
  ['nothing in text that only resembles a command', 'a ::error::b\n\\u{3a}:error::\n:: error\n:error\n# #[x]\n', []],
])('runnerCommands finds %s', ([, log, commands]) => {
  expect(runnerCommands(log)).toEqual(commands);
});
