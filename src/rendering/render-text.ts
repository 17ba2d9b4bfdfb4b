import { isError } from '../problem.ts';
import type { Report, ReportChange, ReportProblem, ReportPrompt } from '../schemas/report.ts';
import { breakingText, findBreaking } from './breaking.ts';
import { coloursFor, type Colours } from './colours.ts';
import { inertLine } from './inert.ts';
import { promptTitle } from './prompt-title.ts';
import { renderChange } from './render-change.ts';
import { renderDiffs } from './render-diff.ts';
import { renderDrift } from './render-drift.ts';
import { renderEdit } from './render-edit.ts';
import { renderProblem } from './render-problem.ts';
import { renderSummary } from './render-summary.ts';
import type { Texts } from '../domain/texts.ts';

export type TextOptions = {
  readonly colour: boolean;
  /** Without the changes of each prompt and their diffs: problems and the summary only. */
  readonly quiet: boolean;
  readonly texts: Texts;
};

/** The report for a person at a terminal or in a log. Ends with a line feed. Warnings are left out. */
export function renderText(report: Report, options: TextOptions): string {
  const colours = coloursFor(options.colour);
  const shared = sharedProblems(report.prompts);
  const blocks = report.prompts
    .filter((prompt) => !isDull(prompt, options.quiet, shared))
    .map((prompt) => renderPrompt(prompt, options, colours, shared));
  const errors = [...report.problems, ...shared].filter(isError);
  const files = options.quiet ? [] : filesBlock(report, colours);
  return [...files, ...blocks, ...errors.map((one) => renderProblem(one, colours)), renderSummary(report, colours)]
    .map((block) => `${block}\n`)
    .join('\n');
}

function filesBlock({ files = [] }: Report, colours: Colours): readonly string[] {
  if (files.length === 0) return [];
  const sign = {
    created: colours.green('+'),
    overwritten: colours.yellow('~'),
    extended: colours.yellow('~'),
    kept: ' ',
  };
  return [
    files
      .map(({ path, status }) => `${sign[status]} ${inertLine(path)}${status === 'created' ? '' : ` (${status})`}`)
      .join('\n'),
  ];
}

/** A problem that many prompts have is shown once, where it is clear which they are: all, or those with changes. */
function sharedProblems(prompts: readonly ReportPrompt[]): readonly ReportProblem[] {
  const groups = Map.groupBy(
    prompts.flatMap(({ problems, changes }) => problems.map((problem) => ({ problem, named: changes.length > 0 }))),
    ({ problem: { code, message } }) => `${code} ${message}`,
  );
  return [...groups.values()]
    .filter((group) => group.length > 1 && group.every(({ problem }) => problem.path === undefined))
    .filter((group) => group.length === prompts.length || group.every(({ named }) => named))
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

function isShared({ code, message }: ReportProblem, shared: readonly ReportProblem[]): boolean {
  return shared.some((problem) => problem.code === code && problem.message === message);
}

function renderPrompt(
  prompt: ReportPrompt,
  { texts, quiet }: TextOptions,
  colours: Colours,
  shared: readonly ReportProblem[],
): string {
  const own = prompt.problems.filter((problem) => isError(problem) && !isShared(problem, shared));
  const failed = prompt.status === 'failed' && prompt.edits === undefined;
  const diffs = quiet || failed ? [] : renderDiffs(texts.get(prompt.id) ?? [], colours);
  return [
    titleOf(prompt, colours),
    ...(quiet ? [] : prompt.drift.flatMap((drift) => renderDrift(drift, colours).map((line) => `  ${line}`))),
    ...(quiet ? [] : (prompt.edits ?? []).map((edit) => `  ${renderEdit(edit, colours)}`)),
    ...(quiet ? [] : prompt.changes.flatMap((change) => changeLines(change, prompt.changes, colours))),
    ...(quiet ? [] : breakingLines(prompt, texts, colours)),
    ...diffs.map((line) => (line.trim() === '' ? '' : `      ${line}`)),
    ...own.map((problem) => indent(renderProblem(problem, colours))),
  ].join('\n');
}

function breakingLines(prompt: ReportPrompt, texts: Texts, colours: Colours): readonly string[] {
  const breaking = findBreaking(prompt, texts.get(prompt.id) ?? []);
  return breaking.map((one) => `  ${colours.magenta('!')} ${breakingText(one, inertLine)}`);
}

function titleOf(prompt: ReportPrompt, colours: Colours): string {
  const title = promptTitle(prompt, colours);
  const { status } = prompt;
  return status === 'blocked' || status === 'failed' || status === 'not_attempted'
    ? `${title}  ${colours.red(status.replace('_', ' '))}`
    : title;
}

function changeLines(change: ReportChange, all: readonly ReportChange[], colours: Colours): readonly string[] {
  return renderChange(change, all, colours).map((line) => `  ${line}`);
}

function indent(text: string): string {
  return text.replace(/^/gm, '  ');
}
