import { ProblemError } from '../problem.ts';
import { type GitSettings, openGit } from './run-git.ts';

/**
 * Returns true if git accepts the repository at this root. git refuses a repository that belongs to another user unless
 * `safe.directory` lists it (CVE-2022-24765). It also refuses an incomplete `.git` folder.
 */
export async function acceptsRepository(settings: GitSettings): Promise<boolean> {
  try {
    const pathFromRoot = await openGit(settings).run('rev-parse', '--show-prefix');
    // git may ignore an incomplete `.git` folder here and use the repository of a parent folder instead. In that case,
    // `pathFromRoot` is not empty.
    return pathFromRoot.trim() === '';
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}
