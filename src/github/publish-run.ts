import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { makeReport } from '../commands/make-report.ts';
import type { CommandResult } from '../commands/result.ts';
import { mapStrings } from '../domain/json.ts';
import { makeProblem, getErrorMessage, ProblemError } from '../problem.ts';
import { renderHtml } from '../report/html/page.ts';
import { escapeForRunner, escapeLine, renderJson } from '../report/escape.ts';
import { chooseFailureReason, type FailureReason, makeOutcomeTitle, reportsApply } from '../report/run-outcome.ts';
import { listProblems } from '../report/problems.ts';
import { renderMarkdown, type MarkdownOptions } from '../report/markdown.ts';
import { PLAIN_STYLE } from '../report/style.ts';
import { renderOutcome } from '../report/summary.ts';
import { renderText } from '../report/text.ts';
import type { Report, ReportProblem } from '../report/schema.ts';
import { renderApproval } from '../review/approval.ts';
import { makePathFromRoot } from './checkout.ts';
import { type ReviewCheck, makeCheckId, makeCheckName, makeConfigPath, publishCheck } from './check.ts';
import { Forbidden, type GitHub, findMergedPull, readOpenHead } from './client.ts';
import type { ActionContext } from './context.ts';
import { type ActionMode, type PullRequest } from './event.ts';
import type { AnnotationKind, AnnotationPlace, SafeActionHost, Runner } from './runner.ts';
import { closeIssue, upsertComment, upsertIssue, makeCommentMarker, type StickyComment } from './upsert-posts.ts';

/** What a run has come to; without a context it could not even begin. */
export type ActionRun = {
  readonly result: CommandResult;
  readonly mode: ActionMode;
  readonly context: ActionContext | null;
  /** The commits whose merge an apply is for, newest first. */
  readonly merged?: readonly string[];
  /** The pull requests whose reviews have shown what it did. */
  readonly pulls?: ReadonlySet<number>;
  /** Of the pull request that the run itself keeps: it is published on GitHub alone. */
  readonly review?: ActionRun | null;
};

/** What is published of a run, wherever that is. */
type Conclusion = {
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** What the check of a review holds, so that an apply may do what it has shown. */
  readonly approval: string;
  readonly hide: (text: string) => string;
};

/** Publishes in one place. What stands in the way is a notice: the work is done by then, and nothing else is lost for it. */
type Attempt = (what: string, work: () => Promise<void>) => Promise<void>;

/** Publishes a run everywhere: log, annotations, files, outputs, summary, GitHub. Resolves to the exit code. */
export async function publishRun(done: ActionRun, host: SafeActionHost): Promise<number> {
  const { mode, context, review } = done;
  const { runner, output } = host;
  const conclusion = makeConclusion(done, host);
  const { report, failure } = conclusion;
  output.write(renderText(report, { colour: false, quiet: false }));
  annotateProblems(listProblems(report), makePathMapper(context), runner);
  const prompts = countDifferingPrompts(report);
  if (mode === 'drift' && prompts > 0)
    annotateWholeRun('error', makeProblem('action/drift-found', { prompts }), runner);
  const attempt: Attempt = async (what, work) => {
    try {
      await work();
    } catch (error) {
      const evidence = { what, reason: getErrorMessage(error), forbidden: Forbidden.safeParse(error).success };
      annotateWholeRun('notice', makeProblem('action/not-told', evidence), runner);
    }
  };
  await attempt('outputs', () => publishOutputs(conclusion, host));
  await attempt('summary', () =>
    runner.writeSummary(renderMarkdown(report, { ...conclusion.page, limit: SUMMARY_LIMIT })),
  );
  if (context !== null) await publishOnGitHub({ ...done, context }, conclusion, attempt);
  if (review?.context)
    await publishOnGitHub({ ...review, context: review.context }, makeConclusion(review, host), attempt);
  return failure === '' ? 0 : 1;
}

function makePathMapper(context: ActionContext | null): (path: string) => string {
  return context === null ? (path) => path : makePathFromRoot(context.world.workingDirectory, context.inputs.config);
}

export function makeConclusion(done: ActionRun, { environment, secrets: { hide } }: SafeActionHost): Conclusion {
  const { mode, result, context } = done;
  const { run } = result;
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id } = environment;
  const shown: MarkdownOptions = {
    title: mode,
    limit: null,
    folder: readConfigFolder(context),
    // Readers know a pull request by its own commit, not by the merge that GitHub makes for a try.
    commit: context?.event.pull?.head ?? null,
    runUrl: server && repository && id ? `${server}/${repository}/actions/runs/${id}` : null,
  };
  // Before it is rendered as well: what marks and escapes would tear a secret apart.
  const [report, page] = mapStrings([makeReport(run), shown] as const, hide);
  const pull = context?.event.pull ?? null;
  // A review without a key has no digest, and a commit of a merge queue has no pull request.
  const approval =
    run.plan !== null && report.plan_digest !== null && pull !== null
      ? renderApproval(run.plan, pull, CHECK_LIMIT.most)
      : 'Nothing can be applied by this check.';
  return { report, page, approval, hide, failure: chooseActionFailure(mode, result, report) };
}

