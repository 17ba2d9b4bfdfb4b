import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configure, lastCommitOf, ODD_NAMES, open, UNUSUAL_SETTINGS } from './support.ts';
import {
  commitAll,
  git,
  GIT_VARIABLES,
  initRepository,
  makeFolder,
  makeRepository,
  makeWorkspace,
  writeFiles,
} from '../support/folder.ts';

/** The files of random histories, of several folders; one stands where another time a folder is. */
const PATHS = ['p/a.md', 'p/b.md', 'p/ü b.md', 'p/deep/c.md', 'p/deep', 'd.md'] as const;

/** By path what a commit has there: the mode and the text. */
type Tree = ReadonlyMap<string, readonly [mode: string, text: string]>;

type Commit = { readonly parents: readonly number[]; readonly tree: Tree; readonly time: number };

/** What one commit does: `pick` chooses among the parents where they differ. */
type Step = {
  readonly back: readonly number[];
  readonly picks: readonly number[];
  readonly edits: readonly { readonly path: number; readonly mode: string | null; readonly text: string }[];
  readonly skew: number;
};

const small = fc.nat({ max: 5 });

const step: fc.Arbitrary<Step> = fc.record({
  // Mostly one parent, the commit before; merges of two and three, and now and then a commit without any.
  back: fc.oneof(
    { weight: 5, arbitrary: fc.constant([1]) },
    { weight: 4, arbitrary: fc.uniqueArray(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { maxLength: 1 }) },
  ),
  picks: fc.array(small, { minLength: PATHS.length, maxLength: PATHS.length }),
  // Few texts, so that changes are taken back, and made on both sides.
  edits: fc.array(
    fc.record({
      path: fc.nat({ max: PATHS.length - 1 }),
      mode: fc.constantFrom('100644', '100644', '100644', '100755', '120000', null),
      text: fc.constantFrom('1', '2', '3'),
    }),
    { maxLength: 3 },
  ),
  skew: fc.constantFrom(0, 0, 0, 0, -5000, 5000),
});

const history = (size: { readonly minLength: number; readonly maxLength: number }) =>
  fc.array(step, size).map(commitsOf);

function commitsOf(steps: readonly Step[]): readonly Commit[] {
  const commits: Commit[] = [];
  for (const { back, picks, edits, skew } of steps) {
    const parents = back.map((count) => commits.length - count).filter((parent) => parent >= 0);
    const trees = parents.map((parent) => commits[parent]!.tree);
    const tree = new Map(
      PATHS.flatMap((path, index) => {
        const entry = trees[picks[index]! % trees.length]?.get(path);
        return entry === undefined ? [] : [[path as string, entry] as const];
      }),
    );
    for (const { path, mode, text } of edits)
      if (mode === null) tree.delete(PATHS[path]!);
      else tree.set(PATHS[path]!, [mode, text]);
    if (tree.has('p/deep')) tree.delete('p/deep/c.md');
    commits.push({ parents, tree, time: 1_700_000_000 + commits.length * 60 + skew });
  }
  return commits;
}

/** A repository with these commits, the last one checked out as far as git knows; no file is written. */
function importHistory(commits: readonly Commit[]): string {
  const folder = makeFolder();
  initRepository(folder);
  const input = commits.map((commit, index) => importing(commit, index)).join('');
  const end = `reset refs/heads/main\nfrom :${commits.length}\n\n`;
  const env = { ...process.env, ...GIT_VARIABLES };
  execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, env, input: input + end });
  return folder;
}

function importing({ parents, tree, time }: Commit, index: number): string {
  const [first, ...merged] = parents.map((parent) => `:${parent + 1}`);
  return [
    `commit refs/heads/c${index}\nmark :${index + 1}\ncommitter Ada <ada@example.com> ${time} +0000\n`,
    data(`Commit ${index}`),
    ...(first === undefined ? [] : [`from ${first}\n`]),
    ...merged.map((parent) => `merge ${parent}\n`),
    'deleteall\n',
    ...[...tree].map(([path, [mode, text]]) => `M ${mode} inline ${path}\n${data(text)}`),
    '\n',
  ].join('');
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

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
    ['a subject of several lines is one line, and the body does not count', 'Grüße\n🎉\n\nBody', 'Grüße 🎉'],
    ['control characters and placeholders stay: renderers escape them', 'A\u001b[31m%H %x00', 'A\u001b[31m%H %x00'],
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

  test('files with odd names', async () => {
    const folder = makeRepository(Object.fromEntries(ODD_NAMES.map((name) => [name, name])));
    const commit = git(folder, 'rev-parse', 'HEAD');
    writeFiles(folder, { 'plain.md': 'b', 'other/plain.md': 'c' });
    commitAll(folder, 'Others');
    const { fileAt } = await open(folder);
    for (const path of ODD_NAMES) {
      expect(await lastCommitOf(folder, path)).toEqual({ commit, path, changeSummary: 'First prompts' });
      expect((await fileAt(commit, path))?.toString()).toBe(path);
    }
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
  const { head, lastCommitAt } = await open(folder);
  const found = await Promise.all(PATHS.map((path) => lastCommitAt(head!, path)));
  const isFile = (path: string) => tree.get(path)?.[0].startsWith('100') ?? false;
  expect(found.map((last) => last?.path ?? null)).toEqual(PATHS.map((path) => (isFile(path) ? path : null)));
  return PATHS.filter(isFile).map((path) => {
    const last = found.find((one) => one?.path === path);
    return { path, commit: last?.commit, number: Number(last?.changeSummary?.slice('Commit '.length)) };
  });
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
});

/** What happens to one of the files in a commit, or a merge of an earlier commit. */
const happening = fc.record({
  what: fc.constantFrom('edit', 'edit', 'rename', 'back', 'delete', 'add', 'merge', 'branch', 'elsewhere'),
  which: fc.nat({ max: 3 }),
  line: fc.nat({ max: 9 }),
  back: fc.integer({ min: 1, max: 5 }),
});

type Happening = typeof happening extends fc.Arbitrary<infer Each> ? Each : never;

/** Four files of ten lines that have none in common; names are by file and number. */
const textOf = (which: number, versions: readonly number[]) =>
  versions.map((version, line) => `file ${which} line ${line} version ${version}`).join('\n');

type File = { readonly name: number; readonly versions: readonly number[] } | null;

const NEW: File = { name: 0, versions: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] };

