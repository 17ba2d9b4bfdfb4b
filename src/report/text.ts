import { describeDrift } from './describe-drift.ts';
import { isError } from '../problem.ts';
import { describeBaselines, listBaselinePrompts, omitListedBaseline } from './baselines.ts';
import { renderDiffs } from './diff-text.ts';
import { escapeLine } from './escape.ts';
import { isSharedProblem, formatProblemPlace, renderProblem, findSharedProblems } from './problems.ts';
import type { Report, ReportChange, ReportPrompt } from './schema.ts';
import {
  renderFileLink,
  renderWebLink,
  fitLine,
  layOutTable,
  narrowStyle,
  makeStyle,
  type Style,
  type StyleOptions,
} from './style.ts';
import { renderSummary } from './summary.ts';
import { formatCount } from '../text.ts';
import { describeBreakingChanges, describeUnusedInputs } from './breaking-changes.ts';
import * as words from './describe.ts';

/** The style of the report, and how much of it to show. */
export type TextOptions = StyleOptions & {
  /** Whether to show only problems and the summary, without changes, diffs, status tables and histories. */
  readonly quiet: boolean;
  /**
   * Whether to omit diffs, for example because promptsync already showed them before asking for confirmation. Diffs are
   * shown by default.
   */
  readonly withoutDiffs?: boolean | undefined;
};

/** Renders the report for a terminal or a log, without warnings. The text ends with a line feed. */
export function renderText(report: Report, options: TextOptions): string {
  const style = makeStyle(options);
  const shared = findSharedProblems(report.prompts);
  const baselinePrompts = listBaselinePrompts(report);
  const prompts = report.prompts.map((prompt) => {
    return {
      ...omitListedBaseline(prompt, baselinePrompts),
      problems: prompt.problems.filter((problem) => isError(problem) && !isSharedProblem(problem, shared)),
    };
  });
  const tables = groupPromptsByProblem(prompts);
  const newFiles = listNewFiles(prompts);
  const listed = new Set([...tables.flat(), ...newFiles]);
  const blocks = prompts.flatMap((prompt) => {
    if (prompt.problems.length === 0 && (options.quiet || hasNothingToShow(prompt))) return [];
    return listed.has(prompt) ? [] : renderPrompt(prompt, report, options, style);
  });
  const errors = [...report.problems, ...shared].filter(isError);
  const files = options.quiet ? [] : renderFiles(report, style);
  // If the service has no prompt at all, the problem of the run says so, and a few examples are enough.
  const isNoneFound = report.problems.some(({ code }) => code === 'service/none-found');
  const problemTables = tables.map((table) => renderProblemTable(table, isNoneFound ? MAX_EXAMPLES : Infinity, style));
  return [
    ...files,
    ...(options.quiet ? [] : renderNewFiles(newFiles, style)),
    ...blocks,
    ...(options.quiet ? [] : renderBaselines(baselinePrompts, report.mode, style)),
    ...problemTables,
    ...errors.map((error) => renderProblem(error, style)),
    renderSummary(report, style),
  ]
    .map((block) => `${block}\n`)
    .join('\n');
}

