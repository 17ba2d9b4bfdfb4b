import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeProblem, messageOf, type Problem } from '../problem.ts';
import { renderHtml } from '../report/html/page.ts';
import { escapeForRunner, escapeLine, renderJson } from '../report/escape.ts';
import { problemsIn } from '../report/problems.ts';
import { renderMarkdown } from '../report/markdown.ts';
import { renderText } from '../report/text.ts';
import type { Report, ReportProblem } from '../report/schema.ts';
import { planMark } from '../review/reviewed-plan.ts';
import { pathsFromRoot } from './checkout.ts';
import { type GitHub, headOfPull } from './client.ts';
import { conclude, type Conclusion, differing, type Done } from './conclusion.ts';
import type { Context } from './context.ts';
import type { PullRequest } from './event.ts';
import type { AnnotationKind, HidingActionHost, Runner } from './runner.ts';
import { closeIssue, findComment, keepComment, keepIssue, markerOf } from './sticky.ts';

/**
 * Publishes a run everywhere: log, annotations, files, outputs, summary, GitHub. Resolves to the exit code. What cannot
 * be published in one place is a notice: the work is done by then.
 */
export async function publish(done: Done, host: HidingActionHost): Promise<number> {
  const { mode, context } = done;
  const { runner, secrets, output } = host;
  const conclusion = conclude(done, secrets.hide);
  const { report, failure } = conclusion;
  output.write(escapeForRunner(renderText(report, { colour: false, quiet: false })));
  annotate(problemsIn(report), context === null ? (path) => path : pathsFromRoot(context), runner);
  const prompts = differing(report);
  if (mode === 'drift' && prompts > 0) annotateRun('error', makeProblem('action/drift-found', { prompts }), runner);
  const obstacles = [
    ...(await attempt('outputs', () => publishOutputs(conclusion, host))),
    ...(await attempt('summary', () => publishSummary(conclusion, runner))),
    ...(context === null ? [] : await publishOnGitHub(context, conclusion)),
  ];
  for (const obstacle of obstacles) annotateRun('notice', obstacle, runner);
  return failure === '' ? 0 : 1;
}

/** Publishes in one place. What stands in the way is returned: nothing else is lost for it. */
async function attempt(what: string, work: () => Promise<void>): Promise<readonly Problem[]> {
  return work().then(
    () => [],
    (error: unknown) => [makeProblem('action/not-told', { what, reason: messageOf(error) })],
  );
}

/** Files may fail where the runner's own outputs do not, so that these come first. */
async function publishOutputs(conclusion: Conclusion, host: HidingActionHost): Promise<void> {
  const { report, failure } = conclusion;
  const { setOutput } = host.runner;
  setOutput('failure-reason', failure);
  setOutput('changes', String(report.prompts.some(({ changes }) => changes.length > 0)));
  setOutput('summary', JSON.stringify(report.summary));
  setOutput('plan-digest', report.plan_digest ?? '');
  for (const [name, path] of await writeReports(conclusion, host)) setOutput(name, path);
}

/** Writes the whole report, without a limit, where later steps can read it; resolves to the outputs and their paths. */
async function writeReports(
  { report, page, hide }: Conclusion,
  { environment, newId }: HidingActionHost,
): Promise<readonly (readonly [output: string, path: string])[]> {
  const folder = join(environment['RUNNER_TEMP'] || tmpdir(), `promptsync-${newId()}`);
  const files = [
    { output: 'report-json', path: join(folder, 'report.json'), text: renderJson(report) },
    { output: 'report-markdown', path: join(folder, 'report.md'), text: renderMarkdown(report, page).text },
    { output: 'report-html', path: join(folder, 'report.html'), text: renderHtml(report, page.title) },
  ];
  await mkdir(folder, { recursive: true });
  for (const { path, text } of files) await writeFile(path, hide(text));
  return files.map(({ output, path }) => [output, path]);
}

/** GitHub takes 1 MiB for each step. */
const SUMMARY = { most: 900 * 1024, measure: (text: string): number => Buffer.byteLength(text, 'utf8') };

async function publishSummary({ report, page }: Conclusion, { writeSummary }: Runner): Promise<void> {
  await writeSummary(renderMarkdown(report, { ...page, limit: SUMMARY }).text);
}

/** Publishes the pull request's comment, or the issue about drift. What stands in the way is returned. */
async function publishOnGitHub(context: Context, conclusion: Conclusion): Promise<readonly Problem[]> {
  const { github } = context;
  const what = whatToPublish(context, conclusion);
  if (what === null) return [];
  const publishThere = { comment: publishComment, issue: publishIssue }[what];
  return attempt(what, async () => {
    if (github === null) throw new Error('there is no `github-token`.');
    await publishThere(github, context, conclusion);
  });
}

