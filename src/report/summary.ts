import { FILE_MODES } from '../domain/edits.ts';
import { isError } from '../problem.ts';
import { type Colours, fitted, type Style, webLink } from './style.ts';
import { escapeLine } from './escape.ts';
import { isInterrupted } from './problems.ts';
import type { Report, ReportPrompt } from './schema.ts';
import { counted, type Part } from './words.ts';

/** The last lines of a report: what would be done, was done, or that there is nothing to do; and with what. */
export function renderSummary(report: Report, style: Style): string {
  const { colours } = style;
  const next = isAboutFiles(report) ? nextStep(report) : null;
  const more = next !== null ? fitted(colours.dim(next), style, 2) : hasWork(report) ? originLines(report, style) : [];
  return [...fitted(renderOutcome(report, colours), style, 2), ...more].join('\n');
}

/** In one line of our own words and numbers: what would be done, was done, or that there is nothing to do. */
export function renderOutcome(report: Report, colours: Colours): string {
  const errors = report.problems.filter(isError).length;
  if (errors > 0) {
    // What only looks at files writes nothing anyway.
    const rest = report.mode === 'validate' ? '' : `; ${written(report)}`;
    return colours.red(`${counted([errors, 'error', 'errors'])}${rest}.`);
  }
  const interrupted = isInterrupted(report) ? `${colours.red('Interrupted.')} ` : '';
  if (isAboutFiles(report)) return `${interrupted}${editOutcome(report, colours)}`;
  if (report.mode === 'validate') return colours.green(`${prompts(report.summary.prompts)} valid.`);
  if (report.mode === 'history') return historyOutcome(report, colours);
  if (noneObserved(report)) {
    return `${interrupted}${colours.red('No prompt could be observed; nothing was written.')}`;
  }
  return `${interrupted}${workOutcome(report, colours)}`;
}

function workOutcome(report: Report, colours: Colours): string {
  const { mode, summary } = report;
  const { done, work } = workOf(report);
  const left = present([[summary.not_looked_at ?? 0, 'not looked at']]);
  if (work.length === 0) {
    return colours.green(`nothing to do: ${[`${prompts(summary.unchanged)} in sync`, ...left].join(', ')}.`);
  }
  const unchanged = [...present([[summary.unchanged, 'unchanged']]), ...left];
  const title = mode !== 'apply' ? 'Plan' : done.length > 0 ? 'Applied' : 'Nothing applied';
  return `${colours.bold(title)}: ${[...work, ...unchanged].join(', ')}.${driftNote(report)}`;
}

/** What somebody did in the service, and a sync would undo, is not among what the numbers make one think of. */
function driftNote({ mode, prompts: all }: Report): string {
  const drifted = all.filter(({ drift }) => drift.some(({ kind }) => kind === 'outside')).length;
  return mode === 'apply' || drifted === 0 ? '' : ` ${counted([drifted, 'prompt has', 'prompts have'])} drifted.`;
}

/** A commit may fail when the files are edited already. */
function written({ prompts }: Report): string {
  const edited = prompts.filter(({ status }) => status === 'applied').length;
  return edited === 0 ? 'nothing was written' : counted([edited, 'file edited', 'files edited']);
}

function hasWork(report: Report): boolean {
  const about = report.mode !== 'validate' && report.mode !== 'history' && !isAboutFiles(report);
  const ran = about && !report.problems.some(isError) && !noneObserved(report);
  return ran && workOf(report).work.length > 0;
}

function workOf({ mode, summary }: Report) {
  const applied = mode === 'apply';
  const done = present([
    [summary.create_version, applied ? 'created' : 'to create'],
    [summary.update_prompt, applied ? 'updated' : 'to update'],
    [summary.set_active, applied ? 'activated' : 'to activate'],
  ]);
  const rest = present([
    [summary.blocked, 'blocked'],
    [summary.failed, 'failed'],
    [summary.not_attempted, 'not attempted'],
  ]);
  return { done, work: [...done, ...rest] };
}

export function isPlanned({ plan_digest: digest, prompts }: Report): boolean {
  return digest !== null && prompts.length > 0;
}

function noneObserved(report: Report): boolean {
  return !isPlanned(report) && report.prompts.some(({ status }) => status === 'failed' || status === 'not_attempted');
}

