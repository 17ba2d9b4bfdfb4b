import { describeBaselines, listBaselinePrompts, omitListedBaseline } from '../describe-baselines.ts';
import { describeNewPin } from '../describe-changes.ts';
import { describeStatus } from '../describe-report.ts';
import { renderDiffs } from './render-diff.ts';
import { type EntryKind, LABELS, listEntries } from '../change-entries.ts';
import { escapeLine } from '../escape.ts';
import { divideErrors, renderProblem, renderProblemGroup } from '../problem-list.ts';
import type { Report, ReportPrompt } from '../schema/report-schema.ts';
import {
  type Colors,
  renderFileLink,
  renderWebLink,
  fitLine,
  layOutTable,
  narrowStyle,
  makeOutputStyle,
  type OutputStyle,
  type OutputStyleOptions,
} from '../output-style.ts';
import { renderSummary } from './summary.ts';
import { formatCount } from '../../text.ts';

export type TextOptions = OutputStyleOptions & {
  /** Whether to show only problems and the summary, without changes, diffs, status tables and histories. */
  readonly quiet: boolean;
  /** Whether to omit diffs, for example because promptsync already showed them before asking for confirmation. */
  readonly withoutDiffs?: boolean | undefined;
};

/** Renders the report for a terminal or a log, without warnings. The text ends with a line feed. */
export function renderText(report: Report, options: TextOptions): string {
  const style = makeOutputStyle(options);
  const { quiet } = options;
  const baselinePrompts = listBaselinePrompts(report);
  const errors = divideErrors(report);
  const prompts = report.prompts.map((prompt) => {
    return { ...omitListedBaseline(prompt, baselinePrompts), problems: errors.ofPrompts.get(prompt) ?? [] };
  });
  const newFiles = listNewFiles(prompts);
  const blocks = prompts.flatMap((prompt) => {
    const isHidden = quiet || hasNothingToShow(prompt) || newFiles.includes(prompt);
    return isHidden && prompt.problems.length === 0 ? [] : renderPrompt(prompt, report, options, style);
  });
  return [
    ...(quiet ? [] : renderFiles(report, style)),
    ...(quiet ? [] : renderNewFiles(newFiles, style)),
    ...blocks,
    ...(quiet ? [] : renderBaselines(baselinePrompts, report.mode, style)),
    ...errors.others.map((group) => renderProblemGroup(group, style)),
    renderSummary(report, style, quiet),
  ]
    .map((block) => `${block}\n`)
    .join('\n');
}

function renderFiles({ files = [] }: Report, style: OutputStyle): readonly string[] {
  if (files.length === 0) return [];
  const { green, yellow } = style.colors;
  const sign = { created: green('+'), overwritten: yellow('~'), extended: yellow('~'), kept: ' ' };
  return [
    files
      .flatMap(({ path, status }) => {
        const note = status === 'created' ? '' : ` (${status})`;
        return fitLine(`${sign[status]} ${renderFileLink(escapeLine(path), path, style)}${note}`, style, 4);
      })
      .join('\n'),
  ];
}

/** The maximum number of new prompt files that get a block each. If there are more, each of them gets a line. */
const MAX_NEW_FILE_BLOCKS = 3;

/** Returns the prompts that get a line each, because a command made many new prompt files. */
function listNewFiles(prompts: readonly ReportPrompt[]): readonly ReportPrompt[] {
  const isNewFile = ({ edits = [], problems, drift }: ReportPrompt): boolean =>
    edits.some(({ kind }) => kind === 'create-file') &&
    edits.every((edit) => edit.kind === 'create-file' || (edit.kind === 'set-pin' && edit.serves === undefined)) &&
    problems.length + drift.length === 0;
  const newFiles = prompts.filter(isNewFile);
  return newFiles.length > MAX_NEW_FILE_BLOCKS ? newFiles : [];
}

function renderNewFiles(prompts: readonly ReportPrompt[], style: OutputStyle): readonly string[] {
  if (prompts.length === 0) return [];
  const { green, dim } = style.colors;
  const rows = prompts.map(({ path, edits = [] }) => {
    const pins = edits.flatMap((edit) => (edit.kind === 'set-pin' ? [describeNewPin(edit)] : []));
    const paintFile = (text: string): string => renderFileLink(text, path, style);
    return [
      { text: '+', paint: green },
      { text: escapeLine(path), paint: paintFile },
      { text: pins.join(', '), paint: dim },
    ];
  });
  const lines = layOutTable(rows).flatMap((line) => fitLine(line.trimEnd(), style, 4));
  return [lines.join('\n')];
}

/** The maximum number of names in one line on a terminal. A log or a file shows all names. */
const MAX_NAMES = 10;

