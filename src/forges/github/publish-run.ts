import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeReport } from '../../report/make-report.ts';
import type { CommandResult } from '../../run/command-result.ts';
import { makeStickySection, type StickySection } from '../make-sticky-section.ts';
import { makeWorkspacePath } from '../update-sticky-text.ts';
import { mapStrings } from '../../domain/json.ts';
import { makeProblem, getErrorMessage, ProblemError } from '../../problem.ts';
import { getWords } from '../../report/describe-report.ts';
import { renderHtml } from '../../report/formats/html-page.ts';
import { escapeLine, renderJson } from '../../report/escape.ts';
import {
  chooseFailureReason,
  type FailureReason,
  makeOutcomeTitle,
  reportsApply,
  hasChangedNothing,
} from '../../report/formats/outcome-title.ts';
import { listProblems } from '../../report/problem-list.ts';
import {
  renderComment,
  renderCommentSection,
  renderMarkdown,
  type MarkdownOptions,
} from '../../report/formats/markdown.ts';
import type { SizeLimit } from '../../report/formats/markdown-sections.ts';
import { PLAIN_STYLE } from '../../report/output-style.ts';
import { renderOutcome } from '../../report/formats/summary.ts';
import { renderText } from '../../report/formats/terminal-text.ts';
import type { Report } from '../../report/schema/report-schema.ts';
import { renderApproval } from '../approval.ts';
import { makeRootPathConverter } from './checkout.ts';
import { type ReviewCheck, makeCheckId, makeCheckName, makeConfigPath, publishCheck } from './review-check.ts';
import { Forbidden, type GitHub, listMergedPulls, readOpenHead } from './github-client.ts';
import type { ActionContext } from './action-context.ts';
import type { ActionEvent, ActionMode, PullRequest } from './action-event.ts';
import type { SafeActionProcess } from './action-runner.ts';
import {
  closeIssues,
  upsertComment,
  upsertIssue,
  makeCommentMarker,
  makeIssueMarker,
  type StickyComment,
} from './update-comments-and-issues.ts';
import { annotateProblems, annotateWholeRun } from './annotate-problems.ts';

/** A finished run of the action. */
export type ActionRun = {
  readonly result: CommandResult;
  readonly mode: ActionMode;
  /** Null if the run failed before its context was created, for example because of an invalid input. */
  readonly context: ActionContext | null;
  /** The ids of the commits that the applied push added to the branch, newest first. */
  readonly merged?: readonly string[];
  /** The numbers of the pull requests whose reviews showed the applied changes. */
  readonly pulls?: ReadonlySet<number>;
  /** The review of a pull request that the run itself opened or updated. It is published only on GitHub. */
  readonly review?: ActionRun | null;
};

/** The content that the action publishes in the log, in files and on GitHub. */
type Publication = {
  readonly report: Report;
  readonly failure: FailureReason;
  readonly page: MarkdownOptions;
  /** The text of the review's check. It allows a later apply to make the changes that the review showed. */
  readonly approval: string;
  /** Redacts the secrets in a string. */
  readonly hide: (text: string) => string;
};

/** Publishes a run to one destination. Reports a failure only as a notice, because the run must try the others. */
type PublishAttempt = (destination: string, publish: () => Promise<void>) => Promise<void>;

/** Publishes a run to all destinations, and returns the exit code of the action. */
export async function publishRun(run: ActionRun, host: SafeActionProcess): Promise<number> {
  const { mode, context, review } = run;
  const { runner, output } = host;
  const publication = makePublication(run, host);
  const { report, failure } = publication;
  output.write(renderText(report, { colour: false, quiet: false }));
  annotateProblems(listProblems(report), makePathMapper(context), runner);
  const differingPrompts = countDifferingPrompts(report);
  if (mode === 'drift' && differingPrompts > 0) {
    annotateWholeRun('error', makeProblem('action/drift-found', { prompts: differingPrompts }), runner);
  }
  const attempt: PublishAttempt = async (destination, publish) => {
    try {
      await publish();
    } catch (error) {
      const forbidden = Forbidden.safeParse(error).success;
      const evidence = { what: destination, reason: getErrorMessage(error), forbidden };
      annotateWholeRun('notice', makeProblem('action/not-told', evidence), runner);
    }
  };
  await attempt('outputs', () => publishOutputs(publication, host));
  await attempt('summary', () =>
    runner.writeSummary(renderMarkdown(report, { ...publication.page, limit: SUMMARY_LIMIT })),
  );
  await publishOnGitHub(run, publication, attempt);
  if (review) await publishOnGitHub(review, makePublication(review, host), attempt);
  return failure === '' ? 0 : 1;
}

