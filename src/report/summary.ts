import { formatCount, shortenCommitId } from '../text.ts';
import { FILE_COMMANDS } from '../domain/edits.ts';
import { isError } from '../problem.ts';
import { type Colors, fitLine, type Style, renderWebLink } from './style.ts';
import { escapeLine } from './escape.ts';
import { applyReportWords } from './describe.ts';
import { isInterrupted } from './problems.ts';
import type { Report, ReportChange, ReportPrompt, ReportRow } from './schema.ts';

/** Renders the end of a report: the outcome, followed by the next step or the origin of the plan. */
export function renderSummary(report: Report, style: Style): string {
  return [...fitLine(renderOutcome(report, style.colors), style, 2), ...renderLinesBelowOutcome(report, style)].join(
    '\n',
  );
}

/**
 * Returns the only line that a terminal shows for a run that the user ended before it did anything. Returns null for
 * every other run, and for a run that may have written something.
 */
export function renderEndedRun(report: Report): string | null {
  const { problems, prompts, files = [] } = report;
  if (problems.some(({ code }) => code === 'usage/declined')) return 'Nothing was applied.';
  const hasWritten =
    files.some(({ status }) => status !== 'kept') ||
    prompts.some(({ status, changes }) => status === 'applied' || changes.some(mayBeMade));
  return isInterrupted(report) && !hasWritten ? 'Interrupted. Nothing was written.' : null;
}

/** Returns true if promptsync made a change, or does not know whether the service carried it out. */
function mayBeMade({ status }: ReportChange): boolean {
  return status !== undefined && status !== 'not_made';
}

function renderLinesBelowOutcome(report: Report, style: Style): readonly string[] {
  const next = findNextStep(report);
  if (next !== null) return fitLine(style.colors.dim(next), style, 2);
  return hasWork(report) ? renderOriginLines(report, style) : [];
}

/**
 * Summarizes the result of a run in one line. The line contains only numbers and fixed wording, so it needs no
 * escaping.
 */
export function renderOutcome(report: Report, colors: Colors): string {
  const errors = report.problems.filter(isError).length;
  if (errors > 0) {
    // `validate` never writes, so there is no need to say that nothing was written.
    const rest = report.mode === 'validate' ? '' : `; ${describeEditedFiles(report)}`;
    return colors.red(`${formatCount(errors, 'error')}${rest}.`);
  }
  const interrupted = isInterrupted(report) ? `${colors.red('Interrupted.')} ` : '';
  if (isAboutFiles(report)) return `${interrupted}${renderEditOutcome(report, colors)}`;
  if (report.mode === 'validate') return colors.green(`${countPrompts(report.summary.prompts)} valid.`);
  if (report.mode === 'history') return renderHistoryOutcome(report, colors);
  if (isNothingObserved(report)) {
    return `${interrupted}${colors.red('No prompt could be observed; nothing was written.')}`;
  }
  return `${interrupted}${renderWorkOutcome(report, colors)}`;
}

function renderWorkOutcome(report: Report, colors: Colors): string {
  const { mode, summary } = report;
  const { done, work } = describeWorkCounts(report);
  const notLookedAt = omitZeroCounts([[summary.not_looked_at ?? 0, 'not looked at']]);
  if (work.length === 0) {
    return colors.green(`nothing to do: ${[`${countPrompts(summary.unchanged)} in sync`, ...notLookedAt].join(', ')}.`);
  }
  const unchanged = [...omitZeroCounts([[summary.unchanged, 'unchanged']]), ...notLookedAt];
  const appliedTitle = done.length > 0 ? 'Applied' : 'Nothing applied';
  const title = mode === 'apply' ? appliedTitle : 'Plan';
  return `${colors.bold(title)}: ${[...work, ...unchanged].join(', ')}.${describeDriftCount(report)}`;
}

/**
 * Describes how many prompts somebody changed in the service. The other counts of the summary do not show that a sync
 * would undo those changes.
 */
function describeDriftCount({ mode, prompts }: Report): string {
  const drifted = prompts.filter(({ drift }) => drift.some(({ kind }) => kind === 'outside')).length;
  return mode === 'apply' || drifted === 0 ? '' : ` ${formatCount(drifted, 'prompt has', 'prompts have')} drifted.`;
}

/**
 * Describes how many files a failed run edited. For example, a run with `--commit` can edit files and then fail to
 * commit them.
 */
function describeEditedFiles({ prompts }: Report): string {
  const edited = prompts.filter(({ status }) => status === 'applied').length;
  return edited === 0 ? 'nothing was written' : formatCount(edited, 'file edited', 'files edited');
}

/**
 * Returns true if a plan or an apply has work to show: a change, or a prompt that is blocked, failed or not attempted.
 * Returns false if the whole run failed.
 */
