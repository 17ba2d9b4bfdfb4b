import { escapeLine } from './escape.ts';
import { fileLink, fitted, narrower, type Style } from './style.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';

/**
 * All problems of a report: those of the run, then those of each prompt. One that has no place of its own says by the
 * prompt's file whose it is. That says nothing where it is clear anyway, and where the run was interrupted. What says the
 * same is there once.
 */
export function problemsIn({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): readonly ReportProblem[] {
  const shared = sharedProblems(prompts);
  const placed = (problem: ReportProblem, prompt: ReportPrompt): ReportProblem => {
    const clear = problem.path !== undefined || prompt.path === '' || isShared(problem, shared);
    const ofRun = INTERRUPTIONS.includes(problem.code);
    return clear || ofRun ? problem : { ...problem, path: prompt.path };
  };
  const all = [...problems, ...prompts.flatMap((prompt) => prompt.problems.map((problem) => placed(problem, prompt)))];
  return [...new Map(all.map((problem) => [`${placeText(problem)} ${nameOf(problem)}`, problem])).values()];
}

/** A problem that many prompts have is shown once, where it is clear which they are: all, or those with changes. */
export function sharedProblems(prompts: readonly ReportPrompt[]): readonly ReportProblem[] {
  const groups = Map.groupBy(
    prompts.flatMap(({ problems, changes }) => problems.map((problem) => ({ problem, named: changes.length > 0 }))),
    ({ problem }) => nameOf(problem),
  );
  const changing = prompts.filter(({ changes }) => changes.length > 0).length;
  return [...groups.values()]
    .filter((group) => group.length > 1 && group.every(({ problem }) => problem.path === undefined))
    .filter((group) => [prompts.length, group.every(({ named }) => named) ? changing : 0].includes(group.length))
    .flatMap((group) => group.slice(0, 1).map(({ problem }) => problem));
}

export function isShared(problem: ReportProblem, shared: readonly ReportProblem[]): boolean {
  return shared.some((one) => nameOf(one) === nameOf(problem));
}

/** Equal for problems that say the same, whosever they are. */
function nameOf({ code, message }: ReportProblem): string {
  return `${code} ${message}`;
}

/** Whether the run was interrupted. A signal that came when all was done has left no trace, and there is nothing to go on with. */
export function isInterrupted({ problems, prompts }: Pick<Report, 'problems' | 'prompts'>): boolean {
  return [{ problems }, ...prompts].some((one) => one.problems.some(({ code }) => INTERRUPTIONS.includes(code)));
}

/** What a whole report stands on: it comes first. */
export const NOT_ASKED: ReportProblem['code'] = 'service/not-asked';

const INTERRUPTIONS: readonly ReportProblem['code'][] = ['apply/interrupted', 'usage/cancelled'];

/** A problem in two lines: where and what, then what to do. Without a final line feed. */
export function renderProblem(problem: ReportProblem, style: Style): string {
  const { red, yellow, dim } = style.colours;
  const severity = problem.severity === 'error' ? red('error') : yellow('warning');
  const what = `${severity}: ${escapeLine(problem.message)} ${dim(`[${problem.code}]`)}`;
  const place = escapeLine(placeText(problem));
  const where = place === '' ? '' : `${fileLink(place, problem.path, style)}: `;
  const hint = hintRows(escapeLine(problem.hint), narrower(style, 2));
  return [...fitted(`${where}${what}`, style, 4), ...hint.map((line) => `  ${line}`)].join('\n');
}

/** A command to run is to be copied: it has a row of its own, which only the terminal itself breaks. */
function hintRows(hint: string, style: Style): readonly string[] {
  const { screen } = style;
  const parts = /^(.* run:) (promptsync .*)$/.exec(hint);
  if (parts === null || screen === null || screen.width(hint) <= screen.columns) return fitted(hint, style, 0);
  const [, before = '', command = ''] = parts;
  return [...fitted(before, style, 0), command];
}

/** `prompts/a.md:3:7`, or what of it is known. */
export function placeText({ path, line, column }: ReportProblem): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}

/** All errors of a report, or all warnings. Each ends with a line feed. */
export function renderProblems(report: Report, severity: ReportProblem['severity'], style: Style): readonly string[] {
  const some = problemsIn(report).filter((one) => one.severity === severity);
  return some.map((one) => `${renderProblem(one, style)}\n`);
}
