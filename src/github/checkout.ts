import { dirname, join, relative, resolve } from 'node:path';
import { CONFIG_NAME } from '../config/config.ts';
import { findRepositoryRoot, isRepositoryRoot, toForwardSlashes } from '../files/paths.ts';
import { openRemote } from '../git/open-remote.ts';
import { openRepository, type Repository } from '../git/open-repository.ts';
import { makeProblem, ProblemError } from '../problem.ts';
import type { ActionContext } from './context.ts';
import type { ActionEvent, PullRequest } from './event.ts';

/**
 * Opens the repository with its whole history: `actions/checkout` leaves it out unless it is given `fetch-depth: 0`. What
 * cannot be fetched is reported where it is missed.
 */
export async function openFullRepository({ git, world }: Pick<ActionContext, 'git' | 'world'>): Promise<Repository> {
  if (!isRepositoryRoot(git.root)) throw new ProblemError(makeProblem('action/no-checkout'));
  const { workingDirectory: folder } = world;
  const repository = await openRepository(git, folder);
  if (!repository.isShallow) return repository;
  await openRemote(git)
    .fetchHistory()
    .catch(() => {});
  return openRepository(git, folder);
}

/** The commit to compare with: what would be there without the pull request, or was there before the push. */
export async function chooseBase({ pull, before }: ActionEvent, repository: Repository): Promise<string | undefined> {
  if (pull !== null) return choosePullRequestBase(pull, repository);
  const pushed = before === null ? null : await repository.resolveRef(before);
  return pushed ?? (await readParent(repository, 1)) ?? undefined;
}

/** Of the merge commit that GitHub makes it is the first parent; of the branch itself the commit that it began at. */
async function choosePullRequestBase({ number, head, base }: PullRequest, repository: Repository): Promise<string> {
  const [first, second] = [await readParent(repository, 1), await readParent(repository, 2)];
  if (first !== null && second === head) return first;
  if (repository.head === head) return (await repository.findMergeBase(base, head)) ?? base;
  // A review says nothing of commits that it has not looked at.
  throw new ProblemError(makeProblem('action/other-checkout', { number, head, found: repository.head ?? 'no commit' }));
}

/** Null at the first commit, and at the edge of a shallow clone. */
async function readParent({ head, resolveRef }: Repository, which: 1 | 2): Promise<string | null> {
  return head === null ? null : resolveRef(`${head}^${which}`);
}

/**
 * Returns a function that changes a path from the place of a problem, which is relative to the folder of the
 * configuration, into a path from the root of the repository. The configuration itself is called by the value of the
 * input, which is relative to the working directory.
 */
export function makePathFromRoot(folder: string, config: string | undefined): (path: string) => string {
  const home = dirname(resolve(folder, config ?? CONFIG_NAME));
  const root = findRepositoryRoot(home);
  return (path) => toForwardSlashes(relative(root, path === config ? join(folder, path) : join(home, path)));
}
