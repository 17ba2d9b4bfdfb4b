import { chmodSync, lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { replaceFile } from '../../src/files/read-write.ts';
import { makeFolder, writeFiles } from '../support/folder.ts';

describe('replacing a file', () => {
  test('follows no link that a repository holds beside it, and leaves nothing behind', async () => {
    const folder = makeFolder();
    writeFiles(folder, { 'a.md': 'before', victim: 'stays' });
    for (const end of ['new', 'tmp']) symlinkSync('victim', join(folder, `a.md.promptsync-${end}`));
    await replaceFile(join(folder, 'a.md'), 'after');
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('stays');
    expect(readFileSync(join(folder, 'a.md'), 'utf8')).toBe('after');
    expect(lstatSync(join(folder, 'a.md')).isFile()).toBe(true);
    expect(readdirSync(folder)).toEqual(['a.md', 'a.md.promptsync-new', 'a.md.promptsync-tmp', 'victim']);
  });

  test('keeps the permissions of the one before, and takes the longest name', async () => {
    const folder = makeFolder();
    const name = 'n'.repeat(255);
    writeFiles(folder, { [name]: 'before' });
    chmodSync(join(folder, name), 0o640);
    await replaceFile(join(folder, name), 'after');
    expect(readFileSync(join(folder, name), 'utf8')).toBe('after');
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o640);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('throws what the system says, and leaves nothing behind', async () => {
    const folder = makeFolder();
    await expect(replaceFile(join(folder, 'none', 'a.md'), 'after')).rejects.toThrow('ENOENT');
    await expect(replaceFile(join(folder, 'n'.repeat(256)), 'after')).rejects.toThrow('ENAMETOOLONG');
    expect(readdirSync(folder)).toEqual([]);
  });
});
