import type { TextChange, Texts } from '../domain/text-changes.ts';
import { isError } from '../problem.ts';
import { breakingText, findBreaking } from './breaking.ts';
import type { Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { fileLink } from './links.ts';
import { nameOf } from './problems-in.ts';
import { promptTitle } from './prompt-title.ts';
import { renderChange } from './render-change.ts';
import { renderDiffs } from './render-diff.ts';
import { renderDrift } from './render-drift.ts';
import { renderEdit } from './render-edit.ts';
import { renderProblem } from './render-problem.ts';
import { renderSummary } from './render-summary.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';
import { fitted, narrower, type Style, styleFor, type StyleOptions } from './style.ts';

/** How the report is shown: in which style, how much of it, and with which texts in its diffs. */
export type TextOptions = StyleOptions & {
  /** Without the changes of each prompt and their diffs: problems and the summary only. */
  readonly quiet: boolean;
  readonly texts: Texts;
};

/** The report for a person at a terminal or in a log. Ends with a line feed. Warnings are left out. */
export function renderText(report: Report, options: TextOptions): string {
  const style = styleFor(options);
  const shared = sharedProblems(report.prompts);
  const blocks = report.prompts
    .filter((prompt) => !isDull(prompt, options.quiet, shared))
    .map((prompt) => renderPrompt(prompt, options, style, shared));
  const errors = [...report.problems, ...shared].filter(isError);
  const files = options.quiet ? [] : filesBlock(report, style);
  return [...files, ...blocks, ...errors.map((one) => renderProblem(one, style)), renderSummary(report, style)]
    .map((block) => `${block}\n`)
    .join('\n');
}

function filesBlock({ files = [] }: Report, style: Style): readonly string[] {
  if (files.length === 0) return [];
  const { green, yellow } = style.colours;
  const sign = { created: green('+'), overwritten: yellow('~'), extended: yellow('~'), kept: ' ' };
  return [
    files
      .flatMap(({ path, status }) => {
        const note = status === 'created' ? '' : ` (${status})`;
        return fitted(`${sign[status]} ${fileLink(inertLine(path), path, style)}${note}`, style, 4);
      })
      .join('\n'),
  ];
}

/** A problem that many prompts have is shown once, where it is clear which they are: all, or those with changes. */
function sharedProblems(prompts: readonly ReportPrompt[]): readonly ReportProblem[] {
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

function isDull(
  { changes, edits = [], problems, status }: ReportPrompt,
  quiet: boolean,
  shared: readonly ReportProblem[],
): boolean {
  if (problems.some((problem) => isError(problem) && !isShared(problem, shared))) return false;
  return quiet || changes.length + edits.length === 0 || status === 'unchanged';
}

function isShared(problem: ReportProblem, shared: readonly ReportProblem[]): boolean {
  return shared.some((one) => nameOf(one) === nameOf(problem));
}

function renderPrompt(
  prompt: ReportPrompt,
  options: TextOptions,
  style: Style,
  shared: readonly ReportProblem[],
): string {
  const { texts, quiet } = options;
  const own = prompt.problems.filter((problem) => isError(problem) && !isShared(problem, shared));
  return [
    ...titleOf(prompt, style),
    ...(quiet ? [] : workLines(prompt, texts, style.colours).flatMap((line) => fitted(`  ${line}`, style, 4))),
    ...(quiet || leavesNoDiff(prompt) ? [] : diffLines(texts.get(prompt.id) ?? [], style)),
    ...own.map((problem) => indent(renderProblem(problem, narrower(style, 2)))),
  ].join('\n');
}

function titleOf(prompt: ReportPrompt, style: Style): readonly string[] {
  const { status } = prompt;
  const tells = status === 'blocked' || status === 'failed' || status === 'not_attempted';
  return promptTitle(prompt, style, tells ? style.colours.red(status.replace('_', ' ')) : '');
}

function workLines(prompt: ReportPrompt, texts: Texts, colours: Colours): readonly string[] {
  const breaking = findBreaking(prompt, texts.get(prompt.id) ?? []);
  return [
    ...prompt.drift.flatMap((drift) => renderDrift(drift, colours)),
    ...(prompt.edits ?? []).map((edit) => renderEdit(edit, colours)),
    ...prompt.changes.flatMap((change) => renderChange(change, prompt.changes, colours)),
    ...breaking.map((one) => `${colours.magenta('!')} ${breakingText(one, inertLine)}`),
  ];
}

function leavesNoDiff({ status, edits }: ReportPrompt): boolean {
  return status === 'failed' && edits === undefined;
}

/** On a narrow terminal the text needs the room more than the eye needs the step. */
function diffLines(changes: readonly TextChange[], style: Style): readonly string[] {
  const step = style.screen !== null && style.screen.columns < 60 ? 2 : 6;
  const lines = renderDiffs(changes, narrower(style, step), 'folded');
  return lines.map((line) => (line.trim() === '' ? '' : `${' '.repeat(step)}${line}`));
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
