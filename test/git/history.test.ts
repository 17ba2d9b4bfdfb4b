import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { configure, ODD_NAMES, open, UNUSUAL_SETTINGS } from './support.ts';

const head = (folder: string) => git(folder, 'rev-parse', 'HEAD');

describe('the paths at a commit', () => {
  test('are all of them, whatever is there now, relative to the folder', async () => {
    const folder = makeRepository({ 'a.md': '', 'sub/b.md': '', 'sub/deep/c.md': '' });
    const first = head(folder);
    rmSync(join(folder, 'a.md'));
    commitAll(folder, 'gone');
    expect(await (await open(folder)).pathsAt(first)).toEqual(['a.md', 'sub/b.md', 'sub/deep/c.md']);
    expect(await (await open(join(folder, 'sub'))).pathsAt(first)).toEqual(['../a.md', 'b.md', 'deep/c.md']);
  });

  test('keep every name as it is', async () => {
    const folder = makeRepository(Object.fromEntries(ODD_NAMES.map((name) => [name, 'x'])));
    configure(folder, UNUSUAL_SETTINGS);
    expect([...(await (await open(folder)).pathsAt('HEAD'))].toSorted()).toEqual([...ODD_NAMES].toSorted());
  });
});

describe('what changed since a commit', () => {
  test('is what was edited, added, removed and renamed, in commits or not yet', async () => {
    const folder = makeRepository({
      'same.md': '1',
      'committed.md': '1',
      'edited.md': '1',
      'gone.md': '1',
      'old.md': 'x\ny',
    });
    const base = head(folder);
    writeFiles(folder, { 'committed.md': '2', 'new.md': '1' });
    git(folder, 'mv', 'old.md', 'renamed.md');
    commitAll(folder, 'more');
    writeFiles(folder, { 'edited.md': '2', 'untracked.md': '1' });
    rmSync(join(folder, 'gone.md'));
    configure(folder, UNUSUAL_SETTINGS);
    expect([...(await (await open(folder)).changedSince(base))].toSorted()).toEqual([
      ...['committed.md', 'edited.md', 'gone.md', 'new.md', 'old.md', 'renamed.md'],
    ]);
  });

  test('does not count what was changed and changed back', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    const base = head(folder);
    writeFiles(folder, { 'a.md': '2' });
    commitAll(folder, 'there');
    writeFiles(folder, { 'a.md': '1' });
    commitAll(folder, 'and back');
    expect([...(await (await open(folder)).changedSince(base))]).toEqual([]);
  });

  test('is relative to the folder, also outside of it', async () => {
    const folder = makeRepository({ 'a.md': '1', 'sub/b.md': '1' });
    writeFiles(folder, { 'a.md': '2', 'sub/b.md': '2' });
    const changed = await (await open(join(folder, 'sub'))).changedSince('HEAD');
    expect([...changed].toSorted()).toEqual(['../a.md', 'b.md']);
  });
});

describe('the ancestors of commits', () => {
  test('are the commits themselves and all before them, of each branch', async () => {
    const { folder, commits } = makeMerged();
    const { first, side, main, merge } = commits;
    const repository = await open(folder);
    expect(await repository.ancestorsOf([main])).toEqual(new Set([first, main]));
    expect(await repository.ancestorsOf([merge])).toEqual(new Set([first, side, main, merge]));
    expect(await repository.ancestorsOf([side, main])).toEqual(new Set([first, side, main]));
  });
});

describe('where a file was touched', () => {
  test('is told newest first, up to a commit, and no more than asked for', async () => {
    const folder = makeRepository({ 'sub/a.md': '1', 'b.md': '1' });
    const commits = [head(folder)];
    for (const text of ['2', '3', '4']) {
      writeFiles(folder, { 'sub/a.md': text });
      commits.unshift(commitAll(folder, text));
      writeFiles(folder, { 'b.md': text });
      commitAll(folder, 'another file');
    }
    configure(folder, UNUSUAL_SETTINGS);
    const repository = await open(join(folder, 'sub'));
    const touched = async (commit: string, path: string, most: number) =>
      (await repository.whereTouched(commit, path, most)).map((at) => at.commit);
    expect(await touched('HEAD', 'sub/a.md', 50)).toEqual(commits);
    expect(await touched('HEAD', 'sub/a.md', 2)).toEqual(commits.slice(0, 2));
    expect(await touched(commits[1]!, 'sub/a.md', 50)).toEqual(commits.slice(1));
    expect(await touched('HEAD', 'sub/*.md', 50)).toEqual([]);
  });
});

