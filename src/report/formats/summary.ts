import { formatCount, shortenCommitId, shortenDigest } from '../../text.ts';
import { FILE_COMMANDS } from '../../domain/edits.ts';
import { isError } from '../../problem.ts';
import { type Colors, fitLine, type OutputStyle, renderWebLink } from '../output-style.ts';
import { escapeLine } from '../escape.ts';
import { describeCloneHints } from '../describe-changes.ts';
import { isAfterRun } from '../describe-drift.ts';
import { describeCoverage, getWords, isDone, type ShowText } from '../describe-report.ts';
import { isInterrupted } from '../problem-list.ts';
import { describeOverwrites } from '../apply-question.ts';
import type { Report, ReportChange, ReportPrompt, ReportRow } from '../schema/report-schema.ts';

/** Renders the outcome, then the next step or, unless `quiet` is set, the origin of the plan. */
export function renderSummary(report: Report, style: OutputStyle, quiet = false): string {
  const coverage = describeCoverage(report, escapeLine);
  return [
    ...fitLine(renderOutcome(report, style.colors), style, 2),
    ...(coverage === null ? [] : fitLine(style.colors.dim(coverage), style, 2)),
    ...describeCloneHints(report, escapeLine).flatMap((hint) => fitLine(hint, style, 2)),
    ...renderLinesBelowOutcome(report, style, quiet),
  ].join('\n');
}

/** Returns the only line for a run that the user ended before it did anything. Returns null for other runs. */
export function renderEndedRun(report: Report): string | null {
  const { problems, prompts, files = [], committed } = report;
  if (problems.some(({ code }) => code === 'usage/declined')) return 'Nothing was applied.';
  const hasWritten =
    committed !== undefined ||
    files.some(({ status }) => status !== 'kept') ||
    prompts.some(({ status, changes }) => status === 'applied' || changes.some(mayBeMade));
  return isInterrupted(report) && !hasWritten ? 'Interrupted. promptsync made no changes.' : null;
}

/** Returns true if promptsync made a change, or if it does not know whether the service carried out the change. */
function mayBeMade({ status }: ReportChange): boolean {
  return status !== undefined && status !== 'not_made';
}

function renderLinesBelowOutcome(report: Report, style: OutputStyle, quiet: boolean): readonly string[] {
  const commits = describeImportCommits(report, escapeLine).flatMap((line) => fitLine(line, style, 2));
  const steps = findNextSteps(report).flatMap((step) => fitLine(style.colors.dim(step), style, 2));
  if (commits.length + steps.length > 0) return [...commits, ...steps];
  return hasWork(report) && !quiet ? renderOriginLines(report, style) : [];
}

/** Summarizes the result of a run in one line of numbers and fixed wording, which needs no escaping. */
export function renderOutcome(report: Report, colors: Colors): string {
  const errors = report.problems.filter(isError).length;
  if (errors > 0) {
    // The user knows that a reading mode writes nothing. The message of a rollback without a commit says which files it
    // restored.
    const isClear =
      READING_MODES.includes(report.mode) || report.problems.some(({ code }) => code === 'rollback/not-committed');
    const rest = isClear ? '' : `; ${describeEditedFiles(report)}`;
    return colors.red(`${formatCount(errors, 'error')}${rest}.`);
  }
  const interrupted = isInterrupted(report) ? `${colors.red('Interrupted.')} ` : '';
  if (isAboutFiles(report)) return `${interrupted}${renderEditOutcome(report, colors)}`;
  if (report.mode === 'validate') return colors.green(`${countPrompts(report.summary.prompts)} valid.`);
  if (report.mode === 'history') return renderHistoryOutcome(report, colors);
  if (isNothingObserved(report)) {
    return `${interrupted}${colors.red('promptsync could not read any prompts, so it wrote nothing.')}`;
  }
  return `${interrupted}${renderWorkOutcome(report, colors)}`;
}

/** Counts the prompts that change or have changed, then the others. A baseline alone does not count. */
function renderWorkOutcome(report: Report, colors: Colors): string {
  const { summary } = report;
  if (!hasWork(report)) {
    const notLookedAt = omitZeroCounts([[summary.not_looked_at ?? 0, 'not checked']]);
    return colors.green(`nothing to do: ${[`${countPrompts(summary.unchanged)} in sync`, ...notLookedAt].join(', ')}.`);
  }
  const others = describeOthers(report);
  const sentences = [describeChanged(report, colors), ...(others.length === 0 ? [] : [`${others.join(', ')}.`])];
  return `${sentences.join(' ')}${describeDriftCount(report)}`;
}

