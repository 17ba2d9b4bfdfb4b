import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { git } from '../support/folder.ts';
import { importHistory, type Commit } from './random-history.ts';
import { configure, open, UNUSUAL_SETTINGS } from './support.ts';

/** What happens to one of the files in a commit, or a merge of an earlier commit. */
const step = fc.record({
  what: fc.constantFrom('edit', 'edit', 'rename', 'back', 'delete', 'add', 'merge', 'branch', 'elsewhere'),
  which: fc.nat({ max: 3 }),
  line: fc.nat({ max: 9 }),
  back: fc.integer({ min: 1, max: 5 }),
});

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

/** Four files of ten lines that have none in common; names are by file and number. */
const textOf = (which: number, versions: readonly number[]) =>
  versions.map((version, line) => `file ${which} line ${line} version ${version}`).join('\n');

type File = { readonly name: number; readonly versions: readonly number[] } | null;

const NEW: File = { name: 0, versions: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0] };

/** An ordinary history: what is renamed keeps most of its text, and no other file is like it. */
function ordinary(steps: readonly Step[]): readonly Commit[] {
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

function turned(file: File, what: Step['what'], line: number): File {
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
function alone(folder: string, path: string, which: keyof typeof WHICH, most: number): readonly string[] {
  const how = ['--follow', ...WHICH[which], `--max-count=${most}`];
  const shown = ['--name-only', '-z', '--format=tformat:%x00%H'];
  const words = git(folder, 'log', ...how, ...shown, 'HEAD', '--', path).split('\0');
  return words.flatMap((word, index) => (/^[0-9a-f]{40}$/.test(word) ? [`${word} ${words[index + 1]!.trim()}`] : []));
}

test('where many files were touched, or landed, is what git tells of each alone, under earlier names as well', async () => {
  const histories = fc.array(step, { minLength: 1, maxLength: 40 }).map(ordinary);
  const which = fc.constantFrom('whereMerged', 'whereTouched');
  const property = fc.asyncProperty(histories, which, fc.constantFrom(3, 500), async (commits, how, most) => {
    const folder = importHistory(commits);
    const paths = [...commits.at(-1)!.tree.keys(), nameOf(1, 0), 'never.md'];
    const expected = paths.map((path) => [path, alone(folder, path, how, most)]);
    configure(folder, UNUSUAL_SETTINGS);
    const refs = git(folder, 'for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads/c*');
    const byId = new Map(refs.split('\n').map((line) => [line.slice(0, 40), commits[Number(line.slice(42))]]));
    const repository = await open(folder);
    const told = await Promise.all(
      paths.map(async (path) => {
        const places = await repository[how]('HEAD', path, most);
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
