import type { MergeCheckOptions } from '../../run/check-merged-and-up-to-date.ts';
import type { PlannedWorkspace } from '../../run/run-with-plan.ts';
import { listConfigPaths } from '../../desired-state/open-workspace.ts';
import { isVisibleChange, type PromptPlan } from '../../domain/plan.ts';
import type { Repository } from '../../git/open-repository.ts';
import type { Problem } from '../../problem.ts';
import { compareWithReviews, type ReviewTrail } from '../approval.ts';
import { makeConfigPath, readReview } from './review-check.ts';
import { type MergedPull, listMergedPulls, readBranchTip, readTreeBlobs } from './github-client.ts';
import type { ActionContext } from './action-context.ts';

/** Reads the tip of a branch from the GitHub API, if git cannot contact the remote. Undefined if there is no token. */
export function makeNewestCommitReader({
  github,
}: Pick<ActionContext, 'github'>): MergeCheckOptions['readNewestFromForge'] {
  if (github === null) return undefined;
  return async (branch) => {
    if (branch === null) throw new Error('the event does not contain the name of the default branch.');
    const commit = await readBranchTip(github, branch);
    return { branch, commit, readTree: () => readTreeBlobs(github, commit) };
  };
}

/** A guard that blocks every change that did not appear in the review of a merged pull request. */
type ReviewGuard = {
  /** Returns a problem if a change of the prompt did not appear in the review of a merged pull request. */
  readonly refuse: (prompt: PromptPlan) => readonly Problem[];
  /** The numbers of the pull requests whose reviews showed changes of the plan. */
  readonly shownBy: ReadonlySet<number>;
};

export async function makeReviewGuard(context: ActionContext, workspace: PlannedWorkspace): Promise<ReviewGuard> {
  const reviewsOf = makeReviewsReader(context, workspace.repository);
  const trail = { ...(await readReviewTrail(workspace)), reviewsOf };
  const { unreviewed, shownBy } = await compareWithReviews(workspace.plan, trail);
  const refuse: ReviewGuard['refuse'] = ({ file }) => {
    const problem = unreviewed.get(file.id);
    return problem === undefined ? [] : [problem];
  };
  return { refuse, shownBy };
}

/** The history is empty if the plan has no visible changes, or if there is no commit. */
async function readReviewTrail({
  plan,
  config,
  repository,
}: PlannedWorkspace): Promise<Omit<ReviewTrail, 'reviewsOf'>> {
  const changingPrompts = plan.prompts.filter(({ changes }) => changes.some(isVisibleChange));
  if (changingPrompts.length === 0 || !repository?.head) {
    return { commits: [], touchesFile: () => false, touchesConfig: () => false };
  }
  const { head } = repository;
  const promptPaths = changingPrompts.map(({ file }) => file.path);
  const configPaths = listConfigPaths(config);
  const commitsByPath = await listCommitsTouching(repository, head, [...configPaths, ...promptPaths]);
  return {
    commits: await repository.listBranchCommits(head),
    touchesFile: ({ path }, commit) => commitsByPath.get(path)?.has(commit) === true,
    touchesConfig: (commit) => configPaths.some((path) => commitsByPath.get(path)?.has(commit) === true),
  };
}

/**
 * Lists the first-parent commits that changed each file, or that merged a commit that changed it. The second rule finds
 * a hidden revert: somebody could push a merge commit whose first parent is older than the revert, and whose second
 * parent is the tip of the branch. The revert would then no longer be a first-parent commit.
 */
async function listCommitsTouching(
  { toRootPath, followFile, findCommitsChanging, mapCommitsToMerges }: Repository,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const merges = await mapCommitsToMerges(head);
  const entries = paths.map(async (path): Promise<[string, ReadonlySet<string>]> => {
    const [states, changingCommits] = await Promise.all([
      followFile(head, toRootPath(path)),
      findCommitsChanging(head, toRootPath(path)),
    ]);
    const mergeCommits = changingCommits.map((commit) => merges.get(commit) ?? commit);
    return [path, new Set([...states.map(({ commit }) => commit), ...mergeCommits])];
  });
  return new Map(await Promise.all(entries));
}

function makeReviewsReader(
  { github, branch, inputs, system }: ActionContext,
  repository: Repository | null,
): ReviewTrail['reviewsOf'] {
  const configPath = makeConfigPath(system.workingDirectory, inputs.config);
  return async (commit) => {
    if (github === null) throw new Error('the input `github-token` is empty');
    if (branch === null) return [];
    const candidates = await listMergedPulls(github, commit, branch);
    const haveMerged = await Promise.all(candidates.map((pull) => didMerge(pull, commit, repository)));
    const pulls = candidates.filter((_, index) => haveMerged[index]);
    return Promise.all(pulls.map((pull) => readReview(github, pull, { configPath, branch })));
  };
}

/**
 * Returns true if the merge of a pull request brought the commit to the branch. After a squash merge, GitHub also lists
 * the pull request for the original commits. If such a commit is on the branch, somebody pushed it there separately.
 */
async function didMerge({ mergeCommit }: MergedPull, commit: string, repository: Repository | null): Promise<boolean> {
  if (mergeCommit === commit) return true;
  if (mergeCommit === null || repository === null) return false;
  // git fails if the clone does not have the merge commit. In that case, the merge commit is not on this branch.
  return repository.isSameOrAncestor(commit, mergeCommit).catch(() => false);
}
