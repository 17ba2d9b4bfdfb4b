import { isError } from '../problem.ts';
import type { Colours } from './colours.ts';
import { counted } from './counted.ts';
import { editOutcome, isAboutFiles, nextStep } from './edit-summary.ts';
import { historyOutcome } from './history-summary.ts';
import { originLines } from './origin.ts';
import { isInterrupted } from './problems-in.ts';
import type { Report } from './schema.ts';
import { fitted, type Style } from './style.ts';

type Summary = Report['summary'];

/** The last lines of a report: what would be done, was done, or that there is nothing to do; and with what. */
export function renderSummary(report: Report, style: Style): string {
  const { colours } = style;
  const next = isAboutFiles(report) ? nextStep(report) : null;
  const more =
    next !== null ? fitted(colours.dim(next), style, 2) : tellsWork(report) ? originLines(report, style) : [];
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
  const left = notLookedAt(summary);
  if (work.length === 0) {
    return colours.green(`nothing to do: ${[`${prompts(summary.unchanged)} in sync`, ...left].join(', ')}.`);
  }
  const unchanged = [...(summary.unchanged > 0 ? [`${summary.unchanged} unchanged`] : []), ...left];
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

function notLookedAt({ not_looked_at: count = 0 }: Summary): readonly string[] {
  return count > 0 ? [`${count} not looked at`] : [];
}

function tellsWork(report: Report): boolean {
  const about = report.mode !== 'validate' && report.mode !== 'history' && !isAboutFiles(report);
  const ran = about && !report.problems.some(isError) && !noneObserved(report);
  return ran && workOf(report).work.length > 0;
}

function workOf({ mode, summary }: Report) {
  const done = mode === 'apply' ? doneParts(summary) : plannedParts(summary);
  return { done, work: [...done, ...restParts(summary)] };
}

/** Whether there are prompts with a plan. */
export function isPlanned({ plan_digest: digest, prompts }: Report): boolean {
  return digest !== null && prompts.length > 0;
}

function noneObserved(report: Report): boolean {
  return !isPlanned(report) && report.prompts.some(({ status }) => status === 'failed' || status === 'not_attempted');
}

function plannedParts(summary: Summary): readonly string[] {
  return present([
    [summary.create_version, 'to create'],
    [summary.update_prompt, 'to update'],
    [summary.set_active, 'to activate'],
  ]);
}

function doneParts(summary: Summary): readonly string[] {
  return present([
    [summary.create_version, 'created'],
    [summary.update_prompt, 'updated'],
    [summary.set_active, 'activated'],
  ]);
}

function restParts(summary: Summary): readonly string[] {
  return present([
    [summary.blocked, 'blocked'],
    [summary.failed, 'failed'],
    [summary.not_attempted, 'not attempted'],
  ]);
}

function present(parts: readonly (readonly [count: number, what: string])[]): readonly string[] {
  return parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
}

function prompts(count: number): string {
  return counted([count, 'prompt', 'prompts']);
}
