import { chmodSync, cpSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  commitAll,
  git,
  initRepository,
  makeFolder,
  makeRepository,
  makeWorkspace,
  writeFiles,
} from '../support/folder.ts';
import { configure, makeConflict, ODD_NAMES, open, uncommittedOf, UNUSUAL_SETTINGS } from './support.ts';

const setIndexFlag = (folder: string, how: string) => git(folder, 'update-index', how, 'a.md');
const edit = (folder: string) => writeFiles(folder, { 'a.md': 'edited' });

test('findUncommitted lists exactly the files that differ from HEAD, whatever the index says', async () => {
  const stage = (folder: string) => (edit(folder), git(folder, 'add', '.'));
  const rows: readonly (readonly [string, (folder: string) => unknown, boolean])[] = [
    ['an unchanged file', () => {}, false],
    ['a file that was rewritten with identical bytes', (folder) => writeFiles(folder, { 'a.md': 'a' }), false],
    ['an edited file', edit, true],
    ['a file whose edit is staged', stage, true],
    ['a restored file with a staged edit', (folder) => (stage(folder), writeFiles(folder, { 'a.md': 'a' })), false],
    ['a file outside the index', (folder) => git(folder, 'rm', '--cached', '--quiet', 'a.md'), true],
    ['a file whose permissions changed', (folder) => chmodSync(join(folder, 'a.md'), 0o755), true],
    ['an assume-unchanged file', (folder) => (setIndexFlag(folder, '--assume-unchanged'), edit(folder)), true],
    ['a skip-worktree file', (folder) => (setIndexFlag(folder, '--skip-worktree'), edit(folder)), true],
  ];
  const template = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
  for (const [name, change, differs] of rows) {
    const folder = join(makeFolder(), 'copy');
    cpSync(template, folder, { recursive: true });
    change(folder);
    expect([name, await uncommittedOf(folder, ['a.md', 'b.md'])]).toEqual([name, differs ? ['a.md'] : []]);
  }
});

test('findStaged lists a file with a staged edit even if its working copy was restored to the committed content', async () => {
  const folder = makeRepository({ 'p/a.md': 'a', 'p/b.md': 'b', 'c.md': 'c' });
  writeFiles(folder, { 'p/a.md': 'edited', 'c.md': 'edited' });
  git(folder, 'add', '.');
  writeFiles(folder, { 'p/a.md': 'a', 'p/b.md': 'edited' });
  const { findStaged: staged } = await open(join(folder, 'p'));
  expect(await staged(['a.md', 'b.md'])).toEqual(new Set(['a.md']));
});

test('findUncommitted lists a staged file in a repository without commits', async () => {
  const folder = makeWorkspace({ 'a.md': 'a' });
  initRepository(folder);
  git(folder, 'add', '.');
  expect(await uncommittedOf(folder, ['a.md'])).toEqual(['a.md']);
});

test('findUncommitted lists a file with an unresolved merge conflict', async () => {
  const folder = makeConflict();
  git(folder, 'checkout', '--quiet', '--ours', 'a.md');
  expect(await uncommittedOf(folder, ['a.md'])).toEqual(['a.md']);
});

test('findUncommitted lists a file that was edited and committed after promptsync opened the repository', async () => {
  const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
  const { findUncommitted } = await open(folder);
  edit(folder);
  commitAll(folder, 'Later');
  expect(await findUncommitted(['a.md', 'b.md'])).toEqual(new Set(['a.md']));
});

test('findUncommitted resolves paths relative to the workspace, including paths outside the workspace', async () => {
  const folder = makeRepository({ ' ws /a.md': 'a', ' ws /b.md': 'b', 'shared/c.md': 'c', 'a.md': 'a' });
  writeFiles(folder, { ' ws /b.md': 'edited', 'a.md': 'edited', 'shared/c.md': 'edited' });
  const paths = ['a.md', 'b.md', '../shared/c.md'];
  expect(await uncommittedOf(join(folder, ' ws '), paths)).toEqual(['../shared/c.md', 'b.md']);
});

test('findUncommitted finds files with unusual names despite unusual git settings', async () => {
  const files = ODD_NAMES.flatMap((name) => [name, `ws/${name}`]);
  const folder = makeRepository(Object.fromEntries(['plain.md', ...files].map((name) => [name, 'a'])));
  configure(folder, UNUSUAL_SETTINGS);
  writeFiles(folder, Object.fromEntries(ODD_NAMES.map((name) => [name, 'edited'])));
  expect(await uncommittedOf(folder, [...ODD_NAMES, 'plain.md'])).toEqual([...ODD_NAMES].toSorted());
  expect(await uncommittedOf(join(folder, 'ws'), ODD_NAMES)).toEqual([]);
});

test('findUncommitted does not list a file whose line endings git converted on checkout', async () => {
  const folder = makeRepository({ '.gitattributes': '*.md text eol=crlf\n', 'a.md': 'one\ntwo\n', 'b.md': 'one\n' });
  unlinkSync(join(folder, 'a.md'));
  git(folder, 'checkout', '--quiet', '--', 'a.md');
  expect(await uncommittedOf(folder, ['a.md'])).toEqual([]);
});

test('findUncommitted lists an edited file even while the git index is locked', async () => {
  const folder = makeRepository({ 'a.md': 'a', 'b.md': 'b' });
  writeFiles(folder, { 'a.md': 'a', 'b.md': 'edited', '.git/index.lock': '' });
  expect(await uncommittedOf(folder, ['a.md', 'b.md'])).toEqual(['b.md']);
});
