import { describe, expect, test } from 'vitest';
import { findMerges } from '../../src/git/history.ts';
import { commitAll, git, makeRepository } from '../support/folder.ts';
import { configure, open, UNUSUAL_SETTINGS } from './support.ts';

const head = (folder: string) => git(folder, 'rev-parse', 'HEAD');

/** A repository with one more commit whose message is this one, to the letter. */
function makeCommitted(message: string): { readonly folder: string; readonly commit: string } {
  const folder = makeRepository({ 'a.md': '1' });
  const verbatim = ['--cleanup=verbatim', '--allow-empty', '--allow-empty-message'];
  git(folder, 'commit', '--quiet', ...verbatim, '--message', message);
  return { folder, commit: head(folder) };
}

describe('what git knows of commits', () => {
  test('is author, date with its offset, subject and pull request, whatever the user has configured', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    const first = head(folder);
    const author = ['--author=Zoë <z@example.com>', '--date=2026-03-04T23:30:00-05:00'];
    git(folder, 'commit', '--quiet', '--allow-empty', ...author, '--message', 'Grüße (#12)\n\nBody');
    configure(folder, UNUSUAL_SETTINGS);
    const second = head(folder);
    const info = { author: 'Zoë', date: '2026-03-04T23:30:00-05:00', subject: 'Grüße (#12)', pullRequest: '#12' };
    const ada = { author: 'Ada', date: '2026-01-02T03:04:05+00:00', subject: 'First prompts' };
    expect(await (await open(folder)).commitsOf([first, second, first])).toEqual(
      new Map([
        [first, { commit: first, ...ada }],
        [second, { commit: second, ...info }],
      ]),
    );
  });

  test.each([
    ['nothing', ''],
    ['control characters', 'A\u001b[31mred\u0007'],
    ['what looks like a command', '::error::x ##[error]y'],
    ['what looks like a placeholder', '%H %x00 %s'],
    ['what looks like an option', '--format=x'],
  ])('%s as a subject stays as it is: renderers make it inert', async (_, subject) => {
    const { folder, commit } = makeCommitted(subject);
    expect((await (await open(folder)).commitsOf([commit])).get(commit)).toMatchObject({ subject });
  });

  test('a body does not run into the next commit', async () => {
    const { folder, commit } = makeCommitted('One\n\nSee merge request g/p!3\n\n\n');
    const next = commitAll(folder, 'Two');
    const commits = await (await open(folder)).commitsOf([next, commit]);
    expect([...commits.values()].map(({ subject, pullRequest }) => [subject, pullRequest])).toEqual([
      ['Two', undefined],
      ['One', '!3'],
    ]);
  });

  test('ids that are not there, or are none, are left out', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    git(folder, 'tag', '--annotate', '--message', 'v1', 'v1');
    const commit = head(folder);
    const others = ['v1^{tag}', 'HEAD^{tree}', 'HEAD:a.md'].map((name) => git(folder, 'rev-parse', name));
    const odd = ['', 'HEAD', '--all', '-1', '--output=x', `^${commit}`, `${commit}^{commit}`, commit.slice(0, 12)];
    const repository = await open(folder);
    const ids = [...odd, ...others, 'd'.repeat(40), 'e'.repeat(64), `${commit}\n`];
    expect([...(await repository.commitsOf([...ids, commit])).keys()]).toEqual([commit]);
    expect(await repository.commitsOf(ids)).toEqual(new Map());
    expect(await repository.commitsOf([])).toEqual(new Map());
  });
});

describe('the merge that brought a commit', () => {
  test('is the one on the branch itself; its own commits have none', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    const merge = (name: string) => {
      git(folder, 'merge', '--quiet', '--no-ff', '--message', name, name);
      return head(folder);
    };
    git(folder, 'switch', '--quiet', '--create', 'inner');
    const inner = commitAll(folder, 'inner');
    git(folder, 'switch', '--quiet', '--create', 'outer', 'main');
    const outer = commitAll(folder, 'outer');
    const within = merge('inner');
    git(folder, 'switch', '--quiet', 'main');
    const own = commitAll(folder, 'own');
    const brought = merge('outer');
    configure(folder, UNUSUAL_SETTINGS);
    const merges = await (await open(folder)).mergesOf(brought);
    expect(Object.fromEntries(merges)).toEqual({ [inner]: brought, [outer]: brought, [within]: brought });
    expect(merges.has(own)).toBe(false);
  });

  test.each<[string, string, Readonly<Record<string, string>>]>([
    ['nothing is known', '', {}],
    ['no merge', 'b a\na\n', {}],
    ['the first of two that contain it', 'm2 m1 s2\ns2 s1\nm1 a s1\ns1 a\na\n', { s1: 'm1', s2: 'm2' }],
    ['of several branches at once', 'm a x y\nx a\ny a\na\n', { x: 'm', y: 'm' }],
    ['what is too old to be listed is left out of its branch', 'm b s\ns r\n', { s: 'm', r: 'm' }],
  ])('%s', (_, listed, expected) => {
    expect(Object.fromEntries(findMerges(listed.split('\n').slice(0, -1)))).toEqual(expected);
  });
});
