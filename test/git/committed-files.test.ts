import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { makePathspecs } from '../../src/git/run-git.ts';
import { openRepository } from '../../src/git/open-repository.ts';
import { toProblem } from '../../src/problem.ts';
import { wrapGit } from '../support/count-git.ts';
import { cloneOf, commitAll, type Files, git, makeFolder, makeRepository, writeFiles } from '../support/folder.ts';
import { configure, ODD_NAMES, open, startAt, UNUSUAL_SETTINGS } from './support.ts';

/** Refs that resolve to each commit. */
const COMMITS = {
  first: [
    ...['HEAD~1', 'HEAD^', 'HEAD@{1}', 'HEAD^{/First}', 'v1', 'tags/v1', 'v1-annotated', 'tag-of-tag'],
    ...['feature/one', 'größe', 'refs/heads/-n'],
  ],
  second: ['HEAD', '@', 'HEAD^{}', '@{0}', 'main', 'heads/main', 'refs/heads/main', 'same'],
} as const;

const NO_COMMITS = [
  ...['nope', '', ' ', '-', '-x', '--', '--all', '--help', '--upload-pack=touch x', '--end-of-options'],
  ...['-c core.pager=x', 'HEAD main', ' HEAD', 'HEAD\nmain', 'HEAD\0', '"HEAD"', '$(touch x)', '; touch x'],
  ...['HEAD..main', 'HEAD...main', 'HEAD..', '..HEAD', '^HEAD', '^', 'HEAD^!', 'HEAD^-', 'HEAD^@', 'HEAD^2', 'v1~1'],
  ...['HEAD^{tree}', 'HEAD^{blob}', 'HEAD:', 'HEAD:a.md', ':a.md', ':0:a.md', 'blob-tag', 'refs/heads', 'FETCH_HEAD'],
  ...['HEAD@{upstream}', 'main@{u}', 'HEAD@{9999}', 'v1-0-gdeadbeef', ':(top)', '../..', ':/First'],
  ...['0000000000000000000000000000000000000000', 'deadbeefdeadbeefdeadbeefdeadbeefdeadbeef'],
] as const;

describe('resolveRef', () => {
  test('resolveRef returns the commit that a ref names, or null if the ref names no commit', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const first = git(folder, 'rev-parse', 'HEAD');
    for (const ref of ['heads/größe', 'heads/-n', 'heads/same', 'heads/feature/one', 'tags/v1'])
      git(folder, 'update-ref', `refs/${ref}`, 'HEAD');
    git(folder, 'tag', '--annotate', '--message', 'm', 'v1-annotated');
    git(folder, 'tag', '--annotate', '--message', 'm', 'tag-of-tag', 'v1-annotated');
    const second = commitAll(folder, 'Second');
    git(folder, 'update-ref', 'refs/tags/same', 'HEAD');
    git(folder, 'tag', 'blob-tag', git(folder, 'rev-parse', 'HEAD:a.md'));
    const { resolveRef, head } = await open(folder);
    expect(head).toBe(second);
    const ofAll = async (words: readonly string[]) =>
      Promise.all(words.map(async (word) => [word, await resolveRef(word)]));
    const named = (words: readonly string[], commit: string | null) => words.map((word) => [word, commit]);
    const tag = git(folder, 'rev-parse', 'v1-annotated');
    const names = {
      first: [...COMMITS.first, first, tag, tag.slice(0, 7)],
      second: [...COMMITS.second, second, second.slice(0, 7)],
    };
    expect(await ofAll(names.first)).toEqual(named(names.first, first));
    expect(await ofAll(names.second)).toEqual(named(names.second, second));
    const none = [...NO_COMMITS, ...['HEAD^{tree}', 'HEAD:a.md'].map((name) => git(folder, 'rev-parse', name))];
    expect(await ofAll(none)).toEqual(named(none, null));
    expect(git(folder, 'status', '--porcelain')).toBe('');
  });

  test('resolveRef returns null for a commit that is missing from a shallow clone', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    const first = git(folder, 'rev-parse', 'HEAD');
    writeFiles(folder, { 'a.md': 'b' });
    commitAll(folder, 'Second');
    const repository = await open(cloneOf(folder));
    expect([repository.isShallow, (await open(folder)).isShallow]).toEqual([true, false]);
    expect(await repository.resolveRef(first)).toBeNull();
    expect(await repository.resolveRef('HEAD~1')).toBeNull();
  });
});

