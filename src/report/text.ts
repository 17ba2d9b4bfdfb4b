import { isError } from '../problem.ts';
import { renderDiffs } from './diff-text.ts';
import { escapeLine } from './escape.ts';
import { isShared, renderProblem, sharedProblems } from './problems.ts';
import type { Report, ReportPrompt } from './schema.ts';
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
  const blocks = report.prompts.flatMap((prompt) => {
    const own = prompt.problems.filter((problem) => isError(problem) && !isShared(problem, shared));
    if (own.length === 0 && (options.quiet || isDull(prompt))) return [];
    return renderPrompt({ ...prompt, problems: own }, report.mode, options, style);
  });
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

function isDull({ changes, edits = [], status }: ReportPrompt): boolean {
  return changes.length + edits.length === 0 || status === 'unchanged';
}

/** @param prompt with the problems that are shown of it */
function renderPrompt(prompt: ReportPrompt, mode: Report['mode'], options: TextOptions, style: Style): string {
  const { quiet, withoutDiffs = false } = options;
  const work = quiet ? [] : workLines(prompt, mode, style.colours).flatMap((line) => fitted(`  ${line}`, style, 4));
  const leavesNoDiff = prompt.status === 'failed' && prompt.edits === undefined;
  return [
    ...promptTitle(prompt, style, titleNote(prompt, style.colours)),
    ...work,
    ...(quiet || withoutDiffs || leavesNoDiff ? [] : diffLines(prompt, style)),
    ...prompt.problems.map((problem) => renderProblem(problem, narrower(style, 2)).replace(/^/gm, '  ')),
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
