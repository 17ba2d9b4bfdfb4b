import { lstatSync, mkdirSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/**
 * Creates the folder for Node's compile cache if it is missing, and returns its path. Returns null if the folder would
 * not be safe, or if the parent of the cache home is missing. promptsync then starts without a cache. It never creates
 * `HOME`, because the home folder of a service account, such as /nonexistent, is missing on purpose.
 *
 * The folder must be safe because Node runs the code that it finds there. Node's default folder is not safe, because
 * another user could create it first: it is in the temporary directory and has a predictable name. A folder in `HOME`
 * is not always safe either, because `sudo` may keep the `HOME` of the calling user.
 */
export function makeCacheFolder(
  environment: Readonly<Record<string, string | undefined>>,
  userId: number,
): string | null {
  const cacheHome = environment['XDG_CACHE_HOME'] ?? '';
  const home = environment['HOME'] ?? '';
  if (!isAbsolute(cacheHome) && !isAbsolute(home)) return null;
  const parent = resolve(isAbsolute(cacheHome) ? cacheHome : join(home, '.cache'));
  const folder = join(parent, 'promptsync');
  try {
    if (!isSafePath(dirname(parent), userId) || !isSafe(createFolder(parent), userId)) return null;
    const stats = createFolder(folder);
    const isPrivate = stats.isDirectory() && stats.uid === userId && (stats.mode & 0o077) === 0;
    return isPrivate ? folder : null;
  } catch {
    return null;
  }
}

/** Returns true if only this user and root can replace a folder or one of its parents. Throws if it is missing. */
function isSafePath(folder: string, userId: number): boolean {
  const parent = dirname(folder);
  return (parent === folder || isSafePath(parent, userId)) && isSafe(lstatSync(folder), userId);
}

/** Returns true if the stats describe a folder whose entries only this user and root can replace. */
function isSafe(stats: Stats, userId: number): boolean {
  if (!stats.isDirectory() || (stats.uid !== userId && stats.uid !== 0)) return false;
  const isWritableByOthers = (stats.mode & 0o022) !== 0;
  // In a sticky folder such as /tmp, other users can add files, but they cannot rename the folders of this user.
  const isSticky = stats.uid === 0 && (stats.mode & 0o1000) !== 0;
  return !isWritableByOthers || isSticky;
}

/** Creates a folder if it is missing, and returns its stats. Does not follow symbolic links. */
function createFolder(folder: string): Stats {
  const existing = lstatSync(folder, { throwIfNoEntry: false });
  if (existing !== undefined) return existing;
  mkdirSync(folder, { mode: 0o700 });
  return lstatSync(folder);
}
