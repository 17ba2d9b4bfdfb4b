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
