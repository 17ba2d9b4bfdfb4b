import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { mapCommitsToMerges } from '../../src/git/commit-history.ts';
import { parseCommitMessage } from '../../src/git/parse-commit-message.ts';
import { countGit } from '../support/count-git.ts';
import { commitToSide, configure, open, UNUSUAL_SETTINGS } from './support.ts';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';

afterEach(() => vi.unstubAllEnvs());

const head = (folder: string) => git(folder, 'rev-parse', 'HEAD');

describe('compareWithWorkTree', () => {
  test('compareWithWorkTree lists each file of a commit as changed or unchanged and also detects uncommitted changes', async () => {
    const names = ['same\nü.md', 'committed ü.md', 'edited.md', 'sub/gone.md', 'sub/deep/same.md'];
    const folder = makeRepository({ ...Object.fromEntries(names.map((name) => [name, '1'])), 'old.md': 'x\ny' });
    const base = head(folder);
    writeFiles(folder, { 'committed ü.md': '2', 'new.md': '1', 'sub/new.md': '1' });
    git(folder, 'mv', 'old.md', 'renamed.md');
    commitAll(folder, 'more');
    writeFiles(folder, { 'edited.md': '2', 'untracked.md': '1' });
    rmSync(join(folder, 'sub/gone.md'));
    configure(folder, UNUSUAL_SETTINGS);
    expect(await (await open(join(folder, 'sub'))).compareWithWorkTree(base)).toEqual({
      changed: ['../committed ü.md', '../edited.md', '../old.md', 'gone.md'],
      same: new Set(['../same\nü.md', 'deep/same.md']),
    });
  });

  test('compareWithWorkTree omits files outside a sparse checkout, but lists those that were deleted', async () => {
    const folder = makeRepository({ 'in/a.md': '1', 'out/b.md': '1', 'out/c.md': '1', 'out/edited.md': '1' });
    const base = head(folder);
    git(folder, 'rm', '--quiet', 'out/c.md');
    git(folder, 'mv', 'out/b.md', 'out/moved.md');
    commitAll(folder, 'Delete and move');
    git(folder, 'sparse-checkout', 'set', 'in');
    const { compareWithWorkTree, listSparsePaths } = await open(folder);
    expect(await compareWithWorkTree(base)).toEqual({ changed: ['out/b.md', 'out/c.md'], same: new Set(['in/a.md']) });
    expect(await listSparsePaths()).toEqual(['out/edited.md', 'out/moved.md']);
  });
});

test('listBranchCommits returns the first-parent history of a commit, newest first', async () => {
  const { folder, commits } = makeMergedRepository();
  const { first, main, merge } = commits;
  const { listBranchCommits } = await open(folder);
  expect(await listBranchCommits(merge)).toEqual([merge, main, first]);
  expect(await listBranchCommits(merge, 2)).toEqual([merge, main]);
});

describe('findCommitsChanging and followFile', () => {
  test('If a merge discards the change of a commit, findCommitsChanging lists that commit but not the merge commit', async () => {
    const folder = makeRepository({ 'a.md': '1', 'b.md': '1' });
    const first = head(folder);
    const side = commitToSide(folder, { 'a.md': '2' });
    commitAll(folder, 'main');
    git(folder, 'merge', '--quiet', '--no-ff', '--strategy=ours', '--message', 'merge', 'side');
    const repository = await open(folder);
    const commits = await Promise.all(
      ['a.md', 'b.md', 'c.md'].map((path) => repository.findCommitsChanging('HEAD', path)),
    );
    expect(commits).toEqual([[side, first], [first], []]);
    expect((await repository.followFile('HEAD', 'a.md')).map(({ commit }) => commit)).toEqual([first]);
    expect((await repository.mapCommitsToMerges('HEAD')).get(side)).toBe(head(folder));
  });

  test('findCommitsChanging lists a merge commit only if the file differs between that commit and every parent', async () => {
    const folder = makeRepository({ 'a.md': '1', 'b.md': '1' });
    const first = head(folder);
    const side = commitToSide(folder, { 'b.md': '2' });
    commitAll(folder, 'main');
    git(folder, 'merge', '--quiet', '--no-ff', '--no-commit', 'side');
    writeFiles(folder, { 'a.md': '3' });
    const merge = commitAll(folder, 'merge');
    configure(folder, UNUSUAL_SETTINGS);
    const repository = await open(folder);
    expect(await repository.findCommitsChanging(merge, 'a.md')).toEqual([merge, first]);
    expect(await repository.findCommitsChanging(merge, 'b.md')).toEqual([side, first]);
  });
});

