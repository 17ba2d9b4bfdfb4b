import { lstatSync, statSync } from 'node:fs';
import { join } from 'node:path';
// Import the whole namespace, because a named import of `geteuid` fails on Windows, which does not have this function.
import * as nodeProcess from 'node:process';
import { isRepositoryRoot } from './paths.ts';
import type { GitSettings } from '../git/run-git.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { type Config, makeGitSettings } from './config.ts';

/**
 * Finds the reason to refuse a configuration file that the user did not specify. In a shared folder, another user may
 * have written it to obtain the API key: it decides which variable contains the key and which address receives it.
 */
export async function findOwnerProblem(config: Config, shownPath: string): Promise<Problem | null> {
  if (isRepositoryRoot(config.root)) return findRepositoryProblem(makeGitSettings(config));
  return belongsToAnotherUser(config.file)
    ? makeProblem('config/foreign-file', { path: shownPath }, { path: shownPath })
    : null;
}

/** Finds a problem if another user owns the repository and git does not trust it. The root must contain `.git`. */
export async function findRepositoryProblem(settings: GitSettings): Promise<Problem | null> {
  if (ownsRepository(settings.root)) return null;
  const { acceptsRepository } = await import('../git/accepts-repository.ts');
  if (await acceptsRepository(settings)) return null;
  return makeProblem('config/foreign-repository', { root: settings.root });
}

/**
 * Returns true if the owner of a file is neither the current user nor root. For a symbolic link, checks the owners of
 * both the link and the file that it leads to. Always returns false on Windows, which has no user ids.
 */
function belongsToAnotherUser(path: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return false;
  return [lstatSync(path).uid, statSync(path).uid].some((owner) => owner !== userId && owner !== 0);
}

/**
 * Returns true if the current user owns the root of the repository and its `.git`. Like git, and unlike
 * `belongsToAnotherUser`, makes no exception for root. Always returns true on Windows, which has no user ids.
 */
function ownsRepository(root: string): boolean {
  const userId = nodeProcess.geteuid?.();
  if (userId === undefined) return true;
  return statSync(root).uid === userId && lstatSync(join(root, '.git')).uid === userId;
}
