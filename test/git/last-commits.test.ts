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
import { runs } from '../support/seed.ts';

/** The mode and the text of each path at a commit. */
type Tree = ReadonlyMap<string, readonly [mode: string, text: string]>;

type Commit = { readonly parents: readonly number[]; readonly tree: Tree; readonly time: number };

/** Generates what a commit does: it changes one of the files or merges an earlier commit. */
const arbitraryStep = fc.record({
  what: fc.constantFrom(
    ...(['edit', 'edit', 'rename', 'back', 'revert', 'link', 'delete', 'add', 'branch', 'elsewhere'] as const),
    ...(['merge', 'merge', 'merge and edit'] as const),
  ),
  which: fc.nat({ max: 3 }),
  line: fc.nat({ max: 9 }),
  back: fc.integer({ min: 1, max: 5 }),
  skew: fc.constantFrom(0, 0, 0, 0, -5000, 5000),
});

type Step = typeof arbitraryStep extends fc.Arbitrary<infer Each> ? Each : never;

/** Returns the text of one of four files. Each has ten lines, and no two files share a line. */
const textOf = (which: number, versions: readonly number[]) =>
  versions.map((version, line) => `file ${which} line ${line} version ${version}`).join('\n');

type File = { readonly name: number; readonly mode: string; readonly versions: readonly number[] } | null;

const NEW = { name: 0, mode: '100644', versions: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] } satisfies File;

/** Generates histories. A renamed file keeps most of its text, and no other file resembles it. */
const histories = fc.array(arbitraryStep, { minLength: 1, maxLength: 50 }).map((steps): readonly Commit[] => {
  const states: (readonly File[])[] = [[NEW, NEW, NEW, null]];
  const commits = [commitOf(states[0]!, [], 0, 0)];
  for (const { what, which, line, back, skew } of steps) {
    const last = states.length - 1;
    const earlier = Math.max(0, last - back);
    const merges = what.startsWith('merge');
    // Some merges have three parents.
    const merged = new Set([earlier, last, ...(line > 6 ? [0] : [])]);
    const parents = merges ? [...merged] : [what === 'branch' ? earlier : last];
    const files = states[merges ? last : parents[0]!]!;
    const turn = (file: File, index: number): File => {
      if (index === which) return applyStep(file, what, line);
      return merges ? states[earlier]![index]! : file;
    };
    states.push(files.map(turn));
    commits.push(commitOf(states.at(-1)!, parents, states.length, skew));
  }
  return commits;
});

function commitOf(files: readonly File[], parents: readonly number[], index: number, skew: number): Commit {
  const entries = files.flatMap((file, which) =>
    file === null ? [] : [[nameOf(which, file.name), [file.mode, textOf(which, file.versions)]] as const],
  );
  const tree = new Map([['other.txt', ['100644', `${index}`]] as const, ...entries]);
  return { parents, tree, time: 1_700_000_000 + index * 60 + skew };
}

function applyStep(file: File, what: Step['what'], line: number): File {
  if (file === null) return what === 'add' ? NEW : null;
  const edited = { ...file, versions: file.versions.with(line, file.versions[line]! + 1) };
  if (what === 'delete') return null;
  if (what === 'edit' || what === 'merge and edit') return edited;
  if (what === 'rename') return { ...edited, name: file.name + 1 };
  if (what === 'revert') return { ...file, versions: NEW.versions };
  if (what === 'link') return { ...file, mode: file.mode === '100644' ? '120000' : '100644' };
  return what === 'back' ? { ...file, name: 0 } : file;
}

/** Returns the path of a file. Half of the paths start like a line of raw git output. */
const nameOf = (which: number, name: number) => `${which % 2 === 0 ? '\n:100644 ü ' : 'p/'}${which}/${name}.md`;

/** Makes a repository with these commits. HEAD is the last one, but no file is written to the folder. */
function importHistory(commits: readonly Commit[]): string {
  const folder = makeFolder();
  initRepository(folder);
  const input = commits.map((commit, index) => formatCommit(commit, index)).join('');
  const end = `reset refs/heads/main\nfrom :${commits.length}\n\n`;
  const env = { ...process.env, ...GIT_VARIABLES };
  execFileSync('git', ['fast-import', '--quiet'], { cwd: folder, env, input: input + end });
  return folder;
}

function formatCommit({ parents, tree, time }: Commit, index: number): string {
  const [first, ...merged] = parents.map((parent) => `:${parent + 1}`);
  return [
    `commit refs/heads/c${index}\nmark :${index + 1}\ncommitter Ada <ada@example.com> ${time} +0000\n`,
    formatData(`Commit ${index}`),
    ...(first === undefined ? [] : [`from ${first}\n`]),
    ...merged.map((parent) => `merge ${parent}\n`),
    'deleteall\n',
    ...[...tree].map(([path, [mode, text]]) => `M ${mode} inline ${JSON.stringify(path)}\n${formatData(text)}`),
    '\n',
  ].join('');
}

