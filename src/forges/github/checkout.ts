import { dirname, join, resolve } from 'node:path';
import { CONFIG_NAME } from '../../workspace/config.ts';
import { findRepositoryRoot, isRepositoryRoot, makeRelativePath } from '../../workspace/paths.ts';
import { openRemote } from '../../git/open-remote.ts';
import { openRepository, type Repository } from '../../git/open-repository.ts';
import { makeProblem, ProblemError } from '../../problem.ts';
import type { ActionContext } from './action-context.ts';
import type { ActionEvent, PullRequest } from './action-event.ts';

/**
 * Fetches the complete history, because `actions/checkout` creates a shallow clone by default. Ignores a failed fetch.
 * If a commit is missing afterwards, the code that needs the commit reports the problem. Throws a `ProblemError` if the
 * workspace is not a git repository.
 */
export async function openFullRepository({ git, system }: Pick<ActionContext, 'git' | 'system'>): Promise<Repository> {
  if (!isRepositoryRoot(git.root)) throw new ProblemError(makeProblem('action/no-checkout'));
  const { workingDirectory } = system;
  const repository = await openRepository(git, workingDirectory);
  if (!repository.isShallow) return repository;
  await openRemote(git)
    .fetchHistory()
    .catch(() => {});
  return openRepository(git, workingDirectory);
}

/**
 * Chooses the commit that promptsync compares with the checkout. For a pull request, this is the state of the target
 * branch without its changes. Otherwise, it is the previous commit in the event, or else the first parent of HEAD.
 */
export async function chooseBase({ pull, before }: ActionEvent, repository: Repository): Promise<string | undefined> {
  if (pull !== null) return choosePullRequestBase(pull, repository);
  const previous = before === null ? null : await repository.resolveRef(before);
  return previous ?? (await readParent(repository, 1)) ?? undefined;
}

/**
 * Returns the first parent of GitHub's test merge commit, or the merge base with the target branch if the head of the
 * pull request is checked out. Throws a `ProblemError` if any other commit is checked out.
 */
async function choosePullRequestBase({ number, head, base }: PullRequest, repository: Repository): Promise<string> {
  const first = await readParent(repository, 1);
  const second = await readParent(repository, 2);
  if (first !== null && second === head) return first;
  if (repository.head === head) return (await repository.findMergeBase(base, head)) ?? base;
  // A review of any other commit would not show the changes in the pull request.
  throw new ProblemError(makeProblem('action/other-checkout', { number, head, found: repository.head ?? 'no commit' }));
}

/** Returns null if HEAD has no such parent, or if a shallow clone lacks the parent. */
async function readParent({ head, resolveRef }: Repository, position: 1 | 2): Promise<string | null> {
  return head === null ? null : resolveRef(`${head}^${position}`);
}

/**
 * Paths in problems are relative to the configuration folder. The only exception is the path of the configuration file:
 * it is the value of the input `config`, which is relative to the working directory.
 */
export function makeRootPathConverter(workingDirectory: string, config: string | undefined): (path: string) => string {
  const configFolder = dirname(resolve(workingDirectory, config ?? CONFIG_NAME));
  const root = findRepositoryRoot(configFolder);
  return (path) => {
    const folder = path === config ? workingDirectory : configFolder;
    return makeRelativePath(root, join(folder, path));
  };
}
