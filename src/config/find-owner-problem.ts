import { belongsToAnotherUser, ownsRepository } from '../files/file-owner.ts';
import { isRepositoryRoot } from '../files/paths.ts';
import type { GitSettings } from '../git/open-git.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { Config } from './config.ts';

/**
 * Returns the reason to refuse a configuration that promptsync found, or null. In a shared folder, another user could have
 * written it, and would choose the variable of the API key and the address that receives the key.
 */
export async function findOwnerProblem({ file, root, service }: Config, shownPath: string): Promise<Problem | null> {
  const keyVariables = service?.kind === 'remote' ? service.keyVariables : [];
  if (isRepositoryRoot(root)) return findRepositoryProblem({ root, keyVariables });
  return belongsToAnotherUser(file)
    ? makeProblem('config/foreign-file', { path: shownPath }, { path: shownPath })
    : null;
}

/** Returns the reason to refuse the files of a repository, or null. Its root contains `.git`. */
export async function findRepositoryProblem(start: GitSettings): Promise<Problem | null> {
  if (ownsRepository(start.root)) return null;
  const { acceptsRepository } = await import('../git/accepts-repository.ts');
  if (await acceptsRepository(start)) return null;
  return makeProblem('config/foreign-repository', { root: start.root });
}
