import type { NewestOptions } from '../commands/merged-and-newest.ts';
import type { Walked } from '../commands/walk.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';
import { notReviewed, partsOf, uncovered, type Review } from '../review/reviewed-plan.ts';
import { mergedPullOf, tipOfBranch, treeOf, type GitHub } from './client.ts';
import type { Context } from './context.ts';
import { findComment, markerOf } from './sticky.ts';

/** Asks GitHub what a branch is at, for clones that may not ask their remote; undefined without a token. */
export function askGitHub({ github }: Pick<Context, 'github'>): NewestOptions['askForge'] {
  if (github === null) return undefined;
  return async (branch) => {
    if (branch === null) throw new Error('the event does not name the default branch.');
    const commit = await tipOfBranch(github, branch);
    return { branch, commit, tree: () => treeOf(github, commit) };
  };
}

/** The part of a walk that a review is about. */
type Planned = {
  readonly plan: Pick<Walked['plan'], 'prompts'>;
  readonly repository: Pick<NonNullable<Walked['repository']>, 'head' | 'mergesBefore'> | null;
};

/** How many merges are looked at: of those that came quickly one after the other the last one applies all. */
const MERGES = 10;

/**
 * Why the plan may not be applied: each prompt's part in it must have been shown, from what to what, in the comment of a
 * pull request that was merged, the newest or one shortly before it.
 */
export async function reviewGate(context: Context, { plan, repository }: Planned): Promise<readonly Problem[]> {
  const parts = partsOf(plan);
  if (parts.length === 0) return [];
  const { github } = context;
  if (github === null) return refused('there is no `github-token`');
  if (repository === null || repository.head === null) return refused('there is no commit');
  try {
    const merges = await repository.mergesBefore(repository.head, MERGES);
    const reviews: Review[] = [];
    for (const commit of merges) {
      reviews.push(await readReview(commit, github, context));
      if (uncovered(parts, reviews).length === 0) return [];
    }
    return [notReviewed(parts, reviews)];
  } catch (error) {
    return refused(`GitHub could not be asked: ${messageOf(error)}`);
  }
}

async function readReview(commit: string, github: GitHub, { event, inputs }: Context): Promise<Review> {
  const pull = await mergedPullOf(github, commit, event.ref.replace(/^refs\/heads\//, ''));
  if (pull === null) return { pull, comment: '' };
  const comment = await findComment(github, { issue: pull, marker: markerOf(inputs) });
  return { pull, comment: comment?.body ?? '' };
}

function refused(reason: string): readonly Problem[] {
  return [makeProblem('guard/not-reviewed', { reason })];
}
