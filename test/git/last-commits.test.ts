import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Repository } from '../../src/git/repository.ts';
import { git } from '../support/folder.ts';
import { history, importHistory, PATHS, type Commit } from './random-history.ts';
import { configure, open, UNUSUAL_SETTINGS } from './support.ts';

/** What git tells of each path alone. */
function oneByOne(folder: string, asOf: string): Readonly<Record<string, string>> {
  const words = ['log', '-1', '--no-follow', '--no-show-signature', '--encoding=UTF-8', '--format=%H %s', asOf, '--'];
  return Object.fromEntries(PATHS.map((path) => [path, git(folder, ...words, `:(top,literal)${path}`)]));
}

async function together(
  { lastCommits }: Repository,
  paths: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const found = await lastCommits(paths);
  const told = (path: string): string => {
    const { commit = '', changeSummary = '' } = found.get(path) ?? {};
    return `${commit} ${changeSummary}`.trim();
  };
  return Object.fromEntries(paths.map((path) => [path, told(path)]));
}

async function hold(commits: readonly Commit[]): Promise<void> {
  const folder = importHistory(commits);
  const expected = oneByOne(folder, 'HEAD');
  configure(folder, UNUSUAL_SETTINGS);
  const repository = await open(folder);
  expect(await together(repository, PATHS)).toEqual(expected);
  const one = PATHS[commits.length % PATHS.length]!;
  expect(await together(repository, [one])).toEqual({ [one]: expected[one] });
  rmSync(folder, { recursive: true });
}

describe('the commits that last touched many files are those that git tells of each alone', () => {
  test('in short histories with merges of all kinds', async () => {
    await fc.assert(fc.asyncProperty(history({ minLength: 1, maxLength: 30 }), hold), { numRuns: 12 });
  });

  test('in histories that are read piece by piece', async () => {
    await fc.assert(fc.asyncProperty(history({ minLength: 120, maxLength: 300 }), hold), { numRuns: 2 });
  });

  test('in one of thousands of commits that touch other files', async () => {
    const file = (text: string) => ['100644', text] as const;
    const commits = Array.from({ length: 2300 }, (_, index): Commit => {
      const touched = PATHS.filter((path, which) => path !== 'p/deep' && index >= 4 * 10 ** which);
      const tree = new Map([...touched.map((path) => [path, file('1')] as const), ['other', file(`${index}`)]]);
      return { parents: index === 0 ? [] : [index - 1], tree, time: 1_700_000_000 + index };
    });
    const folder = importHistory(commits);
    expect(await together(await open(folder), PATHS)).toEqual(oneByOne(folder, 'HEAD'));
  });
});