function whatToPublish({ event, inputs }: Context, { mode }: Conclusion): 'comment' | 'issue' | null {
  if (mode === 'plan' && event.pull !== null && inputs.comment !== 'never') return 'comment';
  return mode === 'drift' && inputs['drift-issue'] ? 'issue' : null;
}

/** Keeps the comment of a pull request up to date. */
async function publishComment(github: GitHub, { event, inputs }: Context, conclusion: Conclusion): Promise<void> {
  const { pull } = event;
  if (pull === null || !(await isNewest(github, pull))) return;
  const marker = markerOf(inputs);
  const target = { issue: pull.number, marker };
  const silent = inputs.comment === 'changes' && isQuiet(conclusion.report);
  // What was said before is corrected all the same.
  if (silent && (await findComment(github, target)) === null) return;
  await keepComment(github, { ...target, body: bodyOf(marker, conclusion) });
}

/** An older run that ends late must not replace what a newer one says; where that is not known, it writes. */
async function isNewest(github: GitHub, { number, head }: PullRequest): Promise<boolean> {
  return headOfPull(github, number).then(
    (newest) => newest === head,
    () => true,
  );
}

/** Nothing to do, and nothing to say about it. */
function isQuiet(report: Report): boolean {
  return differing(report) === 0 && problemsIn(report).length === 0;
}

/** Keeps the issue about drift up to date: open while the service differs, closed when all is in sync. */
async function publishIssue(github: GitHub, { inputs }: Context, conclusion: Conclusion): Promise<void> {
  const marker = markerOf(inputs);
  const body = bodyOf(marker, conclusion);
  if (conclusion.failure === '') return closeIssue(github, { marker, body });
  // Where the service could not be read, nothing is known that could open or close it.
  if (differing(conclusion.report) === 0) return;
  const { folder } = conclusion.page;
  const where = folder === null ? '' : ` (${folder})`;
  await keepIssue(github, { marker, body, title: `promptsync: the service differs from the files${where}` });
}

/** GitHub takes 65,536 characters; secrets may become a little longer when they are hidden. */
const COMMENT = { most: 60_000, measure: (text: string): number => text.length };

/** The text of a comment or an issue, with the lines by which it is found and by which its plan can be approved. */
function bodyOf(marker: string, { report, page, parts, hide }: Conclusion): string {
  const { plan_digest: digest } = report;
  const plan = digest === null ? '' : `${planMark(digest, parts)}\n`;
  const most = COMMENT.most - COMMENT.measure(`${marker}\n${plan}`);
  const { text, whole } = renderMarkdown(report, { ...page, limit: { ...COMMENT, most } });
  return hide(`${marker}\n${whole ? plan : ''}${text}`);
}

/** GitHub shows ten of a kind for each step and drops the others without a word. */
const MOST = 9;

/** Annotates the line of each problem. `fromRoot` makes its path one from the repository's root. */
export function annotate(
  problems: readonly ReportProblem[],
  fromRoot: (path: string) => string,
  { annotate: write }: Runner,
): void {
  for (const severity of ['error', 'warning'] as const) {
    const distinct = new Map(
      problems.filter((one) => one.severity === severity).map((one) => [JSON.stringify(one), one]),
    );
    const all = [...distinct.values()];
    for (const problem of all.slice(0, MOST)) write(severity, textOf(problem), placeOf(problem, fromRoot));
    const more = all.length - MOST;
    const rest = `${more} more ${severity}${more === 1 ? '' : 's'}: see the summary of the run.`;
    if (more > 0) write(severity, rest, { title: 'promptsync' });
  }
}

/** Annotates the run as a whole. */
export function annotateRun(kind: AnnotationKind, problem: ReportProblem, { annotate: write }: Runner): void {
  write(kind, textOf(problem), { title: problem.code });
}

function textOf({ message, hint }: ReportProblem): string {
  return escape(`${message} ${hint}`);
}

function placeOf({ code, path, line, column }: ReportProblem, fromRoot: (path: string) => string) {
  if (path === undefined) return { title: code };
  const at = {
    ...(line === undefined ? {} : { startLine: line }),
    ...(column === undefined ? {} : { startColumn: column }),
  };
  return { title: code, file: escape(fromRoot(path)), ...at };
}

function escape(text: string): string {
  return escapeForRunner(escapeLine(text));
}
