import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/**
 * Returns the folder for Node's compile cache, and makes it if it is missing. Returns null if no folder is safe; the
 * program then starts without a cache.
 *
 * Node runs the code that it finds in this folder. Its default folder has a predictable name below the folder for
 * temporary files, so another user can make it first. `HOME` is not safe by itself either: `sudo` may keep the HOME of
 * the user who calls it.
 */
export function makeCacheFolder(
  environment: Readonly<Record<string, string | undefined>>,
  userId: number,
): string | null {
  const cacheHome = environment['XDG_CACHE_HOME'] ?? '';
  const home = environment['HOME'] ?? '';
  if (!isAbsolute(cacheHome) && !isAbsolute(home)) return null;
  const folder = join(isAbsolute(cacheHome) ? cacheHome : join(home, '.cache'), 'promptsync');
  try {
    if (!makeSafeFolder(dirname(folder), userId)) return null;
    const stats = statsOfFolder(folder);
    const isPrivate = stats.isDirectory() && stats.uid === userId && (stats.mode & 0o077) === 0;
    return isPrivate ? folder : null;
  } catch {
    return null;
  }
}

/** Makes a folder, and returns whether no other user but root can replace it or anything above it. */
function makeSafeFolder(folder: string, userId: number): boolean {
  const parent = dirname(folder);
  if (parent !== folder && !makeSafeFolder(parent, userId)) return false;
  const stats = statsOfFolder(folder);
  if (!stats.isDirectory() || (stats.uid !== userId && stats.uid !== 0)) return false;
  const isWritableByOthers = (stats.mode & 0o022) !== 0;
  // In a folder such as /tmp, others can add files but cannot rename the folders of this user.
  const isSticky = stats.uid === 0 && (stats.mode & 0o1000) !== 0;
  return !isWritableByOthers || isSticky;
}

/** Returns the stats of a folder, which it makes if it is missing. It does not follow a symbolic link. */
function statsOfFolder(folder: string): Stats {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined) return found;
  mkdirSync(folder, { mode: 0o700 });
  return lstatSync(folder);
}
