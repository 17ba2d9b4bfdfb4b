import { ProblemError } from '../problem.ts';
import { type GitStart, openGit } from './driver.ts';

/**
 * Whether git works with the repository at this root. git refuses one that belongs to another user, unless the setting
 * safe.directory names it (CVE-2022-24765). An incomplete `.git` folder also counts as refused.
 */
export async function acceptsRepository(start: GitStart): Promise<boolean> {
  try {
    const pathFromRoot = await openGit(start).ask('rev-parse', '--show-prefix');
    // Not empty if git has found another repository above the root.
    return pathFromRoot.trim() === '';
  } catch (error) {
    if (error instanceof ProblemError) return false;
    throw error;
  }
}
