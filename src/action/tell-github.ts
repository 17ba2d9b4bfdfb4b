import type { Problem } from '../problem.ts';
import { attempt } from './attempt.ts';
import type { Context } from './context.ts';
import type { Telling } from './telling.ts';
import { writeComment } from './write-comment.ts';
import { writeIssue } from './write-issue.ts';

/** Writes the pull request's comment, or the issue about drift. What stands in the way is returned. */
export async function tellGitHub(context: Context, telling: Telling): Promise<readonly Problem[]> {
  const { github } = context;
  const what = whatToWrite(context, telling);
  if (what === null) return [];
  const write = { comment: writeComment, issue: writeIssue }[what];
  return attempt(what, async () => {
    if (github === null) throw new Error('there is no `github-token`.');
    await write(await github(), context, telling);
  });
}

function whatToWrite({ event, inputs }: Context, { mode }: Telling): 'comment' | 'issue' | null {
  if (mode === 'plan' && event.pull !== null && inputs.comment !== 'never') return 'comment';
  return mode === 'drift' && inputs['drift-issue'] ? 'issue' : null;
}
