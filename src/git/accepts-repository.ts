import { ProblemError } from '../problem.ts';
import { type GitSettings, openGit } from './open-git.ts';

/**
 * Whether git accepts the repository at this root. git refuses the repository of another user unless the setting
 * `safe.directory` names it (CVE-2022-24765). git also refuses an incomplete `.git` folder.
 */
export async function acceptsRepository(settings: GitSettings): Promise<boolean> {
  try {
    const pathFromRoot = await openGit(settings).run('rev-parse', '--show-prefix');
    // The prefix is not empty if git skips this root and finds a repository in a folder above it.
    return pathFromRoot.trim() === '';
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}
