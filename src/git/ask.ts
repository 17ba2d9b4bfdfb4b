import type { SimpleGit } from 'simple-git';
import type { Provenance } from '../domain/plan.ts';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';

const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** Whether a text can be a commit's id: nothing else that comes from the service is handed to git. */
export function isCommitId(text: string): boolean {
  return COMMIT.test(text);
}

/** One git command's output. Throws a `ProblemError` when git cannot answer. */
export type Ask = (...words: readonly string[]) => Promise<string>;

/** By default an output would count as complete 50 ms after the process has ended, read or not. */
export const WHOLE_OUTPUT = { onClose: true, onExit: false } as const;

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
  return new ProblemError(makeProblem('git/failed', { reason: reasonOf(error) }));
}

/**
 * The files, by their paths from the root, that differ between a commit and the work tree, whatever the user has
 * configured; with `--cached` between it and what is staged.
 */
export async function changedFiles(
  ask: Ask,
  commit: string,
  ...how: readonly '--cached'[]
): Promise<ReadonlySet<string>> {
  const plain = ['--name-only', '-z', '--no-ext-diff', '--no-renames', '--no-relative'];
  return new Set(namesIn(await ask('diff', ...plain, ...how, commit, '--', ':(top)')));
}

/** The names in a list of git's that has NUL after each. */
export function namesIn(listed: string): readonly string[] {
  return listed.split('\0').filter((name) => name !== '');
}

/** A path from the repository's root, as it is: nothing in it is a pattern or a word of git's. */
export function literally(pathFromRoot: string): string {
  return `:(top,literal)${pathFromRoot}`;
}

/** The commit that last touched a path (from the root) as of a commit; null when none did. */
export async function lastCommit(ask: Ask, asOf: string, path: string): Promise<Provenance | null> {
  // What the user has configured for reading logs must not change what is read here.
  const plain = ['--no-show-signature', '--encoding=UTF-8', '--format=%H%x00%s'];
  const line = await ask('log', '-1', ...plain, asOf, '--', literally(path));
  const [commit, subject = ''] = line.replace(/\n$/, '').split('\0');
  if (commit === undefined || commit === '') return null;
  return { commit, path, ...(subject === '' ? {} : { changeSummary: subject }) };
}

/** In one line, and without the stack that simple-git hands on when git cannot be started. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  if (message.includes('spawn git ENOENT')) return 'there is no program git in PATH.';
  return message.replaceAll(/\s+/g, ' ').trim();
}
