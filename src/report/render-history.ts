import type { Colours } from './colours.ts';
import { differingRows, isTold } from './history-summary.ts';
import { commitTexts, driftText, madeTexts, makerText, staysOf, unpinnedText, type Version } from './history-texts.ts';
import { inertLine } from './inert.ts';
import { promptTitle } from './prompt-title.ts';
import { refText } from './render-change.ts';
import { renderErrors } from './render-errors.ts';
import { renderSummary } from './render-summary.ts';
import type { Report, ReportLineage, ReportPrompt } from './schema.ts';
import { fitted, type Style, styleFor, type StyleOptions } from './style.ts';
import { type Cell, layOut } from './table.ts';

export type HistoryOptions = StyleOptions & {
  /** Problems and the summary only. */
  readonly quiet: boolean;
};

/** The versions of prompts, or where what an environment serves comes from. Ends with a line feed. */
export function renderHistory(report: Report, options: HistoryOptions): string {
  const style = styleFor(options);
  const told = options.quiet ? [] : report.prompts.filter(isTold).map((prompt) => renderPrompt(prompt, style));
  return [...told, ...renderErrors(report, style), `${renderSummary(report, style)}\n`].join('\n');
}

function renderPrompt(prompt: ReportPrompt, style: Style): string {
  const { history, lineage } = prompt;
  const { colours } = style;
  const body =
    lineage === undefined
      ? versionLines(history?.versions ?? [], style)
      : lineageLines(prompt, lineage, style).flatMap((line) => fitted(line, style, line.startsWith(' ') ? HANG : 2));
  const drift = differingRows(prompt).map((row) => colours.yellow(`! ${driftText(row, inertLine)}`));
  const told = drift.flatMap((line) => fitted(line, style, 2));
  return [...promptTitle(prompt, style), ...body, ...told].map((line) => `${line}\n`).join('');
}

/** Where the texts begin that follow `made` and `pinned`. */
const HANG = 10;
const HEADER = ['version', 'made', 'commit', 'author', 'subject'];

/** A table whose rows are each followed by where the version has been: lines of a table of their own. */
function versionLines(versions: readonly Version[], style: Style): readonly string[] {
  const { colours, screen } = style;
  if (versions.length === 0) return ['No version is known.'];
  const header = HEADER.map((text) => ({ text, paint: colours.dim }));
  const [first = '', ...lines] = layOut([header, ...versions.map((version) => versionCells(version, colours))], style);
  const stays = versions.flatMap((version) => stayRows(version, colours).map((cells) => ({ version, cells })));
  const stayLines = layOut(
    stays.map(({ cells }) => cells),
    style,
  );
  const below = (version: Version) => stayLines.filter((_, index) => stays[index]?.version === version);
  const all = [first, ...versions.flatMap((version, index) => [lines[index] ?? '', ...below(version)])];
  return screen === null ? all : all.map(screen.cut);
}

function versionCells(version: Version, { bold }: Colours): readonly Cell[] {
  return [{ text: `v${version.version_number}`, paint: bold }, ...madeTexts(version).map(cell)];
}

function stayRows(version: Version, { green, yellow, dim }: Colours): readonly (readonly Cell[])[] {
  const paints = { now: green, unserved: yellow, past: dim };
  return staysOf(version).map(({ environment, when, state, by }) => {
    const paint = paints[state];
    const [, commit, , subject] = by === null ? [] : commitTexts(by);
    const cells = by === null ? [] : [cell(commit), cell(subject)];
    return [{ text: `  ${inertLine(environment)}`, paint }, { text: when, paint }, ...cells];
  });
}

function lineageLines(prompt: ReportPrompt, lineage: ReportLineage, style: Style): readonly string[] {
  const { bold, dim } = style.colours;
  const { environment, serves, pinned } = lineage;
  const served = serves === null ? 'nothing' : `${refText(serves)} ${dim(`(${inertLine(serves.id)})`)}`;
  const maker = serves === null ? null : makerText(serves);
  const unpinned = pinned === null ? unpinnedText(prompt) : null;
  return [
    `${bold(inertLine(environment))} serves ${served}`,
    ...(maker === null ? [] : [`${MADE}  ${maker}`]),
    ...layOut(
      [
        ...(serves === null || maker !== null
          ? []
          : [[cell(MADE), ...withPath(commitTexts(serves).map(cell), serves.path)]]),
        ...(pinned === null ? [] : [[cell(PINNED), ...commitTexts(pinned).map(cell)]]),
      ],
      style,
    ),
    ...(unpinned === null ? [] : [`${PINNED}  ${unpinned}`]),
  ];
}

/** In the last cell, so that a long subject below does not move it. */
function withPath(cells: readonly Cell[], path: string | undefined): readonly Cell[] {
  const last = path === undefined ? '' : `  ${inertLine(path)}`;
  return cells.map((one, index) => (index + 1 < cells.length ? one : { ...one, text: `${one.text}${last}` }));
}

const [MADE, PINNED] = ['  made  ', '  pinned'] as const;

/** What is not known is a dot. */
function cell(text: string | undefined): Cell {
  return { text: text === undefined ? '·' : inertLine(text), paint: (one) => one };
}
