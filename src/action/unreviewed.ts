import type { Walked } from '../commands/walk.ts';
import type { Repository } from '../git/repository.ts';
import type { GitHub } from '../github/client.ts';
import { mergedPullOf } from '../github/pull-requests.ts';
import { findComment } from '../github/sticky-comment.ts';
import { makeProblem, messageOf, type Problem } from '../problem.ts';
import type { Context } from './context.ts';
import { markerOf } from './marker.ts';
import { partsOf, shownParts } from './plan-mark.ts';

/** What there is of a prepared plan to look at. */
export type Planned = {
  readonly plan: Pick<Walked['plan'], 'prompts'>;
  readonly repository: Pick<Repository, 'head' | 'mergesBefore'> | null;
};

/** How many merges are looked at: of those that came quickly one after the other the last one applies all. */
const MERGES = 10;

/**
 * Why the plan may not be applied: each prompt's part in it must have been shown, from what to what, in the comment of a
 * pull request that was merged, the newest or one shortly before it.
 */
export async function unreviewed(context: Context, { plan, repository }: Planned): Promise<readonly Problem[]> {
  const { github } = context;
  const parts = partsOf(plan);
  if (parts.length === 0) return [];
  if (github === null || repository === null || repository.head === null) {
    return [refusal(`there is no ${github === null ? '`github-token`' : 'commit'}`)];
  }
  try {
    const merges = await repository.mergesBefore(repository.head, MERGES);
    const reason = await whyUnseen(new Set(parts), merges, await github(), context);
    return reason === null ? [] : [refusal(reason)];
  } catch (error) {
    return [refusal(`GitHub could not be asked: ${messageOf(error)}`)];
  }
}

/** Looks from the newest merge back, until all was shown; null then. */
async function whyUnseen(
  unseen: Set<string>,
  merges: readonly string[],
  github: GitHub,
  context: Context,
): Promise<string | null> {
  const reasons: string[] = [];
  for (const commit of merges) {
    const { parts, reason } = await shownBy(commit, github, context);
    for (const part of parts) unseen.delete(part);
    if (unseen.size === 0) return null;
    reasons.push(reason);
  }
  return `${reasons[0] ?? 'there is no commit'}; of ${unseen.size} changing prompts no comment has shown what is to be done`;
}

async function shownBy(commit: string, github: GitHub, { event, inputs }: Context) {
  const pull = await mergedPullOf(github, commit, event.ref.replace(/^refs\/heads\//, ''));
  if (pull === null) return { parts: [], reason: 'no merged pull request brought it' };
  const comment = await findComment(github, { issue: pull, marker: markerOf(inputs) });
  const parts = shownParts(comment?.body ?? '');
  const reason =
    parts === null ? `#${pull} has no comment of promptsync with a whole plan` : `#${pull} has shown another plan`;
  return { parts: parts ?? [], reason };
}

function refusal(reason: string): Problem {
  return makeProblem('guard/not-reviewed', { reason });
}