describe('readFileAt and findFilesContaining', () => {
  test('readFileAt returns the committed bytes even if the file has uncommitted edits', async () => {
    const bytes = Buffer.from([0x61, 0x0d, 0x0a, 0xff, 0x00, 0xc3, 0xbc, 0x0a]);
    const folder = makeRepository({ 'ws/a.md': bytes });
    writeFiles(folder, { 'ws/a.md': 'edited' });
    const repository = await open(join(folder, 'ws'));
    expect(await repository.readFileAt(repository.head!, repository.toRootPath('a.md'))).toEqual(bytes);
  });

  test('readFileAt returns null for everything that is not the exact path of a regular file', async () => {
    const folder = makeRepository({ 'ws/a.md': 'a' });
    symlinkSync('ws/a.md', join(folder, 'link.md'));
    const commit = commitAll(folder, 'Link');
    const { readFileAt } = await open(folder);
    const odd = ['..', '../a.md', './ws/a.md', '/ws/a.md', 'ws//a.md', 'ws/a.md\0', `${'ws/'.repeat(2500)}a.md`];
    const paths = ['nope.md', 'ws', 'ws/', 'ws/*.md', 'link.md', '', ...odd];
    for (const path of paths) {
      const [none, other] = await Promise.all([readFileAt(commit, path), readFileAt(commit, 'ws/a.md')]);
      expect([path, none, other?.toString()]).toEqual([path, null, 'a']);
    }
  });

  test('findFilesContaining searches the whole repository for literal text despite unusual git settings', async () => {
    const folder = makeRepository({
      'ws/a.md': 'id: prm.1',
      'other/b:c.md': 'id: prm.1',
      'c.md': 'prmx1',
      'd.txt': 'prm.1',
    });
    configure(folder, UNUSUAL_SETTINGS);
    const repository = await open(join(folder, 'ws'));
    expect(await repository.findFilesContaining([repository.head!], ['prm.1'], '.md')).toEqual([
      { commit: repository.head, path: 'other/b:c.md' },
      { commit: repository.head, path: 'ws/a.md' },
    ]);
    expect(await repository.findFilesContaining([repository.head!], ['-e nothing'], '.md')).toEqual([]);
  });
});

describe('readFileAt on many files', () => {
  test('readFileAt returns the content of existing files and null for missing files in many concurrent calls', async () => {
    const large = 'large\n\0'.repeat(50_000);
    // The small files begin like the line that git prints before a file.
    const header = `${'a'.repeat(40)} blob 3`;
    const small = Array.from({ length: 120 }, (_, index) => [`p/${index % 7}/${index}.md`, `${header}\n${index}\n`]);
    const files = Object.fromEntries([...small, ['large.md', large], ['empty.md', ''], ['same.md', large]]);
    const { readFileAt: fileAt, head } = await open(makeRepository(files));
    const paths = Object.keys(files).flatMap((path) => [path, `${path}.none`]);
    const answers = await Promise.all(paths.map(async (path) => (await fileAt(head!, path))?.toString() ?? null));
    expect(answers).toEqual(paths.map((path) => files[path] ?? null));
  });

  test('promptsync reports a failure if the git object of a file or its folder is missing or damaged', async () => {
    const folder = makeRepository({ 'p/a.md': 'a' });
    for (const [name, bytes] of [
      ['HEAD:p/a.md', null],
      ['HEAD:p/a.md', 'not packed'],
      ['HEAD:p', null],
    ] as const) {
      const damaged = makeFolder();
      cpSync(folder, damaged, { recursive: true });
      const id = git(damaged, 'rev-parse', name);
      const file = `.git/objects/${id.slice(0, 2)}/${id.slice(2)}`;
      rmSync(join(damaged, file));
      if (bytes !== null) writeFiles(damaged, { [file]: bytes });
      const { readFileAt, head } = await open(damaged);
      await expect(readFileAt(head!, 'p/a.md')).rejects.toThrow('git failed: ');
      await expect(readFileAt('d'.repeat(40), 'p/a.md')).rejects.toThrow('git failed: ');
    }
  });
});

describe('readCheckedOutFile', () => {
  const ROT13 = 'tr A-Za-z N-ZA-Mn-za-m';
  const setFilter = (folder: string, options: Readonly<Record<string, string>>) =>
    Object.entries(options).forEach(([name, value]) => git(folder, 'config', `filter.rot.${name}`, value));
  const makeFilteredRepository = (files: Files) => {
    const folder = makeRepository({ '.gitattributes': 'p/** filter=rot\n' });
    setFilter(folder, { clean: ROT13, smudge: ROT13, required: 'true' });
    writeFiles(folder, files);
    commitAll(folder, 'Filtered');
    return folder;
  };
  const checkOut = async (folder: string, ...paths: readonly string[]) => {
    const { head, findBlobId, readCheckedOutFile } = await open(folder);
    const read = async (path: string) => readCheckedOutFile((await findBlobId(head!, path))!, path);
    return Promise.all(paths.map(async (path) => `${await read(path)}`));
  };

  test('readCheckedOutFile applies the git filter for the path, even if the file has an unusual name', async () => {
    const paths = ODD_NAMES.flatMap((name) => [`p/${name}`, name]);
    const texts = paths.map((_, index) => `Text ${index}\n${index % 2 === 0 ? '' : '\n'}`);
    const folder = makeFilteredRepository(Object.fromEntries(paths.map((path, index) => [path, texts[index]!])));
    expect(git(folder, 'show', 'HEAD:p/two words.md')).toContain('Grkg');
    expect(await checkOut(folder, ...paths)).toEqual(texts);
  });

  test('readCheckedOutFile applies encodings, keywords and line endings in the same way as git checkout', async () => {
    const attributes = 'latin.md working-tree-encoding=ISO-8859-1\nid.md ident\ncrlf.md text eol=crlf\n';
    const texts = { 'latin.md': Buffer.from('\xe9\n', 'latin1'), 'id.md': '$Id$\n', 'crlf.md': 'a\r\nb\r\n' };
    const folder = makeRepository({ '.gitattributes': attributes, ...texts });
    for (const path of Object.keys(texts)) {
      rmSync(join(folder, path));
      git(folder, 'checkout', '--quiet', '--', path);
      expect(await checkOut(folder, path)).toEqual([readFileSync(join(folder, path), 'utf8')]);
    }
  });

  test('if a required git filter fails, readCheckedOutFile fails and names the filter', async () => {
    const folder = makeFilteredRepository({ 'p/a.md': 'a' });
    setFilter(folder, { smudge: 'false' });
    await expect(checkOut(folder, 'p/a.md')).rejects.toThrow(/^git failed: .*smudge filter rot failed/);
  });

  test('readCheckedOutFile fails if git does not have the blob', async () => {
    const { readCheckedOutFile } = await open(makeRepository({ 'a.md': 'a' }));
    await expect(readCheckedOutFile('d'.repeat(40), 'a.md')).rejects.toThrow('git failed: ');
    await expect(readCheckedOutFile('d'.repeat(40), ' a.md')).rejects.toThrow('git failed: ');
  });
});

