import { chmodSync, chownSync, cpSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeCacheFolder } from '../../src/compile-cache.ts';
import { makeFolder } from '../support/folder.ts';
import { OTHER_USER } from '../support/users.ts';

const USER = process.getuid?.() ?? 0;

type Variables = Readonly<Record<string, string | undefined>>;

describe('makeCacheFolder', () => {
  test('makeCacheFolder creates a private folder under an absolute XDG_CACHE_HOME, and otherwise under HOME', () => {
    const folder = makeFolder();
    const rows: readonly (readonly [Variables, string])[] = [
      [{ XDG_CACHE_HOME: join(folder, 'a'), HOME: '/' }, 'a/promptsync'],
      [{ HOME: folder }, '.cache/promptsync'],
      [{ XDG_CACHE_HOME: '', HOME: folder }, '.cache/promptsync'],
      [{ XDG_CACHE_HOME: 'a', HOME: folder }, '.cache/promptsync'],
    ];
    for (const [variables, path] of rows) {
      rmSync(join(folder, path), { recursive: true, force: true });
      expect(makeCacheFolder(variables, USER)).toBe(join(folder, path));
      expect(statSync(join(folder, path)).mode & 0o777).toBe(0o700);
      expect(makeCacheFolder(variables, USER)).toBe(join(folder, path));
    }
  });

  test('makeCacheFolder returns null if another user could have written the cache folder or a folder above it', () => {
    const changes: readonly ((home: string) => void)[] = [
      (home) => chmodSync(join(home, '.cache/promptsync'), 0o744),
      (home) => chmodSync(join(home, '.cache'), 0o770),
      (home) => chmodSync(home, 0o777),
      (home) => replaceByLink(join(home, '.cache/promptsync')),
      (home) => replaceByLink(join(home, '.cache')),
      (home) => replaceByFile(join(home, '.cache/promptsync')),
      (home) => replaceByFile(join(home, '.cache')),
    ];
    for (const change of changes) {
      const home = makeFolder();
      expect(makeCacheFolder({ HOME: home }, USER)).not.toBeNull();
      change(home);
      expect([String(change), makeCacheFolder({ HOME: home }, USER)]).toEqual([String(change), null]);
    }
  });

  test.each<Variables>([{}, { HOME: '' }, { HOME: '.' }, { HOME: '/dev/null' }])(
    'makeCacheFolder returns null for the variables %j, which name no folder',
    (variables) => {
      expect(makeCacheFolder(variables, USER)).toBeNull();
    },
  );

  test('makeCacheFolder does not create a missing HOME or a missing parent folder of XDG_CACHE_HOME', () => {
    const folder = makeFolder();
    expect(makeCacheFolder({ HOME: join(folder, 'missing') }, USER)).toBeNull();
    expect(makeCacheFolder({ XDG_CACHE_HOME: join(folder, 'missing/.cache'), HOME: folder }, USER)).toBeNull();
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
