import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { commitAll, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { configure, lastCommitOf, open, uncommittedOf, UNUSUAL_SETTINGS, UNUSUAL_VARIABLES } from './support.ts';

const NO_COMMITS = [
  'nope',
  '',
  '-n',
  '--all',
  '--help',
  '--upload-pack=touch x',
  '--exec-path=.',
  '-c core.pager=x',
  'HEAD..main',
  'HEAD...main',
  '^HEAD',
  'HEAD^!',
  'HEAD^{tree}',
  'HEAD:a.md',
  'HEAD@{upstream}',
  'HEAD@{9999}',
  'blob-tag',
  'HEAD main',
  'HEAD\nmain',
  'HEAD\0',
  '0000000000000000000000000000000000000000',
  'deadbeefdeadbeefdeadbeefdeadbeefdeadbeef',
  '$(touch x)',
  '; touch x',
  ':(top)',
  '../..',
];

describe('a ref', () => {
  test.each([
    ['HEAD', 'HEAD'],
    ['a branch', 'main'],
    ['a tag', 'v1'],
    ['an annotated tag', 'v1-annotated'],
    ['a tag of a tag', 'tag-of-tag'],
    ['a branch with a slash', 'feature/one'],
    ['a name with umlauts', 'größe'],
    ['what a command would take for an option, spelt out', 'refs/heads/-n'],
    ['an ancestor', 'HEAD~0'],
    ['the short form of HEAD', '@'],
  ])('%s is a commit', async (_, ref) => {
    const folder = makeRepository({ 'a.md': 'a' });
    const head = git(folder, 'rev-parse', 'HEAD');
    git(folder, 'tag', 'v1');
    git(folder, 'tag', '--annotate', '--message', 'm', 'v1-annotated');
    git(folder, 'tag', '--annotate', '--message', 'm', 'tag-of-tag', 'v1-annotated');
    for (const name of ['heads/feature/one', 'heads/größe', 'heads/-n'])
      git(folder, 'update-ref', `refs/${name}`, head);
    expect(await (await open(folder)).resolveRef(ref)).toBe(head);
  });

  test('whole and short hashes are commits', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const head = git(folder, 'rev-parse', 'HEAD');
    const repository = await open(folder);
    expect(repository.head).toBe(head);
    expect(await repository.resolveRef(head)).toBe(head);
    expect(await repository.resolveRef(head.slice(0, 7))).toBe(head);
  });

  test('what is none is null, and no failure either', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    git(folder, 'tag', 'blob-tag', git(folder, 'rev-parse', 'HEAD:a.md'));
    const { resolveRef } = await open(folder);
    const resolved = await Promise.all(NO_COMMITS.map(async (ref) => [ref, await resolveRef(ref)]));
    expect(resolved).toEqual(NO_COMMITS.map((ref) => [ref, null]));
    expect(git(folder, 'status', '--porcelain')).toBe('');
  });

  test('a commit that a shallow clone lacks is not there', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const first = git(folder, 'rev-parse', 'HEAD');
    writeFiles(folder, { 'a.md': 'b' });
    commitAll(folder, 'Second');
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, clone);
    const repository = await open(clone);
    expect(await repository.resolveRef(first)).toBeNull();
    expect(await repository.resolveRef('HEAD~1')).toBeNull();
  });
});

/** What names a commit, and what does not, in git's own words. */
const WORDS = [
  ...['HEAD~1', 'HEAD^', 'HEAD^2', 'HEAD^1^{commit}', 'HEAD@{0}', 'HEAD@{1}', 'main@{0}', '@{-1}', '@{0}', ':/First'],
  ...['HEAD^{/First}', 'HEAD^{}', 'HEAD^{tree}', 'HEAD^{blob}', 'tags/v1', 'heads/main', 'v1~1', 'v1-0-gdeadbeef'],
  ...['-n', '-', 'a b', 'HEAD ', ' HEAD', 'FETCH_HEAD', 'ORIG_HEAD', '--end-of-options', '--', 'same', 'refs/heads'],
  ...[':a.md', ':0:a.md', 'HEAD:', 'HEAD^-', 'HEAD^@', 'HEAD..', '..HEAD', '^main', 'größe', '"HEAD"', 'main@{u}', '^'],
] as const;

