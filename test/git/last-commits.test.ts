import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commitAll, git, makeFolder, makeRepository, makeWorkspace, writeFiles } from '../support/folder.ts';
import { history, importHistory, PATHS, type Commit } from './random-history.ts';
import { configure, lastCommitOf, ODD_NAMES, open, UNUSUAL_SETTINGS } from './support.ts';

describe('the commit that last touched a file', () => {
  test('its path is from the root of the repository', async () => {
    const folder = makeRepository({ 'team/ws/a.md': 'a', 'team/shared/c.md': 'c' });
    expect(await lastCommitOf(join(folder, 'team/ws'), 'a.md')).toMatchObject({ path: 'team/ws/a.md' });
    expect(await lastCommitOf(join(folder, 'team/ws'), '../shared/c.md')).toMatchObject({ path: 'team/shared/c.md' });
  });

  test('there is none for a file that was never committed, and none before the first commit', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'new.md': 'n' });
    expect(await lastCommitOf(folder, 'new.md')).toBeUndefined();
    const empty = makeWorkspace({ 'a.md': 'a' });
    git(empty, 'init', '--quiet');
    expect(await lastCommitOf(empty, 'a.md')).toBeUndefined();
    expect((await open(empty)).head).toBeNull();
  });

  test.each([
    ['only the subject counts', 'Subject\n\nBody', 'Subject'],
    ['a subject of several lines is one line', 'One\ntwo\n\nBody', 'One two'],
    ['umlauts and emoji', 'Grüße 🎉', 'Grüße 🎉'],
    ['control characters stay: renderers make them inert', 'A\u001b[31mred\u0007', 'A\u001b[31mred\u0007'],
    ['what looks like a command', '::error::x ##[error]y', '::error::x ##[error]y'],
    ['what looks like a placeholder', '%H %x00 %s', '%H %x00 %s'],
  ])('%s', async (_, message, changeSummary) => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'b' });
    commitAll(folder, message);
    expect(await lastCommitOf(folder, 'a.md')).toMatchObject({ changeSummary });
  });

  test('a commit without a message has no summary', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'b' });
    git(folder, 'commit', '--quiet', '--all', '--allow-empty-message', '--message', '');
    expect(await lastCommitOf(folder, 'a.md')).not.toHaveProperty('changeSummary');
  });

  test('a renamed file was last touched by the rename', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    git(folder, 'mv', 'a.md', 'b.md');
    const renamed = commitAll(folder, 'Rename');
    expect(await lastCommitOf(folder, 'b.md')).toMatchObject({ commit: renamed });
  });

  test.each(ODD_NAMES)('a file called %j', async (name) => {
    const folder = makeRepository({ [name]: 'a' });
    const first = git(folder, 'rev-parse', 'HEAD');
    writeFiles(folder, { 'plain.md': 'b', 'other/plain.md': 'c' });
    commitAll(folder, 'Others');
    expect(await lastCommitOf(folder, name)).toEqual({ commit: first, path: name, changeSummary: 'First prompts' });
    expect((await (await open(folder)).fileAt(first, name))?.toString()).toBe('a');
  });

  test('unusual settings of the user do not change what is read', async () => {
    const folder = makeRepository({ 'ws/a.md': 'a' });
    writeFiles(folder, { 'ws/a.md': 'ä' });
    const commit = commitAll(folder, 'Über');
    configure(folder, UNUSUAL_SETTINGS);
    expect(await lastCommitOf(join(folder, 'ws'), 'a.md')).toEqual({ commit, path: 'ws/a.md', changeSummary: 'Über' });
  });

  test('what a program says of a signature is not read', async () => {
    const folder = makeRepository({ 'a.md': 'a', gpg: '#!/bin/sh\necho forged; echo forged >&2; exit 1\n' });
    chmodSync(join(folder, 'gpg'), 0o755);
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
    const signed = git(folder, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n\n`);
    writeFiles(folder, { '.git/signed': `${signed}\n` });
    const commit = git(folder, 'hash-object', '-t', 'commit', '-w', '.git/signed');
    git(folder, 'update-ref', 'HEAD', commit);
    configure(folder, { 'log.showSignature': 'true', 'gpg.program': join(folder, 'gpg') });
    expect(git(folder, 'log', '-1', '--format=%s')).toContain('forged');
    expect(await lastCommitOf(folder, 'a.md')).toEqual({ commit, path: 'a.md', changeSummary: 'First prompts' });
  });

  test('in a shallow clone the oldest commit that is there stands for all before it', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'b.md': 'b' });
    const head = commitAll(folder, 'Second');
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, clone);
    expect(await lastCommitOf(clone, 'a.md')).toMatchObject({ commit: head });
  });

  test('git that cannot answer is one problem in one line', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    rmSync(join(folder, '.git/HEAD'));
    const failure = await open(folder).then(String, (error: unknown) => String(error));
    expect(failure).toMatch(/^ProblemError: git could not answer: fatal: .+$/);
  });
});

/** What git tells of a path alone. */
function lastOf(folder: string, path: string): string {
  const words = ['log', '-1', '--no-follow', '--no-show-signature', '--encoding=UTF-8', '--format=%H', 'HEAD', '--'];
  return git(folder, ...words, `:(top,literal)${path}`);
}

/** The regular files of the last commit, and the number of the commit that is told for each, asked for together. */
async function lastCommitsIn(folder: string, commits: readonly Commit[]) {
  const tree = commits.at(-1)!.tree;
  const found = await (await open(folder)).lastCommits(PATHS);
  const files = PATHS.filter((path) => tree.get(path)?.[0].startsWith('100'));
  expect([...found.keys()].toSorted()).toEqual(files.toSorted());
  return files.map((path) => ({ path, ...found.get(path), number: Number(found.get(path)?.changeSummary?.slice(7)) }));
}

describe('the commits that last touched many files', () => {
  test('have made them what they are, in histories with merges of all kinds; of one it is what git tells', async () => {
    const hold = async (commits: readonly Commit[]): Promise<void> => {
      const folder = importHistory(commits);
      configure(folder, UNUSUAL_SETTINGS);
      const textAt = (number: number, path: string) => commits[number]!.tree.get(path);
      const last = await lastCommitsIn(folder, commits);
      for (const { path, number } of last) {
        expect(textAt(number, path)?.[1]).toBe(textAt(commits.length - 1, path)?.[1]);
        const before = commits[number]!.parents.map((parent) => textAt(parent, path));
        expect(before).not.toContainEqual(textAt(number, path));
      }
      const one = last[commits.length % last.length]?.path;
      if (one !== undefined) expect((await lastCommitOf(folder, one))?.commit).toBe(lastOf(folder, one));
      rmSync(folder, { recursive: true });
    };
    await fc.assert(fc.asyncProperty(history({ minLength: 1, maxLength: 60 }), hold), {
      numRuns: 15,
      endOnFailure: true,
    });
  });

  test('are those that git tells of each alone, in one of thousands of commits that touch other files', async () => {
    const file = (text: string) => ['100644', text] as const;
    const commits = Array.from({ length: 2300 }, (_, index): Commit => {
      const touched = PATHS.filter((path, which) => path !== 'p/deep' && index >= 4 * 10 ** which);
      const tree = new Map([...touched.map((path) => [path, file('1')] as const), ['other', file(`${index}`)]]);
      return { parents: index === 0 ? [] : [index - 1], tree, time: 1_700_000_000 + index };
    });
    const folder = importHistory(commits);
    for (const { path, commit } of await lastCommitsIn(folder, commits)) expect(commit).toBe(lastOf(folder, path));
  });
});