const makePaths = (path: (at: number) => string) => Array.from({ length: 60 }, (_, at) => path(at));
test.each<[string, readonly string[], string]>([
  ['makePathspecs keeps a single path', ['a/b.md'], 'a/b.md'],
  ['makePathspecs returns the folder of many paths', makePaths((at) => `a/b/${at}.md`), 'a/b'],
  ['makePathspecs returns the common folder of many paths', makePaths((at) => `a/${at < 59 ? 'b' : 'c'}/x`), 'a'],
  ['makePathspecs returns the root for many paths without a common folder', makePaths((at) => `${at}/a.md`), ''],
  [
    'makePathspecs returns the upper folder of many paths if the first path is deeper',
    makePaths((at) => `a/b${at === 0 ? '/c/d' : ''}/${at}.md`),
    'a/b',
  ],
])('%s', (_, paths, expected) => {
  expect(makePathspecs(paths)).toEqual([`:(top,literal)${expected}`]);
});

describe('the failures of git', () => {
  afterEach(() => vi.unstubAllEnvs());

  const BLABBER = "echo SECRET; printf 'x%.0s' {1..5000} >&2; echo ' fatal: no luck' >&2; exit 128";
  test.each<[string, command: string, does: string, RegExp]>([
    [
      'readFileAt fails with the message of git',
      'ls-tree',
      'echo "fatal: no\nluck" >&2; exit 3',
      /: fatal: no luck\.$/,
    ],
    ['readFileAt fails if a signal ends git', 'ls-tree', 'kill -9 $$', /: a signal terminated git\.$/],
    ['readFileAt fails if git prints nothing', 'cat-file', 'exit 3', /: its output ended too early\.$/],
    ['readFileAt fails if git prints half a file', 'cat-file', 'printf "%040d blob 9\nab" 0', /ended too early\.$/],
    ["readFileAt shows the end of git's standard error", 'cat-file', BLABBER, /: …x{500,600} fatal: no luck\.$/],
  ])('%s', async (_, command, does, message) => {
    const folder = makeRepository({ 'a.md': 'a' });
    const { readFileAt: fileAt, head } = await open(folder);
    const { path } = wrapGit((real) => [`[[ " $* " == *" ${command} "* ]] && { ${does}; exit; }`, `exec ${real} "$@"`]);
    vi.stubEnv('PATH', path);
    await expect(fileAt(head!, 'a.md')).rejects.toThrow(message);
    vi.unstubAllEnvs();
    expect((await fileAt(head!, 'a.md'))?.toString()).toBe('a');
  });

  test('If git cannot fetch a file in a partial clone, the hint mentions the partial clone', async () => {
    const origin = makeRepository({ 'a.md': 'old' });
    writeFiles(origin, { 'a.md': 'new' });
    commitAll(origin, 'Edit');
    git(origin, 'config', 'uploadpack.allowFilter', 'true');
    const clone = join(makeFolder(), 'clone');
    git(origin, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, clone);
    rmSync(origin, { recursive: true });
    const { resolveRef, readFileAt: fileAt } = await open(clone);
    const first = await resolveRef('HEAD~1');
    const { code, hint } = await fileAt(first!, 'a.md').then(() => expect.fail(), toProblem);
    expect([code, hint]).toEqual(['git/failed', expect.stringContaining('partial clone')]);
  });

  test('promptsync rejects a repository root without .git even if a parent folder is a repository', async () => {
    const root = join(makeRepository({ 'p/a.md': 'a' }), 'p');
    const opened = openRepository({ ...startAt(root), root }, root);
    await expect(opened).rejects.toThrow('git failed: this is not a git repository.');
  });

  test('promptsync reports an error if git is not in PATH', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    vi.stubEnv('PATH', '/nowhere');
    await expect(open(folder)).rejects.toThrow('git failed: git is not in PATH.');
  });
});
