import { FILE_COMMANDS } from '../domain/edits.ts';
import { isError } from '../problem.ts';
import { type Colors, fitLine, type Style, webLink } from './style.ts';
import { escapeLine } from './escape.ts';
import { isInterrupted } from './problems.ts';
import type { Report, ReportPrompt, ReportRow } from './schema.ts';
import { formatCount, type CountedNoun } from './describe.ts';

/** Renders the end of a report: its outcome, and below that the next step or the origin of the plan. */
export function renderSummary(report: Report, style: Style): string {
  return [...fitLine(renderOutcome(report, style.colors), style, 2), ...renderLinesBelowOutcome(report, style)].join(
    '\n',
  );
}

function renderLinesBelowOutcome(report: Report, style: Style): readonly string[] {
  const next = isAboutFiles(report) ? findNextStep(report) : null;
  if (next !== null) return fitLine(style.colors.dim(next), style, 2);
  return hasWork(report) ? renderOriginLines(report, style) : [];
}

/**
 * Summarizes the result of a run in one line. The line contains only words of promptsync and numbers, so it needs no
 * escaping.
 */
export function renderOutcome(report: Report, colors: Colors): string {
  const errors = report.problems.filter(isError).length;
  if (errors > 0) {
    // `validate` only reads files, so the line need not say that nothing was written.
    const rest = report.mode === 'validate' ? '' : `; ${describeEditedFiles(report)}`;
    return colors.red(`${formatCount([errors, 'error', 'errors'])}${rest}.`);
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
 * Counts the prompts that somebody changed in the service. The other counts do not reveal that a sync would undo such
 * changes.
 */
function describeDriftCount({ mode, prompts }: Report): string {
  const drifted = prompts.filter(({ drift }) => drift.some(({ kind }) => kind === 'outside')).length;
  return mode === 'apply' || drifted === 0 ? '' : ` ${formatCount([drifted, 'prompt has', 'prompts have'])} drifted.`;
}

/** Says how many files a failed run has edited. With `--commit`, the commit may fail after the edits. */
function describeEditedFiles({ prompts }: Report): string {
  const edited = prompts.filter(({ status }) => status === 'applied').length;
  return edited === 0 ? 'nothing was written' : formatCount([edited, 'file edited', 'files edited']);
}

/** Returns true if the report is of a plan or an apply that succeeded and that changes something. */
function hasWork(report: Report): boolean {
  const isAboutService = report.mode !== 'validate' && report.mode !== 'history' && !isAboutFiles(report);
  const hasSucceeded = isAboutService && !report.problems.some(isError) && !isNothingObserved(report);
  return hasSucceeded && describeWorkCounts(report).work.length > 0;
}

/** The counts of the summary in words, for example `2 to create`. Counts of 0 are left out. */
type WorkCounts = {
  /** The changes that promptsync makes or has made. */
  readonly done: readonly string[];
  /** The same changes, and the prompts that it could not change. */
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

/** Returns true if promptsync made a plan for at least one prompt. */
export function hasPlan({ plan_digest: digest, prompts }: Report): boolean {
  return digest !== null && prompts.length > 0;
}

/** Returns true if promptsync made no plan because it could not observe prompts. */
function isNothingObserved(report: Report): boolean {
  return !hasPlan(report) && report.prompts.some(({ status }) => status === 'failed' || status === 'not_attempted');
}

function omitZeroCounts(counts: readonly (readonly [count: number, description: string])[]): readonly string[] {
  return counts.filter(([count]) => count > 0).map(([count, description]) => `${count} ${description}`);
}

function countPrompts(count: number): string {
  return formatCount([count, 'prompt', 'prompts']);
}

/** Returns true if the command of the report edits prompt files, unlike a plan or a sync. */
export function isAboutFiles({ mode }: Report): boolean {
  return FILE_COMMANDS.some((command) => command === mode);
}

/** Summarizes in one line the edits that a command made to files, or would make. */
function renderEditOutcome(report: Report, colors: Colors): string {
  const parts = countFileWork(report)
    .filter(([count]) => count > 0)
    .map(formatCount);
  const hasFailures = report.prompts.some(({ status }) => status === 'blocked' || status === 'failed');
  if (parts.length === 0) return colors.green('nothing to do.');
  return (hasFailures ? colors.red : colors.bold)(`${parts.join(', ')}.`);
}

/**
 * Returns a sentence on what the user should do after a command that edits files. Returns null if no step is needed.
 */
export function findNextStep({ prompts, problems, files = [], committed, mode, commit }: Report): string | null {
  const hasConflicts = prompts.some(({ problems }) => problems.some(({ code }) => code === 'pull/conflict'));
  if (hasConflicts)
    return `Next: resolve the conflicts in the files, then ${commit === null ? SYNC_AFTER_COMMIT_STEP : 'commit them'}.`;
  const hasSucceeded = !problems.some(isError);
  const editCount = prompts.filter(({ status }) => status === 'applied' && hasSucceeded).length + files.length;
  if (editCount === 0) return arePinsUnchanged(mode, prompts) ? ALREADY_PINNED_NOTE : null;
  if (mode === 'init' && files.some(isNewWorkflow)) {
    return 'Next: promptsync plan; put the commit of promptsync that you trust into the files of CI; commit the files.';
  }
  if (mode === 'init' || mode === 'import') return 'Next: promptsync plan, then commit the files.';
  if (committed !== undefined) return describeStepAfterCommit(committed);
  if (commit === null) return `Next: promptsync plan, then ${SYNC_AFTER_COMMIT_STEP}.`;
  return 'Next: read it with git diff, commit it, and open a pull request.';
}

/** Returns true if `promote` or `rollback` had nothing to edit, because every file already has the pin. */
function arePinsUnchanged(mode: Report['mode'], prompts: Report['prompts']): boolean {
  const setsPins = mode === 'promote' || mode === 'rollback';
  return setsPins && prompts.length > 0 && prompts.every(({ status }) => status === 'unchanged');
}

/**
 * The next step if the file already has the pin. The service may still differ from the file, so the user should plan.
 */
const ALREADY_PINNED_NOTE = 'The file has that pin already. Next: promptsync plan tells whether a sync is due.';

/**
 * The next step if the report names no commit. A sync needs a commit if the folder is in a git repository, but not
 * outside git.
 */
const SYNC_AFTER_COMMIT_STEP = 'promptsync sync (in a git repository after a commit)';

/**
 * Returns the next step after a command that committed its edits. A commit on a detached HEAD needs a branch first,
 * because the next checkout would leave it behind.
 */
function describeStepAfterCommit({ commit, branch, pull_request: pull }: NonNullable<Report['committed']>): string {
  const committed = `Committed ${escapeLine(commit).slice(0, 12)}`;
  if (pull !== undefined) return `${committed} in pull request ${pull}. Next: review and merge it.`;
  if (branch === null)
    return `${committed} on no branch. Next: git switch -c NAME, then push it and open a pull request.`;
  // Pull requests usually go to `main` or `master`, so they cannot come from there.
  const request = ['main', 'master'].includes(branch) ? '' : ' and open a pull request';
  return `${committed} on ${escapeLine(branch)}. Next: push it${request}.`;
}

/** Counts the files and prompts that a command changed, would change, or could not change. */
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
 * Returns true if `init` created this CI file. Such a file refers to a commit of zeros, which the user must replace
 * with a commit of promptsync that they trust.
 */
function isNewWorkflow({ path, status }: NonNullable<Report['files']>[number]): boolean {
  return status === 'created' && /\.git(?:hub\/workflows|lab)\//.test(path);
}

/** Summarizes a history in one line: how many versions are known, and how many environments differ from their pins. */
function renderHistoryOutcome({ prompts }: Report, colors: Colors): string {
  const known = prompts.filter(hasHistory);
  const failed = prompts.length - known.length;
  if (known.length === 0) return colors.red('No prompt could be observed.');
  const versions = known.reduce((sum, { history }) => sum + (history?.versions.length ?? 0), 0);
  const differing = known.reduce((sum, prompt) => sum + listDifferingRows(prompt).length, 0);
  const parts = [
    countPrompts(known.length),
    ...(known.some(({ history }) => history) ? [formatCount([versions, 'known version', 'known versions'])] : []),
    ...(differing === 0 ? [] : [formatCount([differing, 'environment not as pinned', 'environments not as pinned'])]),
    ...(failed === 0 ? [] : [formatCount([failed, 'prompt failed', 'prompts failed'])]),
  ];
  return (failed + differing > 0 ? colors.yellow : colors.bold)(`${parts.join(', ')}.`);
}

/**
 * Returns true if the report contains the history of a prompt. It contains none if promptsync could not observe the
 * prompt.
 */
export function hasHistory({ history, lineage }: ReportPrompt): boolean {
  return history !== undefined || lineage !== undefined;
}

/** Returns the reported environments that serve another version than the one that the file pins. */
export function listDifferingRows({ environments = [], lineage }: ReportPrompt): readonly ReportRow[] {
  return environments.filter(
    ({ environment, in_sync: inSync }) => !inSync && (lineage === undefined || lineage.environment === environment),
  );
}

/** Renders the origin of a plan: its service, its commit and its digest. Users pass the digest to `--expect-plan`. */
function renderOriginLines({ service, commit, plan_digest: digest }: Report, style: Style): readonly string[] {
  const parts = [
    service === null ? [] : [webLink(escapeLine(service), service, style)],
    commit === null ? [] : [`commit ${escapeLine(commit).slice(0, 12)}`],
    digest === null ? [] : [`plan ${digest}`],
  ];
  return fitLine(style.colors.dim(parts.flat().join(' · ')), style, 2);
}
