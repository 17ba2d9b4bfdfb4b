import type { NewestOptions } from '../commands/merged-and-newest.ts';
import type { Walked } from '../commands/walk.ts';
import { configPaths } from '../desired/workspace.ts';
import { isVisible, type PromptPlan } from '../domain/plan.ts';
import type { Problem } from '../problem.ts';
import { compareWithReviews, type Trail } from '../review/approval.ts';
import { checkName, shownIn } from './check.ts';
import { mergedPullOf, tipOfBranch, treeOf } from './client.ts';
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
  const trail = { ...(await trailOf(walked)), reviewOf: reviewsOf(context) };
  const { unreviewed, shownBy } = await compareWithReviews(walked.plan, trail);
  shownBy.forEach((pull) => pulls.add(pull));
  return ({ file }: PromptPlan): readonly Problem[] => {
    const problem = unreviewed.get(file.id);
    return problem === undefined ? [] : [problem];
  };
}

/**
 * The commits of the branch that may have brought a prompt's change: those that touched its file or the configuration,
 * and the newest, whose review has shown all that was to be done then.
 */
async function trailOf({ plan, config, repository }: Walked): Promise<Omit<Trail, 'reviewOf'>> {
  const changing = plan.prompts.filter(({ changes }) => changes.some(isVisible)).map(({ file }) => file.path);
  if (changing.length === 0 || !repository?.head) return { commits: [], concerns: () => false };
  const { head, fromRoot, mergesBefore, whereTouched } = repository;
  const touching = async (path: string) => {
    const places = await whereTouched(head, fromRoot(path), 'branch');
    return [path, new Set(places.map(({ commit }) => commit))] as const;
  };
  const configured = configPaths(config);
  const touched = new Map(await Promise.all([...configured, ...changing].map(touching)));
  return {
    commits: await mergesBefore(head),
    concerns: ({ path }, commit) =>
      commit === head || [path, ...configured].some((one) => touched.get(one)?.has(commit) === true),
  };
}

/** Of each commit the pull request that it was merged with, and what the check on its last head has shown. */
function reviewsOf({ github, branch, inputs, world }: Context): Trail['reviewOf'] {
  const name = checkName(world.workingDirectory, inputs.config);
  return async (commit) => {
    if (github === null) throw new Error('there is no `github-token`');
    const pull = await mergedPullOf(github, commit, branch);
    return pull && { pull: pull.number, shown: await shownIn(github, pull.head, name) };
  };
}
