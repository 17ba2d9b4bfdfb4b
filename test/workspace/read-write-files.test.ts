import { execFileSync } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  createFile,
  readBytes,
  renameToNewFile,
  replaceFile,
  replaceUnchangedFile,
} from '../../src/workspace/read-write-files.ts';
import { makeFolder, makeWorkspace, writeFiles } from '../support/folder.ts';

const LIMIT = 200_000;

describe('readBytes', () => {
  test('readBytes returns the complete content of a file, or only the size if it exceeds the limit', () => {
    for (const size of [0, 65_536, LIMIT]) {
      const root = makeWorkspace({ a: Buffer.alloc(size, 7) });
      expect(readBytes(join(root, 'a'), LIMIT)).toEqual({ kind: 'read', bytes: Buffer.alloc(size, 7) });
    }
    const root = makeWorkspace({ a: Buffer.alloc(LIMIT + 1) });
    expect(readBytes(join(root, 'a'), LIMIT)).toEqual({ kind: 'too-large', size: LIMIT + 1 });
  });

  test('readBytes rejects folders, named pipes, symbolic links and missing files without waiting for data', () => {
    const root = makeWorkspace({ 'folder/a': 'x' });
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const name of ['folder', 'pipe']) expect(readBytes(join(root, name))).toEqual({ kind: 'not-regular' });
    symlinkSync('folder/a', join(root, 'link'));
    expect(() => readBytes(join(root, 'link'))).toThrow('ELOOP');
    expect(() => readBytes(join(root, 'none'))).toThrow('ENOENT');
  });
});

describe('createFile', () => {
  test('createFile writes a file with default permissions and leaves no temporary file behind', async () => {
    const folder = makeFolder();
    writeFiles(folder, { usual: '' });
    expect(await createFile(join(folder, 'new/a.md'), 'text')).toBe(true);
    expect(readFileSync(join(folder, 'new/a.md'), 'utf8')).toBe('text');
    expect(statSync(join(folder, 'new/a.md'))).toMatchObject({ mode: statSync(join(folder, 'usual')).mode, nlink: 1 });
    expect(readdirSync(join(folder, 'new'))).toEqual(['a.md']);
  });

  test('createFile does not overwrite an existing file or symbolic link', async () => {
    const folder = makeFolder();
    writeFiles(folder, { 'a.md': 'before' });
    symlinkSync('nowhere', join(folder, 'link.md'));
    expect(await createFile(join(folder, 'a.md'), 'after')).toBe(false);
    expect(await createFile(join(folder, 'link.md'), 'after')).toBe(false);
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('before');
    expect(readlinkSync(join(folder, 'link.md'))).toBe('nowhere');
    expect(readdirSync(folder)).toEqual(['a.md', 'link.md']);
  });
});

test('renameToNewFile moves a file to a free path, overwrites nothing, and leaves no placeholder behind if it fails', async () => {
  const folder = makeFolder();
  writeFiles(folder, { first: 'one', second: 'two' });
  expect(await renameToNewFile(join(folder, 'first'), join(folder, 'a.md'))).toBe(true);
  expect(await renameToNewFile(join(folder, 'second'), join(folder, 'a.md'))).toBe(false);
  await expect(renameToNewFile(join(folder, 'none'), join(folder, 'b.md'))).rejects.toThrow('ENOENT');
  expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('one');
  expect(readdirSync(folder)).toEqual(['a.md', 'second']);
});

describe('replaceFile', () => {
  test('replaceFile does not write through symbolic links that exist at its temporary file paths', async () => {
    const folder = makeFolder();
    writeFiles(folder, { 'a.md': 'before', victim: 'stays' });
    for (const end of ['new', 'tmp']) symlinkSync('victim', join(folder, `a.md.promptsync-${end}`));
    await replaceFile(join(folder, 'a.md'), 'after');
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('stays');
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('after');
    expect(lstatSync(join(folder, 'a.md')).isFile()).toBe(true);
    expect(readdirSync(folder)).toEqual(['a.md', 'a.md.promptsync-new', 'a.md.promptsync-tmp', 'victim']);
  });

  test('replaceFile replaces a file with a 255-character name and preserves its permissions', async () => {
    const folder = makeFolder();
    const name = 'n'.repeat(255);
    writeFiles(folder, { [name]: 'before' });
    chmodSync(join(folder, name), 0o640);
    await replaceFile(join(folder, name), 'after');
    expect(readFileSync(join(folder, name), 'utf8')).toBe('after');
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('createFile and replaceFile throw the operating system error and leave no files behind if they cannot write the file', async () => {
    const folder = makeFolder();
    await expect(createFile(join(folder, 'n'.repeat(256)), 'text')).rejects.toThrow('ENAMETOOLONG');
    await expect(replaceFile(join(folder, 'none', 'a.md'), 'after')).rejects.toThrow('ENOENT');
    await expect(replaceFile(join(folder, 'n'.repeat(256)), 'after')).rejects.toThrow('ENAMETOOLONG');
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('replaceUnchangedFile', () => {
  const [before, after] = [Buffer.from('before'), Buffer.from('after')];

  test('replaceUnchangedFile replaces a file that contains the expected bytes, and throws if there is no file', async () => {
    const folder = makeWorkspace({ 'a.md': before });
    expect(await replaceUnchangedFile(join(folder, 'a.md'), before, after)).toBe(true);
    await expect(replaceUnchangedFile(join(folder, 'none.md'), before, after)).rejects.toThrow('ENOENT');
    expect([readdirSync(folder), readFileSync(join(folder, 'a.md'), 'utf8')]).toEqual([['a.md'], 'after']);
  });

  test('replaceUnchangedFile keeps a file that somebody edits while the new content is being written', async () => {
    const folder = makeWorkspace({ 'a.md': before });
    const replaced = replaceUnchangedFile(join(folder, 'a.md'), before, after);
    writeFiles(folder, { 'a.md': 'edited' });
    expect(await replaced).toBe(false);
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('edited');
    expect(readdirSync(folder)).toEqual(['a.md']);
  });
});
