import { ProblemError } from '../problem.ts';
import { type GitSettings, openGit } from './open-git.ts';

/**
 * Whether git is willing to work with the repository at this root. git refuses a repository of another user unless the
 * setting safe.directory names it (CVE-2022-24765). An incomplete `.git` folder also counts as refused.
 */
export async function acceptsRepository(settings: GitSettings): Promise<boolean> {
  try {
    const pathFromRoot = await openGit(settings).run('rev-parse', '--show-prefix');
    // If git skips this root and finds a repository above it, the path is not empty.
    return pathFromRoot.trim() === '';
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}
