import { makeProblem, messageOf, type Problem } from '../problem.ts';
import { renderMarkdown, type MarkdownOptions } from '../rendering/render-markdown.ts';
import type { Report } from '../schemas/report.ts';
import type { Mode } from './choose-mode.ts';
import type { Context } from './context.ts';
import { differing, type FailureReason } from './failure.ts';
import { markerOf, planLine } from './marker.ts';

export type Telling = {
  readonly mode: Mode;
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** Takes secrets out. */
  readonly hide: (text: string) => string;
};

/** GitHub takes 65,536 characters; secrets may become a little longer when they are hidden. */
const LIMIT = { most: 60_000, measure: (text: string): number => text.length };

/** Writes the pull request's comment, or the issue about drift. What stands in the way is returned: nothing is lost. */
export async function tellGitHub(context: Context, telling: Telling): Promise<readonly Problem[]> {
  const { event, inputs, github } = context;
  const comments = telling.mode === 'plan' && event.pull !== null && inputs.comment !== 'never';
  const issues = telling.mode === 'drift' && inputs['drift-issue'];
  if (!comments && !issues) return [];
  const what = comments ? 'comment' : 'issue';
  if (github === null) return [makeProblem('action/not-told', { what, reason: 'there is no `github-token`.' })];
  try {
    await (comments ? writeComment(context, telling) : writeIssue(context, telling));
    return [];
  } catch (error) {
    return [makeProblem('action/not-told', { what, reason: messageOf(error) })];
  }
}

async function writeComment(context: Context, telling: Telling): Promise<void> {
  const { event, inputs } = context;
  const { pull } = event;
  const github = await context.github?.();
  if (pull === null || github === undefined) return;
  const { findComment, keepComment } = await import('../github/sticky-comment.ts');
  const { headOfPull } = await import('../github/pull-requests.ts');
  // An older run that ends late must not overwrite what a newer one says; where that cannot be told, it writes.
  const newest = await headOfPull(github, pull.number).catch(() => pull.head);
  if (newest !== pull.head) return;
  const target = { issue: pull.number, marker: markerOf(inputs) };
  const silent = inputs.comment === 'changes' && isQuiet(telling.report);
  if (silent && (await findComment(github, target)) === null) return;
  await keepComment(github, { ...target, body: bodyOf(target.marker, telling) });
}

/** Nothing to do, and nothing to say about it. */
function isQuiet(report: Report): boolean {
  return (
    differing(report) === 0 &&
    report.problems.length === 0 &&
    report.prompts.every(({ problems }) => problems.length === 0)
  );
}

function bodyOf(marker: string, { report, page, hide }: Telling): string {
  const own = LIMIT.measure(marker) + LIMIT.measure(planLine(report.plan_digest)) + 1;
  const { text, whole } = renderMarkdown(report, { ...page, limit: { ...LIMIT, most: LIMIT.most - own } });
  return hide(`${marker}\n${whole ? planLine(report.plan_digest) : ''}${text}`);
}

async function writeIssue(context: Context, telling: Telling): Promise<void> {
  const github = await context.github?.();
  if (github === undefined) return;
  const { closeIssue, keepIssue } = await import('../github/rolling-issue.ts');
  const marker = markerOf(context.inputs);
  const body = bodyOf(marker, telling);
  if (telling.failure === '') return closeIssue(github, { marker, body });
  // Where the service could not be read, nothing is known that could open or close it.
  if (differing(telling.report) === 0) return;
  const where = telling.page.folder === null ? '' : ` (${telling.page.folder})`;
  await keepIssue(github, { marker, body, title: `promptsync: the service differs from the files${where}` });
}
