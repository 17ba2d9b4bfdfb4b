import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
// A namespace, because Windows has no `geteuid`: an import by name would fail there.
import * as nodeProcess from 'node:process';

/**
 * Whether another user owns a file or the symbolic link to it. Files of root count as the user's own. Windows has no
 * user ids, so this returns false there.
 */
export function belongsToAnotherUser(path: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return false;
  return [lstatSync(path).uid, statSync(path).uid].some((owner) => owner !== userId && owner !== 0);
}

/**
 * Whether the user owns both the root of a repository and its `.git`. git accepts such a repository. Unlike
 * `belongsToAnotherUser`, and like git, it does not accept files of root for other users.
 */
export function ownsRepository(root: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return true;
  return statSync(root).uid === userId && lstatSync(join(root, '.git')).uid === userId;
}
