import type { EditCommit } from '../domain/edits.ts';
import { makeProblem, ProblemError, toProblem, type Problem } from '../problem.ts';
import { makeLiteralPathspec, openGit, type RunGit, type GitSettings, splitLines, splitNames } from './run-git.ts';

/** Functions that create branches and commits in the user's clone. */
export type Committer = {
  /**
   * Returns the problem that prevents promptsync from creating a branch with this name, or null if there is none. The
   * checked-out branch is not a problem, because promptsync commits to it.
   */
  readonly findBranchProblem: (name: string) => Promise<Problem | null>;
  /**
   * Creates a branch at HEAD and checks it out. Does nothing if the branch is already checked out. The files in the
   * work tree stay unchanged. Returns null if the branch is then checked out, or a problem if git refuses.
   */
  readonly switchTo: (branch: string) => Promise<Problem | null>;
  /**
   * Undoes `switchTo`: checks out the previous branch or commit, and deletes the new branch. The files in the work tree
   * stay unchanged. Keeps a branch that has commits, and does nothing if git refuses.
   */
  readonly undoSwitch: (branch: string) => Promise<void>;
  /**
   * Commits only these files, even if other files are staged, and runs the user's hooks. Afterwards, the index matches
   * the commit for each committed file, even if a hook has changed and staged files. Paths are relative to the
   * repository root. Throws a `ProblemError` if git refuses.
   */
  readonly commit: (pathsFromRoot: readonly string[], message: string) => Promise<EditCommit>;
  /** Returns the id of the commit at HEAD, or an empty string before the first commit. */
  readonly readHead: () => Promise<string>;
  /**
   * Removes the newest commits from the checked-out branch. Leaves the index and the work tree unchanged. Throws a
   * `ProblemError` if the branch has any other commit on top of `to`, for example because somebody else has committed.
   * @param made the ids of the commits to remove, oldest first
   * @param to the id of the commit to go back to, or an empty string if the branch had no commit
   */
  readonly moveBack: (made: readonly string[], to: string) => Promise<void>;
  /**
   * Makes the index entries of these files match HEAD. Leaves the work tree and all other index entries unchanged.
   * Throws a `ProblemError` if git refuses.
   */
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
      // git checks that HEAD is still the commit in the last argument. So a commit that somebody else makes in the
      // meantime is not lost.
      await (to === '' ? run('update-ref', '-d', 'HEAD', newest) : run('update-ref', 'HEAD', to, newest));
    },
    unstage: (pathsFromRoot) => unstage(run, pathsFromRoot),
  };
}

async function undoSwitch(run: RunGit, branch: string): Promise<void> {
  // If only the post-checkout hook fails, git has already switched back. If git fails, it does not delete the branch that
  // is still checked out. It also keeps a branch with commits that HEAD lacks.
  await runOrReturnEmpty(run, 'checkout', '--quiet', '-');
  await runOrReturnEmpty(run, 'branch', '--quiet', '--delete', '--', branch);
}

async function unstage(run: RunGit, pathsFromRoot: readonly string[]): Promise<void> {
  await run('reset', '--quiet', '--', ...pathsFromRoot.map(makeLiteralPathspec));
}

/**
 * Updates the user's index to match the commit, for these files and for all other files that the commit changed. `git
 * commit --only` gives the hooks a separate index. If a hook stages a formatted file there, the user's index still
 * contains the unformatted file.
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

/** Returns the name of the checked-out branch, or an empty string if HEAD is detached. */
function readBranch(run: RunGit): Promise<string> {
  return runOrReturnEmpty(run, 'branch', '--show-current');
}

/** Returns the id of the commit at HEAD, or an empty string before the first commit. */
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

/**
 * Returns true if git allows the branch name. git prints a valid name unchanged, but expands a shorthand such as
 * `@{-1}`, which means the previous branch. A shorthand is not a branch name.
 */
async function isValidBranchName(run: RunGit, branch: string): Promise<boolean> {
  if (branch === '' || branch.startsWith('-')) return false;
  return (await runOrReturnEmpty(run, 'check-ref-format', '--branch', branch)) === branch;
}

/**
 * Runs a command and returns its output without the final line break. Returns an empty string if git fails, even if it
 * fails without a message.
 */
async function runOrReturnEmpty(run: RunGit, ...args: readonly string[]): Promise<string> {
  return (await run(...args).catch(() => '')).replace(/\n$/, '');
}