/** Null for the root of the repository. */
function readConfigFolder(context: ActionContext | null): string | null {
  const folder = posix.normalize(`${context?.inputs['working-directory'] ?? '.'}/`).slice(0, -1);
  return folder === '.' ? null : folder;
}

/** Returns the output `failure-reason`. A drift run also fails if a plan without problems has changes. */
export function chooseActionFailure(
  mode: ActionMode,
  { exitCode }: Pick<CommandResult, 'exitCode'>,
  report: Report,
): FailureReason {
  const reason = chooseFailureReason(report);
  if (reason !== '') return reason;
  // An interrupt after the last write leaves no trace in the report.
  if (exitCode !== 0) return 'failed';
  return mode === 'drift' && countDifferingPrompts(report) > 0 ? 'drift' : '';
}

/** How many prompts the service holds otherwise than the files want; of those that could not be read nothing is known. */
export function countDifferingPrompts({ prompts }: Report): number {
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
  for (const { output, path } of await writeReports(conclusion, host)) setOutput(output, path);
}

/** A file with the whole report, and the output of the action that names its path. */
type WrittenReport = { readonly output: string; readonly path: string };

/** Writes the whole report, without a limit of size, where later steps can read it. */
async function writeReports(
  { report, page, hide }: Conclusion,
  { environment, makeUniqueId }: SafeActionHost,
): Promise<readonly WrittenReport[]> {
  const folder = join(environment['RUNNER_TEMP'] || tmpdir(), `promptsync-${makeUniqueId()}`);
  const files = [
    { output: 'report-json', path: join(folder, 'report.json'), text: renderJson(report) },
    { output: 'report-markdown', path: join(folder, 'report.md'), text: renderMarkdown(report, page) },
    { output: 'report-html', path: join(folder, 'report.html'), text: renderHtml(report, page.title) },
  ];
  await mkdir(folder, { recursive: true });
  for (const { path, text } of files) await writeFile(path, hide(text));
  return files;
}

const countBytes = (text: string): number => Buffer.byteLength(text, 'utf8');

/** GitHub takes 1 MiB for each step. */
const SUMMARY_LIMIT = { most: 900 * 1024, measure: countBytes };

/** GitHub takes 65,535 bytes; secrets may become a little longer when they are hidden. */
const CHECK_LIMIT = { most: 65_000, measure: countBytes };

type StartedRun = ActionRun & { readonly context: ActionContext };
type MergedChanges = Pick<ActionRun, 'merged' | 'pulls'>;

/** Publishes the check and the comment of a review, what became of it, or the issue about drift. */
async function publishOnGitHub(
  { mode, context, ...brought }: StartedRun,
  conclusion: Conclusion,
  attempt: Attempt,
): Promise<void> {
  const { comment, 'drift-issue': issue } = context.inputs;
  if (mode === 'plan') await publishReview(context, conclusion, attempt);
  if (mode === 'sync' && comment !== 'never' && context.github !== null) {
    await attempt('comment', () => publishOutcome(brought, context, conclusion));
  }
  if (mode === 'drift' && issue) await attempt('issue', () => publishIssue(context, conclusion));
}

/** Once the pull request is closed, what its review has shown stays. */
async function publishReview(context: ActionContext, conclusion: Conclusion, attempt: Attempt): Promise<void> {
  const { github, event, inputs } = context;
  const { pull, queued } = event;
  const head = pull?.head ?? queued;
  if (head === null) return;
  // GitHub may not know yet what the run itself has pushed.
  const asks = pull !== null && github !== null && event.name.startsWith('pull_request');
  const newest = asks ? await readOpenHead(github, pull.number).catch(() => head) : head;
  if (newest === null) return;
  await attempt('check', () => publishCheck(requireGitHub(github), makeCheckRun(head, context, conclusion)));
  // An older run that ends late must not replace what a newer one says.
  if (pull === null || inputs.comment === 'never' || newest !== head) return;
  await attempt('comment', () => publishComment(pull, context, conclusion));
}

function makeCheckRun(head: string, { world, inputs, event }: ActionContext, conclusion: Conclusion): ReviewCheck {
  const { report, page, failure, approval, hide } = conclusion;
  const changes = report.prompts.some((prompt) => prompt.changes.length > 0);
  const summary = renderMarkdown(report, { ...page, limit: CHECK_LIMIT });
  const configPath = makeConfigPath(world.workingDirectory, inputs.config);
  return {
    name: makeCheckName(configPath),
    external_id: makeCheckId(configPath, event.pull?.number ?? null),
    head,
    conclusion: failure !== '' ? 'failure' : changes ? 'success' : 'neutral',
    output: { title: renderOutcome(report, PLAIN_STYLE.colors), summary: hide(summary), text: approval },
  };
}

export function requireGitHub(github: GitHub | null): GitHub {
  if (github !== null) return github;
  throw new ProblemError(makeProblem('action/invalid-input', { input: 'github-token', expected: 'there is none' }));
}

