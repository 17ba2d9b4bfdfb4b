import type { NewestOptions } from '../commands/merged-and-newest.ts';
import type { Walked } from '../commands/walk.ts';
import { configPaths } from '../desired/workspace.ts';
import { isVisible, type PromptPlan } from '../domain/plan.ts';
import type { Repository } from '../git/repository.ts';
import type { Problem } from '../problem.ts';
import { compareWithReviews, type Trail } from '../review/approval.ts';
import { configPathOf, readApproval } from './check.ts';
import { type MergedPull, mergedPullsOf, tipOfBranch, treeOf } from './client.ts';
import type { Context } from './context.ts';

/** Asks GitHub what a branch is at, for clones that may not ask their remote; undefined without a token. */
export function askGitHub({ github }: Pick<Context, 'github'>): NewestOptions['askForge'] {
  if (github === null) return undefined;
  return async (branch) => {
    if (branch === null) throw new Error('the event does not name the default branch.');
    const commit = await tipOfBranch(github, branch);
    return { branch, commit, tree: () => treeOf(github, commit) };
  };
}

/**
 * Why prompts may not be applied: what is done to each must have been shown in a review that was merged. The pull
 * requests that have shown some of it are added to those given.
 */
export async function reviewGate(context: Context, walked: Walked, pulls: Set<number>) {
  const trail = { ...(await trailOf(walked)), reviewsOf: reviewsOf(context, walked.repository) };
  const { unreviewed, shownBy } = await compareWithReviews(walked.plan, trail);
  shownBy.forEach((pull) => pulls.add(pull));
  return ({ file }: PromptPlan): readonly Problem[] => {
    const problem = unreviewed.get(file.id);
    return problem === undefined ? [] : [problem];
  };
}

/** Reads the history in which the search for reviews takes place. It is empty if the plan has no visible changes. */
async function trailOf({ plan, config, repository }: Walked): Promise<Omit<Trail, 'reviewsOf'>> {
  const changing = plan.prompts.filter(({ changes }) => changes.some(isVisible)).map(({ file }) => file.path);
  if (changing.length === 0 || !repository?.head) {
    return { commits: [], touchesFile: () => false, touchesConfig: () => false };
  }
  const { head } = repository;
  const configured = configPaths(config);
  const touching = await commitsTouching(repository, head, [...configured, ...changing]);
  return {
    commits: await repository.mergesBefore(head),
    touchesFile: ({ path }, commit) => touching.get(path)?.has(commit) === true,
    touchesConfig: (commit) => configured.some((path) => touching.get(path)?.has(commit) === true),
  };
}

/**
 * Returns the first-parent commits that touched each path. A merge commit touched a file if it changed the file, or if it
 * brought a commit that did. Without the second condition, somebody could push a merge commit whose first parent is older
 * than a revert, and whose second parent is the tip of the branch: no first-parent commit would have reverted the file.
 */
async function commitsTouching(
  { fromRoot, whereTouched, whereChanged, mergesOf }: Repository,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const merges = await mergesOf(head);
  const touching = paths.map(async (path): Promise<[string, ReadonlySet<string>]> => {
    const [touched, changed] = await Promise.all([
      whereTouched(head, fromRoot(path), 'branch'),
      whereChanged(head, fromRoot(path)),
    ]);
    const brought = changed.map((commit) => merges.get(commit) ?? commit);
    return [path, new Set([...touched.map(({ commit }) => commit), ...brought])];
  });
  return new Map(await Promise.all(touching));
}

/** Returns the function that finds the pull requests that merged a commit, and reads what their checks approve. */
function reviewsOf({ github, branch, inputs, world }: Context, repository: Repository | null): Trail['reviewsOf'] {
  const configPath = configPathOf(world.workingDirectory, inputs.config);
  return async (commit) => {
    if (github === null) throw new Error('there is no `github-token`');
    if (branch === null) return [];
    const named = await mergedPullsOf(github, commit, branch);
    const isMerged = await Promise.all(named.map((pull) => didMerge(pull, commit, repository)));
    const pulls = named.filter((_, at) => isMerged[at]);
    const reading = pulls.map(async (pull) => {
      return { pull: pull.number, shown: await readApproval(github, pull, { configPath, branch }) };
    });
    return Promise.all(reading);
  };
}

/**
 * Whether the merge of a pull request has brought a commit to the branch. GitHub also names the pull request for commits
 * that a squash merge has replaced. Somebody else must have pushed such a commit.
 */
async function didMerge({ mergeCommit }: MergedPull, commit: string, repository: Repository | null): Promise<boolean> {
  if (mergeCommit === commit) return true;
  if (mergeCommit === null || repository === null) return false;
  // git fails for a merge commit that the clone does not have: it is not on this branch.
  return repository.isWithin(commit, mergeCommit).catch(() => false);
}
