import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
// Import the whole namespace, because a named import of `geteuid` fails on Windows, which does not have this function.
import * as nodeProcess from 'node:process';

/**
 * Returns true if another user owns the file, or owns the symbolic link to it. Files that root owns count as the user's
 * own. Always returns false on Windows, which has no user ids.
 */
export function belongsToAnotherUser(path: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return false;
  return [lstatSync(path).uid, statSync(path).uid].some((owner) => owner !== userId && owner !== 0);
}

/**
 * Returns true if the user owns both the root of the repository and its `.git`. git accepts such a repository. Files
 * that root owns do not count as the user's own, because git does not accept them either. This differs from
 * `belongsToAnotherUser`. Always returns true on Windows, which has no user ids.
 */
export function ownsRepository(root: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return true;
  return statSync(root).uid === userId && lstatSync(join(root, '.git')).uid === userId;
}