test('a ref is the commit that git itself takes it for', async () => {
  const folder = makeRepository({ 'a.md': 'a' });
  for (const ref of ['heads/größe', 'heads/-n', 'heads/same', 'tags/v1'])
    git(folder, 'update-ref', `refs/${ref}`, 'HEAD');
  commitAll(folder, 'Second');
  for (const ref of ['tags/same', 'heads/other']) git(folder, 'update-ref', `refs/${ref}`, 'HEAD');
  git(folder, 'checkout', '--quiet', 'other');
  const { resolveRef } = await open(folder);
  const short = [4, 5, 7, 39].map((length) => git(folder, 'rev-parse', 'HEAD').slice(0, length));
  const words = [...WORDS, ...NO_COMMITS.filter((word) => !word.includes('\0')), ...short];
  const bySelf = await Promise.all(words.map(async (word) => [word, await resolveRef(word)]));
  expect(bySelf).toEqual(words.map((word) => [word, commitOf(folder, word)]));
});

function commitOf(folder: string, word: string): string | null {
  try {
    const said = git(folder, 'rev-parse', '--verify', '--quiet', '--end-of-options', `${word}^{commit}`);
    return /^[0-9a-f]{40}$/.test(said) ? said : null;
  } catch {
    return null;
  }
}

describe('a file at a commit', () => {
  test('has the bytes of that commit, whatever the folder holds now', async () => {
    const bytes = Buffer.from([0x61, 0x0d, 0x0a, 0xff, 0x00, 0xc3, 0xbc, 0x0a]);
    const folder = makeRepository({ 'ws/a.md': bytes });
    writeFiles(folder, { 'ws/a.md': 'edited' });
    const repository = await open(join(folder, 'ws'));
    expect(await repository.fileAt(repository.head!, repository.fromRoot('a.md'))).toEqual(bytes);
  });

  test.each([
    ['nothing', 'nope.md'],
    ['a folder', 'ws'],
    ['a folder with a slash', 'ws/'],
    ['a pattern', 'ws/*.md'],
    ['a symbolic link', 'link.md'],
    ['the empty path', ''],
  ])('there is none where the commit has %s', async (_, path) => {
    const folder = makeRepository({ 'ws/a.md': 'a' });
    symlinkSync('ws/a.md', join(folder, 'link.md'));
    const commit = commitAll(folder, 'Link');
    expect(await (await open(folder)).fileAt(commit, path)).toBeNull();
  });

  test('is found by what it holds, from the root and whatever git is told to colour', async () => {
    const folder = makeRepository({
      'ws/a.md': 'id: prm.1',
      'other/b.md': 'id: prm.1',
      'c.md': 'prmx1',
      'd.txt': 'prm.1',
    });
    configure(folder, UNUSUAL_SETTINGS);
    const repository = await open(join(folder, 'ws'));
    expect(await repository.filesHolding(repository.head!, ['prm.1'], '.md')).toEqual(['other/b.md', 'ws/a.md']);
    expect(await repository.filesHolding(repository.head!, ['-e nothing'], '.md')).toEqual([]);
  });
});

describe('variables of the user', () => {
  afterEach(() => vi.unstubAllEnvs());

  test('that many have set, or that a git hook has, change nothing', async () => {
    const folder = makeRepository({ 'a.md': 'a', 'b.md': 'id' });
    writeFiles(folder, { 'a.md': 'edited' });
    const commit = git(folder, 'rev-parse', 'HEAD');
    for (const [name, value] of Object.entries(UNUSUAL_VARIABLES)) vi.stubEnv(name, value);
    const repository = await open(folder);
    expect(repository.head).toBe(commit);
    expect(await uncommittedOf(folder, ['a.md', 'b.md'])).toEqual(['a.md']);
    expect(await lastCommitOf(folder, 'a.md')).toEqual({ commit, path: 'a.md', changeSummary: 'First prompts' });
    expect((await repository.fileAt(commit, 'a.md'))?.toString()).toBe('a');
    expect(await repository.filesHolding(commit, ['id'], '.md')).toEqual(['b.md']);
  });

  test('without git in PATH the problem says so', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    vi.stubEnv('PATH', '/nowhere');
    await expect(open(folder)).rejects.toThrow('git could not answer: there is no program git in PATH.');
  });
});
