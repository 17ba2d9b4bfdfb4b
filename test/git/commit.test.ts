import { describe, expect, test } from 'vitest';
import { openCommitter } from '../../src/git/open-committer.ts';
import { addHook, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { configure, makeConflict, startAt } from './support.ts';

/** User settings that influence how git reads and writes commits. */
const SETTINGS = {
  'commit.verbose': 'true',
  'commit.template': '/nowhere',
  'commit.status': 'false',
  'commit.cleanup': 'scissors',
  'core.editor': 'false',
  'core.quotePath': 'true',
  'color.ui': 'always',
  'column.ui': 'always',
  'branch.sort': '-committerdate',
  'status.relativePaths': 'false',
} as const;

const pathsIn = (folder: string, ref = 'HEAD'): readonly string[] =>
  git(folder, 'show', '--format=', '--name-only', '-z', ref)
    .split('\0')
    .filter((path) => path !== '')
    .toSorted();

/** Makes a repository with one file and an uncommitted edit of it. */
function makeEditedRepository(): string {
  const folder = makeRepository({ 'a.md': 'a' });
  writeFiles(folder, { 'a.md': 'A' });
  return folder;
}

describe('commit', () => {
  test('promptsync commits only the named files even if other files are staged and git settings are unusual', async () => {
    const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b', 'c.md': 'c' });
    configure(folder, SETTINGS);
    writeFiles(folder, { 'a.md': 'A', 'b.md': 'B', 'c.md': 'C', 'new.md': 'n' });
    git(folder, 'add', 'b.md');
    const committed = await openCommitter(startAt(folder)).commit(['a.md', 'new.md'], 'Subject\n\n- körper');
    expect(committed).toEqual({ commit: git(folder, 'rev-parse', 'HEAD'), branch: 'main' });
    expect(pathsIn(folder)).toEqual(['a.md', 'new.md']);
    expect(git(folder, 'log', '-1', '--format=%B').trim()).toBe('Subject\n\n- körper');
    expect(git(folder, '-c', 'color.ui=false', 'status', '--short')).toBe('M  b.md\n M c.md');
  });

  test('promptsync creates a commit with exactly the given message', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const { commit } = openCommitter(startAt(folder));
    const messages = ['# no comment', '-m', '--amend', 'two\nlines', 'quo\'te "$HOME"', '\u202edesrever'];
    for (const [index, message] of messages.entries()) {
      writeFiles(folder, { 'a.md': `${index}` });
      await commit(['a.md'], message);
      expect(git(folder, 'log', '-1', '--format=%B').trim()).toBe(message);
    }
  });

  test('promptsync can create the first commit in a repository', async () => {
    const folder = makeWorkspace({ 'a.md': 'a' });
    git(folder, 'init', '--quiet', '--initial-branch', 'trunk');
    expect(await openCommitter(startAt(folder)).commit(['a.md'], 'First')).toMatchObject({ branch: 'trunk' });
  });

  test('files that a hook formats and stages during a commit do not differ between the index and HEAD afterward', async () => {
    const folder = makeRepository({ 'a.md': 'a', 'list.txt': 'a', 'b.md': 'b' });
    addHook(folder, 'echo formatted >> a.md\necho a.md > list.txt\ngit add a.md list.txt');
    writeFiles(folder, { 'a.md': 'A', 'b.md': 'B' });
    git(folder, 'add', 'b.md');
    await openCommitter(startAt(folder)).commit(['a.md'], 'Edit');
    expect(pathsIn(folder)).toEqual(['a.md', 'list.txt']);
    expect(git(folder, 'status', '--short')).toBe('M  b.md');
  });
});

describe('commit if git refuses', () => {
  test('promptsync shows the output of a git hook that rejects a commit', async () => {
    const folder = makeEditedRepository();
    addHook(folder, 'echo "not today" >&2\nexit 1', 'commit-msg');
    await expect(openCommitter(startAt(folder)).commit(['a.md'], 'Edit')).rejects.toThrow(/^git failed: .*not today/);
  });

  test('promptsync reports that git made no commit if a git hook rejects the commit without output', async () => {
    const folder = makeEditedRepository();
    addHook(folder, 'exit 1');
    await expect(openCommitter(startAt(folder)).commit(['a.md'], 'Edit')).rejects.toThrow('git created no commit');
    // The edit remains uncommitted and unstaged.
    expect(git(folder, 'diff', '--name-only')).toBe('a.md');
    expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
  });

  test('promptsync refuses to commit or switch branches during an unfinished merge', async () => {
    const folder = makeConflict();
    writeFiles(folder, { 'b.md': 'B' });
    await expect(openCommitter(startAt(folder)).commit(['b.md'], 'Edit')).rejects.toThrow('merge');
    expect(await openCommitter(startAt(folder)).switchTo('new')).toMatchObject({ code: 'git/branch' });
  });
});

describe('findBranchProblem and switchTo', () => {
  const ALLOWED = ['promote/greeting', 'größe', 'a.b', 'refs/heads/x', "quo'te", '$(x)', 'a;b'];
  const REFUSED = ['', ' ', 'a b', '-x', '--orphan', 'HEAD', '@{-1}', '-', 'a..b', '/x', 'a~1', 'new\nline'];

  test('promptsync accepts a new branch name only if git allows it and no branch uses it', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    git(folder, 'switch', '--quiet', '--create', 'other');
    git(folder, 'switch', '--quiet', 'main');
    const { findBranchProblem: branchProblem } = openCommitter(startAt(folder));
    const problemMessageOf = async (name: string) => (await branchProblem(name))?.message ?? null;
    for (const name of ALLOWED) expect([name, await problemMessageOf(name)]).toEqual([name, null]);
    for (const name of REFUSED) expect(await problemMessageOf(name)).toContain('git does not allow this name');
    expect(await problemMessageOf('other')).toContain('a branch with this name already exists');
    git(folder, 'pack-refs', '--all');
    expect(await problemMessageOf('other')).toContain('a branch with this name already exists');
    git(folder, 'tag', 'v1');
    expect(await problemMessageOf('v1')).toBeNull();
  });

  test('promptsync creates a new branch at HEAD, stays there if asked again, and keeps uncommitted changes', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'A', 'new.md': 'n' });
    const head = git(folder, 'rev-parse', 'HEAD');
    expect(await openCommitter(startAt(folder)).switchTo('größe')).toBeNull();
    expect(git(folder, 'branch', '--show-current')).toBe('größe');
    expect(await openCommitter(startAt(folder)).switchTo('größe')).toBeNull();
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(folder, 'status', '--short')).toBe(' M a.md\n?? new.md');
  });

  test('promptsync reports no problem if git switches to the new branch but the post-checkout hook fails', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    addHook(folder, 'echo "git-lfs was not found" >&2\nexit 1', 'post-checkout');
    expect(await openCommitter(startAt(folder)).switchTo('new')).toBeNull();
    expect(git(folder, 'branch', '--show-current')).toBe('new');
  });

  test('promptsync stays on the current branch if git cannot create the new branch', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    expect(await openCommitter(startAt(folder)).switchTo('main/below')).toMatchObject({
      code: 'git/branch',
      message: expect.stringContaining('refs/heads/main'),
    });
    expect(git(folder, 'branch', '--show-current')).toBe('main');
  });
});