/** Without a context, the function returns paths unchanged. */
function makePathMapper(context: ActionContext | null): (path: string) => string {
  return context === null
    ? (path) => path
    : makeRootPathConverter(context.system.workingDirectory, context.inputs.config);
}

/** Builds the content to publish for a run. The report and the page options contain no secrets. */
export function makePublication(
  actionRun: ActionRun,
  { environment, secrets: { hide } }: SafeActionProcess,
): Publication {
  const { mode, result, context } = actionRun;
  const { run } = result;
  const pageOptions = makePageOptions(actionRun, environment);
  // Hide the secrets before rendering, too, because markup and escapes can split a secret.
  const [report, page] = mapStrings([makeReport(run), pageOptions] as const, hide);
  const pull = context?.event.pull ?? null;
  // The check approves nothing without a plan digest, for example without an API key, and in a merge queue.
  const approval =
    run.plan !== null && report.plan_digest !== null && pull !== null
      ? renderApproval(run.plan, pull, CHECK_LIMIT.most)
      : 'This check does not approve any changes.';
  return { report, page, approval, hide, failure: chooseActionFailure(mode, result, report) };
}

function makePageOptions(
  { mode, context }: Pick<ActionRun, 'mode' | 'context'>,
  { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: id }: SafeActionProcess['environment'],
): MarkdownOptions {
  return {
    title: mode,
    limit: null,
    workspace: makeWorkspacePath(context?.inputs['working-directory'] ?? '', context?.inputs.config),
    // Show the head commit, because readers do not know the test merge commit that GitHub checks out.
    commit: context?.event.pull?.head ?? null,
    runUrl: server && repository && id ? `${server}/${repository}/actions/runs/${id}` : null,
  };
}

/** Returns the output `failure-reason`. In the mode `drift`, a difference from the files also counts as a failure. */
export function chooseActionFailure(
  mode: ActionMode,
  { exitCode }: Pick<CommandResult, 'exitCode'>,
  report: Report,
): FailureReason {
  const reason = chooseFailureReason(report);
  if (reason !== '') return reason;
  // An interruption after the last write changes the exit code but adds no problem to the report.
  if (exitCode !== 0) return 'failed';
  return mode === 'drift' && countDifferingPrompts(report) > 0 ? 'drift' : '';
}

/** Counts the prompts whose files differ from the service. Prompts that could not be read do not count. */
export function countDifferingPrompts({ prompts }: Report): number {
  return prompts.filter(({ status }) => status === 'pending' || status === 'blocked').length;
}

/** Sets the outputs of the action. Writes the report files last, because writing files can fail. */
async function publishOutputs(publication: Publication, host: SafeActionProcess): Promise<void> {
  const { report, failure } = publication;
  const { setOutput } = host.runner;
  setOutput('failure-reason', failure);
  setOutput('changes', String(hasChanges(report) || report.committed !== undefined));
  setOutput('summary', JSON.stringify(report.summary));
  setOutput('plan-digest', report.plan_digest ?? '');
  for (const { output, path } of await writeReports(publication, host)) setOutput(output, path);
}

function hasChanges({ prompts }: Report): boolean {
  return prompts.some(({ changes }) => changes.length > 0);
}

/** A file with the complete report. `output` is the name of the action output that contains the path of the file. */
type WrittenReport = { readonly output: string; readonly path: string };