function hasWork(report: Report): boolean {
  const isAboutService = report.mode !== 'validate' && report.mode !== 'history' && !isAboutFiles(report);
  const hasSucceeded = isAboutService && !report.problems.some(isError) && !isNothingObserved(report);
  return hasSucceeded && describeWorkCounts(report).work.length > 0;
}

/** The counts of the summary as text, for example `2 to create`. Counts of 0 are omitted. */
type WorkCounts = {
  /** The counts of changes that a sync would make, or that an apply made. */
  readonly done: readonly string[];
  /** The counts in `done`, followed by the counts of blocked, failed and not attempted prompts. */
  readonly work: readonly string[];
};

function describeWorkCounts({ mode, summary }: Report): WorkCounts {
  const isApply = mode === 'apply';
  const done = omitZeroCounts([
    [summary.create_version, isApply ? 'created' : 'to create'],
    [summary.update_prompt, isApply ? 'updated' : 'to update'],
    [summary.set_active, isApply ? 'activated' : 'to activate'],
  ]);
  const rest = omitZeroCounts([
    [summary.blocked, 'blocked'],
    [summary.failed, 'failed'],
    [summary.not_attempted, 'not attempted'],
  ]);
  return { done, work: [...done, ...rest] };
}

/** Returns true if the report contains a plan for at least one prompt. */
export function hasPlan({ plan_digest: digest, prompts }: Report): boolean {
  return digest !== null && prompts.length > 0;
}

/** Returns true if there is no plan because promptsync could not observe any prompt. */
function isNothingObserved(report: Report): boolean {
  return !hasPlan(report) && report.prompts.some(({ status }) => status === 'failed' || status === 'not_attempted');
}

function omitZeroCounts(counts: readonly (readonly [count: number, description: string])[]): readonly string[] {
  return counts.filter(([count]) => count > 0).map(([count, description]) => `${count} ${description}`);
}

function countPrompts(count: number): string {
  return formatCount(count, 'prompt');
}

/** Returns true if the report comes from a command that edits prompt files, such as `pull` or `promote`. */
function isAboutFiles({ mode }: Report): boolean {
  return FILE_COMMANDS.some((command) => command === mode);
}

/** Summarizes, in one line, the file edits that a command made or would make. */
function renderEditOutcome(report: Report, colors: Colors): string {
  const parts = countFileWork(report)
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => formatCount(count, one, many));
  const hasFailures = report.prompts.some(({ status }) => status === 'blocked' || status === 'failed');
  if (parts.length === 0) return colors.green('nothing to do.');
  return (hasFailures ? colors.red : colors.bold)(`${parts.join(', ')}.`);
}

/**
 * Returns a sentence that tells the user what to do after a command that edits files. Returns null if nothing is left
 * to do.
 */
export function findNextStep(report: Report): string | null {
  return isAboutFiles(report) ? chooseNextStep(report) : null;
}

function chooseNextStep({ prompts, problems, files = [], committed, mode, commit }: Report): string | null {
  const hasConflicts = prompts.some(({ problems }) => problems.some(({ code }) => code === 'pull/conflict'));
  if (hasConflicts)
    return `Next: resolve the conflicts in the files, then ${commit === null ? `run ${SYNC_AFTER_COMMIT_STEP}` : 'commit them'}.`;
  const hasSucceeded = !problems.some(isError);
  const editCount = prompts.filter(({ status }) => status === 'applied' && hasSucceeded).length + files.length;
  if (editCount === 0) return arePinsUnchanged(mode, prompts) ? ALREADY_PINNED_NOTE : null;
  if (mode === 'init' && files.some(isNewWorkflow)) {
    return 'Next: run promptsync plan, put the promptsync commit that you trust into the CI files, and commit the files.';
  }
  if (mode === 'init' || mode === 'import') return 'Next: run promptsync plan, then commit the files.';
  if (committed !== undefined) return describeStepAfterCommit(committed);
  if (commit === null) return `Next: run promptsync plan, then ${SYNC_AFTER_COMMIT_STEP}.`;
  return 'Next: review the edits with git diff, commit them, and open a pull request.';
}

/** Returns true if `promote` or `rollback` had nothing to edit, because every file already had the requested pin. */
function arePinsUnchanged(mode: Report['mode'], prompts: Report['prompts']): boolean {
  const setsPins = mode === 'promote' || mode === 'rollback';
  return setsPins && prompts.length > 0 && prompts.every(({ status }) => status === 'unchanged');
}

/**
 * The next step if the file already has the requested pin. The service may still differ from the file, so the user
 * should run `promptsync plan`.
 */
const ALREADY_PINNED_NOTE = 'The file already has this pin. Next: run promptsync plan to see whether a sync is due.';

/**
 * The next step if the report contains no commit. A sync requires a commit only if the folder is in a git repository.
 */
const SYNC_AFTER_COMMIT_STEP = 'promptsync sync (in a git repository, commit first)';

