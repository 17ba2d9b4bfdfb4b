import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
// Import the whole namespace, because a named import of `geteuid` fails on Windows, which does not have this function.
import * as nodeProcess from 'node:process';

/**
 * Returns true if the owner of a file is neither the current user nor root. For a symbolic link, checks the owners of
 * both the link and the file that it leads to. Always returns false on Windows, which has no user ids.
 */
export function belongsToAnotherUser(path: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return false;
  return [lstatSync(path).uid, statSync(path).uid].some((owner) => owner !== userId && owner !== 0);
}

/**
 * Returns true if the current user owns the root of the repository and its `.git`. Like git, and unlike
 * `belongsToAnotherUser`, makes no exception for root. Always returns true on Windows, which has no user ids.
 */
export function ownsRepository(root: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return true;
  return statSync(root).uid === userId && lstatSync(join(root, '.git')).uid === userId;
}
