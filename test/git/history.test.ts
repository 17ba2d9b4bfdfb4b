import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findMerges, readMessage } from '../../src/git/history.ts';
import { configure, ODD_NAMES, open, UNUSUAL_SETTINGS } from './support.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';

const head = (folder: string) => git(folder, 'rev-parse', 'HEAD');

describe('what changed since a commit', () => {
  test('is what was edited, removed and renamed, in commits or not yet; all else is as it was', async () => {
    const names = ['same.md', 'committed.md', 'edited.md', 'sub/gone.md', 'sub/deep/same.md'];
    const folder = makeRepository({ ...Object.fromEntries(names.map((name) => [name, '1'])), 'old.md': 'x\ny' });
    const base = head(folder);
    writeFiles(folder, { 'committed.md': '2', 'new.md': '1', 'sub/new.md': '1' });
    git(folder, 'mv', 'old.md', 'renamed.md');
    commitAll(folder, 'more');
    writeFiles(folder, { 'edited.md': '2', 'untracked.md': '1' });
    rmSync(join(folder, 'sub/gone.md'));
    configure(folder, UNUSUAL_SETTINGS);
    expect(await (await open(join(folder, 'sub'))).changedSince(base)).toEqual({
      changed: ['../committed.md', '../edited.md', '../old.md', 'gone.md'],
      same: new Set(['../same.md', 'deep/same.md']),
    });
  });

  test('does not count what was changed and changed back, whatever it is called', async () => {
    const folder = makeRepository(Object.fromEntries(ODD_NAMES.map((name) => [name, '1'])));
    const base = head(folder);
    const writeAll = (text: string) => writeFiles(folder, Object.fromEntries(ODD_NAMES.map((name) => [name, text])));
    writeAll('2');
    commitAll(folder, 'there');
    writeAll('1');
    commitAll(folder, 'and back');
    configure(folder, UNUSUAL_SETTINGS);
    expect(await (await open(folder)).changedSince(base)).toEqual({ changed: [], same: new Set(ODD_NAMES) });
  });
});

describe('of commits', () => {
  test('are found those that no other one contains, and what was merged before one', async () => {
    const { folder, commits } = makeMerged();
    const { first, side, main, merge } = commits;
    const repository = await open(folder);
    expect(await repository.independent([main, first, main])).toEqual([main]);
    expect(await repository.independent([merge, side, main, first])).toEqual([merge]);
    expect(new Set(await repository.independent([side, main, first]))).toEqual(new Set([side, main]));
    expect((await repository.mergesBefore(merge)).slice(0, 2)).toEqual([merge, main]);
  });
});

describe('the commits that changed a file', () => {
  test('include those of a merged branch whose change the merge commit dropped, and not the merge commit', async () => {
    const folder = makeRepository({ 'a.md': '1', 'b.md': '1' });
    const first = head(folder);
    git(folder, 'switch', '--quiet', '--create', 'side');
    writeFiles(folder, { 'a.md': '2' });
    const side = commitAll(folder, 'side');
    git(folder, 'switch', '--quiet', 'main');
    commitAll(folder, 'main');
    git(folder, 'merge', '--quiet', '--no-ff', '--strategy=ours', '--message', 'merge', 'side');
    const repository = await open(folder);
    const commits = await Promise.all(['a.md', 'b.md', 'c.md'].map((path) => repository.whereChanged('HEAD', path)));
    expect(commits).toEqual([[side, first], [first], []]);
    expect((await repository.whereTouched('HEAD', 'a.md', 'branch')).map(({ commit }) => commit)).toEqual([first]);
    expect((await repository.mergesOf('HEAD')).get(side)).toBe(head(folder));
  });

  test('include a merge commit in which a file differs from all parents, and no merge commit that takes one of them', async () => {
    const folder = makeRepository({ 'a.md': '1', 'b.md': '1' });
    const first = head(folder);
    git(folder, 'switch', '--quiet', '--create', 'side');
    writeFiles(folder, { 'b.md': '2' });
    const side = commitAll(folder, 'side');
    git(folder, 'switch', '--quiet', 'main');
    commitAll(folder, 'main');
    git(folder, 'merge', '--quiet', '--no-ff', '--no-commit', 'side');
    writeFiles(folder, { 'a.md': '3' });
    const merge = commitAll(folder, 'merge');
    configure(folder, UNUSUAL_SETTINGS);
    const repository = await open(folder);
    expect(await repository.whereChanged(merge, 'a.md')).toEqual([merge, first]);
    expect(await repository.whereChanged(merge, 'b.md')).toEqual([side, first]);
  });
});