function describeChanged(report: Report, colors: Colors): string {
  const { summary } = report;
  const isApply = isApplied(report);
  const title = colors.bold(isApply ? 'Applied' : 'Plan');
  const count = countChangedPrompts(report);
  const parts = [
    [summary.create_version, 'new version'],
    [summary.update_prompt, 'field update'],
    [summary.set_active, 'activation'],
    [report.prompts.reduce((total, prompt) => total + countPinEdits(prompt, report), 0), 'pin edit'],
  ] as const;
  const details = parts.flatMap(([number, noun]) => (number === 0 ? [] : [formatCount(number, noun)])).join(', ');
  if (count > 0) return `${title}: ${isApply ? countPrompts(count) : countChanging(report, count)} (${details}).`;
  const { baselines } = summary;
  const servedNote = isApply ? 'nothing that is served changed' : 'nothing that is served changes';
  if (baselines > 0) return `${title}: ${formatCount(baselines, 'baseline')} (${servedNote}).`;
  return isApply ? `${colors.bold('Nothing applied')}.` : `${title}: ${countChanging(report, 0)}.`;
}

/** The modes that never write. */
export const READING_MODES: readonly Report['mode'][] = ['validate', 'dry-run', 'status', 'history'];

/** Describes how many prompts change, for example `1 of 40 prompts changes` or `no prompt changes`. */
function countChanging({ summary: { prompts } }: Report, count: number): string {
  return count === 0
    ? 'no prompt changes'
    : `${count} of ${countPrompts(prompts)} ${count === 1 ? 'changes' : 'change'}`;
}

/** Counts the pins that `rollback --now` edits or has edited. The environment may already serve the pinned versions. */
function countPinEdits({ status, edits = [] }: ReportPrompt, { mode }: Report): number {
  const isEdited = mode === 'rollback' && (status === 'pending' || status === 'applied');
  return isEdited ? edits.length : 0;
}

/** Counts prompts with edited pins or changes other than a baseline. After a run, only its own changes count. */
function countChangedPrompts(report: Report): number {
  const isApply = isApplied(report);
  const isCounted = (change: ReportChange): boolean =>
    !(change.kind === 'create-version' && change.baseline === true) && (!isApply || change.status === 'made');
  const isChanged = (prompt: ReportPrompt): boolean =>
    prompt.changes.some(isCounted) || countPinEdits(prompt, report) > 0;
  return report.prompts.filter((prompt) => (isApply || prompt.status === 'pending') && isChanged(prompt)).length;
}

/** Counts the prompts that do not change, and those whose changes promptsync could not make. */
function describeOthers(report: Report): readonly string[] {
  const { summary, problems } = report;
  const baselines = countChangedPrompts(report) === 0 ? 0 : summary.baselines;
  return [
    ...omitZeroCounts([[summary.unchanged, 'unchanged']]),
    ...(baselines === 0 ? [] : [formatCount(baselines, 'baseline')]),
    ...omitZeroCounts([
      [summary.blocked, 'blocked'],
      [summary.failed, 'failed'],
      [summary.not_attempted, 'not attempted'],
      [summary.not_looked_at ?? 0, 'not checked'],
      [problems.filter(({ code }) => code === 'prompt/gone').length, 'no longer managed'],
    ]),
  ];
}

/** Counts the prompts that somebody changed in the service or, after a run, the changes that it has overwritten. */
function describeDriftCount(report: Report): string {
  const { mode, prompts } = report;
  if (isApplied(report)) return describeOverwrites(report, 'overwrote', isDone);
  const drifted = prompts.filter(({ drift }) => drift.some(({ kind }) => kind === 'outside')).length;
  return mode === 'rollback' || drifted === 0 ? '' : ` ${formatCount(drifted, 'prompt has', 'prompts have')} drifted.`;
}

/** Counts edited files after a failed run. For example, `--commit` can edit files and then fail to commit them. */
function describeEditedFiles({ mode, prompts }: Report): string {
  const edited = prompts.filter(({ status }) => status === 'applied').length;
  if (edited === 0) return 'nothing was written';
  return mode === 'import'
    ? formatCount(edited, 'file written', 'files written')
    : formatCount(edited, 'file edited', 'files edited');
}

