import { makeProblem, messageOf, type Problem } from '../problem.ts';
import type { Context } from './context.ts';
import { markerOf, shownPlan } from './marker.ts';

/** The digest of the plan that the merged pull request's comment showed, or why there is none. */
export async function reviewedPlan({ github, event, inputs }: Context, head: string): Promise<string | Problem> {
  if (github === null) return unknown('there is no `github-token`');
  const branch = event.ref.replace(/^refs\/heads\//, '');
  const [{ mergedPullOf }, { findComment }] = await Promise.all([
    import('../github/pull-requests.ts'),
    import('../github/sticky-comment.ts'),
  ]);
  try {
    const pull = await mergedPullOf(await github(), head, branch);
    if (pull === null) return unknown('no merged pull request brought it');
    const comment = await findComment(await github(), { issue: pull, marker: markerOf(inputs) });
    const digest = shownPlan(comment?.body ?? '');
    return digest ?? unknown(`#${pull} has no comment of promptsync with a whole plan`);
  } catch (error) {
    return unknown(`GitHub could not be asked: ${messageOf(error)}`);
  }
}

function unknown(reason: string): Problem {
  return makeProblem('guard/not-reviewed', { reason });
}
