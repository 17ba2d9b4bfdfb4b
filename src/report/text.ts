import { isError } from '../problem.ts';
import { renderDiffs } from './diff-text.ts';
import { escapeLine } from './escape.ts';
import { isShared, renderProblem, sharedProblems } from './problems.ts';
import type { Report, ReportProblem, ReportPrompt } from './schema.ts';
import { fileLink, fitted, narrower, styleFor, type Colours, type Style, type StyleOptions } from './style.ts';
import { renderSummary } from './summary.ts';
import { breakingTexts, changeTexts, driftText, editKind, editText, followNote, statusNote } from './words.ts';

/** How the report is shown: in which style, and how much of it. */
export type TextOptions = StyleOptions & {
  /** Problems and the summary only: without changes and diffs, the matrix of a status, the versions of a history. */
  readonly quiet: boolean;
  /** Where a question has shown them already. */
  readonly withoutDiffs?: boolean | undefined;
};

/** The report for a person at a terminal or in a log. Ends with a line feed. Warnings are left out. */
export function renderText(report: Report, options: TextOptions): string {
  const style = styleFor(options);
  const shared = sharedProblems(report.prompts);
  const blocks = report.prompts
    .filter((prompt) => !isDull(prompt, options.quiet, shared))
    .map((prompt) => renderPrompt(prompt, report.mode, options, style, shared));
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
        return fitted(`${sign[status]} ${fileLink(escapeLine(path), path, style)}${note}`, style, 4);
      })
      .join('\n'),
  ];
}

function isDull(
  { changes, edits = [], problems, status }: ReportPrompt,
  quiet: boolean,
  shared: readonly ReportProblem[],
): boolean {
  if (problems.some((problem) => isError(problem) && !isShared(problem, shared))) return false;
  return quiet || changes.length + edits.length === 0 || status === 'unchanged';
}

function renderPrompt(
  prompt: ReportPrompt,
  mode: Report['mode'],
  { quiet, withoutDiffs = false }: TextOptions,
  style: Style,
  shared: readonly ReportProblem[],
): string {
  const own = prompt.problems.filter((problem) => isError(problem) && !isShared(problem, shared));
  const work = quiet ? [] : workLines(prompt, mode, style.colours).flatMap((line) => fitted(`  ${line}`, style, 4));
  const leavesNoDiff = prompt.status === 'failed' && prompt.edits === undefined;
  return [
    ...promptTitle(prompt, style, titleNote(prompt, style.colours)),
    ...work,
    ...(quiet || withoutDiffs || leavesNoDiff ? [] : diffLines(prompt, style)),
    ...own.map((problem) => renderProblem(problem, narrower(style, 2)).replace(/^/gm, '  ')),
  ].join('\n');
}

function titleNote({ status }: ReportPrompt, { red }: Colours): string {
  const stands = status === 'blocked' || status === 'failed' || status === 'not_attempted';
  return stands ? red(status.replace('_', ' ')) : '';
}

function workLines(prompt: ReportPrompt, mode: Report['mode'], colours: Colours): readonly string[] {
  const { green, yellow, red, cyan, magenta } = colours;
  const editSigns = { new: green('+'), changed: yellow('~'), conflict: red('!') };
  const changeSigns = { 'create-version': green('+'), 'update-prompt': yellow('~'), 'set-active': cyan('→') };
  const { drift, edits = [], changes } = prompt;
  return [
    ...drift.map((one) => `${magenta('!')} ${driftText(one, prompt, mode, escapeLine)}`),
    ...edits.map((edit) => `${editSigns[editKind(edit)]} ${editText(edit)}`),
    ...changes.flatMap((change) => {
      const became = statusNote(change);
      const note = `${followNote(change, changes)}${became && yellow(became)}`;
      return changeTexts(change).map((line) => `${changeSigns[change.kind]} ${line}${note}`);
    }),
    ...breakingTexts(prompt, escapeLine).map((one) => `${magenta('!')} ${one}`),
  ];
}

function diffLines(prompt: ReportPrompt, style: Style): readonly string[] {
  const lines = renderDiffs(prompt, narrower(style, 6), 'folded');
  return lines.map((line) => (line.trim() === '' ? '' : `      ${line}`));
}

/**
 * A prompt's key and file, and a note after them. The file of a prompt that could not be read is not known.
 * @param note may be coloured; empty: none
 */
export function promptTitle(
  { key, path }: Pick<ReportPrompt, 'key' | 'path'>,
  style: Style,
  note = '',
): readonly string[] {
  const { bold, dim } = style.colours;
  const file = path === '' ? [] : [fileLink(dim(escapeLine(path)), path, style)];
  const parts = [bold(escapeLine(key)), ...file, ...(note === '' ? [] : [note])];
  return fitted(parts.join('  '), style, 2);
}
