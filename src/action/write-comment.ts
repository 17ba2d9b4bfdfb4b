import type { GitHub } from '../github/client.ts';
import { headOfPull } from '../github/pull-requests.ts';
import { findComment, keepComment } from '../github/sticky-comment.ts';
import { problemsIn } from '../report/problems.ts';
import type { Report } from '../report/schema.ts';
import { bodyOf } from './body.ts';
import type { Context } from './context.ts';
import { differing } from './failure.ts';
import { markerOf } from './marker.ts';
import type { Telling } from './telling.ts';

/** Keeps the comment of a pull request up to date. */
export async function writeComment(github: GitHub, { event, inputs }: Context, telling: Telling): Promise<void> {
  const { pull } = event;
  if (pull === null || !(await isNewest(github, pull))) return;
  const marker = markerOf(inputs);
  const target = { issue: pull.number, marker };
  const silent = inputs.comment === 'changes' && isQuiet(telling.report);
  // What was said before is corrected all the same.
  if (silent && (await findComment(github, target)) === null) return;
  await keepComment(github, { ...target, body: bodyOf(marker, telling) });
}

/** An older run that ends late must not replace what a newer one says; where that cannot be told, it writes. */
async function isNewest(github: GitHub, { number, head }: NonNullable<Context['event']['pull']>): Promise<boolean> {
  return headOfPull(github, number).then(
    (newest) => newest === head,
    () => true,
  );
}

/** Nothing to do, and nothing to say about it. */
function isQuiet(report: Report): boolean {
  return differing(report) === 0 && problemsIn(report).length === 0;
}