/** Whether there is a change, or a prompt that is blocked, failed or not attempted, unless the whole run failed. */
function hasWork(report: Report): boolean {
  const isAboutService = report.mode !== 'validate' && report.mode !== 'history' && !isAboutFiles(report);
  const hasSucceeded = isAboutService && !report.problems.some(isError) && !isNothingObserved(report);
  const { summary } = report;
  const { blocked, failed, not_attempted: notAttempted, baselines } = summary;
  return hasSucceeded && countChangedPrompts(report) + blocked + failed + notAttempted + baselines > 0;
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

/** Returns true for commands that only edit files. A rollback with a plan also changes the service. */
function isAboutFiles({ mode, plan_digest: digest }: Report): boolean {
  if (mode === 'rollback' && digest !== null) return false;
  return FILE_COMMANDS.some((command) => command === mode);
}

/** Returns true if the report describes what a run did in the service, rather than what it would do. */
function isApplied(report: Report): boolean {
  const hasRun = (prompt: ReportPrompt): boolean => prompt.status === 'applied' || isAfterRun(prompt, report);
  return report.mode === 'apply' || report.prompts.some(hasRun);
}

function renderEditOutcome(report: Report, colors: Colors): string {
  const parts = countFileWork(report)
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => formatCount(count, one, many));
  const hasFailures = report.prompts.some(({ status }) => status === 'blocked' || status === 'failed');
  if (parts.length === 0) return colors.green('nothing to do.');
  return (hasFailures ? colors.red : colors.bold)(`${parts.join(', ')}.`);
}

/** Returns sentences that tell the user what to do next. Empty if nothing is left to do. */
export function findNextSteps(report: Report): readonly string[] {
  if (report.next_steps !== undefined) return report.next_steps.map(escapeLine);
  const validPrompt = findValidPrompt(report);
  if (validPrompt !== undefined)
    return [`To continue with prompts whose files are valid, name them, such as ${escapeLine(validPrompt.key)}.`];
  const next = isAboutFiles(report) ? chooseNextStep(report) : null;
  return next === null ? [] : [next];
}

/** Returns a prompt that a command has not looked at because other files are invalid. Undefined if there is none. */
function findValidPrompt({ mode, prompts, problems }: Report): ReportPrompt | undefined {
  const errors = problems.filter(isError);
  const areOfFiles = errors.length > 0 && errors.every(({ code }) => /^(?:prompt|yaml)\//.test(code));
  return areOfFiles && mode !== 'validate' ? prompts.find(({ status }) => status === 'not_attempted') : undefined;
}

function chooseNextStep(report: Report): string | null {
  const { prompts, problems, mode, commit } = report;
  const hasConflicts = prompts.some(({ problems }) => problems.some(({ code }) => code === 'pull/conflict'));
  if (hasConflicts)
    return `Next: resolve the conflicts in the files, then ${commit === null ? `run ${SYNC_AFTER_COMMIT_STEP}` : 'commit them'}.`;
  const hasSucceeded = !problems.some(isError);
  if (hasSucceeded && prompts.some(({ status }) => status === 'applied')) return chooseStepAfterEdits(report);
  return isEveryPromptUnchanged(prompts) ? (UNCHANGED_NOTES[mode] ?? null) : null;
}

function chooseStepAfterEdits({ committed, commits = [], mode, commit }: Report): string {
  if (committed !== undefined) return describeStepAfterCommit(committed, commits);
  if (mode === 'import') return 'Next: commit the files, then run promptsync plan.';
  if (commit === null) return `Next: run promptsync plan, then ${SYNC_AFTER_COMMIT_STEP}.`;
  return 'Next: review the edits with git diff, commit them, run promptsync plan, and open a pull request.';
}

/** Returns true if a command had nothing to edit and nothing to warn about, because every file was as requested. */
function isEveryPromptUnchanged(prompts: Report['prompts']): boolean {
  return prompts.length > 0 && prompts.every(({ status, problems }) => status === 'unchanged' && problems.length === 0);
}

/** The next step if the files already have the requested pins. The service may still differ from the files. */
const ALREADY_PINNED_NOTE =
  'The files already have these pins. Next: commit any changes, then run promptsync plan to see whether they are live.';

/** The next step if every prompt is unchanged, by mode. The other modes have no next step. */
const UNCHANGED_NOTES: { readonly [Mode in Report['mode']]?: string } = {
  promote: ALREADY_PINNED_NOTE,
  rollback: ALREADY_PINNED_NOTE,
  import: 'These prompts already have files. To update the files, run promptsync pull.',
};

/** The next step if there is no commit. A sync requires a commit only in a git repository. */
const SYNC_AFTER_COMMIT_STEP = 'promptsync sync (in a git repository, commit first)';

/** If HEAD is detached, the user must create a branch, because the next checkout would leave the commit behind. */
function describeStepAfterCommit(
  { commit, branch, pull_request: pull }: NonNullable<Report['committed']>,
  commits: NonNullable<Report['commits']>,
): string {
  const committed = `Committed ${shortenCommitId(escapeLine(commit))}`;
  if (pull !== undefined) return `${committed} in pull request ${pull}. Next: review and merge it.`;
  const merge = commits.length > 1 ? ` ${MERGE_COMMIT_NOTE}` : '';
  if (branch === null)
    return `${committed} on no branch. Next: run git switch -c NAME, then push the branch and open a pull request.${merge}`;
  // `main` and `master` are usually the target of a pull request, so they cannot be its source.
  const request = ['main', 'master'].includes(branch) ? '' : ` and open a pull request.${merge}`;
  return `${committed} on ${escapeLine(branch)}. Next: push the branch${request || '.'}`;
}

const MERGE_COMMIT_NOTE = 'Merge it with a merge commit. A squash merge would lose the text in the earlier commits.';

/** Describes the commits that an import made or, on a dry run, would make. */
export function describeImportCommits({ commits = [] }: Report, show: ShowText): readonly string[] {
  return commits.map(({ commit, subject, paths }) => {
    const name = commit === null ? 'to commit' : `committed ${show(shortenCommitId(commit))}`;
    return `${name}: ${show(subject)} (${formatCount(paths.length, 'file')})`;
  });
}

type CountedNoun = readonly [count: number, one: string, many: string];

/** Counts files and prompts by their outcome, for example edited files and blocked prompts. */
function countFileWork({ prompts, mode, files = [] }: Report): readonly CountedNoun[] {
  const unchangedNote = mode === 'import' ? 'already here' : 'unchanged';
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
    [filterByStatus('unchanged').length + files.length - written, unchangedNote, unchangedNote],
  ];
}