test('promptsync finds HEAD and converts paths to repository root paths even in subfolders and linked worktrees', async () => {
  const folder = makeRepository({ 'a.md': '1', 'sub/b.md': '1', 'line\nfeed/c.md': '1' });
  const worktree = join(makeFolder(), 'tree');
  git(folder, 'worktree', 'add', '--quiet', worktree);
  const places = [folder, join(folder, 'sub'), join(folder, 'line\nfeed'), worktree, join(worktree, 'sub')];
  const opened = await Promise.all(places.map((place) => open(place)));
  expect(opened.map(({ head: commit }) => commit)).toEqual(places.map(() => head(folder)));
  expect(opened.map(({ toRootPath }) => toRootPath('x'))).toEqual(['x', 'sub/x', 'line\nfeed/x', 'x', 'sub/x']);
});

/** Makes a repository in which the branches main and side start at the first commit and are merged. */
function makeMergedRepository() {
  const folder = makeRepository({ 'a.md': '1' });
  const first = head(folder);
  const side = commitToSide(folder);
  const main = commitAll(folder, 'main');
  git(folder, 'merge', '--quiet', '--no-ff', '--message', 'merge', 'side');
  configure(folder, UNUSUAL_SETTINGS);
  return { folder, commits: { first, side, main, merge: head(folder), missing: 'd'.repeat(40) } };
}

test('findMergeBase returns the common ancestor of two commits, or null if there is none', async () => {
  const { folder, commits } = makeMergedRepository();
  const { first, side, main, merge, missing } = commits;
  git(folder, 'switch', '--quiet', '--orphan', 'other');
  const orphan = commitAll(folder, 'other');
  const { findMergeBase } = await open(folder);
  expect(await findMergeBase(main, side)).toBe(first);
  expect(await findMergeBase(merge, side)).toBe(side);
  for (const other of [missing, orphan]) expect(await findMergeBase(main, other)).toBeNull();
});

test('isSameOrAncestor returns true only for the same commit or an ancestor, and starts one git process for all calls with the same second commit', async () => {
  const { folder, commits } = makeMergedRepository();
  const { first, side, main, merge } = commits;
  git(folder, 'switch', '--quiet', '--orphan', 'other');
  const all = [first, side, main, merge, commitAll(folder, 'other')];
  const { isSameOrAncestor } = await open(folder);
  const listCommands = countGit();
  const answers = all.map((other) => Promise.all(all.map((commit) => isSameOrAncestor(commit, other))));
  expect(await Promise.all(answers)).toEqual([
    [true, false, false, false, false],
    [true, true, false, false, false],
    [true, false, true, false, false],
    [true, true, true, true, false],
    [false, false, false, false, true],
  ]);
  expect(listCommands()).toEqual(all.map(() => 'rev-list'));
});