/** Keeps the comment of a pull request up to date. */
async function publishComment(
  { number: issue }: PullRequest,
  context: ActionContext,
  conclusion: Conclusion,
): Promise<void> {
  const { inputs } = context;
  const marker = makeCommentMarker(inputs);
  const isQuiet = countDifferingPrompts(conclusion.report) + listProblems(conclusion.report).length === 0;
  const silent = inputs.comment === 'changes' && isQuiet;
  // What was said before is corrected all the same.
  const mustWrite: StickyComment['mustWrite'] = (found) => found !== null || !silent;
  await upsertAndLinkComment({ issue, marker, body: renderBody(marker, conclusion), mustWrite }, context);
}

async function upsertAndLinkComment(comment: StickyComment, { github, world }: ActionContext): Promise<void> {
  const url = await upsertComment(requireGitHub(github), comment);
  if (url !== null) world.printNotice(`Comment: ${escapeLine(url)}`);
}

/** The comments of merged pull requests say what became of their plans. */
async function publishOutcome(brought: MergedChanges, context: ActionContext, conclusion: Conclusion): Promise<void> {
  const { merged = [], pulls: shownBy = [] } = brought;
  const { report, page, failure } = conclusion;
  // What was applied before has been said by the run that did it.
  if (failure === '' && report.prompts.every(({ status }) => status === 'unchanged')) return;
  const github = requireGitHub(context.github);
  const { inputs, world, branch } = context;
  const marker = makeCommentMarker(inputs);
  const title = makeOutcomeTitle(report, failure, world.now());
  const body = renderBody(marker, { ...conclusion, page: { ...page, title } });
  const pulls = await Promise.all(merged.map((commit) => findMergedPull(github, commit, branch)));
  // A run that is started again later finds newer commits, and takes nothing back.
  const mustWrite: StickyComment['mustWrite'] = (found) =>
    found !== null && !(failure === 'superseded' && reportsApply(found.body));
  for (const issue of new Set([...shownBy, ...pulls.flatMap((pull) => pull?.number ?? [])])) {
    await upsertAndLinkComment({ issue, marker, body, mustWrite }, context);
  }
}

/** Keeps the issue about drift up to date: open while the service differs, closed when all is in sync. */
async function publishIssue({ inputs, ...context }: ActionContext, conclusion: Conclusion): Promise<void> {
  const github = requireGitHub(context.github);
  const marker = makeCommentMarker(inputs);
  const body = renderBody(marker, conclusion);
  if (conclusion.failure === '') return closeIssue(github, { marker, body });
  // Where the service could not be read, nothing is known that could open or close it.
  if (countDifferingPrompts(conclusion.report) === 0) return;
  const { folder } = conclusion.page;
  const where = folder === null ? '' : ` (${folder})`;
  await upsertIssue(github, { marker, body, title: `promptsync: the service differs from the files${where}` });
}

/** GitHub takes 65,536 characters; secrets may become a little longer when they are hidden. */
const COMMENT_LIMIT = { most: 60_000, measure: (text: string): number => text.length };

/** The text of a comment, an issue or a pull request, with the line by which it is found. */
export function renderBody(marker: string, { report, page, hide }: Conclusion): string {
  const most = COMMENT_LIMIT.most - COMMENT_LIMIT.measure(`${marker}\n`);
  return hide(`${marker}\n${renderMarkdown(report, { ...page, limit: { ...COMMENT_LIMIT, most } })}`);
}

/** GitHub shows ten of a kind for each step and drops the others without a word. */
const MAX_ANNOTATIONS_PER_KIND = 9;

/** Annotates the line of each problem. `fromRoot` makes its path one from the repository's root. */
export function annotateProblems(
  problems: readonly ReportProblem[],
  fromRoot: (path: string) => string,
  { annotate: write }: Runner,
): void {
  for (const severity of ['error', 'warning'] as const) {
    const distinct = new Map(
      problems.filter((one) => one.severity === severity).map((one) => [JSON.stringify(one), one]),
    );
    const all = [...distinct.values()];
    for (const problem of all.slice(0, MAX_ANNOTATIONS_PER_KIND))
      write(severity, renderAnnotation(problem), makeAnnotationPlace(problem, fromRoot));
    const more = all.length - MAX_ANNOTATIONS_PER_KIND;
    const rest = `${more} more ${severity}${more === 1 ? '' : 's'}: see the summary of the run.`;
    if (more > 0) write(severity, rest, { title: 'promptsync' });
  }
}

/** Annotates the run as a whole. */
export function annotateWholeRun(kind: AnnotationKind, problem: ReportProblem, { annotate: write }: Runner): void {
  write(kind, renderAnnotation(problem), { title: problem.code });
}

function renderAnnotation({ message, hint }: ReportProblem): string {
  return escapeProperty(`${message} ${hint}`);
}

function makeAnnotationPlace(
  { code, path, line, column }: ReportProblem,
  fromRoot: (path: string) => string,
): AnnotationPlace {
  if (path === undefined) return { title: code };
  const at = {
    ...(line === undefined ? {} : { startLine: line }),
    ...(column === undefined ? {} : { startColumn: column }),
  };
  return { title: code, file: escapeProperty(fromRoot(path)), ...at };
}

function escapeProperty(text: string): string {
  return escapeForRunner(escapeLine(text));
}
