import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { makeProblem, messageOf, ProblemError } from '../problem.ts';
import { renderHtml } from '../report/html/page.ts';
import { escapeForRunner, escapeLine, renderJson } from '../report/escape.ts';
import { makeReport } from '../report/make-report.ts';
import { problemsIn } from '../report/problems.ts';
import { renderMarkdown, type MarkdownOptions } from '../report/markdown.ts';
import { renderText } from '../report/text.ts';
import type { Report, ReportProblem } from '../report/schema.ts';
import { partsOf, planMark } from '../review/reviewed-plan.ts';
import { pathsFromRoot } from './checkout.ts';
import { type GitHub, headOfPull } from './client.ts';
import type { Context } from './context.ts';
import type { Mode, PullRequest } from './event.ts';
import type { AnnotationKind, SafeActionHost, Runner } from './runner.ts';
import { closeIssue, findComment, keepComment, keepIssue, markerOf } from './sticky.ts';

/** What a run has come to; without a context it could not even begin. */
export type Done = {
  readonly result: CommandResult;
  readonly mode: Mode;
  readonly context: Context | null;
  /** Of the pull request that the run itself keeps: it is published on GitHub alone. */
  readonly review?: Done | null;
};

/** What is published of a run, wherever that is. */
type Conclusion = {
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** The line by which a whole plan can be approved; empty where there is none. */
  readonly mark: string;
  readonly hide: (text: string) => string;
};

/** Publishes in one place. What stands in the way is a notice: the work is done by then, and nothing else is lost for it. */
type Attempt = (what: string, work: () => Promise<void>) => Promise<void>;

/** Publishes a run everywhere: log, annotations, files, outputs, summary, GitHub. Resolves to the exit code. */
export async function publish(done: Done, host: SafeActionHost): Promise<number> {
  const { mode, context, review } = done;
  const { runner, output } = host;
  const conclusion = conclude(done, host);
  const { report, failure } = conclusion;
  output.write(renderText(report, { colour: false, quiet: false }));
  annotate(problemsIn(report), pathsOf(context), runner);
  const prompts = differing(report);
  if (mode === 'drift' && prompts > 0) annotateRun('error', makeProblem('action/drift-found', { prompts }), runner);
  const attempt: Attempt = (what, work) =>
    work().catch((error) => {
      annotateRun('notice', makeProblem('action/not-told', { what, reason: messageOf(error) }), runner);
    });
  await attempt('outputs', () => publishOutputs(conclusion, host));
  await attempt('summary', () => publishSummary(conclusion, runner));
  if (context !== null) await publishOnGitHub(mode, context, conclusion, attempt);
  if (review?.context) await publishOnGitHub(review.mode, review.context, conclude(review, host), attempt);
  return failure === '' ? 0 : 1;
}

function pathsOf(context: Context | null): (path: string) => string {
  return context === null ? (path) => path : pathsFromRoot(context.world.workingDirectory, context.inputs.config);
}

export function conclude(done: Done, { environment, secrets: { hide } }: SafeActionHost): Conclusion {
  const { mode, result, context } = done;
  const { run } = result;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = environment;
  const shown: MarkdownOptions = {
    ...{ title: mode, limit: null, folder: folderOf(context) },
    // Readers know a pull request by its own commit, not by the merge that GitHub makes for a try.
    commit: context?.event.pull?.head ?? null,
    runUrl: server && repository && id ? `${server}/${repository}/actions/runs/${id}` : null,
  };
  // Before it is rendered as well: what marks and escapes would tear a secret apart.
  const [report, page] = mapStrings([makeReport(run), shown] as const, hide);
  const { plan_digest: digest } = report;
  const mark = run.plan === null || digest === null ? '' : `${planMark(digest, partsOf(run.plan))}\n`;
  return { report, page, mark, hide, failure: failureOf(mode, result, report) };
}