function formatData(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}

describe('findLastCommit', () => {
  test('findLastCommit returns file paths relative to the repository root', async () => {
    const folder = makeRepository({ 'team/ws/a.md': 'a', 'team/shared/c.md': 'c' });
    expect(await lastCommitOf(join(folder, 'team/ws'), 'a.md')).toMatchObject({ path: 'team/ws/a.md' });
    expect(await lastCommitOf(join(folder, 'team/ws'), '../shared/c.md')).toMatchObject({ path: 'team/shared/c.md' });
  });

  test('findLastCommit finds no commit for an uncommitted file', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'new.md': 'n' });
    expect(await lastCommitOf(folder, 'new.md')).toBeUndefined();
    const empty = makeWorkspace({ 'a.md': 'a' });
    git(empty, 'init', '--quiet');
    expect(await lastCommitOf(empty, 'a.md')).toBeUndefined();
    expect((await open(empty)).head).toBeNull();
  });

  test.each([
    [
      'findLastCommit returns the commit subject, without the body, as a one-line change summary',
      'Grüße\n🎉\n\nBody',
      'Grüße 🎉',
    ],
    [
      'findLastCommit keeps control characters in the change summary because renderers escape them',
      'A\u001b[31m%H %x00',
      'A\u001b[31m%H %x00',
    ],
  ])('%s', async (_, message, changeSummary) => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'b' });
    commitAll(folder, message);
    expect(await lastCommitOf(folder, 'a.md')).toMatchObject({ changeSummary });
  });

  test('findLastCommit returns no change summary for a commit without a message', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'a.md': 'b' });
    git(folder, 'commit', '--quiet', '--all', '--allow-empty-message', '--message', '');
    expect(await lastCommitOf(folder, 'a.md')).not.toHaveProperty('changeSummary');
  });

  test('findLastCommit finds the last commit of a file with an unusual name', async () => {
    const folder = makeRepository(Object.fromEntries(ODD_NAMES.map((name) => [name, name])));
    const commit = git(folder, 'rev-parse', 'HEAD');
    writeFiles(folder, { 'plain.md': 'b', 'other/plain.md': 'c' });
    commitAll(folder, 'Others');
    const { readFileAt: fileAt } = await open(folder);
    for (const path of ODD_NAMES) {
      expect(await lastCommitOf(folder, path)).toEqual({ commit, path, changeSummary: 'First prompts' });
      expect((await fileAt(commit, path))?.toString()).toBe(path);
    }
  });

  test('findLastCommit ignores the output of the configured GPG program', async () => {
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

  test('findLastCommit returns the oldest commit in a shallow clone if the last change to the file is not in the clone', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'b.md': 'b' });
    const head = commitAll(folder, 'Second');
    const clone = join(makeFolder(), 'clone');
    git(folder, 'clone', '--quiet', '--depth', '1', `file://${folder}`, clone);
    expect(await lastCommitOf(clone, 'a.md')).toMatchObject({ commit: head });
  });

  test('promptsync reports a git failure in a single line', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    rmSync(join(folder, '.git/HEAD'));
    const failure = await open(folder).then(String, (error: unknown) => String(error));
    expect(failure).toMatch(/^ProblemError: git failed: fatal: .+$/);
  });
});

/** Asks git for the commits that touched a single path, newest first. Returns their numbers in the generated history. */
function listTouchingNumbers(folder: string, path: string): readonly number[] {
  const options = ['--full-history', '--no-follow', '--no-show-signature', '--encoding=UTF-8', '--format=%s'];
  const subjects = git(folder, 'log', ...options, 'HEAD', '--', `:(top,literal)${path}`).split('\n');
  return subjects.map((subject) => Number(subject.slice('Commit '.length)));
}

test('findLastCommit finds the commit that gave a file its current content in random histories with merges and renames', async () => {
  const property = fc.asyncProperty(histories, async (commits) => {
    const folder = importHistory(commits);
    configure(folder, UNUSUAL_SETTINGS);
    const { head, findLastCommit } = await open(folder);
    const { tree } = commits.at(-1)!;
    const files = [...tree].flatMap(([path, [mode]]) => (mode === '100644' ? [path] : []));
    const others = [...tree.keys(), nameOf(1, 0), 'never.md'].filter((path) => !files.includes(path));
    for (const path of others) expect(await findLastCommit(head!, path)).toBeNull();
    const last = await Promise.all(files.map((path) => findLastCommit(head!, path)));
    const givesContent = (number: number, path: string): boolean => {
      const content = (at: number) => JSON.stringify(commits[at]!.tree.get(path));
      const isCurrent = content(number) === content(commits.length - 1);
      return isCurrent && commits[number]!.parents.every((parent) => content(parent) !== content(number));
    };
    for (const [index, path] of files.entries()) {
      const number = listTouchingNumbers(folder, path).find((one) => givesContent(one, path));
      expect(last[index]).toMatchObject({ path, changeSummary: `Commit ${number}` });
    }
    const one = files[commits.length % files.length]!;
    expect(await lastCommitOf(folder, one)).toEqual(last[files.indexOf(one)]);
    rmSync(folder, { recursive: true });
  });
  await fc.assert(property, { numRuns: runs(15), endOnFailure: true });
});

