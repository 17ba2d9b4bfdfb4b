import { isOfAnotherUser, ownsRepository } from '../files/owner.ts';
import { isRoot } from '../files/paths.ts';
import type { GitStart } from '../git/driver.ts';
import { makeProblem, type Problem } from '../problem.ts';
import type { Config } from './config.ts';

/**
 * Returns why promptsync does not use a configuration that it has found, or null. In a folder that several users share,
 * any of them can write one: it would choose the variable of the key and the address that gets the key.
 */
export async function findOwnerProblem({ file, root, service }: Config, shownPath: string): Promise<Problem | null> {
  const keyVariables = service?.kind === 'remote' ? service.keyVariables : [];
  if (isRoot(root)) return findRepositoryProblem({ root, keyVariables });
  return isOfAnotherUser(file) ? makeProblem('config/foreign-file', { path: shownPath }, { path: shownPath }) : null;
}

/** Returns why promptsync does not use the files of a repository, or null. The root holds `.git`. */
export async function findRepositoryProblem(start: GitStart): Promise<Problem | null> {
  if (ownsRepository(start.root)) return null;
  const { acceptsRepository } = await import('../git/accept.ts');
  if (await acceptsRepository(start)) return null;
  return makeProblem('config/foreign-repository', { root: start.root });
}
