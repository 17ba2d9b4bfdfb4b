import type { Committed } from '../domain/edits.ts';
import { makeProblem, ProblemError, problemOf, type Problem } from '../problem.ts';
import { literally, openGit, type Ask, type GitStart } from './driver.ts';

/** Who commits: workflows say so in variables, and of git's no others are handed on. */
export const IDENTITY = ['AUTHOR', 'COMMITTER'].flatMap((who) =>
  ['NAME', 'EMAIL', 'DATE'].map((what) => `GIT_${who}_${what}`),
);

export function openCommitter(start: GitStart) {
  const { ask } = openGit(start, { allowEnvironment: IDENTITY });
  return {
    /** What forbids to make a branch of this name; null: nothing. One that is checked out already is gone on with. */
    branchProblem: (name: string) => branchProblem(ask, name),
    /** Makes a branch of HEAD and goes to it, unless it is there; the files stay as they are. Why git does not; null: it does. */
    switchTo: async (branch: string): Promise<Problem | null> => {
      try {
        const current = await answerTo(ask, 'branch', '--show-current');
        if (current !== branch) await ask('switch', '--quiet', '--create', branch);
        return null;
      } catch (error) {
        return makeProblem('git/branch', { branch, reason: problemOf(error).message.replace(/\.$/, '') });
      }
    },
    /**
     * Commits these files (from the repository's root) alone, whatever else is staged. The user's hooks run. Throws a
     * `ProblemError` when git refuses.
     */
    commit: async (pathsFromRoot: readonly string[], message: string): Promise<Committed> => {
      const before = await headOf(ask);
      const files = pathsFromRoot.map(literally);
      // New files have to be known; what is in the others is staged by nobody, should the commit be refused.
      await ask('add', '--intent-to-add', '--', ...files);
      await ask('commit', '--quiet', '--only', `--message=${message}`, '--', ...files);
      const commit = await headOf(ask);
      // A hook may refuse without a word, which is no error to simple-git.
      if (commit === before)
        throw new ProblemError(makeProblem('git/failed', { reason: 'it made no commit, and does not say why.' }));
      return { commit, branch: (await ask('branch', '--show-current')).trim() || null };
    },
  };
}

/** Empty before the first commit. */
function headOf(ask: Ask): Promise<string> {
  return answerTo(ask, 'rev-parse', '--verify', '--quiet', 'HEAD');
}

async function branchProblem(ask: Ask, branch: string): Promise<Problem | null> {
  // Git answers with the name itself, and with another one where it took the name for a word of its own: `@{-1}`.
  const possible = branch !== '' && !branch.startsWith('-');
  const valid = possible && (await answerTo(ask, 'check-ref-format', '--branch', branch)) === branch;
  if (!valid) return makeProblem('git/branch', { branch, reason: 'git does not allow this name' });
  const there = await answerTo(ask, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  if (there === '' || (await answerTo(ask, 'branch', '--show-current')) === branch) return null;
  return makeProblem('git/branch', { branch, reason: 'there is one of this name' });
}

/** Empty where git refuses: some commands do so without a word. */
async function answerTo(ask: Ask, ...words: readonly string[]): Promise<string> {
  return (await ask(...words).catch(() => '')).replace(/\n$/, '');
}
