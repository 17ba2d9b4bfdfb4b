import type { EditCommit } from '../domain/edits.ts';
import { makeProblem, ProblemError, toProblem, type Problem } from '../problem.ts';
import { toLiteralPathspec, openGit, type RunGit, type GitSettings } from './open-git.ts';

/** Who commits: workflows say so in variables, and of git's no others are handed on. */
export const IDENTITY_VARIABLES = ['AUTHOR', 'COMMITTER'].flatMap((who) =>
  ['NAME', 'EMAIL', 'DATE'].map((what) => `GIT_${who}_${what}`),
);

/** Makes branches and commits in the user's clone. */
export type Committer = {
  /**
   * Returns the problem that forbids to make a branch of this name, or null. The branch that is checked out has none:
   * promptsync commits to it.
   */
  readonly findBranchProblem: (name: string) => Promise<Problem | null>;
  /**
   * Makes a branch at HEAD and checks it out, unless it is checked out already. Files stay as they are. Returns the
   * problem if git refuses, else null.
   */
  readonly switchTo: (branch: string) => Promise<Problem | null>;
  /**
   * Commits these files (from the repository's root) and nothing else that is staged. Runs the user's hooks. Throws a
   * `ProblemError` if git refuses.
   */
  readonly commit: (pathsFromRoot: readonly string[], message: string) => Promise<EditCommit>;
};

export function openCommitter(start: GitSettings): Committer {
  const { run } = openGit(start, { allowEnvironment: IDENTITY_VARIABLES });
  return {
    findBranchProblem: (name) => checkBranch(run, name),
    switchTo: async (branch) => {
      try {
        const current = await runSilently(run, 'branch', '--show-current');
        if (current !== branch) await run('switch', '--quiet', '--create', branch);
        return null;
      } catch (error) {
        return makeProblem('git/branch', { branch, reason: toProblem(error).message.replace(/\.$/, '') });
      }
    },
    commit: async (pathsFromRoot, message) => {
      const before = await readHead(run);
      const files = pathsFromRoot.map(toLiteralPathspec);
      // New files have to be known; what is in the others is staged by nobody, should the commit be refused.
      await run('add', '--intent-to-add', '--', ...files);
      await run('commit', '--quiet', '--only', `--message=${message}`, '--', ...files);
      const commit = await readHead(run);
      // A hook may refuse without a word, which is no error to simple-git.
      if (commit === before)
        throw new ProblemError(makeProblem('git/failed', { reason: 'it made no commit, and does not say why.' }));
      return { commit, branch: (await run('branch', '--show-current')).trim() || null };
    },
  };
}

/** Empty before the first commit. */
function readHead(run: RunGit): Promise<string> {
  return runSilently(run, 'rev-parse', '--verify', '--quiet', 'HEAD');
}

async function checkBranch(run: RunGit, branch: string): Promise<Problem | null> {
  // Git answers with the name itself, and with another one where it took the name for a word of its own: `@{-1}`.
  const possible = branch !== '' && !branch.startsWith('-');
  const valid = possible && (await runSilently(run, 'check-ref-format', '--branch', branch)) === branch;
  if (!valid) return makeProblem('git/branch', { branch, reason: 'git does not allow this name' });
  const there = await runSilently(run, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (there === '' || (await runSilently(run, 'branch', '--show-current')) === branch) return null;
  return makeProblem('git/branch', { branch, reason: 'there is one of this name' });
}

/** Empty where git refuses: some commands do so without a word. */
async function runSilently(run: RunGit, ...words: readonly string[]): Promise<string> {
  return (await run(...words).catch(() => '')).replace(/\n$/, '');
}