/** Renders the files that `promptsync init` wrote or kept as one block. Returns no block if there are no files. */
function renderFiles({ files = [] }: Report, style: Style): readonly string[] {
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

/** Renders one line for each new prompt file: its path and its pins. Returns no block if there are no files. */
function renderNewFiles(prompts: readonly ReportPrompt[], style: Style): readonly string[] {
  if (prompts.length === 0) return [];
  const { green, dim } = style.colors;
  const rows = prompts.map(({ path, edits = [] }) => {
    const pins = edits.flatMap((edit) => (edit.kind === 'set-pin' ? [words.describeNewPin(edit)] : []));
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

/** Renders the baselines of these prompts as one line. Returns no line if there are no prompts. */
function renderBaselines(prompts: readonly ReportPrompt[], mode: Report['mode'], style: Style): readonly string[] {
  if (prompts.length === 0) return [];
  const names = prompts.map(({ key, path }) => renderFileLink(escapeLine(key), path, style));
  const line = describeBaselines(names, mode, style.screen === null ? Infinity : MAX_NAMES);
  return [fitLine(`${style.colors.green('+')} ${line}`, style, 4).join('\n')];
}

/**
 * The minimum number of rows in a problem table. If fewer prompts have the same kind of problem, each prompt gets its
 * own block.
 */
const MIN_TABLE_ROWS = 4;

/**
 * Groups prompts by the kind of their problem. Considers only prompts that have exactly one problem and nothing else to
 * show. Returns only groups of at least `MIN_TABLE_ROWS` prompts.
 */
function groupPromptsByProblem(prompts: readonly ReportPrompt[]): readonly (readonly ReportPrompt[])[] {
  const withOneProblem = prompts.filter(
    (prompt) => hasNothingToShow(prompt) && prompt.problems.length === 1 && prompt.drift.length === 0,
  );
  // Compare hints without the command at their end, because a command can be for a single prompt.
  const makeKind = ({ status, problems: [problem] }: ReportPrompt): string =>
    `${status} ${problem?.code} ${problem?.hint.split(' run: ')[0]}`;
  const groups = Map.groupBy(withOneProblem, makeKind);
  return [...groups.values()].filter(({ length }) => length >= MIN_TABLE_ROWS);
}

/** The maximum number of rows in a problem table if the problem of the run already covers all prompts. */
const MAX_EXAMPLES = 3;

/**
 * Renders a table of prompts with the same kind of problem, and one hint below the table. If the prompts have different
 * hints, shows the hint of the first prompt, after the key of that prompt.
 */
function renderProblemTable(prompts: readonly ReportPrompt[], maxRows: number, style: Style): string {
  const { bold, dim, red } = style.colors;
  const problems = prompts.flatMap((prompt) => prompt.problems);
  const rows = prompts.slice(0, maxRows).flatMap(({ key, problems: promptProblems }) =>
    promptProblems.map((problem) => [
      { text: `  ${escapeLine(key)}`, paint: bold },
      { text: escapeLine(`${formatProblemPlace(problem)} ${problem.message}`.trim()), paint: (text: string) => text },
    ]),
  );
  const more = prompts.length > maxRows ? [dim(`  … and ${prompts.length - maxRows} more`)] : [];
  const [first] = prompts;
  if (first === undefined) return '';
  const code = problems[0]?.code ?? '';
  const [hint = '', ...others] = new Set(problems.map((problem) => problem.hint));
  const title = `${formatCount(prompts.length, 'prompt')} ${words.describeStatus(first.status)}`;
  const owner = others.length > 0 ? `${escapeLine(first.key)}: ` : '';
  const lines = [`${red(title)} ${dim(`[${code}]`)}`, ...layOutTable(rows), ...more, `  ${owner}${escapeLine(hint)}`];
  return lines.flatMap((line) => fitLine(line, style, 4)).join('\n');
}

/** Returns true if a prompt is unchanged or has neither changes nor edits. */
function hasNothingToShow({ changes, edits = [], status }: ReportPrompt): boolean {
  return changes.length + edits.length === 0 || status === 'unchanged';
}

/**
 * Renders one prompt as a block: its title, drift, changes, diffs and problems.
 * @param prompt the prompt, with only those problems that the block should show
 */
function renderPrompt(prompt: ReportPrompt, report: Report, options: TextOptions, style: Style): string {
  const { quiet, withoutDiffs = false } = options;
  const work = quiet ? [] : renderWork(prompt, report, style);
  const { status, edits } = prompt;
  const isNotDone = status === 'blocked' || status === 'failed' || status === 'not_attempted';
  const hasNoDiff = status === 'failed' && edits === undefined;
  return [
    ...renderPromptTitle(prompt, style, isNotDone ? style.colors.red(words.describeStatus(status)) : ''),
    ...work,
    ...(quiet || withoutDiffs || hasNoDiff ? [] : renderPromptDiffs(prompt, style)),
    ...prompt.problems.map((problem) => renderProblem(problem, narrowStyle(style, 2)).replace(/^/gm, '  ')),
  ].join('\n');
}

/** Renders a line for each drift, edit, change and breaking change of a prompt. */
function renderWork(prompt: ReportPrompt, report: Report, style: Style): readonly string[] {
  const { green, yellow, red, cyan, magenta } = style.colors;
  const editSigns = { new: green('+'), changed: yellow('~'), conflict: red('!') };
  const changeSigns = { 'create-version': green('+'), 'update-prompt': yellow('~'), 'set-active': cyan('→') };
  const { drift, edits = [], changes } = prompt;
  const fitIndentedLine = (line: string): readonly string[] => fitLine(`  ${line}`, style, 4);
  return [
    ...drift.flatMap((deviation) => renderDrift(describeDrift(deviation, prompt, report, escapeLine), style)),
    ...edits.flatMap((edit) => fitIndentedLine(`${editSigns[words.chooseEditKind(edit)]} ${words.describeEdit(edit)}`)),
    ...changes.flatMap((change) => {
      const result = words.describeChangeStatus(change);
      const note = `${words.describeVersionNotes(change, changes, escapeLine)}${result && yellow(result)}`;
      const texts = words
        .describeChange(change, report)
        .flatMap((line) => fitIndentedLine(`${changeSigns[change.kind]} ${line}${note}`));
      return [...texts, ...renderKeptMetadataLines(change, style)];
    }),
    ...words.listMessageChanges(prompt).flatMap((line) => fitIndentedLine(`${yellow('~')} ${escapeLine(line)}`)),
    ...[...describeBreakingChanges(prompt, escapeLine), ...describeUnusedInputs(prompt, escapeLine)].flatMap(
      (sentence) => fitIndentedLine(`${magenta('!')} ${sentence}`),
    ),
    ...words
      .describeAffectedPrompts(prompt, escapeLine)
      .flatMap((sentence) => fitIndentedLine(`${magenta('!')} ${sentence}`)),
  ];
}

/** Renders the statement about one case of drift, with the commands below it. The commands share a line if they fit. */
function renderDrift([statement, ...commands]: readonly string[], style: Style): readonly string[] {
  const { colors, screen } = style;
  const line = commands.join('    ');
  const isWide = screen !== null && screen.width(line) + 4 > screen.columns;
  const rows = isWide || commands.length === 0 ? commands : [line];
  return [
    ...fitLine(`  ${colors.magenta('!')} drift: ${statement}`, style, 4),
    ...rows.flatMap((row) => fitLine(`    ${row}`, style, 6)),
  ];
}

/** The maximum number of lines of kept metadata in text output. The HTML page shows all lines. */
const MAX_METADATA_LINES = 20;

/** Renders the metadata that a new version keeps from an earlier version, as lines to show below the change. */
function renderKeptMetadataLines(change: ReportChange, style: Style): readonly string[] {
  const lines = words.listKeptMetadataLines(change);
  const omittedCount = lines.length - MAX_METADATA_LINES;
  const more = `… ${formatCount(omittedCount, 'more line')} (--format html shows all)`;
  const shown = [
    ...lines.slice(0, MAX_METADATA_LINES).map(escapeLine),
    ...(omittedCount > 0 ? [style.colors.dim(more)] : []),
  ];
  return shown.flatMap((line) => fitLine(line, narrowStyle(style, 6), 2)).map((line) => `      ${line}`);
}

function renderPromptDiffs(prompt: ReportPrompt, style: Style): readonly string[] {
  const lines = renderDiffs(prompt, narrowStyle(style, 6), 'folded').map((line) => (line.trim() === '' ? '' : line));
  // Empty lines of context at the end would look like a gap in the report.
  const end = lines.findLastIndex((line) => line !== '') + 1;
  return lines.slice(0, end).map((line) => (line === '' ? '' : `      ${line}`));
}

/**
 * Renders the title of a prompt: its key, the path of its file, and a note. If the file is unknown, its path is empty
 * and is not shown.
 * @param note may contain color codes; an empty note is not shown
 */
export function renderPromptTitle(
  { key, path, url = '' }: Pick<ReportPrompt, 'key' | 'path' | 'url'>,
  style: Style,
  note = '',
): readonly string[] {
  const { bold, dim } = style.colors;
  const file = path === '' ? [] : [renderFileLink(dim(escapeLine(path)), path, style)];
  const parts = [renderWebLink(bold(escapeLine(key)), url, style), ...file, ...(note === '' ? [] : [note])];
  return fitLine(parts.join('  '), style, 2);
}
