import type { EditCommit } from '../domain/edits.ts';
import { makeProblem, ProblemError, toProblem, type Problem } from '../problem.ts';
import { makeLiteralPathspec, openGit, type RunGit, type GitSettings, splitLines, splitNames } from './run-git.ts';

/** Creates branches and commits in the user's clone. */
export type Committer = {
  /**
   * Returns the problem that prevents promptsync from creating this branch. The checked-out branch is not a problem,
   * because promptsync commits to it.
   */
  readonly findBranchProblem: (name: string) => Promise<Problem | null>;
  /**
   * Creates a branch at HEAD and checks it out, unless it is already checked out. The files in the work tree stay
   * unchanged. Returns a problem if git refuses.
   */
  readonly switchTo: (branch: string) => Promise<Problem | null>;
  /**
   * Checks out the previous branch or commit, and deletes the new branch unless it has commits. The files in the work
   * tree stay unchanged. Does nothing if git refuses.
   */
  readonly undoSwitch: (branch: string) => Promise<void>;
  /**
   * Commits only these files, even if others are staged, and runs the user's hooks. Afterwards, the index matches the
   * commit for each committed file, even if a hook has staged changes. Throws a `ProblemError` if git refuses.
   */
  readonly commit: (pathsFromRoot: readonly string[], message: string) => Promise<EditCommit>;
  /** Returns the id of the commit at HEAD, or an empty string before the first commit. */
  readonly readHead: () => Promise<string>;
  /**
   * Removes the newest commits from the checked-out branch, but not from the index and the work tree. Throws a
   * `ProblemError` if the branch has any other commit on top of `to`, for example from somebody else.
   * @param made the ids of the commits to remove, oldest first
   * @param to the id of the commit to go back to, or an empty string if the branch had no commit
   */
  readonly moveBack: (made: readonly string[], to: string) => Promise<void>;
  /** Makes the index entries of these files match HEAD. Throws a `ProblemError` if git refuses. */
  readonly unstage: (pathsFromRoot: readonly string[]) => Promise<void>;
};

export function openCommitter(settings: GitSettings): Committer {
  const { run } = openGit(settings);
  return {
    findBranchProblem: (name) => findBranchProblem(run, name),
    switchTo: async (branch) => {
      try {
        if ((await readBranch(run)) !== branch) await run('switch', '--quiet', '--create', branch);
        return null;
      } catch (error) {
        // If only the post-checkout hook fails, git has already switched to the branch.
        if ((await readBranch(run)) === branch) return null;
        return makeProblem('git/branch', { branch, reason: toProblem(error).message.replace(/\.$/, '') });
      }
    },
    undoSwitch: (branch) => undoSwitch(run, branch),
    commit: async (pathsFromRoot, message) => {
      const headBefore = await readHead(run);
      const pathspecs = pathsFromRoot.map(makeLiteralPathspec);
      // git commits a new file only if its path is in the index. `--intent-to-add` adds the path without its content,
      // so no content stays staged if git refuses the commit.
      await run('add', '--intent-to-add', '--', ...pathspecs);
      await run('commit', '--quiet', '--only', `--message=${message}`, '--', ...pathspecs);
      const commit = await readHead(run);
      // A hook can reject the commit without any output. simple-git does not treat that as an error.
      if (commit === headBefore)
        throw new ProblemError(makeProblem('git/failed', { reason: 'git created no commit and gave no reason.' }));
      await unstageCommittedFiles(run, commit, pathsFromRoot);
      const branch = (await run('branch', '--show-current')).trim() || null;
      return { commit, branch };
    },
    readHead: () => readHead(run),
    moveBack: async (made, to) => {
      const newest = made.at(-1);
      if (newest === undefined) return;
      const range = to === '' ? [newest] : [newest, `^${to}`];
      const listed = splitLines(await run('rev-list', '--max-count', String(made.length + 1), ...range));
      if (listed.length !== made.length || !listed.every((commit) => made.includes(commit))) {
        throw new ProblemError(makeProblem('git/failed', { reason: 'someone else added commits to the branch.' }));
      }
      // git checks that HEAD is still the last argument, so a commit that somebody else makes meanwhile is not lost.
      await (to === '' ? run('update-ref', '-d', 'HEAD', newest) : run('update-ref', 'HEAD', to, newest));
    },
    unstage: (pathsFromRoot) => unstage(run, pathsFromRoot),
  };
}

async function undoSwitch(run: RunGit, branch: string): Promise<void> {
  // Ignore errors: a failed post-checkout hook does not undo the switch, and git deletes neither a checked-out branch
  // nor a branch with commits that HEAD lacks.
  await runOrReturnEmpty(run, 'checkout', '--quiet', '-');
  await runOrReturnEmpty(run, 'branch', '--quiet', '--delete', '--', branch);
}

async function unstage(run: RunGit, pathsFromRoot: readonly string[]): Promise<void> {
  await run('reset', '--quiet', '--', ...pathsFromRoot.map(makeLiteralPathspec));
}

/**
 * Updates the user's index to match the commit, for these files and all others that the commit changed. `git commit
 * --only` gives the hooks a separate index, so the user's index lacks what a hook has staged.
 */
async function unstageCommittedFiles(run: RunGit, commit: string, pathsFromRoot: readonly string[]): Promise<void> {
  try {
    const options = ['-r', '--root', '--no-commit-id', '--name-only', '-z', '--no-renames'];
    const committedPaths = splitNames(await run('diff-tree', ...options, commit));
    await unstage(run, [...new Set([...pathsFromRoot, ...committedPaths])]);
  } catch {
    // The commit has already been created, so an error here must not make the command fail.
  }
}

/** Returns an empty string if HEAD is detached. */
function readBranch(run: RunGit): Promise<string> {
  return runOrReturnEmpty(run, 'branch', '--show-current');
}

/** Returns an empty string before the first commit. */
function readHead(run: RunGit): Promise<string> {
  return runOrReturnEmpty(run, 'rev-parse', '--verify', '--quiet', 'HEAD');
}

async function findBranchProblem(run: RunGit, branch: string): Promise<Problem | null> {
  if (!(await isValidBranchName(run, branch))) {
    return makeProblem('git/branch', { branch, reason: 'git does not allow this name' });
  }
  const existing = await runOrReturnEmpty(run, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (existing === '') return null;
  if ((await readBranch(run)) === branch) return null;
  return makeProblem('git/branch', { branch, reason: 'a branch with this name already exists' });
}

/** Returns true if git prints the name unchanged. git expands a shorthand such as `@{-1}`, the previous branch. */
async function isValidBranchName(run: RunGit, branch: string): Promise<boolean> {
  if (branch === '' || branch.startsWith('-')) return false;
  return (await runOrReturnEmpty(run, 'check-ref-format', '--branch', branch)) === branch;
}

/** Returns the output without the final line break, or an empty string if git fails. */
async function runOrReturnEmpty(run: RunGit, ...args: readonly string[]): Promise<string> {
  return (await run(...args).catch(() => '')).replace(/\n$/, '');
}
