import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { openCommitter } from '../../src/git/commit.ts';
import { commitEdits, git, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { configure, ODD_NAMES, startAt, UNUSUAL_VARIABLES } from './support.ts';

afterEach(() => void vi.unstubAllEnvs());

/** Git as somebody may have set it up for reading and writing commits. */
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

/** A repository with one file, which is edited. */
function makeEdited(): string {
  const folder = makeRepository({ 'a.md': 'a' });
  writeFiles(folder, { 'a.md': 'A' });
  return folder;
}

/** Makes a hook of the repository refuse. */
function refuseBy(folder: string, hook: string, script: string): void {
  const path = `.git/hooks/${hook}`;
  writeFiles(folder, { [path]: `#!/bin/sh\n${script}exit 1\n` });
  chmodSync(join(folder, path), 0o755);
}

describe('a commit', () => {
  test('holds the files named and nothing else, whatever is staged, and however git is set up', async () => {
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

  test('takes paths as they are, from the root, also from a folder below it', async () => {
    const files = Object.fromEntries(ODD_NAMES.map((name) => [`sub/${name}`, 'before']));
    const folder = makeRepository({ ...files, 'sub/other.md': 'before' });
    for (const path of ['sub/other.md', ...Object.keys(files)]) writeFiles(folder, { [path]: 'after' });
    await openCommitter(startAt(folder)).commit(Object.keys(files), 'Edit');
    expect(pathsIn(folder)).toEqual(Object.keys(files).toSorted());
  });

  test.each(['# no comment', '-m', '--amend', 'two\nlines', 'quo\'te "$HOME"', '\u202edesrever'])(
    'has the message as it is: %j',
    async (message) => {
      const folder = makeEdited();
      await openCommitter(startAt(folder)).commit(['a.md'], message);
      expect(git(folder, 'log', '-1', '--format=%B').trim()).toBe(message);
    },
  );

  test('is the first one where there is none', async () => {
    const folder = makeWorkspace({ 'a.md': 'a' });
    git(folder, 'init', '--quiet', '--initial-branch', 'trunk');
    expect(await openCommitter(startAt(folder)).commit(['a.md'], 'First')).toMatchObject({ branch: 'trunk' });
  });

  test('is in the name that a workflow has in its variables', async () => {
    const folder = makeEdited();
    vi.stubEnv('GIT_AUTHOR_NAME', 'A bot');
    vi.stubEnv('GIT_AUTHOR_EMAIL', 'bot@example.com');
    vi.stubEnv('GIT_COMMITTER_NAME', 'A robot');
    await openCommitter(startAt(folder)).commit(['a.md'], 'Edit');
    expect(git(folder, 'log', '-1', '--format=%an <%ae> %cn <%ce>')).toBe(
      'A bot <bot@example.com> A robot <ada@example.com>',
    );
  });

  test('is of the folder’s own repository, whatever a hook or a user has in the variables', async () => {
    const folder = makeEdited();
    for (const [name, value] of Object.entries(UNUSUAL_VARIABLES)) vi.stubEnv(name, value);
    await openCommitter(startAt(folder)).commit(['a.md'], 'Edit');
    vi.unstubAllEnvs();
    expect(pathsIn(folder)).toEqual(['a.md']);
  });
});

describe('git refuses a commit', () => {
  test('because of a hook, which has its say in the problem', async () => {
    const folder = makeEdited();
    refuseBy(folder, 'commit-msg', 'echo "not today" >&2\n');
    await expect(openCommitter(startAt(folder)).commit(['a.md'], 'Edit')).rejects.toThrow(/^git could not .*not today/);
  });

  test('because of a hook without a word: nothing is reported as committed that is not', async () => {
    const folder = makeEdited();
    refuseBy(folder, 'pre-commit', '');
    await expect(openCommitter(startAt(folder)).commit(['a.md'], 'Edit')).rejects.toThrow('it made no commit');
    // What is left is what `git diff` shows.
    expect(git(folder, 'diff', '--name-only')).toBe('a.md');
    expect(git(folder, 'diff', '--cached', '--name-only')).toBe('');
  });

  test('because a merge is not done', async () => {
    const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
    git(folder, 'switch', '--quiet', '--create', 'side');
    writeFiles(folder, { 'a.md': 'side' });
    commitEdits(folder, 'side');
    git(folder, 'switch', '--quiet', 'main');
    writeFiles(folder, { 'a.md': 'main' });
    commitEdits(folder, 'main');
    expect(() => git(folder, 'merge', '--quiet', 'side')).toThrow();
    writeFiles(folder, { 'b.md': 'B' });
    await expect(openCommitter(startAt(folder)).commit(['b.md'], 'Edit')).rejects.toThrow('merge');
    expect(await openCommitter(startAt(folder)).switchTo('new')).toMatchObject({ code: 'git/branch' });
  });
});

describe('a branch', () => {
  const ALLOWED = ['promote/greeting', 'größe', 'a.b', 'refs/heads/x', "quo'te", '$(x)', 'a;b'];
  const REFUSED = ['', ' ', 'a b', '-x', '--orphan', 'HEAD', '@{-1}', '-', 'a..b', '/x', 'a~1', 'new\nline'];

  test('may have a name that git allows, and no other', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    git(folder, 'switch', '--quiet', '--create', 'other');
    git(folder, 'switch', '--quiet', 'main');
    const { branchProblem } = openCommitter(startAt(folder));
    const refused = async (name: string) => (await branchProblem(name))?.message ?? null;
    for (const name of ALLOWED) expect([name, await refused(name)]).toEqual([name, null]);
    for (const name of REFUSED) {
      expect([name, await refused(name)]).toEqual([name, expect.stringContaining('git does not allow this name')]);
    }
    expect(await refused('other')).toContain('there is one of this name');
    git(folder, 'pack-refs', '--all');
    expect(await refused('other')).toContain('there is one of this name');
    git(folder, 'tag', 'v1');
    expect(await refused('v1')).toBeNull();
  });

  test('begins at HEAD, and takes along what is not committed', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'A', 'new.md': 'n' });
    const head = git(folder, 'rev-parse', 'HEAD');
    expect(await openCommitter(startAt(folder)).switchTo('größe')).toBeNull();
    expect(git(folder, 'branch', '--show-current')).toBe('größe');
    expect(git(folder, 'rev-parse', 'HEAD')).toBe(head);
    expect(git(folder, 'status', '--short')).toBe(' M a.md\n?? new.md');
  });

  test('that is checked out is gone on with', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const { branchProblem, switchTo } = openCommitter(startAt(folder));
    expect([await branchProblem('main'), await switchTo('main')]).toEqual([null, null]);
    expect(git(folder, 'branch', '--format=%(refname:short)')).toBe('main');
  });

  test('that git cannot make is a problem, and nothing has moved', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    expect(await openCommitter(startAt(folder)).switchTo('main/below')).toMatchObject({
      code: 'git/branch',
      message: expect.stringContaining('refs/heads/main'),
    });
    expect(git(folder, 'branch', '--show-current')).toBe('main');
  });
});