/** Null for the root of the repository. */
function folderOf(context: Context | null): string | null {
  const folder = posix.normalize(`${context?.inputs['working-directory'] ?? '.'}/`).slice(0, -1);
  return folder === '.' ? null : folder;
}

/** The output `failure-reason`; empty when all went well. */
export type FailureReason = 'invalid' | 'refused' | 'drift' | 'failed' | 'superseded' | '';

/** Says in one word why a run is no success. */
export function failureOf(
  mode: Mode,
  { run, exitCode }: Pick<CommandResult, 'run' | 'exitCode'>,
  report: Report,
): FailureReason {
  if (exitCode === 0) return mode === 'drift' && differing(report) > 0 ? 'drift' : '';
  if (exitCode === 3) return refusalOf(report);
  if (report.problems.some(({ code }) => code.startsWith('guard/'))) return 'refused';
  // Without a plan it could not even begin; with one no prompt could be observed.
  return exitCode === 1 && run.plan === null ? 'invalid' : 'failed';
}

/** What a run is refused for; the drift guard has a word of its own where nothing else stands in the way. */
function refusalOf({ prompts }: Report): FailureReason {
  const blocked = prompts.filter(({ status }) => status === 'blocked');
  const errors = blocked.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  if (errors.some(({ code }) => code === 'guard/superseded')) return 'superseded';
  return errors.every(({ code }) => code === 'guard/drift') ? 'drift' : 'refused';
}

/** How many prompts the service holds otherwise than the files want; of those that could not be read nothing is known. */
export function differing({ prompts }: Report): number {
  return prompts.filter(({ status }) => status === 'pending' || status === 'blocked').length;
}

/** Files may fail where the runner's own outputs do not, so that these come first. */
async function publishOutputs(conclusion: Conclusion, host: SafeActionHost): Promise<void> {
  const { report, failure } = conclusion;
  const { setOutput } = host.runner;
  setOutput('failure-reason', failure);
  const changes = report.prompts.some((prompt) => prompt.changes.length > 0);
  setOutput('changes', String(changes || report.committed !== undefined));
  setOutput('summary', JSON.stringify(report.summary));
  setOutput('plan-digest', report.plan_digest ?? '');
  for (const [name, path] of await writeReports(conclusion, host)) setOutput(name, path);
}

/** Writes the whole report, without a limit, where later steps can read it; resolves to the outputs and their paths. */
async function writeReports(
  { report, page, hide }: Conclusion,
  { environment, newId }: SafeActionHost,
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

/** Publishes the pull request's comment, or the issue about drift. */
async function publishOnGitHub(mode: Mode, context: Context, conclusion: Conclusion, attempt: Attempt): Promise<void> {
  const { inputs } = context;
  const { pull } = context.event;
  if (mode === 'plan' && pull !== null && inputs.comment !== 'never') {
    await attempt('comment', () => publishComment(pull, context, conclusion));
  }
  if (mode === 'drift' && inputs['drift-issue']) await attempt('issue', () => publishIssue(context, conclusion));
}

export function needed(github: GitHub | null): GitHub {
  if (github !== null) return github;
  throw new ProblemError(makeProblem('action/invalid-input', { input: 'github-token', expected: 'there is none' }));
}

/** Keeps the comment of a pull request up to date. */
async function publishComment(pull: PullRequest, context: Context, conclusion: Conclusion): Promise<void> {
  const { inputs } = context;
  const github = needed(context.github);
  if (!(await isNewest(github, pull))) return;
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
async function publishIssue({ inputs, ...context }: Context, conclusion: Conclusion): Promise<void> {
  const github = needed(context.github);
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
export function bodyOf(marker: string, { report, page, mark, hide }: Conclusion): string {
  const most = COMMENT.most - COMMENT.measure(`${marker}\n${mark}`);
  const { text, whole } = renderMarkdown(report, { ...page, limit: { ...COMMENT, most } });
  return hide(`${marker}\n${whole ? mark : ''}${text}`);
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