test('the commit and the paths from the root are known in each folder of each work tree', async () => {
  const folder = makeRepository({ 'a.md': '1', 'sub/b.md': '1', 'line\nfeed/c.md': '1' });
  const worktree = join(makeFolder(), 'tree');
  git(folder, 'worktree', 'add', '--quiet', worktree);
  const places = [folder, join(folder, 'sub'), join(folder, 'line\nfeed'), worktree, join(worktree, 'sub')];
  const opened = await Promise.all(places.map(open));
  expect(opened.map(({ head: commit }) => commit)).toEqual(places.map(() => head(folder)));
  expect(opened.map(({ fromRoot }) => fromRoot('x'))).toEqual(['x', 'sub/x', 'line\nfeed/x', 'x', 'sub/x']);
});

/** main and side begin at the first commit and are merged. */
function makeMerged() {
  const folder = makeRepository({ 'a.md': '1' });
  const first = head(folder);
  git(folder, 'switch', '--quiet', '--create', 'side');
  const side = commitAll(folder, 'side');
  git(folder, 'switch', '--quiet', 'main');
  const main = commitAll(folder, 'main');
  git(folder, 'merge', '--quiet', '--no-ff', '--message', 'merge', 'side');
  configure(folder, UNUSUAL_SETTINGS);
  return { folder, commits: { first, side, main, merge: head(folder), missing: 'd'.repeat(40) } };
}

test('what two commits have in common', async () => {
  const { folder, commits } = makeMerged();
  const { first, side, main, merge, missing } = commits;
  git(folder, 'switch', '--quiet', '--orphan', 'other');
  const orphan = commitAll(folder, 'other');
  const { mergeBase } = await open(folder);
  expect(await mergeBase(main, side)).toBe(first);
  expect(await mergeBase(merge, side)).toBe(side);
  for (const other of [missing, orphan]) expect(await mergeBase(main, other)).toBeNull();
});

test('a commit is within itself and its descendants, and not within its ancestors or another branch', async () => {
  const { folder, commits } = makeMerged();
  const { first, side, main, merge } = commits;
  const { isWithin } = await open(folder);
  const within = (other: string) => Promise.all([first, side, main, merge].map((commit) => isWithin(commit, other)));
  expect(await within(first)).toEqual([true, false, false, false]);
  expect(await within(side)).toEqual([true, true, false, false]);
  expect(await within(merge)).toEqual([true, true, true, true]);
});

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

  test.each(['', 'A\u001b[31mred\u0007 ::error::x ##[error]y', '--format=%H %x00 %s'])(
    'a subject stays as it is, because renderers escape it: %j',
    async (subject) => {
      const { folder, commit } = makeCommitted(subject);
      expect((await (await open(folder)).commitsOf([commit])).get(commit)).toMatchObject({ subject });
    },
  );

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

describe('the pull request that a commit names', () => {
  const quoted = 'Revert "Merge pull request #7 from a/b"';
  const absurd = `Soften (#${'9'.repeat(30)})`;
  test.each<[string, string, string, string | null, string?]>([
    ['none', 'Soften the tone', '', null],
    ['a squash merge of GitHub', 'Soften the tone (#12)', '', '#12'],
    ['of several the last one', 'Revert "Soften (#12)" (#15)', '', '#15'],
    ['not one that is quoted', 'Revert "Soften (#12)"', '', null],
    ['not an issue', 'Fix #12', 'Closes #12', null],
    ['not without a number', 'Soften (#)', '', null],
    ['not a number that none can have', absurd, '', null],
    ['a merge of GitHub', 'Merge pull request #17 from acme/soft', ' Soften\r\n\nMore.', '#17', 'Soften'],
    ['one without a title', 'Merge pull request #7 from a/b', '', '#7'],
    ['its title may name another', 'Merge pull request #7 from a/b', 'Like (#3)', '#7', 'Like (#3)'],
    ['not a merge that is quoted', quoted, '', null],
    ['a merge of GitLab', "Merge branch 'soft' into 'main'", 'Soften\n\nSee merge request a/p!9', '!9', 'Soften'],
    ['one without a title', "Merge branch 'a' into 'b'", 'See merge request g/p!9\n', '!9'],
    ['a squash merge of GitLab', 'Soften', 'Why.\n\nSee merge request g/sub/p!10', '!10'],
    ['with CR LF', 'Soften', 'See merge request g/p!11\r\n', '!11'],
    ['of several the last one', 'Soften', 'See merge request g/p!1\n\nSee merge request g/p!2', '!2'],
    ['not within a sentence', 'Soften', 'Do not See merge request g/p!1', null],
    ['not one of somebody’s words', 'Soften', 'See merge request g/p!1 and others', null],
    ['nothing at all', '', '', null],
  ])('%s: %s', (_, subject, body, pullRequest, told = subject) => {
    expect(readMessage(subject, body)).toEqual({ pullRequest, subject: told });
  });

  test('is found in time, whatever the message is', () => {
    const body = `${'See merge request '.repeat(20_000)}\n${'!'.repeat(100_000)}`;
    expect(readMessage(`${'(#1'.repeat(50_000)}`, body)).toMatchObject({ pullRequest: null });
  });
});