/** Counts prompts, known versions, environments that do not serve the pinned version, and failed prompts. */
function renderHistoryOutcome(report: Report, colors: Colors): string {
  const { prompts } = report;
  const known = prompts.filter(hasHistory);
  const failed = prompts.length - known.length;
  const { service, environment } = getWords(report);
  if (known.length === 0) return colors.red(`promptsync could not read any prompts from ${service}.`);
  const versions = known.reduce((sum, { history }) => sum + (history?.versions.length ?? 0), 0);
  const differing = known.reduce((sum, prompt) => sum + listDifferingRows(prompt).length, 0);
  const parts = [
    countPrompts(known.length),
    ...(known.some(({ history }) => history) ? [formatCount(versions, 'known version')] : []),
    ...(differing === 0
      ? []
      : [formatCount(differing, `${environment} not as pinned`, `${environment}s not as pinned`)]),
    ...(failed === 0 ? [] : [formatCount(failed, 'prompt failed', 'prompts failed')]),
  ];
  return (failed + differing > 0 ? colors.yellow : colors.bold)(`${parts.join(', ')}.`);
}

/** Returns false if promptsync could not observe the prompt. */
export function hasHistory({ history, lineage }: ReportPrompt): boolean {
  return history !== undefined || lineage !== undefined;
}

/** Returns the rows that do not serve the pinned version. If the report is about one environment, only its row. */
export function listDifferingRows({ environments = [], lineage }: ReportPrompt): readonly ReportRow[] {
  return environments.filter(
    ({ environment, in_sync: inSync }) => !inSync && (lineage === undefined || lineage.environment === environment),
  );
}

/** Renders the service, the commit and the plan digest, which users pass to `--expect-plan`. */
function renderOriginLines({ service, commit, plan_digest: digest }: Report, style: OutputStyle): readonly string[] {
  const parts = [
    service === null ? [] : [renderWebLink(escapeLine(service), service, style)],
    commit === null ? [] : [`commit ${shortenCommitId(escapeLine(commit))}`],
    digest === null ? [] : [`plan ${shortenDigest(digest)}`],
  ];
  return fitLine(style.colors.dim(parts.flat().join(' · ')), style, 2);
}
