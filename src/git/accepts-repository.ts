import { ProblemError } from '../problem.ts';
import { type GitSettings, openGit } from './run-git.ts';

/**
 * git refuses an incomplete `.git` folder. It also refuses a repository that belongs to another user unless
 * `safe.directory` lists it (CVE-2022-24765).
 */
export async function acceptsRepository(settings: GitSettings): Promise<boolean> {
  try {
    const pathFromRoot = await openGit(settings).run('rev-parse', '--show-prefix');
    // If `.git` is incomplete, git may use the repository of a parent folder instead. Then `pathFromRoot` is not empty.
    return pathFromRoot.trim() === '';
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}
