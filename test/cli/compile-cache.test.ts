import { chmodSync, chownSync, cpSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCacheFolder } from '../../src/compile-cache.ts';
import { makeFolder } from '../support/folder.ts';
import { OTHER_USER } from '../support/users.ts';

const USER = process.getuid?.() ?? 0;

type Variables = Readonly<Record<string, string | undefined>>;

describe('makeCacheFolder', () => {
  test.each<[string, (folder: string) => Variables, string]>([
    [
      'makeCacheFolder creates a private folder under XDG_CACHE_HOME',
      (folder) => ({ XDG_CACHE_HOME: join(folder, 'a'), HOME: '/' }),
      'a/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is not set',
      (folder) => ({ HOME: folder }),
      '.cache/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is empty',
      (folder) => ({ XDG_CACHE_HOME: '', HOME: folder }),
      '.cache/promptsync',
    ],
    [
      'makeCacheFolder creates a private folder under HOME if XDG_CACHE_HOME is relative',
      (folder) => ({ XDG_CACHE_HOME: 'a', HOME: folder }),
      '.cache/promptsync',
    ],
  ])('%s', (_, variablesOf, path) => {
    const folder = makeFolder();
    expect(makeCacheFolder(variablesOf(folder), USER)).toBe(join(folder, path));
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
    expect(makeCacheFolder(variablesOf(folder), USER)).toBe(join(folder, path));
  });

  test.each<[string, (home: string) => void]>([
    [
      'makeCacheFolder returns null if the cache folder is readable by everyone',
      (home) => chmodSync(join(home, '.cache/promptsync'), 0o744),
    ],
    [
      'makeCacheFolder returns null if the parent of the cache folder is group-writable',
      (home) => chmodSync(join(home, '.cache'), 0o770),
    ],
    ['makeCacheFolder returns null if the home folder is world-writable', (home) => chmodSync(home, 0o777)],
    [
      'makeCacheFolder returns null if the cache folder is a symbolic link',
      (home) => replaceByLink(join(home, '.cache/promptsync')),
    ],
    [
      'makeCacheFolder returns null if the parent of the cache folder is a symbolic link',
      (home) => replaceByLink(join(home, '.cache')),
    ],
    [
      'makeCacheFolder returns null if a file exists in place of the cache folder',
      (home) => replaceByFile(join(home, '.cache/promptsync')),
    ],
    [
      'makeCacheFolder returns null if a file exists in place of the parent of the cache folder',
      (home) => replaceByFile(join(home, '.cache')),
    ],
  ])('%s', (_, change) => {
    const home = makeFolder();
    expect(makeCacheFolder({ HOME: home }, USER)).not.toBeNull();
    change(home);
    expect(makeCacheFolder({ HOME: home }, USER)).toBeNull();
  });

  test.each<[string, Variables]>([
    ['makeCacheFolder returns null if HOME is not set', {}],
    ['makeCacheFolder returns null if HOME is empty', { HOME: '' }],
    ['makeCacheFolder returns null if HOME is relative', { HOME: '.' }],
    ['makeCacheFolder returns null if HOME is not a folder', { HOME: '/dev/null' }],
  ])('%s', (_, variables) => {
    expect(makeCacheFolder(variables, USER)).toBeNull();
  });

  test.each<[string, (folder: string) => Variables]>([
    [
      'makeCacheFolder does not create the HOME folder if it is missing',
      (folder) => ({ HOME: join(folder, 'missing') }),
    ],
    [
      'makeCacheFolder does not create a missing parent folder of XDG_CACHE_HOME',
      (folder) => ({ XDG_CACHE_HOME: join(folder, 'missing/.cache'), HOME: folder }),
    ],
  ])('%s', (_, variablesOf) => {
    const folder = makeFolder();
    expect(makeCacheFolder(variablesOf(folder), USER)).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('makeCacheFolder returns null and creates nothing if another user owns the home folder', () => {
    const home = makeFolder();
    if (USER === 0) chownSync(home, OTHER_USER, OTHER_USER);
    expect(makeCacheFolder({ HOME: home }, USER === 0 ? 0 : USER + 1)).toBeNull();
    expect(readdirSync(home)).toEqual([]);
  });
});

function replaceByLink(folder: string): void {
  cpSync(folder, `${folder}-moved`, { recursive: true });
  rmSync(folder, { recursive: true });
  symlinkSync(`${folder}-moved`, folder);
}

function replaceByFile(folder: string): void {
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
}
