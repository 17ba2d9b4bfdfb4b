import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { commitAll, makeRepository, writeFiles } from '../support/folder.ts';
import { open } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

/** Makes a repository in which git cannot read HEAD~1. */
function makeDamagedRepository(): string {
  const folder = makeRepository({ 'a.md': 'a' });
  const commit = commitAll(folder, 'Damaged');
  commitAll(folder, 'Last');
  const file = `.git/objects/${commit.slice(0, 2)}/${commit.slice(2)}`;
  rmSync(join(folder, file));
  writeFiles(folder, { [file]: 'not packed' });
  return folder;
}

const makeRefs = (count: number, refOf: (index: number) => string) =>
  Array.from({ length: count }, (_, at) => refOf(at));

describe('resolveRef on refs that make git exit', () => {
  test('resolveRef starts at most 22 git processes to resolve 1,000 valid refs and one ref to a damaged commit', async () => {
    const folder = makeDamagedRepository();
    const { resolveRef, head } = await open(folder);
    const others = makeRefs(1000, (index) => `main${'^0'.repeat(index % 100)}~${'0'.repeat(index + 1)}`);
    const counted = countGit();
    const commits = await Promise.all([...others.slice(0, 700), 'HEAD~1', ...others.slice(700)].map(resolveRef));
    expect(commits.toSpliced(700, 1)).toEqual(others.map(() => head));
    expect(commits[700]).toBeNull();
    const started = counted();
    expect(new Set(started)).toEqual(new Set(['cat-file', 'config']));
    expect(started.length).toBeLessThanOrEqual(22);
  });

  test('resolveRef starts at most 102 git processes to resolve one valid ref and 300 refs to a damaged commit', async () => {
    const { resolveRef, head } = await open(makeDamagedRepository());
    const counted = countGit();
    const commits = await Promise.all(
      ['main', ...makeRefs(300, (index) => `HEAD~1~${'0'.repeat(index)}`)].map(resolveRef),
    );
    expect(commits).toEqual([head, ...makeRefs(300, () => '').map(() => null)]);
    expect(counted()).toHaveLength(102);
    expect(await resolveRef('@{0}')).toBeNull();
    expect(await resolveRef('main^0')).toBe(head);
    expect(counted()).toEqual(['cat-file']);
  });
});

test('resolveRef starts at most 100 git processes for 300 refs with control characters', async () => {
  const { resolveRef } = await open(makeRepository({ 'a.md': 'a' }));
  const counted = countGit();
  const commits = await Promise.all(makeRefs(300, (index) => `main\t${index}`).map(resolveRef));
  expect(new Set(commits)).toEqual(new Set([null]));
  expect(counted()).toHaveLength(100);
});