function present(parts: readonly (readonly [count: number, what: string])[]): readonly string[] {
  return parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

function prompts(count: number): string {
  return counted([count, 'prompt', 'prompts']);
}

export function isAboutFiles({ mode }: Report): boolean {
  return FILE_MODES.some((one) => one === mode);
}

/** In one line: what was done to the files, or would be. */
function editOutcome(report: Report, colours: Colours): string {
  const parts = fileWorkOf(report)
    .filter(([count]) => count > 0)
    .map(counted);
  const refused = report.prompts.some(({ status }) => status === 'blocked' || status === 'failed');
  if (parts.length === 0) return colours.green('nothing to do.');
  return (refused ? colours.red : colours.bold)(`${parts.join(', ')}.`);
}

/** What somebody who has edited files does next; null where nothing was edited. */
export function nextStep({ prompts, problems, files = [], committed, mode, commit }: Report): string | null {
  const conflicts = prompts.some(({ problems }) => problems.some(({ code }) => code === 'pull/conflict'));
  if (conflicts)
    return `Next: resolve the conflicts in the files, then ${commit === null ? WITHOUT_COMMITS : 'commit them'}.`;
  const isDone = !problems.some(isError);
  const edited = prompts.filter(({ status }) => status === 'applied' && isDone).length + files.length;
  if (edited === 0) return isPinnedSo(mode, prompts) ? PINNED_SO : null;
  if (mode === 'init' && files.some(isNewWorkflow)) {
    return 'Next: promptsync plan; put the commit of promptsync that you trust into the files of CI; commit the files.';
  }
  if (mode === 'init' || mode === 'import') return 'Next: promptsync plan, then commit the files.';
  if (committed !== undefined) return stepAfterCommit(committed);
  if (commit === null) return `Next: promptsync plan, then ${WITHOUT_COMMITS}.`;
  return 'Next: read it with git diff, commit it, and open a pull request.';
}

function isPinnedSo(mode: Report['mode'], prompts: Report['prompts']): boolean {
  const pins = mode === 'promote' || mode === 'rollback';
  return pins && prompts.length > 0 && prompts.every(({ status }) => status === 'unchanged');
}

/** The file may be right while the service is not. */
const PINNED_SO = 'The file has that pin already. Next: promptsync plan tells whether a sync is due.';

/** A report without a commit is of a folder outside of git, or of a repository that has none yet: a sync wants one there. */
const WITHOUT_COMMITS = 'promptsync sync (in a git repository after a commit)';

/** Where no branch is checked out there is nothing to push, and the next checkout would leave the commit behind. */
function stepAfterCommit({ commit, branch, pull_request: pull }: NonNullable<Report['committed']>): string {
  const made = `Committed ${escapeLine(commit).slice(0, 12)}`;
  if (pull !== undefined) return `${made} in pull request ${pull}. Next: review and merge it.`;
  if (branch === null) return `${made} on no branch. Next: git switch -c NAME, then push it and open a pull request.`;
  // Nobody opens a pull request from the branch that it would go to.
  const request = ['main', 'master'].includes(branch) ? '' : ' and open a pull request';
  return `${made} on ${escapeLine(branch)}. Next: push it${request}.`;
}

function fileWorkOf({ prompts, files = [] }: Report): readonly Part[] {
  const having = (...statuses: readonly string[]) => prompts.filter(({ status }) => statuses.includes(status));
  const creating = (status: string) =>
    having(status).filter(({ edits = [] }) => edits.some(({ kind }) => kind === 'create-file')).length;
  const [created, toCreate] = [creating('applied'), creating('pending')];
  const written = files.filter(({ status }) => status !== 'kept').length;
  return [
    [created + written, 'file written', 'files written'],
    [having('applied').length - created, 'file edited', 'files edited'],
    [toCreate, 'file to write', 'files to write'],
    [having('pending').length - toCreate, 'file to edit', 'files to edit'],
    [having('blocked').length, 'prompt blocked', 'prompts blocked'],
    [having('failed').length, 'prompt failed', 'prompts failed'],
    [having('unchanged').length + files.length - written, 'unchanged', 'unchanged'],
  ];
}

/** The workflows come with a commit of zeros, which nobody has reviewed. */
function isNewWorkflow({ path, status }: NonNullable<Report['files']>[number]): boolean {
  return status === 'created' && /\.git(?:hub\/workflows|lab)\//.test(path);
}

/** In one line: how much is known, and whether the service differs from the files. */
function historyOutcome({ prompts: all }: Report, colours: Colours): string {
  const known = all.filter(hasHistory);
  const failed = all.length - known.length;
  if (known.length === 0) return colours.red('No prompt could be observed.');
  const versions = known.reduce((sum, { history }) => sum + (history?.versions.length ?? 0), 0);
  const differing = known.reduce((sum, prompt) => sum + differingRows(prompt).length, 0);
  const parts = [
    prompts(known.length),
    ...(known.some(({ history }) => history) ? [counted([versions, 'known version', 'known versions'])] : []),
    ...(differing === 0 ? [] : [counted([differing, 'environment not as pinned', 'environments not as pinned'])]),
    ...(failed === 0 ? [] : [counted([failed, 'prompt failed', 'prompts failed'])]),
  ];
  return (failed + differing > 0 ? colours.yellow : colours.bold)(`${parts.join(', ')}.`);
}

/** A prompt that was not observed has none. */
export function hasHistory({ history, lineage }: ReportPrompt): boolean {
  return history !== undefined || lineage !== undefined;
}

/** The environments, of those that are reported, that serve something else than the file's pin means. */
export function differingRows({ environments = [], lineage }: ReportPrompt) {
  return environments.filter(
    ({ environment, in_sync: inSync }) => !inSync && (lineage === undefined || lineage.environment === environment),
  );
}

/** What a plan was made from and what it is called: service, commit, digest. The digest is what `--expect-plan` takes. */
function originLines({ service, commit, plan_digest: digest }: Report, style: Style): readonly string[] {
  const parts = [
    service === null ? [] : [webLink(escapeLine(service), service, style)],
    commit === null ? [] : [`commit ${escapeLine(commit).slice(0, 12)}`],
    digest === null ? [] : [`plan ${digest}`],
  ];
  return fitted(style.colours.dim(parts.flat().join(' · ')), style, 2);
}
