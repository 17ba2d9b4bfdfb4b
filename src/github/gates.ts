import type { Walked } from '../commands/walk.ts';
import { openRemote } from '../git/remote.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';
import { notReviewed, partsOf, uncovered, type Review } from '../review/reviewed-plan.ts';
import { mergedPullOf, tipOfBranch, type GitHub } from './client.ts';
import type { Context } from './context.ts';
import { findComment, markerOf } from './sticky.ts';

/** Why this commit may not be applied: a newer one is there. Run again, an old run would roll the service back. */
export async function supersededBy(context: Context, { repository, plan }: Walked): Promise<readonly Problem[]> {
  if (repository === null || repository.head === null) return [];
  const { head } = repository;
  const { ref } = context.event;
  const tip = await tipOf(context);
  if (typeof tip !== 'string') return [tip];
  if (tip !== head) return [makeProblem('guard/superseded', { commit: head, newer: tip, where: `${ref} is at` })];
  const [newer] = await repository.descendantsOf(head, commitsOf(plan));
  const where = 'the service already has versions of';
  return newer === undefined ? [] : [makeProblem('guard/superseded', { commit: head, newer, where })];
}

/** The commit that the branch is at: the remote is asked, and GitHub where the clone may not ask it. */
async function tipOf({ event: { ref }, git, github }: Context): Promise<string | Problem> {
  if (ref === '') return makeProblem('guard/unknown-newest', { reason: 'GITHUB_REF is not set.' });
  try {
    const tip = await openRemote(git).tipOf(ref);
    return tip ?? makeProblem('guard/unknown-newest', { reason: `the remote has no ${ref}.` });
  } catch (error) {
    const branch = /^refs\/heads\/(.+)$/.exec(ref)?.[1];
    if (github === null || branch === undefined) return unknownNewest(error);
    return tipOfBranch(github, branch).catch(unknownNewest);
  }
}

function unknownNewest(error: unknown): Problem {
  return makeProblem('guard/unknown-newest', { reason: messageOf(error) });
}

/** The commits of the versions that environments serve, and of the newest of promptsync's. */
function commitsOf({ prompts }: Walked['plan']): readonly string[] {
  const read = prompts.flatMap(({ observed }) => (observed?.known ?? []).filter(({ content }) => content !== null));
  return read.flatMap(({ source }) => source?.commit ?? []);
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