test('findLastCommit returns the same results for many commits at once as for each commit separately', async () => {
  const property = fc.asyncProperty(histories, async (commits) => {
    const folder = importHistory(commits);
    configure(folder, UNUSUAL_SETTINGS);
    const ids = commits.map((_, index) => git(folder, 'rev-parse', `refs/heads/c${index}`));
    const paths = [...new Set(commits.flatMap(({ tree }) => [...tree.keys()])), 'p', 'p/never.md', 'other.txt/x'];
    const places = ids.flatMap((commit, index) => paths.map((path) => ({ commit, path, tree: commits[index]!.tree })));
    const together = await open(folder);
    const found = await Promise.all(
      places.map(async ({ commit, path }) => {
        return [
          await together.findLastCommit(commit, path),
          (await together.readFileAt(commit, path))?.toString() ?? null,
        ];
      }),
    );
    const expected = [];
    for (const commit of ids) {
      const separate = await open(folder);
      const last = await Promise.all(paths.map((path) => separate.findLastCommit(commit, path)));
      expected.push(...last);
    }
    expect(found.map(([last]) => last)).toEqual(expected);
    const textIn = (tree: Tree, path: string): string | null => {
      const [mode, text] = tree.get(path) ?? [];
      return mode === '100644' ? (text ?? null) : null;
    };
    expect(found.map(([, text]) => text)).toEqual(places.map(({ tree, path }) => textIn(tree, path)));
    rmSync(folder, { recursive: true });
  });
  await fc.assert(property, { numRuns: runs(8), endOnFailure: true });
});

test('findLastCommit finds a commit even if thousands of commits follow it', async () => {
  const PATHS = ['a.md', 'b.md', 'c.md', 'd.md'];
  const commits = Array.from({ length: 2300 }, (_, index): Commit => {
    const touched = PATHS.filter((_path, which) => index >= 4 * 10 ** which).map((path) => [path, '1'] as const);
    const files = [...touched, ['other', `${index}`] as const];
    const tree = new Map(files.map(([path, text]) => [path, ['100644', text] as const]));
    return { parents: index === 0 ? [] : [index - 1], tree, time: 1_700_000_000 + index };
  });
  const folder = importHistory(commits);
  const { head, findLastCommit } = await open(folder);
  const last = await Promise.all([...PATHS, 'other'].map((path) => findLastCommit(head!, path)));
  expect(last.map((one) => one?.changeSummary)).toEqual([4, 40, 400, undefined, 2299].map((n) => n && `Commit ${n}`));
});

/** Asks git for the first-parent commits that touched a single file. */
function listTouchingCommits(folder: string, ref: string, path: string): readonly string[] {
  const how = ['--follow', '--first-parent', '--diff-merges=first-parent'];
  const outputOptions = ['--name-only', '-z', '--format=tformat:%x00%H'];
  const words = git(folder, 'log', ...how, ...outputOptions, ref, '--', `:(top,literal)${path}`).split('\0');
  return words.flatMap((word, index) =>
    /^[0-9a-f]{40}$/.test(word) ? [`${word} ${words[index + 1]!.replace(/^\n/, '')}`] : [],
  );
}

test('followFile returns the same commits as git log --follow --first-parent for many renamed files', async () => {
  const property = fc.asyncProperty(histories, fc.nat({ max: 5 }), async (commits, later) => {
    const folder = importHistory(commits);
    const asOf = Math.max(0, commits.length - 1 - later);
    const ref = `refs/heads/c${asOf}`;
    const paths = [...commits[asOf]!.tree.keys(), nameOf(1, 0), 'never.md', 'p/*.md'];
    const expected = paths.map((path) => [path, listTouchingCommits(folder, ref, path)]);
    configure(folder, UNUSUAL_SETTINGS);
    const refs = git(folder, 'for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/c*');
    const byId = new Map(refs.split('\n').map((line) => [line.slice(0, 40), commits[Number(line.slice(42))]]));
    const repository = await open(folder);
    const actual = await Promise.all(
      paths.map(async (path) => {
        const places = await repository.followFile(ref, path);
        for (const at of places) {
          const [mode, text] = byId.get(at.commit)?.tree.get(at.path) ?? [];
          const bytes = await repository.readFileAt(at.commit, at.path);
          expect(bytes?.toString()).toBe(mode === '100644' ? text : undefined);
        }
        return [path, places.map((at) => `${at.commit} ${at.path}`)];
      }),
    );
    expect(actual).toEqual(expected);
    rmSync(folder, { recursive: true });
  });
  await fc.assert(property, { numRuns: runs(10) });
});
