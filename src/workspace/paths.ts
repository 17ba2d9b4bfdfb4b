import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Converts a path to forward slashes, which reports use on every platform. */
export function toForwardSlashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

/** Returns the path that leads from a folder to another path, with forward slashes. */
export function makeRelativePath(folder: string, path: string): string {
  return toForwardSlashes(relative(folder, path));
}

/** Returns true for a path such as `../other`. The path must be relative and have forward slashes. */
export function leavesFolder(path: string): boolean {
  return path === '..' || path.startsWith('../') || isAbsolute(path);
}

/** Returns the root of the innermost repository, or the folder itself if it is in none. */
export function findRepositoryRoot(folder: string): string {
  return listRepositoryRoots(folder)[0] ?? folder;
}

/** Returns the roots of all repositories that contain the folder, innermost first. */
export function listRepositoryRoots(folder: string): readonly string[] {
  const above = dirname(folder) === folder ? [] : listRepositoryRoots(dirname(folder));
  return isRepositoryRoot(folder) ? [folder, ...above] : above;
}

/** Accepts a `.git` file, too, as in worktrees and submodules. */
export function isRepositoryRoot(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}

/** Returns the outermost symbolic link among `path` and its parent folders below `root`. */
export function findFirstLink(root: string, path: string): string | null {
  return listLinks(path).find((link) => isWithin(dirname(link), root)) ?? null;
}

/** Finds the outermost link inside a repository. Callers must not follow it, because any branch may have added it. */
export function findTrackedLink(path: string): string | null {
  return listLinks(path).find((link) => listRepositoryRoots(realpathSync(dirname(link))).length > 0) ?? null;
}

/** Returns true if the path is the folder or is inside it, after all symbolic links are resolved. Both must exist. */
export function isWithin(path: string, folder: string): boolean {
  return !leavesFolder(makeRelativePath(realpathSync(folder), realpathSync(path)));
}

/** Returns all symbolic links among a path and its parent folders, outermost first. Skips those that do not exist. */
function listLinks(path: string): readonly string[] {
  if (dirname(path) === path) return [];
  const above = listLinks(dirname(path));
  return isLink(path) ? [...above, path] : above;
}

/** Returns false if promptsync cannot inspect the path. This hides no error, because reading the path reports it. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Returns true if the path leads to a folder, directly or through symbolic links. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
