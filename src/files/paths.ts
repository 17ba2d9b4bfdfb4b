import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** A path as reports show it. */
export function toForwardSlashes(path: string): string {
  return sep === '/' ? path : path.replaceAll(sep, '/');
}

/** Whether a relative path with forward slashes leads out of the folder that it is relative to. */
export function leavesFolder(way: string): boolean {
  return way === '..' || way.startsWith('../') || isAbsolute(way);
}

/** The root of the repository that a folder is in; outside a repository the folder itself. */
export function findRepositoryRoot(folder: string): string {
  return listRepositoryRoots(folder)[0] ?? folder;
}

/** The roots of the repositories that a folder is in, the nearest first. */
export function listRepositoryRoots(folder: string): readonly string[] {
  const above = dirname(folder) === folder ? [] : listRepositoryRoots(dirname(folder));
  return isRepositoryRoot(folder) ? [folder, ...above] : above;
}

/** `.git` is a file in worktrees and submodules. */
export function isRepositoryRoot(folder: string): boolean {
  return existsSync(join(folder, '.git'));
}

/** The first symbolic link inside a folder that a path below it leads through or ends at; null when there is none. */
export function findFirstLink(root: string, path: string): string | null {
  return listLinks(path).find((link) => isWithin(dirname(link), root)) ?? null;
}

/** The first symbolic link inside any repository that a path leads through or ends at: a branch may have put it there. */
export function findTrackedLink(path: string): string | null {
  return listLinks(path).find((link) => listRepositoryRoots(realpathSync(dirname(link))).length > 0) ?? null;
}

/** Whether a path, with all links followed, is a folder or below it. Both are there. */
export function isWithin(path: string, folder: string): boolean {
  return !leavesFolder(toForwardSlashes(relative(realpathSync(folder), realpathSync(path))));
}

/** Each symbolic link on the way to a path, the path itself included, as far as there is anything; the first one first. */
function listLinks(path: string): readonly string[] {
  if (dirname(path) === path) return [];
  const above = listLinks(dirname(path));
  return isLink(path) ? [...above, path] : above;
}

/** Not what cannot be looked at: whatever reads it reports that. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** Whether a path leads to a folder, through symbolic links as well. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
