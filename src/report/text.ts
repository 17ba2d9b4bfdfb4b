import { isError } from '../problem.ts';
import { renderDiffs } from './diff-text.ts';
import { escapeLine } from './escape.ts';
import { isShared, placeText, renderProblem, sharedProblems } from './problems.ts';
import type { Report, ReportChange, ReportPrompt } from './schema.ts';
import { fileLink, fitted, layOut, narrower, styleFor, type Style, type StyleOptions } from './style.ts';
import { renderSummary } from './summary.ts';
import * as words from './words.ts';

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
  const prompts = report.prompts.map((prompt) => {
    return { ...prompt, problems: prompt.problems.filter((one) => isError(one) && !isShared(one, shared)) };
  });
  const tables = likeProblems(prompts);
  const listed = new Set(tables.flat());
  const blocks = prompts.flatMap((prompt) => {
    if (prompt.problems.length === 0 && (options.quiet || isDull(prompt))) return [];
    return listed.has(prompt) ? [] : renderPrompt(prompt, report.mode, options, style);
  });
  const errors = [...report.problems, ...shared].filter(isError);
  const files = options.quiet ? [] : filesBlock(report, style);
  const alike = tables.map((table) => tableOf(table, style));
  return [
    ...files,
    ...blocks,
    ...alike,
    ...errors.map((one) => renderProblem(one, style)),
    renderSummary(report, style),
  ]
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

/** Where so many prompts have a problem of one kind and nothing else, a line for each says more than a block. */
const FEWEST_IN_TABLE = 4;

function likeProblems(prompts: readonly ReportPrompt[]): readonly (readonly ReportPrompt[])[] {
  const alone = prompts.filter((prompt) => isDull(prompt) && prompt.problems.length === 1 && prompt.drift.length === 0);
  // A command that a hint names is of one prompt; what is to be done besides is the same for all of a table.
  const kindOf = ({ status, problems: [one] }: ReportPrompt) =>
    `${status} ${one?.code} ${one?.hint.split(' run: ')[0]}`;
  const groups = Map.groupBy(alone, kindOf);
  return [...groups.values()].filter(({ length }) => length >= FEWEST_IN_TABLE);
}

/** What and why, and below once what to do: of prompts whose hints differ, with the name of the first. */
function tableOf(prompts: readonly ReportPrompt[], style: Style): string {
  const { bold, dim, red } = style.colours;
  const problems = prompts.flatMap((prompt) => prompt.problems);
  const rows = prompts.flatMap(({ key, problems: own }) =>
    own.map((problem) => [
      { text: `  ${escapeLine(key)}`, paint: bold },
      { text: escapeLine(`${placeText(problem)} ${problem.message}`.trim()), paint: (text: string) => text },
    ]),
  );
  const [{ key, status } = { key: '', status: 'blocked' as const }] = prompts;
  const [{ code = '' } = {}] = problems;
  const [hint = '', ...others] = new Set(problems.map((problem) => problem.hint));
  const what = `${words.counted([prompts.length, 'prompt', 'prompts'])} ${words.statusText(status)}`;
  const name = others.length > 0 ? `${escapeLine(key)}: ` : '';
  const lines = [`${red(what)} ${dim(`[${code}]`)}`, ...layOut(rows, style), `  ${name}${escapeLine(hint)}`];
  return lines.flatMap((line) => fitted(line, style, 4)).join('\n');
}

function isDull({ changes, edits = [], status }: ReportPrompt): boolean {
  return changes.length + edits.length === 0 || status === 'unchanged';
}

/** @param prompt with the problems that are shown of it */
function renderPrompt(prompt: ReportPrompt, mode: Report['mode'], options: TextOptions, style: Style): string {
  const { quiet, withoutDiffs = false } = options;
  const work = quiet ? [] : workLines(prompt, mode, style);
  const { status, edits } = prompt;
  const stands = status === 'blocked' || status === 'failed' || status === 'not_attempted';
  const leavesNoDiff = status === 'failed' && edits === undefined;
  return [
    ...promptTitle(prompt, style, stands ? style.colours.red(words.statusText(status)) : ''),
    ...work,
    ...(quiet || withoutDiffs || leavesNoDiff ? [] : diffLines(prompt, style)),
    ...prompt.problems.map((problem) => renderProblem(problem, narrower(style, 2)).replace(/^/gm, '  ')),
  ].join('\n');
}

function workLines(prompt: ReportPrompt, mode: Report['mode'], style: Style): readonly string[] {
  const { green, yellow, red, cyan, magenta } = style.colours;
  const editSigns = { new: green('+'), changed: yellow('~'), conflict: red('!') };
  const changeSigns = { 'create-version': green('+'), 'update-prompt': yellow('~'), 'set-active': cyan('→') };
  const { drift, edits = [], changes } = prompt;
  const rows = (line: string) => fitted(`  ${line}`, style, 4);
  return [
    ...drift.flatMap((one) => rows(`${magenta('!')} ${words.driftText(one, prompt, mode, escapeLine)}`)),
    ...edits.flatMap((edit) => rows(`${editSigns[words.editKind(edit)]} ${words.editText(edit)}`)),
    ...changes.flatMap((change) => {
      const became = words.statusNote(change);
      const note = `${words.followNote(change, changes, escapeLine)}${became && yellow(became)}`;
      const texts = words.changeTexts(change).flatMap((line) => rows(`${changeSigns[change.kind]} ${line}${note}`));
      return [...texts, ...metadataLines(change, style)];
    }),
    ...words.breakingTexts(prompt, escapeLine).flatMap((one) => rows(`${magenta('!')} ${one}`)),
  ];
}

/** Text output cuts longer metadata, as it cuts long diffs. The HTML page shows all of it. */
const MOST_METADATA_LINES = 20;

function metadataLines(change: ReportChange, style: Style): readonly string[] {
  const all = words.keptMetadataLines(change);
  const left = all.length - MOST_METADATA_LINES;
  const more = `… ${words.counted([left, 'more line', 'more lines'])} (--format html shows all)`;
  const shown = [...all.slice(0, MOST_METADATA_LINES).map(escapeLine), ...(left > 0 ? [style.colours.dim(more)] : [])];
  return shown.flatMap((line) => fitted(line, narrower(style, 6), 2)).map((line) => `      ${line}`);
}

function diffLines(prompt: ReportPrompt, style: Style): readonly string[] {
  const lines = renderDiffs(prompt, narrower(style, 6), 'folded');
  return lines.map((line) => (line.trim() === '' ? '' : `      ${line}`));
}

/**
 * A prompt's key and file, and a note after them. The file of a prompt that could not be read is not known.
 * @param note may be coloured; empty: none
 */
export function promptTitle({ key, path }: Pick<ReportPrompt, 'key' | 'path'>, style: Style, note = '') {
  const { bold, dim } = style.colours;
  const file = path === '' ? [] : [fileLink(dim(escapeLine(path)), path, style)];
  const parts = [bold(escapeLine(key)), ...file, ...(note === '' ? [] : [note])];
  return fitted(parts.join('  '), style, 2);
}
