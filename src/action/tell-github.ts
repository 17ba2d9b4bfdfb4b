import { makeProblem, messageOf, type Problem } from '../problem.ts';
import type { Context } from './context.ts';
import type { Telling } from './telling.ts';

/** Writes the pull request's comment, or the issue about drift. What stands in the way is returned: nothing is lost. */
export async function tellGitHub(context: Context, telling: Telling): Promise<readonly Problem[]> {
  const { github } = context;
  const what = whatToWrite(context, telling);
  if (what === null) return [];
  if (github === null) return [makeProblem('action/not-told', { what, reason: 'there is no `github-token`.' })];
  try {
    if (what === 'comment') {
      const { writeComment } = await import('./write-comment.ts');
      await writeComment(await github(), context, telling);
    } else {
      const { writeIssue } = await import('./write-issue.ts');
      await writeIssue(await github(), context, telling);
    }
    return [];
  } catch (error) {
    return [makeProblem('action/not-told', { what, reason: messageOf(error) })];
  }
}

function whatToWrite({ event, inputs }: Context, { mode }: Telling): 'comment' | 'issue' | null {
  if (mode === 'plan' && event.pull !== null && inputs.comment !== 'never') return 'comment';
  return mode === 'drift' && inputs['drift-issue'] ? 'issue' : null;
}