/** Writes the complete report to files that later steps of the job can read. The files have no size limit. */
async function writeReports(
  { report, page, hide }: Publication,
  { environment, makeUniqueId }: SafeActionProcess,
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

/** The size limit of a summary, in bytes. GitHub accepts 1 MiB for each step. */
const SUMMARY_LIMIT = { most: 900 * 1024, measure: countBytes };

/** The size limit for each part of a check, in bytes. GitHub accepts 65,535, but hiding secrets can lengthen a text. */
const CHECK_LIMIT = { most: 65_000, measure: countBytes };

type AppliedMerges = Pick<ActionRun, 'merged' | 'pulls'>;

/** A review becomes a check and a comment, an apply updates the comment, and drift becomes an issue. */
async function publishOnGitHub(
  { mode, context, ...appliedMerges }: ActionRun,
  publication: Publication,
  attempt: PublishAttempt,
): Promise<void> {
  if (context === null) return;
  const { comment, 'drift-issue': issue } = context.inputs;
  if (mode === 'plan') await publishReview(context, publication, attempt);
  if (mode === 'sync' && comment !== 'never' && context.github !== null) {
    await attempt('comment', () => publishOutcome(appliedMerges, context, publication));
  }
  if (mode === 'drift' && issue) await attempt('issue', () => publishIssue(context, publication));
}

/** Publishes nothing if the pull request is closed, so that the last review before the merge stays visible. */
async function publishReview(context: ActionContext, publication: Publication, attempt: PublishAttempt): Promise<void> {
  const { github, event, inputs } = context;
  const { pull } = event;
  const head = getReviewedHead(event);
  if (head === null) return;
  // Read the current head only for pull request events. In other runs, promptsync itself has just pushed the head, and
  // GitHub may still return the previous one.
  const mustReadHead = pull !== null && github !== null && event.name.startsWith('pull_request');
  const newestHead = mustReadHead ? await readOpenHead(github, pull.number).catch(() => head) : head;
  if (newestHead === null) return;
  await attempt('check', () => publishCheck(requireGitHub(github), makeCheckRun(head, context, publication)));
  // A run for an older head can finish later. It must not replace the comment of the newer run.
  if (pull === null || inputs.comment === 'never' || newestHead !== head) return;
  await attempt('comment', () => publishComment(pull, context, publication));
}

/** Returns null if the event has no commit that gets a check, or if the pull request is not open. */
function getReviewedHead({ pull, queued }: ActionEvent): string | null {
  if (pull === null) return queued;
  return pull.state === 'open' ? pull.head : null;
}

function makeCheckRun(head: string, { system, inputs, event }: ActionContext, publication: Publication): ReviewCheck {
  const { report, page, failure, approval, hide } = publication;
  const summary = renderMarkdown(report, { ...page, limit: CHECK_LIMIT });
  const configPath = makeConfigPath(system.workingDirectory, inputs.config);
  return {
    name: makeCheckName(configPath),
    external_id: makeCheckId(configPath, event.pull?.number ?? null),
    head,
    conclusion: chooseCheckConclusion(report, failure),
    output: { title: renderOutcome(report, PLAIN_STYLE.colors), summary: hide(summary), text: approval },
  };
}

function chooseCheckConclusion(report: Report, failure: FailureReason): ReviewCheck['conclusion'] {
  if (failure !== '') return 'failure';
  return hasChanges(report) ? 'success' : 'neutral';
}

/** Returns the client for GitHub. Throws a `ProblemError` if the run has no token. */
export function requireGitHub(github: GitHub | null): GitHub {
  if (github !== null) return github;
  throw new ProblemError(makeProblem('action/invalid-input', { input: 'github-token', expected: 'it is empty' }));
}

async function publishComment(
  { number: issue }: PullRequest,
  context: ActionContext,
  publication: Publication,
): Promise<void> {
  const { inputs } = context;
  const marker = makeCommentMarker(inputs);
  const { report } = publication;
  const hasNothingToReport = countDifferingPrompts(report) === 0 && listProblems(report).length === 0;
  const omitsNewComment = inputs.comment === 'changes' && hasNothingToReport;
  // Always update an existing comment, because its content may be out of date.
  const mustWrite: StickyComment['mustWrite'] = (existing) => existing !== null || !omitsNewComment;
  const makeBody = (): string => renderBody(marker, publication);
  await upsertAndLinkComment({ issue, marker, makeBody, mustWrite }, context);
}

async function upsertAndLinkComment(comment: StickyComment, { github, system }: ActionContext): Promise<void> {
  const url = await upsertComment(requireGitHub(github), comment);
  if (url !== null) system.printNotice(`Comment: ${escapeLine(url)}`);
}

/** Updates the comments on merged pull requests with the outcome of their apply. Creates no new comments. */
async function publishOutcome(
  appliedMerges: AppliedMerges,
  context: ActionContext,
  publication: Publication,
): Promise<void> {
  const { merged = [], pulls: reviewedPulls = [] } = appliedMerges;
  const { report, page, failure } = publication;
  // The earlier run that applied the changes has already updated the comments.
  if (hasChangedNothing(report, failure)) return;
  const github = requireGitHub(context.github);
  const { inputs, system, branch } = context;
  const marker = makeCommentMarker(inputs);
  const title = makeOutcomeTitle(report, failure, system.now());
  const content = makeOutcomeComment(marker, { ...publication, page: { ...page, title } });
  const mergedPulls = await Promise.all(merged.map((commit) => listMergedPulls(github, commit, branch)));
  // A rerun of an old apply fails as superseded. It must not overwrite a comment that reports an apply.
  const mustWrite: StickyComment['mustWrite'] = (existing) =>
    existing !== null && !(failure === 'superseded' && reportsApply(content.findOwnPart(existing.body ?? '') ?? ''));
  for (const issue of new Set([...reviewedPulls, ...mergedPulls.flatMap(([pull]) => pull?.number ?? [])])) {
    await upsertAndLinkComment({ issue, marker, mustWrite, ...content }, context);
  }
}

type OutcomeComment = Pick<StickyComment, 'makeBody' | 'isComplete'> & Pick<StickySection, 'findOwnPart'>;

/** If the apply covers only some environments, the comment replaces only the section of these environments. */
function makeOutcomeComment(marker: string, publication: Publication): OutcomeComment {
  const { report, page, hide } = publication;
  const { environments, promotion_order: promotionOrder = [] } = report;
  if (environments === undefined) {
    return { makeBody: () => renderBody(marker, publication), findOwnPart: (posted) => posted };
  }
  const render = (limit: SizeLimit) => hide(renderCommentSection({ ...report, environments }, { ...page, limit }));
  const section = makeStickySection({ marker, environments, promotionOrder, limit: COMMENT_LIMIT, render });
  return { ...section, isComplete: ({ body }) => section.isComplete(body ?? '') };
}

/** Opens or updates the drift issue if the service differs from the files. Closes the issue if they are in sync. */
async function publishIssue({ inputs, github: client }: ActionContext, publication: Publication): Promise<void> {
  const github = requireGitHub(client);
  // Each job has an issue of its own. Otherwise, a job that finds no drift would close the issue of another one.
  const marker = makeIssueMarker(inputs);
  const body = renderBody(marker, publication);
  if (publication.failure === '') return closeIssues(github, { marker, body });
  // A run can fail without finding differences, for example if it cannot read the service. There may still be drift.
  if (countDifferingPrompts(publication.report) === 0) return;
  const { workspace } = publication.page;
  const { service } = getWords(publication.report);
  const places = [...(workspace === null ? [] : [workspace]), ...inputs.environments];
  const where = places.length === 0 ? '' : ` (${places.join(', ')})`;
  await upsertIssue(github, { marker, body, title: `promptsync: ${service} differs from the files${where}` });
}

/** The length limit of a comment, in characters. GitHub accepts 65,536, but hiding secrets can lengthen the text. */
const COMMENT_LIMIT = { most: 60_000, measure: (text: string): number => text.length };

/** Renders the body of a comment, an issue or a pull request. The first line is the marker. */
export function renderBody(marker: string, { report, page, hide }: Publication): string {
  const most = COMMENT_LIMIT.most - COMMENT_LIMIT.measure(`${marker}\n`);
  return hide(`${marker}\n${renderComment(report, { ...page, limit: { ...COMMENT_LIMIT, most } })}`);
}
