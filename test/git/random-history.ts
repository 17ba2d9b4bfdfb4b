import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { GIT_VARIABLES, initRepository, makeFolder } from '../support/folder.ts';

/** The files of random histories, of several folders; one stands where another time a folder is. */
export const PATHS = ['p/a.md', 'p/b.md', 'p/ü b.md', 'p/deep/c.md', 'p/deep', 'd.md'] as const;

/** By path what a commit has there: the mode and the text. */
type Tree = ReadonlyMap<string, readonly [mode: string, text: string]>;

export type Commit = { readonly parents: readonly number[]; readonly tree: Tree; readonly time: number };

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

export const history = (size: { readonly minLength: number; readonly maxLength: number }) =>
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
export function importHistory(commits: readonly Commit[]): string {
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
