import { dirname, join, relative, resolve } from 'node:path';
import { CONFIG_NAME } from '../config/config.ts';
import { findRoot, isRoot, slashed } from '../files/paths.ts';
import { openRemote } from '../git/remote.ts';
import { openRepository, type Repository } from '../git/repository.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { Context } from './context.ts';
import type { Event, PullRequest } from './event.ts';

/**
 * Opens the repository with its whole history: `actions/checkout` leaves it out unless it is given `fetch-depth: 0`. What
 * cannot be fetched is reported where it is missed.
 */
export async function openWhole({ git, world }: Pick<Context, 'git' | 'world'>): Promise<Repository> {
  if (!isRoot(git.root)) throw new ProblemError(makeProblem('action/no-checkout'));
  const { workingDirectory: folder } = world;
  const repository = await openRepository(git, folder);
  if (!repository.shallow) return repository;
  await openRemote(git)
    .fetchHistory()
    .catch(() => {});
  return openRepository(git, folder);
}

/** The commit to compare with: what would be there without the pull request, or was there before the push. */
export async function baseOf({ pull, before }: Event, repository: Repository): Promise<string | undefined> {
  if (pull !== null) return baseOfPull(pull, repository);
  const pushed = before === null ? null : await repository.resolveRef(before);
  return pushed ?? (await parentOf(repository, 1)) ?? undefined;
}

/** Of the merge commit that GitHub makes it is the first parent; of the branch itself the commit that it began at. */
async function baseOfPull({ number, head, base }: PullRequest, repository: Repository): Promise<string> {
  const [first, second] = [await parentOf(repository, 1), await parentOf(repository, 2)];
  if (first !== null && second === head) return first;
  if (repository.head === head) return (await repository.mergeBase(base, head)) ?? base;
  // A review says nothing of commits that it has not looked at.
  throw new ProblemError(makeProblem('action/other-checkout', { number, head, found: repository.head ?? 'no commit' }));
}

/** Null at the first commit, and at the edge of a shallow clone. */
async function parentOf({ head, resolveRef }: Repository, which: 1 | 2): Promise<string | null> {
  return head === null ? null : resolveRef(`${head}^${which}`);
}

/**
 * Returns a function that changes a path from the place of a problem, which is relative to the folder of the
 * configuration, into a path from the root of the repository. The configuration itself is called by the value of the
 * input, which is relative to the working directory.
 */
export function pathsFromRoot(folder: string, config: string | undefined): (path: string) => string {
  const home = dirname(resolve(folder, config ?? CONFIG_NAME));
  const root = findRoot(home);
  return (path) => slashed(relative(root, path === config ? join(folder, path) : join(home, path)));
}