describe('readCommits', () => {
  test('readCommits returns the author, date, subject and pull request despite unusual git settings', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    const first = head(folder);
    const author = ['--author=Zoë <z@example.com>', '--date=2026-03-04T23:30:00-05:00'];
    git(folder, 'commit', '--quiet', '--allow-empty', ...author, '--message', 'Grüße\u001b[31m%H %x00\n(#12)\n\nBody');
    configure(folder, UNUSUAL_SETTINGS);
    const second = head(folder);
    const subject = 'Grüße\u001b[31m%H %x00 (#12)';
    const info = { author: 'Zoë', date: '2026-03-04T23:30:00-05:00', subject, pullRequest: '#12' };
    const ada = { author: 'Ada', date: '2026-01-02T03:04:05+00:00', subject: 'First prompts' };
    expect(await (await open(folder)).readCommits([first, second, first])).toEqual(
      new Map([
        [first, { commit: first, ...ada }],
        [second, { commit: second, ...info }],
      ]),
    );
  });

  test('readCommits omits every id that is not the full id of an existing commit', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    git(folder, 'tag', '--annotate', '--message', 'v1', 'v1');
    const commit = head(folder);
    const others = ['v1^{tag}', 'HEAD^{tree}', 'HEAD:a.md'].map((name) => git(folder, 'rev-parse', name));
    const odd = ['', 'HEAD', '--all', '-1', '--output=x', `^${commit}`, `${commit}^{commit}`, commit.slice(0, 12)];
    const ids = [...odd, ...others, 'd'.repeat(40), 'e'.repeat(64), `${commit}\n`];
    const { readCommits } = await open(folder);
    expect([...(await readCommits([...ids, commit])).keys()]).toEqual([commit]);
    expect(await readCommits(ids)).toEqual(new Map());
    expect(await readCommits([])).toEqual(new Map());
  });
});

test.each<[string, readonly string[], Readonly<Record<string, string>>]>([
  ['mapCommitsToMerges returns nothing for a branch without merges', ['b a', 'a'], {}],
  [
    'mapCommitsToMerges maps a commit to the first of two merges',
    ['m2 m1 s2', 's2 s1', 'm1 a s1', 's1 a', 'a'],
    { s1: 'm1', s2: 'm2' },
  ],
  ['mapCommitsToMerges maps all parents of a merge', ['m a x y', 'x a', 'y a', 'a'], { x: 'm', y: 'm' }],
  [
    'mapCommitsToMerges maps a merge within a merged branch and its commits',
    ['m a w', 'w x y', 'x a', 'y a', 'a'],
    { w: 'm', x: 'm', y: 'm' },
  ],
  ['mapCommitsToMerges maps a parent that a shallow clone lacks', ['m b s', 's r'], { s: 'm', r: 'm' }],
])('%s', (_, lines, expected) => {
  expect(Object.fromEntries(mapCommitsToMerges(lines))).toEqual(expected);
});

describe('parseCommitMessage', () => {
  const quoted = 'Revert "Merge pull request #7 from a/b"';
  const absurd = `Soften (#${'9'.repeat(30)})`;
  test.each<[string, string, string | null, string?]>([
    ['Revert "Soften (#12)" (#15)', '', '#15'],
    ['Revert "Soften (#12)"', '', null],
    ['Fix #12', 'Closes #12', null],
    [absurd, '', null],
    ['Merge pull request #17 from acme/soft', ' Soften\r\n\nMore.', '#17', 'Soften'],
    ['Merge pull request #7 from a/b', '', '#7'],
    [quoted, '', null],
    ["Merge branch 'soft' into 'main'", 'Soften\n\nSee merge request a/p!9', '!9', 'Soften'],
    ["Merge branch 'a' into 'b'", 'See merge request g/p!9\n', '!9'],
    ['Soften', 'Why.\n\nSee merge request g/sub/p!10', '!10'],
    ['Soften', 'See merge request g/p!11\r\n', '!11'],
    ['Soften', 'See merge request g/p!1\n\nSee merge request g/p!2', '!2'],
    ['Soften', 'Do not See merge request g/p!1', null],
    ['Soften', 'See merge request g/p!1 and others', null],
  ])(
    'parseCommitMessage reads the subject %j with the body %j as the pull request %j',
    (subject, body, pullRequest, title = subject) => {
      expect(parseCommitMessage(subject, body)).toEqual({ pullRequest, subject: title });
    },
  );

  test('parseCommitMessage finds no pull request number in a huge message that would slow down a backtracking regular expression', () => {
    const body = `${'See merge request '.repeat(20_000)}\n${'!'.repeat(100_000)}`;
    expect(parseCommitMessage(`${'(#1'.repeat(50_000)}`, body)).toMatchObject({ pullRequest: null });
  });
});
