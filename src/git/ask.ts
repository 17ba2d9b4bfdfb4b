import type { SimpleGit } from 'simple-git';
import type { Provenance } from '../domain/plan.ts';
import { makeProblem, ProblemError } from '../problem.ts';

/** One git command's output. Throws a `ProblemError` when git cannot answer. */
export type Ask = (...words: readonly string[]) => Promise<string>;

export function asker(git: SimpleGit): Ask {
  return async (...words) => {
    try {
      return await git.raw([...words]);
    } catch (error) {
      throw gitProblem(error);
    }
  };
}

export function gitProblem(error: unknown): ProblemError {
  const reason = error instanceof Error ? error.message.trim() : String(error);
  return new ProblemError(makeProblem('git/failed', { reason }));
}

/** The commit that last touched a path (from the root) as of a commit; null when none did. */
export async function lastCommit(ask: Ask, asOf: string, path: string): Promise<Provenance | null> {
  const line = await ask('log', '-1', '--format=%H%x00%s', asOf, '--', `:(top,literal)${path}`);
  const [commit, subject = ''] = line.replace(/\n$/, '').split('\0');
  if (commit === undefined || commit === '') return null;
  return { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) };
}