/**
 * Describes the next step after a command committed its edits. If HEAD is detached, the user must create a branch
 * first, because the next checkout would otherwise leave the commit behind.
 */
function describeStepAfterCommit({ commit, branch, pull_request: pull }: NonNullable<Report['committed']>): string {
  const committed = `Committed ${shortenCommitId(escapeLine(commit))}`;
  if (pull !== undefined) return `${committed} in pull request ${pull}. Next: review and merge it.`;
  if (branch === null)
    return `${committed} on no branch. Next: run git switch -c NAME, then push the branch and open a pull request.`;
  // `main` and `master` are usually the target of a pull request, so they cannot be its source.
  const request = ['main', 'master'].includes(branch) ? '' : ' and open a pull request';
  return `${committed} on ${escapeLine(branch)}. Next: push the branch${request}.`;
}

/** A count, followed by the singular and plural forms of its noun. */
type CountedNoun = readonly [count: number, one: string, many: string];

/** Counts files and prompts by their outcome, for example edited files and blocked prompts. */
function countFileWork({ prompts, files = [] }: Report): readonly CountedNoun[] {
  const filterByStatus = (wanted: ReportPrompt['status']): readonly ReportPrompt[] =>
    prompts.filter(({ status }) => status === wanted);
  const countCreations = (status: ReportPrompt['status']): number =>
    filterByStatus(status).filter(({ edits = [] }) => edits.some(({ kind }) => kind === 'create-file')).length;
  const created = countCreations('applied');
  const toCreate = countCreations('pending');
  const written = files.filter(({ status }) => status !== 'kept').length;
  return [
    [created + written, 'file written', 'files written'],
    [filterByStatus('applied').length - created, 'file edited', 'files edited'],
    [toCreate, 'file to write', 'files to write'],
    [filterByStatus('pending').length - toCreate, 'file to edit', 'files to edit'],
    [filterByStatus('blocked').length, 'prompt blocked', 'prompts blocked'],
    [filterByStatus('failed').length, 'prompt failed', 'prompts failed'],
    [filterByStatus('unchanged').length + files.length - written, 'unchanged', 'unchanged'],
  ];
}

/**
 * Returns true if the file is a CI file that `init` created. Such a file contains a commit id of zeros as a
 * placeholder. The user must replace it with a commit of promptsync that they trust.
 */
function isNewWorkflow({ path, status }: NonNullable<Report['files']>[number]): boolean {
  return status === 'created' && /\.git(?:hub\/workflows|lab)\//.test(path);
}

/**
 * Summarizes the report of `promptsync history` in one line. The line contains the numbers of prompts, known versions,
 * environments that do not serve the pinned version, and failed prompts.
 */
function renderHistoryOutcome(report: Report, colors: Colors): string {
  const { prompts } = report;
  const known = prompts.filter(hasHistory);
  const failed = prompts.length - known.length;
  if (known.length === 0) return colors.red('No prompt could be observed.');
  const versions = known.reduce((sum, { history }) => sum + (history?.versions.length ?? 0), 0);
  const differing = known.reduce((sum, prompt) => sum + listDifferingRows(prompt).length, 0);
  const parts = [
    countPrompts(known.length),
    ...(known.some(({ history }) => history) ? [formatCount(versions, 'known version')] : []),
    ...(differing === 0
      ? []
      : [applyReportWords(report, formatCount(differing, 'environment not as pinned', 'environments not as pinned'))]),
    ...(failed === 0 ? [] : [formatCount(failed, 'prompt failed', 'prompts failed')]),
  ];
  return (failed + differing > 0 ? colors.yellow : colors.bold)(`${parts.join(', ')}.`);
}

/**
 * Returns true if the report contains the history of a prompt. The history is missing if promptsync could not observe
 * the prompt.
 */
export function hasHistory({ history, lineage }: ReportPrompt): boolean {
  return history !== undefined || lineage !== undefined;
}

/**
 * Returns the environments that do not serve the version that the file pins. If the report is about a single
 * environment, ignores all others.
 */
export function listDifferingRows({ environments = [], lineage }: ReportPrompt): readonly ReportRow[] {
  return environments.filter(
    ({ environment, in_sync: inSync }) => !inSync && (lineage === undefined || lineage.environment === environment),
  );
}

/**
 * Renders the origin of a plan: the service, the commit and the plan digest. Users pass the digest to `--expect-plan`.
 */
function renderOriginLines({ service, commit, plan_digest: digest }: Report, style: Style): readonly string[] {
  const parts = [
    service === null ? [] : [renderWebLink(escapeLine(service), service, style)],
    commit === null ? [] : [`commit ${shortenCommitId(escapeLine(commit))}`],
    digest === null ? [] : [`plan ${digest}`],
  ];
  return fitLine(style.colors.dim(parts.flat().join(' · ')), style, 2);
}
