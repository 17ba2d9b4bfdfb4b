import { belongsToAnotherUser, ownsRepository } from './file-owner.ts';
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
