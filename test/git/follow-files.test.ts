import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { configure, open, UNUSUAL_SETTINGS } from './support.ts';
import {
  cloneOf,
  commitAll,
  commitAllAt,
  git,
  GIT_VARIABLES,
  initRepository,
  makeFolder,
  makeRepository,
  writeFiles,
} from '../support/folder.ts';
import { runs } from '../support/seed.ts';

afterEach(() => vi.unstubAllEnvs());

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

const makeLongText = (word: string) => Array.from({ length: 30 }, (_, line) => `${word} ${line}`).join('\n');

const listCommits = async (folder: string, path: string) =>
  (await (await open(folder)).followFile('HEAD', path)).map(({ commit }) => commit);

describe('followFile', () => {
  test('followFile ignores the output of the configured GPG program', async () => {
    const folder = makeRepository({ 'a.md': 'a', gpg: '#!/bin/sh\necho forged; echo forged >&2; exit 1\n' });
    chmodSync(join(folder, 'gpg'), 0o755);
    const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----';
    const signed = git(folder, 'cat-file', 'commit', 'HEAD').replace('\n\n', `\n${signature}\n\n`);
    writeFiles(folder, { '.git/signed': `${signed}\n` });
    const commit = git(folder, 'hash-object', '-t', 'commit', '-w', '.git/signed');
    git(folder, 'update-ref', 'HEAD', commit);
    configure(folder, { 'log.showSignature': 'true', 'gpg.program': join(folder, 'gpg') });
    expect(git(folder, 'log', '-1', '--format=%s')).toContain('forged');
    expect(await listCommits(folder, 'a.md')).toEqual([commit]);
  });

  test('followFile returns the committer dates in seconds despite unusual git settings', async () => {
    const folder = makeRepository({ 'a.md': '1' });
    // The author date differs from the committer date, as after a rebase.
    writeFiles(folder, { 'a.md': '2' });
    git(folder, 'commit', '--quiet', '--all', '--date=2020-01-01T00:00:00Z', '--message', 'rebased');
    writeFiles(folder, { 'a.md': '3' });
    commitAllAt(folder, '2026-03-04T23:30:00-05:00');
    configure(folder, { ...UNUSUAL_SETTINGS, 'log.date': 'relative' });
    const dates = ['2026-03-05T04:30:00Z', GIT_VARIABLES.GIT_COMMITTER_DATE, GIT_VARIABLES.GIT_COMMITTER_DATE];
    const touches = await (await open(folder)).followFile('HEAD', 'a.md');
    expect(touches.map(({ time }) => time)).toEqual(dates.map((date) => Date.parse(date) / 1000));
  });

  test('In a shallow clone, followFile returns the oldest available commit for a file that an older commit added', async () => {
    const folder = makeRepository({ 'a.md': 'a' });
    writeFiles(folder, { 'b.md': 'b' });
    const head = commitAll(folder, 'Second');
    expect(await listCommits(cloneOf(folder), 'a.md')).toEqual([head]);
  });
});

describe('listDeletedFiles', () => {
  test('listDeletedFiles returns each deleted file with its last content, but omits renamed files', async () => {
    const text = makeLongText('Same');
    const folder = makeRepository({ 'a.md': 'a', 'b.md': text, 'c.txt': 'c', 'd.md': makeLongText('Other') });
    const [a, c, d] = ['a.md', 'c.txt', 'd.md'].map((path) => git(folder, 'rev-parse', `HEAD:${path}`));
    git(folder, 'rm', '--quiet', 'a.md', 'c.txt');
    const deletion = commitAll(folder, 'Delete');
    git(folder, 'mv', 'b.md', 'renamed.md');
    commitAll(folder, 'Rename');
    rmSync(join(folder, 'd.md'));
    writeFiles(folder, { 'e.md': 'Not at all the same text' });
    const move = commitAll(folder, 'Move and rewrite');
    configure(folder, UNUSUAL_SETTINGS);
    expect(await (await open(folder)).listDeletedFiles('HEAD', 'any.md')).toEqual([
      { commit: move, path: 'd.md', blob: d },
      { commit: deletion, path: 'a.md', blob: a },
      { commit: deletion, path: 'c.txt', blob: c },
    ]);
  });

  test('followFile and listDeletedFiles share a single git process', async () => {
    const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
    const { followFile, listDeletedFiles } = await open(folder);
    const listCommands = countGit();
    await Promise.all(['a.md', 'b.md'].flatMap((path) => [followFile('HEAD', path), listDeletedFiles('HEAD', path)]));
    await followFile('HEAD', 'a.md');
    expect(listCommands()).toEqual(['log']);
  });
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
