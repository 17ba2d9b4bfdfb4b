import { simpleGit } from 'simple-git';
import type { Committed } from '../domain/edits.ts';
import { makeProblem, type Problem } from '../problem.ts';
import { asker, literally, WHOLE_OUTPUT, type Ask } from './ask.ts';

/** Commits what a command has edited. Each function throws a `ProblemError` when git refuses. */
export type Committer = {
  /** What forbids to make a branch of this name; null: nothing. */
  readonly branchProblem: (name: string) => Promise<Problem | null>;
  /** Makes a branch of HEAD and goes to it; the files stay as they are. */
  readonly switchTo: (branch: string) => Promise<void>;
  /** Commits these files (from the repository's root) alone, whatever else is staged. The user's hooks run. */
  readonly commit: (pathsFromRoot: readonly string[], message: string) => Promise<Committed>;
};

export function openCommitter(folder: string): Committer {
  const ask = asker(simpleGit({ baseDir: folder, completion: WHOLE_OUTPUT }));
  return {
    branchProblem: (name) => branchProblem(ask, name),
    switchTo: async (branch) => {
      await ask('switch', '--quiet', '--create', branch);
    },
    commit: async (paths, message) => {
      const files = paths.map(literally);
      await ask('add', '--', ...files);
      await ask('commit', '--quiet', '--only', `--message=${message}`, '--', ...files);
      const commit = (await ask('rev-parse', 'HEAD')).trim();
      return { commit, branch: (await ask('branch', '--show-current')).trim() || null };
    },
  };
}

async function branchProblem(ask: Ask, branch: string): Promise<Problem | null> {
  const valid = !branch.startsWith('-') && (await succeeds(ask, 'check-ref-format', '--branch', branch));
  if (!valid) return makeProblem('git/branch', { branch, reason: 'git does not allow this name' });
  const there = await succeeds(ask, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  return there ? makeProblem('git/branch', { branch, reason: 'there is one of this name' }) : null;
}

/** Some commands answer with their exit code alone, which counts as a failure only if they also complain. */
async function succeeds(ask: Ask, ...words: readonly string[]): Promise<boolean> {
  const said = await ask(...words).catch(() => '');
  return said.trim() !== '';
}
