import { isError } from '../problem.ts';
import type { Report, ReportLineage, ReportPrompt } from '../schemas/report.ts';
import { coloursFor, type Colours } from './colours.ts';
import { differingRows, isTold } from './history-summary.ts';
import { dayOf, driftText, makerText, staysOf, subjectOf, type Commit, type Version } from './history-texts.ts';
import { inertLine } from './inert.ts';
import { problemsIn } from './problems-in.ts';
import { refText } from './render-change.ts';
import { renderProblem } from './render-problem.ts';
import { renderSummary } from './render-summary.ts';
import { layOut, type Cell } from './table.ts';

export type HistoryOptions = {
  readonly colour: boolean;
  /** Problems and the summary only. */
  readonly quiet: boolean;
};

/** The versions of prompts, or where what an environment serves comes from. Ends with a line feed. */
export function renderHistory(report: Report, { colour, quiet }: HistoryOptions): string {
  const colours = coloursFor(colour);
  const told = quiet ? [] : report.prompts.filter(isTold).map((prompt) => renderPrompt(prompt, colours));
  const errors = problemsIn(report).filter(isError);
  const texts = new Set(errors.map((one) => `${renderProblem(one, colours)}\n`));
  return [...told, ...texts, `${renderSummary(report, colours)}\n`].join('\n');
}

function renderPrompt(prompt: ReportPrompt, colours: Colours): string {
  const { key, path, history, lineage } = prompt;
  const title = `${colours.bold(inertLine(key))}  ${colours.dim(inertLine(path))}\n`;
  const body = lineage === undefined ? versionTable(history?.versions ?? [], colours) : lineageLines(lineage, colours);
  const drift = differingRows(prompt).map((row) => `${colours.yellow(`! ${driftText(row, inertLine)}`)}\n`);
  return [title, body, ...drift].join('');
}

const HEADER = ['version', 'made', 'commit', 'author', 'subject'];

/** The rows of one table, each followed by where its version has been: lines of a table of their own. */
function versionTable(versions: readonly Version[], colours: Colours): string {
  if (versions.length === 0) return 'No version is known.\n';
  const header = HEADER.map((text) => ({ text, paint: colours.dim }));
  const rows = layOut([header, ...versions.map((version) => versionCells(version, colours))]);
  const [first = '', ...lines] = rows.split('\n');
  const stays = layOut(versions.flatMap((version) => stayRows(version, colours))).split('\n');
  const counts = versions.map((version) => staysOf(version).length);
  const blocks = versions.flatMap((_, index) => {
    const before = counts.slice(0, index).reduce((sum, count) => sum + count, 0);
    return [lines[index] ?? '', ...stays.slice(before, before + (counts[index] ?? 0))];
  });
  return `${[first, ...blocks].join('\n')}\n`;
}

function versionCells(version: Version, { bold, yellow }: Colours): readonly Cell[] {
  const name = { text: `v${version.version_number}`, paint: bold };
  const [day, commit, author, subject] = commitTexts(version);
  const made = makerText(version);
  const why = made === undefined ? cell(subject) : { text: made, paint: yellow };
  return [name, cell(day), cell(commit), cell(author), why];
}

function stayRows(version: Version, { green, dim }: Colours): readonly (readonly Cell[])[] {
  return staysOf(version).map(({ environment, when, by }) => {
    const paint = version.active_in.includes(environment) ? green : dim;
    const [, commit, , subject] = by === null ? [] : commitTexts(by);
    return [{ text: `  ${inertLine(environment)}`, paint }, { text: when, paint }, cell(commit), cell(subject)];
  });
}

function lineageLines({ environment, serves, pinned }: ReportLineage, { bold, yellow, dim }: Colours): string {
  const name = bold(inertLine(environment));
  if (serves === null) return `${name} serves nothing.\n`;
  const title = `${name} serves ${bold(refText(serves))} ${dim(`(${inertLine(serves.id)})`)}\n`;
  const outside = makerText(serves);
  const path = serves.path === undefined ? [] : [cell(inertLine(serves.path))];
  const made = outside === undefined ? [...commitTexts(serves).map(cell), ...path] : [{ text: outside, paint: yellow }];
  const rows = [
    [label('  made'), ...made],
    ...(pinned === null ? [] : [[label('  pinned'), ...commitTexts(pinned).map(cell)]]),
  ];
  return `${title}${layOut(rows)}`;
}

/** Day, commit, author, subject: what is not known is a dot. */
function commitTexts(info: Commit): readonly [string, string, string, string] {
  const { commit, author } = info;
  const shown = (text: string | undefined) => (text === undefined || text === '' ? '·' : inertLine(text));
  return [shown(dayOf(info)), shown(commit).slice(0, 12), shown(author), shown(subjectOf(info))];
}

function cell(text: string | undefined): Cell {
  return { text: text ?? '', paint: (one) => one };
}

function label(text: string): Cell {
  return cell(text);
}
