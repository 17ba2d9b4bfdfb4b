import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { countGit } from '../support/count-git.ts';
import { commitAll, makeRepository } from '../support/folder.ts';
import { open } from './support.ts';

afterEach(() => vi.unstubAllEnvs());

test('resolveRef starts at most 100 git processes for 300 refs that search a reflog, and still resolves other refs', async () => {
  const { resolveRef, head } = await open(makeRepository({ 'a.md': 'a' }));
  const counted = countGit();
  const refs = Array.from({ length: 300 }, (_, index) => `main@{${index}}`);
  const commits = await Promise.all([...refs, 'main'].map(resolveRef));
  expect(commits).toEqual([head, ...refs.slice(1).map(() => null), head]);
  expect(counted()).toEqual(['cat-file', ...Array.from({ length: 100 }, () => 'rev-parse')]);
  expect(await resolveRef('@{0}')).toBeNull();
  expect(counted()).toEqual([]);
});

test('resolveRef fails with the message of git if a commit is damaged', async () => {
  const folder = makeRepository({ 'a.md': 'a' });
  const commit = commitAll(folder, 'Damaged');
  commitAll(folder, 'Last');
  const file = join(folder, '.git/objects', commit.slice(0, 2), commit.slice(2));
  chmodSync(file, 0o600);
  writeFileSync(file, 'not packed');
  const { resolveRef } = await open(folder);
  await expect(resolveRef('HEAD~1')).rejects.toMatchObject({
    problem: { code: 'git/failed', message: expect.stringContaining(commit) },
  });
});
