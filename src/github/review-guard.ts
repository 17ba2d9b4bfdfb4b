import type { MergeCheckOptions } from '../commands/check-merged-and-up-to-date.ts';
import type { PlannedWorkspace } from '../commands/run-with-plan.ts';
import { listConfigPaths } from '../desired/open-workspace.ts';
import { isVisibleChange, type PromptPlan } from '../domain/plan.ts';
import type { Repository } from '../git/open-repository.ts';
import type { Problem } from '../problem.ts';
import { compareWithReviews, type ReviewTrail } from '../review/approval.ts';
import { makeConfigPath, readApproval } from './check.ts';
import { type MergedPull, listMergedPulls, readBranchTip, readTreeBlobs } from './client.ts';
import type { ActionContext } from './context.ts';

/** Asks GitHub what a branch is at, for clones that may not ask their remote; undefined without a token. */
export function makeNewestCommitReader({
  github,
}: Pick<ActionContext, 'github'>): MergeCheckOptions['readNewestFromForge'] {
  if (github === null) return undefined;
  return async (branch) => {
    if (branch === null) throw new Error('the event does not name the default branch.');
    const commit = await readBranchTip(github, branch);
    return { branch, commit, readTree: () => readTreeBlobs(github, commit) };
  };
}

/** The result of comparing a plan with the reviews that were merged. */
export type ReviewGate = {
  /** Returns the problem of a prompt whose changes no merged review has shown, or no problem. */
  readonly refuse: (prompt: PromptPlan) => readonly Problem[];
  /** The numbers of the pull requests that have shown changes of the plan. */
  readonly shownBy: ReadonlySet<number>;
};

/** Compares a plan with the reviews of the pull requests that were merged. */
export async function makeReviewGuard(context: ActionContext, walked: PlannedWorkspace): Promise<ReviewGate> {
  const trail = { ...(await readReviewTrail(walked)), reviewsOf: makeReviewsReader(context, walked.repository) };
  const { unreviewed, shownBy } = await compareWithReviews(walked.plan, trail);
  const refuse: ReviewGate['refuse'] = ({ file }) => {
    const problem = unreviewed.get(file.id);
    return problem === undefined ? [] : [problem];
  };
  return { refuse, shownBy };
}

/** Reads the history in which the search for reviews takes place. It is empty if the plan has no visible changes. */
async function readReviewTrail({
  plan,
  config,
  repository,
}: PlannedWorkspace): Promise<Omit<ReviewTrail, 'reviewsOf'>> {
  const changing = plan.prompts.filter(({ changes }) => changes.some(isVisibleChange)).map(({ file }) => file.path);
  if (changing.length === 0 || !repository?.head) {
    return { commits: [], touchesFile: () => false, touchesConfig: () => false };
  }
  const { head } = repository;
  const configured = listConfigPaths(config);
  const touching = await listCommitsTouching(repository, head, [...configured, ...changing]);
  return {
    commits: await repository.listBranchCommits(head),
    touchesFile: ({ path }, commit) => touching.get(path)?.has(commit) === true,
    touchesConfig: (commit) => configured.some((path) => touching.get(path)?.has(commit) === true),
  };
}

/**
 * Returns the first-parent commits that touched each path. A merge commit touched a file if it changed the file, or if it
 * brought a commit that did. Without the second condition, somebody could push a merge commit whose first parent is older
 * than a revert, and whose second parent is the tip of the branch: no first-parent commit would have reverted the file.
 */
async function listCommitsTouching(
  { toRootPath, followFile, findCommitsChanging, mapCommitsToMerges }: Repository,
  head: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const merges = await mapCommitsToMerges(head);
  const touching = paths.map(async (path): Promise<[string, ReadonlySet<string>]> => {
    const [touched, changed] = await Promise.all([
      followFile(head, toRootPath(path), 'branch'),
      findCommitsChanging(head, toRootPath(path)),
    ]);
    const brought = changed.map((commit) => merges.get(commit) ?? commit);
    return [path, new Set([...touched.map(({ commit }) => commit), ...brought])];
  });
  return new Map(await Promise.all(touching));
}

/** Returns the function that finds the pull requests that merged a commit, and reads what their checks approve. */
function makeReviewsReader(
  { github, branch, inputs, world }: ActionContext,
  repository: Repository | null,
): ReviewTrail['reviewsOf'] {
  const configPath = makeConfigPath(world.workingDirectory, inputs.config);
  return async (commit) => {
    if (github === null) throw new Error('there is no `github-token`');
    if (branch === null) return [];
    const named = await listMergedPulls(github, commit, branch);
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
  return repository.isSameOrAncestor(commit, mergeCommit).catch(() => false);
}