/** An ordinary history: what is renamed keeps most of its text, and no other file is like it. */
function ordinary(steps: readonly Happening[]): readonly Commit[] {
  const states: (readonly File[])[] = [[NEW, NEW, NEW, null]];
  const parents: number[][] = [[]];
  for (const { what, which, line, back } of steps) {
    const last = states.length - 1;
    const earlier = Math.max(0, last - back);
    const from = what === 'branch' ? earlier : last;
    const files = states[from]!;
    const other = states[earlier]!;
    parents.push(what === 'merge' && earlier !== last ? [earlier, last] : [from]);
    const now = (file: File, index: number): File => (index === which ? turned(file, what, line) : file);
    states.push(
      what === 'merge' ? files.map((file, index) => (index === which ? file : other[index]!)) : files.map(now),
    );
  }
  return states.map((files, index) => ({
    parents: parents[index]!,
    tree: new Map([
      ['other.txt', ['100644', `${index}`] as const],
      ...files.flatMap((file, which) =>
        file === null ? [] : [[nameOf(which, file.name), ['100644', textOf(which, file.versions)]] as const],
      ),
    ]),
    time: 1_700_000_000 + index * 60,
  }));
}

function turned(file: File, what: Happening['what'], line: number): File {
  if (file === null) return what === 'add' ? NEW : null;
  const { name, versions } = file;
  if (what === 'delete') return null;
  if (what === 'edit') return { name, versions: versions.with(line, versions[line]! + 1) };
  if (what === 'rename') return { name: name + 1, versions: versions.with(line, versions[line]! + 1) };
  return what === 'back' ? { name: 0, versions } : file;
}

const nameOf = (which: number, name: number) => `p/${which % 2 === 0 ? 'ü ' : ''}${which}/${name}.md`;

/** Which commits count. */
const WHICH = { whereMerged: ['--first-parent', '--diff-merges=first-parent'], whereTouched: ['--diff-merges=off'] };

/** What git tells of a file alone. */
function alone(folder: string, path: string, which: keyof typeof WHICH): readonly string[] {
  const how = ['--follow', ...WHICH[which]];
  const shown = ['--name-only', '-z', '--format=tformat:%x00%H'];
  const words = git(folder, 'log', ...how, ...shown, 'HEAD', '--', path).split('\0');
  return words.flatMap((word, index) => (/^[0-9a-f]{40}$/.test(word) ? [`${word} ${words[index + 1]!.trim()}`] : []));
}

test('where many files were touched, or landed, is what git tells of each alone, under earlier names as well', async () => {
  const histories = fc.array(happening, { minLength: 1, maxLength: 40 }).map(ordinary);
  const which = fc.constantFrom('whereMerged', 'whereTouched');
  const property = fc.asyncProperty(histories, which, async (commits, how) => {
    const folder = importHistory(commits);
    const paths = [...commits.at(-1)!.tree.keys(), nameOf(1, 0), 'never.md'];
    const expected = paths.map((path) => [path, alone(folder, path, how)]);
    configure(folder, UNUSUAL_SETTINGS);
    const refs = git(folder, 'for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/c*');
    const byId = new Map(refs.split('\n').map((line) => [line.slice(0, 40), commits[Number(line.slice(42))]]));
    const repository = await open(folder);
    const told = await Promise.all(
      paths.map(async (path) => {
        const places = await repository[how]('HEAD', path);
        for (const at of places) {
          expect((await repository.fileAt(at.commit, at.path))?.toString() ?? null).toBe(
            byId.get(at.commit)?.tree.get(at.path)?.[1] ?? null,
          );
        }
        return [path, places.map((at) => `${at.commit} ${at.path}`)];
      }),
    );
    expect(told).toEqual(expected);
    rmSync(folder, { recursive: true });
  });
  await fc.assert(property, { numRuns: 10 });
});