test('what each commit has there is read as it is, be it a file, a link or nothing', async () => {
  const folder = makeRepository({ 'a.md': 'a\nb\nc\nd\n' });
  const turns = [
    () => writeFiles(folder, { 'a.md': 'a\nb\nc\nD\n' }),
    () => rmSync(join(folder, 'a.md')),
    () => symlinkSync('elsewhere', join(folder, 'a.md')),
    () => (rmSync(join(folder, 'a.md')), writeFiles(folder, { 'a.md': 'a\nb\nc\nE\n' })),
    () => git(folder, 'mv', 'a.md', '\n:100644 b.md'),
  ];
  for (const turn of turns) {
    turn();
    commitAll(folder, 'turn');
  }
  configure(folder, UNUSUAL_SETTINGS);
  const repository = await open(folder);
  const places = await repository.whereTouched('HEAD', '\n:100644 b.md', 50);
  const contents = await Promise.all(places.map((at) => repository.fileAt(at.commit, at.path)));
  expect(contents.map((bytes) => bytes?.toString()[6] ?? null)).toEqual(['E', 'E', null, null, 'D', 'd']);
});

describe('a clone', () => {
  test('is shallow when its history is cut, and not otherwise', async () => {
    const origin = makeRepository({ 'a.md': '1' });
    commitAll(origin, 'second');
    const folder = makeFolder();
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${origin}`, 'cut');
    expect(await (await open(join(folder, 'cut'))).isShallow()).toBe(true);
    expect(await (await open(origin)).isShallow()).toBe(false);
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

type Name = keyof ReturnType<typeof makeMerged>['commits'];

describe('the parents of a commit', () => {
  test.each<[string, Name, readonly Name[]]>([
    ['none of the first one', 'first', []],
    ['one', 'side', ['first']],
    ['of a merge the branch before what was merged', 'merge', ['main', 'side']],
  ])('%s', async (_, commit, parents) => {
    const { folder, commits } = makeMerged();
    const repository = await open(folder);
    expect(await repository.parentsOf(commits[commit])).toEqual(parents.map((name) => commits[name]));
  });

  test('of one that is not there are a problem', async () => {
    const { folder, commits } = makeMerged();
    await expect((await open(folder)).parentsOf(commits.missing)).rejects.toThrow('git could not answer');
  });
});

describe('what two commits have in common', () => {
  test.each<[string, Name, Name, Name | null]>([
    ['two branches: where they began', 'main', 'side', 'first'],
    ['one before the other: that one', 'first', 'merge', 'first'],
    ['the other way round', 'merge', 'side', 'side'],
    ['one and the same', 'side', 'side', 'side'],
    ['one that is not there', 'main', 'missing', null],
    ['neither is there', 'missing', 'missing', null],
  ])('%s', async (_, one, other, expected) => {
    const { folder, commits } = makeMerged();
    const found = await (await open(folder)).mergeBase(commits[one], commits[other]);
    expect(found).toBe(expected === null ? null : commits[expected]);
  });

  test('nothing where they do not begin at the same commit', async () => {
    const { folder, commits } = makeMerged();
    git(folder, 'switch', '--quiet', '--orphan', 'other');
    expect(await (await open(folder)).mergeBase(commits.main, commitAll(folder, 'other'))).toBeNull();
  });
});

describe('the commits that come after another', () => {
  test.each<[string, Name, readonly (Name | `not ${string}`)[], readonly Name[]]>([
    ['all after the first', 'first', ['first', 'side', 'main', 'merge'], ['side', 'main', 'merge']],
    ['itself is none', 'main', ['main'], []],
    ['one before it is none', 'main', ['first'], []],
    ['one beside it is none', 'main', ['side'], []],
    ['what it was merged into', 'side', ['main', 'merge'], ['merge']],
    ['one that is not there is none', 'first', ['missing', 'main'], ['main']],
    ['each once, in the order given', 'first', ['merge', 'main', 'merge'], ['merge', 'main']],
    ['nothing is given', 'first', [], []],
    ['nothing that is an id', 'first', ['not --all', 'not HEAD', 'not main', 'not '], []],
    ['ids among what is none', 'first', ['not --not', 'main', 'not ^HEAD', 'not --stdin', 'not a..b'], ['main']],
  ])('%s', async (_, commit, candidates, expected) => {
    const { folder, commits } = makeMerged();
    const ids: Readonly<Record<string, string>> = commits;
    const given = candidates.map((name) => ids[name] ?? name.slice('not '.length));
    const found = await (await open(folder)).descendantsOf(commits[commit], given);
    expect(found).toEqual(expected.map((name) => commits[name]));
  });

  test('an id that is cut, longer, or of a file is none', async () => {
    const { folder, commits } = makeMerged();
    const { first, main } = commits;
    const file = git(folder, 'rev-parse', 'HEAD:a.md');
    const given = [main.slice(0, 12), `${main}0`, `${main}\n`, main.toUpperCase(), file];
    expect(await (await open(folder)).descendantsOf(first, given)).toEqual([]);
  });
});
