import type { EditCommit } from '../domain/edits.ts';
import { makeProblem, ProblemError, toProblem, type Problem } from '../problem.ts';
import { toLiteralPathspec, openGit, type RunGit, type GitSettings } from './open-git.ts';

/**
 * The environment variables that name the author and the committer, such as `GIT_AUTHOR_NAME`. Workflows set them, so
 * git inherits them although it does not inherit its other variables.
 */
export const IDENTITY_VARIABLES = ['AUTHOR', 'COMMITTER'].flatMap((role) =>
  ['NAME', 'EMAIL', 'DATE'].map((property) => `GIT_${role}_${property}`),
);

/** The functions that create branches and commits in the user's clone. */
export type Committer = {
  /**
   * Returns the problem that prevents the creation of a branch with this name, or null. The branch that is checked out
   * has no problem, because promptsync commits to it.
   */
  readonly findBranchProblem: (name: string) => Promise<Problem | null>;
  /**
   * Creates a branch at HEAD and checks it out, unless it is already checked out. The files in the work tree stay
   * unchanged. Returns the problem if git refuses, or null.
   */
  readonly switchTo: (branch: string) => Promise<Problem | null>;
  /**
   * Commits these files, but no other staged files, and runs the user's hooks. The paths are relative to the root of
   * the repository. Throws a `ProblemError` if git refuses.
   */
  readonly commit: (pathsFromRoot: readonly string[], message: string) => Promise<EditCommit>;
};

export function openCommitter(settings: GitSettings): Committer {
  const { run } = openGit(settings, { allowEnvironment: IDENTITY_VARIABLES });
  return {
    findBranchProblem: (name) => findBranchProblem(run, name),
    switchTo: async (branch) => {
      try {
        const current = await runOrReturnEmpty(run, 'branch', '--show-current');
        if (current !== branch) await run('switch', '--quiet', '--create', branch);
        return null;
      } catch (error) {
        return makeProblem('git/branch', { branch, reason: toProblem(error).message.replace(/\.$/, '') });
      }
    },
    commit: async (pathsFromRoot, message) => {
      const headBefore = await readHead(run);
      const pathspecs = pathsFromRoot.map(toLiteralPathspec);
      // git commits a new file only if the index names the file. This option stages no content, so nothing stays staged
      // if git refuses the commit.
      await run('add', '--intent-to-add', '--', ...pathspecs);
      await run('commit', '--quiet', '--only', `--message=${message}`, '--', ...pathspecs);
      const commit = await readHead(run);
      // A hook can refuse the commit without output. simple-git does not treat that as an error.
      if (commit === headBefore)
        throw new ProblemError(makeProblem('git/failed', { reason: 'git made no commit and gave no reason.' }));
      const branch = (await run('branch', '--show-current')).trim() || null;
      return { commit, branch };
    },
  };
}

/** Returns the id of the commit at HEAD, or an empty text before the first commit. */
function readHead(run: RunGit): Promise<string> {
  return runOrReturnEmpty(run, 'rev-parse', '--verify', '--quiet', 'HEAD');
}

async function findBranchProblem(run: RunGit, branch: string): Promise<Problem | null> {
  if (!(await isValidBranchName(run, branch))) {
    return makeProblem('git/branch', { branch, reason: 'git does not allow this name' });
  }
  const existing = await runOrReturnEmpty(run, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (existing === '') return null;
  const current = await runOrReturnEmpty(run, 'branch', '--show-current');
  if (current === branch) return null;
  return makeProblem('git/branch', { branch, reason: 'a branch with this name already exists' });
}

/**
 * Whether git allows a branch name. git prints a valid name unchanged. It expands a shorthand such as `@{-1}`, which
 * means the previous branch, so a shorthand does not count as a name.
 */
async function isValidBranchName(run: RunGit, branch: string): Promise<boolean> {
  if (branch === '' || branch.startsWith('-')) return false;
  return (await runOrReturnEmpty(run, 'check-ref-format', '--branch', branch)) === branch;
}

/**
 * Runs a command and returns its output without the last line break. Returns an empty text if git fails. Some commands
 * fail without a message.
 */
async function runOrReturnEmpty(run: RunGit, ...args: readonly string[]): Promise<string> {
  return (await run(...args).catch(() => '')).replace(/\n$/, '');
}
