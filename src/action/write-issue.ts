import type { GitHub } from '../github/client.ts';
import { closeIssue, keepIssue } from '../github/rolling-issue.ts';
import { bodyOf } from './body.ts';
import type { Context } from './context.ts';
import { differing } from './failure.ts';
import { markerOf } from './marker.ts';
import type { Telling } from './telling.ts';

/** Keeps the issue about drift up to date: open while the service differs, closed when all is in sync. */
export async function writeIssue(github: GitHub, { inputs }: Context, telling: Telling): Promise<void> {
  const marker = markerOf(inputs);
  const body = bodyOf(marker, telling);
  if (telling.failure === '') return closeIssue(github, { marker, body });
  // Where the service could not be read, nothing is known that could open or close it.
  if (differing(telling.report) === 0) return;
  const { folder } = telling.page;
  const where = folder === null ? '' : ` (${folder})`;
  await keepIssue(github, { marker, body, title: `promptsync: the service differs from the files${where}` });
}