function renderBaselines(
  prompts: readonly ReportPrompt[],
  mode: Report['mode'],
  style: OutputStyle,
): readonly string[] {
  if (prompts.length === 0) return [];
  const names = prompts.map(({ key, path }) => renderFileLink(escapeLine(key), path, style));
  const line = describeBaselines(names, mode, style.screen === null ? Infinity : MAX_NAMES);
  return [fitLine(`${style.colors.green('+')} ${line}`, style, 4).join('\n')];
}

function hasNothingToShow({ changes, edits = [], status }: ReportPrompt): boolean {
  return changes.length + edits.length === 0 || status === 'unchanged';
}

/** Renders one prompt as a block. The problems of `prompt` must be only those that the block should show. */
function renderPrompt(prompt: ReportPrompt, report: Report, options: TextOptions, style: OutputStyle): string {
  const { quiet, withoutDiffs = false } = options;
  const { status } = prompt;
  const isNotDone = status === 'blocked' || status === 'failed' || status === 'not_attempted';
  return [
    ...renderPromptTitle(prompt, style, isNotDone ? style.colors.red(describeStatus(status)) : ''),
    ...(quiet ? [] : renderEntries(prompt, report, style)),
    ...(quiet || withoutDiffs ? [] : renderPromptDiffs(prompt, style)),
    ...prompt.problems.map((problem) => renderProblem(problem, narrowStyle(style, 2)).replace(/^/gm, '  ')),
  ].join('\n');
}

function renderEntries(prompt: ReportPrompt, report: Report, style: OutputStyle): readonly string[] {
  return listEntries(prompt, report, escapeLine).flatMap((entry) => {
    const [sign, paint] = SIGNS[entry.kind];
    const label = LABELS[entry.kind] ?? '';
    return [
      ...fitLine(`  ${style.colors[paint](sign)} ${label}${entry.text}`, style, 4),
      ...renderCommands(entry.commands, style),
      ...renderKeptLines(entry.metadata, style),
    ];
  });
}

/** The sign at the start of an entry, and its color. */
const SIGNS = {
  drift: ['!', 'magenta'],
  addition: ['+', 'green'],
  edit: ['~', 'yellow'],
  conflict: ['!', 'red'],
  'create-version': ['+', 'green'],
  'update-prompt': ['~', 'yellow'],
  'set-active': ['→', 'cyan'],
  messages: ['~', 'yellow'],
  waiting: ['↑', 'cyan'],
  breaking: ['!', 'magenta'],
  unused: ['!', 'magenta'],
  affected: ['!', 'magenta'],
} as const satisfies Record<EntryKind, readonly [sign: string, paint: keyof Colors]>;

/** Renders the commands below an entry, on one line if they fit. */
function renderCommands(commands: readonly string[], style: OutputStyle): readonly string[] {
  const { screen } = style;
  const line = commands.join('    ');
  const isWide = screen !== null && screen.width(line) + 4 > screen.columns;
  const rows = isWide || commands.length === 0 ? commands : [line];
  return rows.flatMap((row) => fitLine(`    ${row}`, style, 6));
}

/** The maximum number of lines of kept metadata in text output. The HTML page shows all lines. */
const MAX_METADATA_LINES = 20;

function renderKeptLines(lines: readonly string[], style: OutputStyle): readonly string[] {
  const omittedCount = lines.length - MAX_METADATA_LINES;
  const more = `… ${formatCount(omittedCount, 'more line')} (--format html shows all)`;
  const shown = [
    ...lines.slice(0, MAX_METADATA_LINES).map(escapeLine),
    ...(omittedCount > 0 ? [style.colors.dim(more)] : []),
  ];
  return shown.flatMap((line) => fitLine(line, narrowStyle(style, 6), 2)).map((line) => `      ${line}`);
}

function renderPromptDiffs(prompt: ReportPrompt, style: OutputStyle): readonly string[] {
  const lines = renderDiffs(prompt, narrowStyle(style, 6)).map((line) => (line.trim() === '' ? '' : line));
  // Empty lines of context at the end would look like a gap in the report.
  const end = lines.findLastIndex((line) => line !== '') + 1;
  return lines.slice(0, end).map((line) => (line === '' ? '' : `      ${line}`));
}

/** Renders the key, the path, and a note, which may contain color codes. An empty path or note is not shown. */
export function renderPromptTitle(
  { key, path, url = '' }: Pick<ReportPrompt, 'key' | 'path' | 'url'>,
  style: OutputStyle,
  note = '',
): readonly string[] {
  const { bold, dim } = style.colors;
  const file = path === '' ? [] : [renderFileLink(dim(escapeLine(path)), path, style)];
  const parts = [renderWebLink(bold(escapeLine(key)), url, style), ...file, ...(note === '' ? [] : [note])];
  return fitLine(parts.join('  '), style, 2);
}
